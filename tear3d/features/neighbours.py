"""Nearest neighbours within a radius."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tear3d.features.steps import Tick
from tear3d.features.tree import Tree
from tear3d.features.work import CHUNK, aside
from tear3d.problem.arrays import FloatArray

Neighbours = tuple[NDArray[np.int32], NDArray[np.float32]]

_MOST_NEIGHBOURS = 50_000
"""Of a chunk: found and processed in some hundredths of a second."""


def tree_of(points: FloatArray, tick: Tick | None = None) -> Tree:
    """A tree of the points, moved to their centroid."""
    return aside(lambda: Tree(points - points.mean(axis=0)), tick)


def rows_at_once(max_nn: int) -> int:
    """How many points make a chunk whose search and use cannot keep the call from stopping."""
    return max(1, min(CHUNK, _MOST_NEIGHBOURS // max_nn))


def search(tree: Tree, start: int, stop: int, radius: float, max_nn: int) -> Neighbours:
    """The up to `max_nn` nearest points nearer than `radius` of the tree's points `start:stop`.

    Returns
    -------
    indices : (stop - start, K) int32
        The point itself (or a duplicate of it) first, the others in any order; unused places hold -1.
    squared : (stop - start, K) float32
        Squared distances; infinite in unused places.
    """
    squared, rows = tree.query(tree.data[start:stop], max_nn, radius)
    return rows, squared.astype(np.float32)
