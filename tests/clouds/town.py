"""Scans of a made-up town and its map, with the pose between them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from tear3d.lab.town import Town, scan
from tear3d.synthetic import random_rotation

SIZE = 0.63
"""The voxel size that is chosen for these scans."""
NOISE = 0.02
REACH = 8.0


class Problem(NamedTuple):
    scan: np.ndarray
    map: np.ndarray
    truth: np.ndarray

    def error(self, pose: np.ndarray) -> float:
        """How far the pose puts the point of the scan that it puts worst."""
        change = pose - self.truth
        return float(np.linalg.norm(self.scan @ change[:3, :3].T + change[:3, 3], axis=1).max())


@cache
def cloud_of(town: Town) -> np.ndarray:
    points = town.sample(8.0, seed=0)
    return points + np.random.default_rng(9).normal(0.0, NOISE, points.shape)


def problem(seed: int, *, town: Town | None = None, place: Town | None = None) -> Problem:
    """A scan taken at `place`, the town of the map unless it is another, sampled anew and in a pose of its own."""
    town = town or Town(90.0)
    place = place or town
    eye, turn = place.eye(seed, REACH), random_rotation(np.random.default_rng(seed))
    seen = scan(place.sample(16.0, seed=1), eye, REACH, NOISE, seed)
    truth = np.eye(4)
    truth[:3, :3], truth[:3, 3] = turn.T, eye
    return Problem(seen @ turn.T, cloud_of(town), truth)
