"""Loops of three: which edges do others bear out, before any pose is known?"""

from __future__ import annotations

import numpy as np

from tear3d.mapping.graph import TRUNCATION, IntArray, Measured
from tear3d.mapping.residuals import Poses, squares
from tear3d.problem.arrays import FloatArray

_EDGES = 3.0
"""Around a triangle the variances of three edges add up."""


def support(count: int, edges: Measured) -> tuple[IntArray, IntArray]:
    """For every edge, how many triangles through it close, and how many do not."""
    closed, open_ = np.zeros((2, len(edges)), np.int64)
    found = _triangles(count, edges)
    if len(found) == 0:
        return closed, open_
    edge, first, second = found.T
    turn, way = _from(edges, first, edges.i[edge])
    middle = np.where(edges.i[first] == edges.i[edge], edges.j[first], edges.i[first])
    onward, ahead = _from(edges, second, middle)
    rotations = np.stack([np.broadcast_to(np.eye(3), turn.shape), turn @ onward], axis=1).reshape(-1, 3, 3)
    shifts = np.stack([np.zeros(way.shape), np.einsum("eab,eb->ea", turn, ahead) + way], axis=1).reshape(-1, 3)
    rows = np.arange(len(found))
    alone = Measured(2 * rows, 2 * rows + 1, edges.rotations[edge], edges.shifts[edge], edges.whitening[edge])
    fits = squares(alone, Poses(rotations, shifts)) <= _EDGES * TRUNCATION
    np.add.at(closed, edge[fits], 1)
    np.add.at(open_, edge[~fits], 1)
    return closed, open_


def prices(count: int, edges: Measured) -> FloatArray:
    """What an edge costs in a tree: little if triangles bear it out, much if all of them speak against it."""
    closed, open_ = support(count, edges)
    return np.where(closed > 0, 1.0 / (1.0 + closed), 1.0 + open_)


def _triangles(count: int, edges: Measured) -> IntArray:
    """Rows: an edge (i, j), one between i and a third scan, and one between that and j."""
    touching: list[dict[int, list[int]]] = [{} for _ in range(count)]
    for edge, (a, b) in enumerate(zip(edges.i.tolist(), edges.j.tolist(), strict=True)):
        touching[a].setdefault(b, []).append(edge)
        touching[b].setdefault(a, []).append(edge)
    rows = [
        (edge, first, second)
        for edge, (a, b) in enumerate(zip(edges.i.tolist(), edges.j.tolist(), strict=True))
        for third in touching[a].keys() & touching[b].keys()
        for first in touching[a][third]
        for second in touching[third][b]
    ]
    return np.array(rows, np.int64).reshape(-1, 3)


def _from(edges: Measured, rows: IntArray, start: IntArray) -> tuple[FloatArray, FloatArray]:
    """The measurements as seen from one of their ends."""
    turn, way = edges.rotations[rows].copy(), edges.shifts[rows].copy()
    other = edges.i[rows] != start
    turn[other] = np.swapaxes(turn[other], 1, 2)
    way[other] = -np.einsum("eab,eb->ea", turn[other], way[other])
    return turn, way
