"""GORE: pairs that cannot belong to the largest consensus are removed, provably; what is left is solved by RANSAC."""

from __future__ import annotations

import math
import time

import numpy as np
from numba import njit

from benchmarks.peers import BoolArray, FloatArray, Found, nowhere, time_limit
from benchmarks.peers.gore_rotation import around, reachable, removal
from benchmarks.peers.rigid import fit, fit_all, pose, residuals

NAME = "GORE"
THREADS = 1
PAPER = (
    "A. Parra Bustos, T.-J. Chin: Guaranteed outlier removal for point cloud registration with correspondences. "
    "TPAMI 2018"
)
SETTINGS = (
    "the authors' demo: no bound to begin with, repeated until nothing is removed, then RANSAC at confidence 0.99 on "
    "what is left; the better of both answers, refitted. Ours: bests are found by refitting, which removes more; a "
    "rotation search ends after 4 000 cubes and all removal after 2·10⁹ arcs, or half of the cap of a run, keeping "
    "the pairs"
)
CONFIDENCE = 0.99
BATCH, MOST_TRIPLES = 200, 100_000
MOST_ARCS = 2_000_000_000
"""Arcs that the removal may make, some minutes; what is not removed then stays, which costs no guarantee."""
ARCS = 5_000_000
"""Between two looks at the clock, where a run has a cap."""
PER_ARC = 8
"""Pairs looked at in a cube of rotations in about the time of an arc."""
SLACK = 1e-6
"""Part of the noise bound that rounding may cost."""


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    alive, best, finished = removed(source, target, noise_bound)
    best = consensus(source[alive], target[alive], noise_bound, best)
    inliers = residuals(best, source, target) <= noise_bound
    notes = {"left": int(alive.sum()), "removed": int((~alive).sum()), "cut": not finished}
    if inliers.sum() < 3:
        return Found(nowhere(), np.zeros(len(source), dtype=bool), notes)
    return Found(best, inliers, notes)


def removed(source: FloatArray, target: FloatArray, noise_bound: float) -> tuple[BoolArray, FloatArray, bool]:
    """Which pairs are left when no more can be removed, the best pose met on the way, and whether the arcs lasted."""
    alive, best, most = np.ones(len(source), dtype=bool), nowhere(), 0
    before, budget, hunt = -1, MOST_ARCS, True
    deadline = time.perf_counter() + 0.5 * time_limit(math.inf)
    while before != alive.sum() and budget > 0:
        before, k = alive.sum(), 0
        while k < len(source) and budget > 0:
            if time.perf_counter() > deadline:
                return alive, best, False
            now = min(budget, ARCS)
            k, rotation, unused = sweep(source, target, alive, noise_bound, best, most, k, hunt, now)
            budget -= now - unused
            if len(rotation):
                found = pose(rotation, target[k] - rotation @ source[k])
                found, count = refitted(found, source, target, noise_bound, 2.0)
                if count > most:
                    best, most = found, count
                else:
                    k += 1
        hunt = False
    return alive, best, budget > 0


@njit(cache=True, nogil=True)
def sweep(x, y, alive, bound, transformation, most, k, hunt, budget):
    """Visit the pairs from k on, until one may have a larger consensus than `most`: that pair and its rotation.

    Subproblem k assumes that pair k is right; the pair is removed if fewer than `most` can then agree.
    """
    rotation, translation = transformation[:3, :3].copy(), transformation[:3, 3].copy()
    double = 2.0 * bound + SLACK * bound
    while k < len(x) and budget > 0:
        if alive[k] and not np.sqrt(((rotation @ x[k] + translation - y[k]) ** 2).sum()) <= bound:
            u, v, near = around(x, y, alive, k, double)
            upper, u_left, v_left, found, within, made = removal(u, v, near, most, double, most + hunt)
            budget -= made
            if hunt and within > most:
                return k, found, budget
            if upper >= most > within:
                alive[k], cubes = reachable(u_left, v_left, near, most, double)
                budget -= cubes * len(u_left) // PER_ARC
            elif upper < most:
                alive[k] = False
        k += 1
    return k, np.empty((0, 3)), budget


def refitted(
    transformation: FloatArray, x: FloatArray, y: FloatArray, bound: float, wide: float = 1.0
) -> tuple[FloatArray, int]:
    """Least squares on the consensus as long as it grows, begun with a wider one, and its size."""
    first = residuals(transformation, x, y) <= wide * bound
    if wide > 1.0 and first.sum() >= 3:
        transformation = fit(x[first], y[first])
    inliers = residuals(transformation, x, y) <= bound
    while inliers.sum() >= 3:
        candidate = fit(x[inliers], y[inliers])
        now = residuals(candidate, x, y) <= bound
        if now.sum() <= inliers.sum():
            break
        transformation, inliers = candidate, now
    return transformation, int(inliers.sum())


def consensus(x: FloatArray, y: FloatArray, bound: float, best: FloatArray) -> FloatArray:
    """RANSAC on the pairs left, with a best to beat; ends with least squares on it unless that loses pairs."""
    rng = np.random.default_rng(0)
    best, most = refitted(best, x, y, bound)
    tried, n = 0, len(x)
    deadline = time.perf_counter() + 0.4 * time_limit(math.inf)
    while n >= 3 and time.perf_counter() < deadline and tried < min(MOST_TRIPLES, triples(most / n)):
        chosen = rng.integers(n, size=(BATCH, 3))
        for candidate in fit_all(x[chosen], y[chosen]):
            count = int((residuals(candidate, x, y) <= bound).sum())
            if count > most:
                best, most = refitted(candidate, x, y, bound)
        tried += BATCH
    inliers = residuals(best, x, y) <= bound
    if inliers.sum() < 3:
        return best
    last = fit(x[inliers], y[inliers])
    return last if (residuals(last, x, y) <= bound).sum() >= inliers.sum() else best


def triples(share: float) -> float:
    """How many triples to draw until one without a wrong pair is likely."""
    return np.inf if share <= 0.0 else np.log(1.0 - CONFIDENCE) / np.log1p(-min(share**3, 1.0 - 1e-12))


def prepare() -> None:
    """Compile the removal."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 3))
    register(points, np.vstack([points[:12], rng.normal(size=(8, 3))]), 0.05)
