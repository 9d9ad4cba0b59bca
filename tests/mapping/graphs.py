"""Pose graphs whose answer is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tear3d.mapping.graph import Edge, Graph
from tests.bumpy import pose

NOISE_BOUND = 0.1
RADIUS = 5.0


@dataclass(frozen=True, eq=False)
class Made:
    graph: Graph
    truth: np.ndarray
    """N×4×4, in the frame of the first scan."""
    wrong: frozenset[int]

    def errors(self, poses) -> np.ndarray:
        """How far off the points of each scan, up to two radii from its centre, are at most."""
        found = [a - b for a, b in zip(poses, self.truth, strict=True)]
        turns = [np.linalg.norm(change[:3, :3], 2) * 2.0 * RADIUS for change in found]
        moves = [
            np.linalg.norm(change[:3, :3] @ c + change[:3, 3])
            for change, c in zip(found, self.graph.centres, strict=True)
        ]
        return np.add(turns, moves)


def loop_pairs(count: int, reach: int = 2) -> list[tuple[int, int]]:
    """Every scan with the ones after it, around a loop that closes."""
    return [(k, (k + d) % count) for k in range(count) for d in range(1, reach + 1)]


def noisy(T: np.ndarray, error: np.ndarray) -> np.ndarray:
    """A measurement whose error is (ω, v): T_true = T_measured · (exp ω, v)."""
    return T @ np.linalg.inv(pose(error[:3], error[3:]))


def make(rng, pairs, *, count=20, wrong=(), at=0.0, noise_bound=NOISE_BOUND, deviations=None, poses=None) -> Made:
    """A loop, edges with Gaussian errors of their covariances, and wrong ones at the numbers given.

    `wrong` may be a mapping from numbers to transformations.
    """
    angle = 2.0 * np.pi * np.arange(count) / count
    if poses is None:
        poses = [pose([0.0, 0.0, a], [10.0 * np.cos(a), 10.0 * np.sin(a), 0.1 * np.sin(3 * a)]) for a in angle]
    centres = np.tile([at, -2.0 * at, 0.0], (count, 1)) + rng.normal(size=(count, 3))
    deviations = np.array([0.004] * 3 + [0.02] * 3) if deviations is None else deviations
    own = [pose([0.0] * 3, -centre) for centre in centres]
    covariance = np.diag(deviations**2)
    edges = []
    for number, (i, j) in enumerate(pairs):
        T = np.linalg.inv(poses[i]) @ poses[j]
        if number in wrong:
            T = wrong[number] if isinstance(wrong, dict) else pose(0.5 * rng.normal(size=3), 5.0 * rng.normal(size=3))
        else:
            T = noisy(T, rng.multivariate_normal(np.zeros(6), covariance))
        # About the centres; in the coordinates of the scans the origin moves by v − ω × c.
        carry = np.eye(6)
        x, y, z = centres[j]
        carry[3:, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        edges.append(Edge(i, j, np.linalg.inv(own[i]) @ T @ own[j], carry @ covariance @ carry.T))
    truth = np.array([np.linalg.inv(own[0]) @ np.linalg.inv(poses[0]) @ P @ c for P, c in zip(poses, own, strict=True)])
    return Made(Graph.of(edges, centres, np.full(count, RADIUS), noise_bound), truth, frozenset(wrong))
