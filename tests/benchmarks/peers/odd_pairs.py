"""Pairs on which systems stumble, by name."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray
from tear3d.synthetic import make_problem

NOISE = 0.1
FITS = ("three right pairs", "collinear", "one point many times", "zeros", "far away", "everything fits")
"""Those of which one pose fits all pairs."""


def odd_pairs() -> dict[str, tuple[FloatArray, FloatArray]]:
    rng = np.random.default_rng(5)
    cloud, other = rng.uniform(-3.0, 3.0, (2, 50, 3))
    line = np.linspace(-3.0, 3.0, 40)[:, None] * np.array([1.0, 2.0, -1.0])
    return {
        "no pair": (cloud[:0], cloud[:0]),
        "everything fits": (cloud, cloud @ turn() + 1.0),
        "one pair": (cloud[:1], cloud[:1] + 1.0),
        "two pairs": (cloud[:2], cloud[:2] + 1.0),
        "three right pairs": (cloud[:3], cloud[:3] @ turn() + 1.0),
        "three wrong pairs": (cloud[:3], other[:3]),
        "no inliers": (cloud, other),
        "collinear": (line, line @ turn() + 1.0),
        "collinear and wrong": (line, line[::-1] @ turn() * 1.7),
        "one point many times": (np.ones((30, 3)), np.ones((30, 3)) * 2.0),
        "two points many times": (np.repeat(cloud[:2], 20, axis=0), np.repeat(cloud[:2] + 1.0, 20, axis=0)),
        "zeros": (np.zeros((30, 3)), np.zeros((30, 3))),
        "source in one place": (np.zeros((50, 3)), other),
        "identity, with points at the origin": (
            np.vstack([cloud, np.zeros((3, 3))]),
            np.vstack([cloud, np.zeros((3, 3))]),
        ),
        "far away": (cloud + 1e6, cloud @ turn() - 1e6),
    }


def turn() -> FloatArray:
    """Some rotation."""
    return make_problem(10, 0.0, seed=8).transformation[:3, :3]


def pose_or_nothing(pose: FloatArray) -> bool:
    """Whether a matrix is a rigid pose, or NaN throughout."""
    if np.isnan(pose).all():
        return True
    rotation = pose[:3, :3]
    proper = np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-6) and np.linalg.det(rotation) > 0.0
    return bool(proper and np.isfinite(pose).all() and np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0]))
