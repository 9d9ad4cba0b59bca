"""Nearest neighbours within a radius."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tear3d.features.steps import Tick
from tear3d.features.work import CHUNK, aside
from tear3d.problem.arrays import FloatArray

Neighbours = tuple[NDArray[np.int32], NDArray[np.float32]]

_MOST_NEIGHBOURS = 50_000
"""Of a chunk: found and processed in some hundredths of a second."""


def tree_of(points: FloatArray, tick: Tick | None = None) -> cKDTree:
    """A tree of the points, moved to their centroid."""
    return aside(lambda: cKDTree(points - points.mean(axis=0)), tick)


def rows_at_once(max_nn: int) -> int:
    """How many points make a chunk whose search and use cannot keep the call from stopping."""
    return max(1, min(CHUNK, _MOST_NEIGHBOURS // max_nn))


def search(tree: cKDTree, start: int, stop: int, radius: float, max_nn: int) -> Neighbours:
    """The up to `max_nn` nearest points nearer than `radius` of the tree's points `start:stop`.

    Returns
    -------
    indices : (stop - start, K) int32
        Nearest first, the point itself (or a duplicate of it) among them; unused places hold -1.
    squared : (stop - start, K) float32
        Squared distances.
    """
    k = min(max_nn, tree.n)
    distances, found = tree.query(tree.data[start:stop], k=[*range(1, k + 1)], distance_upper_bound=radius)
    missing = found == tree.n
    squared = np.square(np.where(missing, 0.0, distances))
    return np.where(missing, -1, found).astype(np.int32), squared.astype(np.float32)
