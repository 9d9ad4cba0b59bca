"""Plain RANSAC in NumPy: triples whose sides agree, scored by inliers on all pairs, refitted once. Always available."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import FloatArray, pose

NAME = "RANSAC (NumPy)"
BATCH = 20_000
BATCHES = 10
SCORED = 100
"""Triples per batch that are scored on all pairs: those whose sides agree best."""


def available() -> bool:
    return True


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    rng = np.random.default_rng(0)
    best, best_count = np.eye(4), -1
    for _ in range(BATCHES):
        triples = rng.integers(len(source), size=(BATCH, 3))
        x, y = source[triples], target[triples]
        sides = np.linalg.norm(x - np.roll(x, 1, axis=1), axis=2)
        mismatch = np.abs(sides - np.linalg.norm(y - np.roll(y, 1, axis=1), axis=2)).max(axis=1)
        possible = np.flatnonzero((mismatch < 2.0 * noise_bound) & (sides.min(axis=1) > 2.0 * noise_bound))
        kept = possible[np.argsort(mismatch[possible] / sides[possible].min(axis=1))[:SCORED]]
        for k in kept:
            candidate = _fit(x[k], y[k])
            inliers = _residuals(candidate, source, target) < noise_bound
            if inliers.sum() > best_count:
                best, best_count = candidate, int(inliers.sum())
    for _ in range(3):
        inliers = _residuals(best, source, target) < noise_bound
        if inliers.sum() >= 3:
            best = _fit(source[inliers], target[inliers])
    return best


def _fit(x: FloatArray, y: FloatArray) -> FloatArray:
    """Least squares by SVD."""
    a, b = x.mean(axis=0), y.mean(axis=0)
    u, _, vt = np.linalg.svd((y - b).T @ (x - a))
    rotation = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return pose(rotation, b - rotation @ a)


def _residuals(transformation: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    return np.linalg.norm(y - x @ transformation[:3, :3].T - transformation[:3, 3], axis=1)
