"""Thinning of clouds and pairs to what a page can show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

Indices = NDArray[np.intp]
_POOL = 400_000


def choose(count: int, budget: int, seed: int = 0) -> Indices:
    """At most `budget` of the indices below `count`, uniformly at random, ascending."""
    if count <= budget:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, budget, replace=False, shuffle=False))


def thin(points: FloatArray, budget: int, seed: int = 0) -> Indices:
    """Indices of at most `budget` points spread evenly over the occupied space.

    Random thinning would spend the budget where a scanner stood; one point per voxel, with the
    voxel size found by bisection, keeps far walls visible. The order is random, so that any
    prefix is a coarser level of detail.
    """
    rng = np.random.default_rng(seed)
    if len(points) <= budget:
        return rng.permutation(len(points))
    pool = choose(len(points), max(_POOL, budget), seed)
    pool = pool[rng.permutation(len(pool))]
    offset = points[pool] - points[pool].min(axis=0)
    extent = float(offset.max())
    if extent == 0.0:
        return pool[:budget]
    low, high = extent / 2**20, extent
    kept = np.arange(1)
    for _ in range(14):
        size = float(np.sqrt(low * high))
        first = _first_per_voxel(offset, size)
        if len(first) > budget:
            low = size
        else:
            high, kept = size, first
        if 0.9 * budget < len(first) <= budget:
            break
    return pool[np.sort(kept)]


def _first_per_voxel(offset: FloatArray, size: float) -> Indices:
    keys = (offset / size).astype(np.int64)
    packed = (keys[:, 0] << 42) | (keys[:, 1] << 21) | keys[:, 2]
    return np.unique(packed, return_index=True)[1]
