"""Scans that are made up, for machines without real ones: two views of a shape, matched by our own features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.datasets import pairs
from benchmarks.datasets.matching import clouds_to_pairs
from benchmarks.datasets.pair import DataPair
from benchmarks.families import ASYMMETRIC, sampler
from tear3d.synthetic import random_rotation

TITLE = "made up"
POINTS = 20_000
VOXEL = 0.07
"""Of shapes of size 2 or so: some thousand points a view."""
SHAPES = ("blobs", "boxes", "bumpy")


def folder(out: Path) -> Path:
    """Pairs in the plain layout, made once."""
    where = out / "made-up"
    for k, name in enumerate(SHAPES):
        path = where / f"made_{name}.npz"
        if not path.exists():
            pairs.write(view(name, k), path)
    return where


def view(name: str, seed: int) -> DataPair:
    """A shape seen from two sides that share about half of it; noise of a fifth of a voxel."""
    rng = np.random.default_rng(seed)
    sample = sampler(ASYMMETRIC[name](rng))
    scans = []
    for side in (-1.0, 1.0):
        points = sample(POINTS, rng)
        along = points @ np.array([0.6, 0.64, 0.48]) * side
        seen = points[along < np.quantile(along, 0.75)]
        scans.append(seen + rng.normal(scale=0.2 * VOXEL, size=seen.shape))
    truth = np.eye(4)
    truth[:3, :3], truth[:3, 3] = random_rotation(rng), rng.normal(size=3)
    source, target = clouds_to_pairs(scans[0], scans[1] @ truth[:3, :3].T + truth[:3, 3], VOXEL)
    return DataPair(f"made_{name}", source, target, truth, 1.5 * VOXEL, TITLE)
