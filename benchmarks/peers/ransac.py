"""Plain RANSAC in NumPy: triples whose sides agree, scored on all pairs, refitted three times. Always available."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray
from benchmarks.peers.rigid import fit, residuals

NAME = "RANSAC (NumPy)"
PAPER = "M. Fischler, R. Bolles: Random sample consensus. CACM 1981"
SETTINGS = "200 000 triples in ten batches, the hundred of each whose sides agree best are scored, refitted three times"
BATCH = 20_000
BATCHES = 10
SCORED = 100
"""Triples per batch that are scored on all pairs: those whose sides agree best."""


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
            candidate = fit(x[k], y[k])
            inliers = residuals(candidate, source, target) < noise_bound
            if inliers.sum() > best_count:
                best, best_count = candidate, int(inliers.sum())
    for _ in range(3):
        inliers = residuals(best, source, target) < noise_bound
        if inliers.sum() >= 3:
            best = fit(source[inliers], target[inliers])
    return best
