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

    Random thinning would spend the budget where a scanner stood; one point per voxel, with a
    voxel size sought for the budget, keeps far walls visible. The order is random, so that any
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
    columns = np.ascontiguousarray(offset.T)
    low, high = extent / 2**20, 2.0 * extent  # all in one voxel
    size = extent / budget**0.5
    for _ in range(14):
        keys = _keys(columns, size)
        keys.sort()
        count = 1 + np.count_nonzero(keys[1:] != keys[:-1])
        if count > budget:
            low = size
        else:
            high = size
        if 0.9 * budget < count <= budget:
            break
        size *= (count / (0.95 * budget)) ** 0.5  # of a surface
        size = size if low < size < high else (low * high) ** 0.5
    return pool[np.sort(np.unique(_keys(columns, high), return_index=True)[1])]


def _keys(columns: FloatArray, size: float) -> NDArray[np.int64]:
    """One number for each point, the same in a voxel."""
    x, y, z = ((column / size).astype(np.int64) for column in columns)
    return np.asarray((x << 42) | (y << 21) | z)
