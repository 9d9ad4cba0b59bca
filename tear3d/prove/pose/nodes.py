"""Nodes of the search for the whole pose: boxes of poses, where they start, how they are split by votes, when not."""

from __future__ import annotations

from itertools import product

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.prove.bounds.votes import vote
from tear3d.prove.domains.rotations import FACES, cell_frame
from tear3d.prove.driver import BOUND, CELL, OPEN

FACE = CELL
LOW = CELL + 1
HIGH = LOW + 6
NODE = HIGH + 6
"""Columns of a node: bound, phase, face, then the least and the largest g (3) and t (3)."""
VOTES, BOXES = 0, 1
"""Phases: nodes to be bounded by votes, and boxes to be searched by slopes."""

SMALL_TURN = 0.7
"""Votes say little more when the rotations of a node move a typical point by less than this many noise bounds, ..."""
SMALL_BOX = 2.0
"""... or when its box of t is no wider than this many times what a point can move (free choices, part of no bound)."""
EVEN = 0.5
"""Sides of a cell are halved together when the effect of each is at least this share of the largest (free choice)."""


def roots(low: FloatArray, high: FloatArray, bound: float) -> FloatArray:
    """All rotations in 4·3³ cells, with translations from low to high; the incumbent is in the middle of one."""
    sides = [(-1.0, -1.0 / 3.0), (-1.0 / 3.0, 1.0 / 3.0), (1.0 / 3.0, 1.0)]
    cells = [np.array(cell).T for cell in product(sides, repeat=3)]
    return np.array([[bound, VOTES, face, *g[0], *low, *g[1], *high] for face in range(FACES) for g in cells])


def no_nodes() -> FloatArray:
    return np.empty((0, NODE))


@njit(cache=True, nogil=True)
def bound_by_votes(points, votes, nodes, threshold, eps, booth):
    """Bound nodes and shrink their boxes of t, in place; returns the largest bound of what was cut off or pruned."""
    closed = 0.0
    for m in range(nodes.shape[0]):
        node = nodes[m]
        frame = cell_frame(
            int(node[FACE]), (node[LOW], node[LOW + 1], node[LOW + 2]), (node[HIGH], node[HIGH + 1], node[HIGH + 2])
        )
        low = (node[LOW + 3], node[LOW + 4], node[LOW + 5])
        high = (node[HIGH + 3], node[HIGH + 4], node[HIGH + 5])
        tally = vote(points, votes, frame, low, high, threshold, eps, booth)
        closed = max(closed, min(node[BOUND], tally.cut))
        node[BOUND] = min(node[BOUND], tally.bound)
        if node[BOUND] <= threshold:
            closed = max(closed, node[BOUND])
        node[LOW + 3], node[LOW + 4], node[LOW + 5] = tally.low
        node[HIGH + 3], node[HIGH + 4], node[HIGH + 5] = tally.high
    return closed


def turns(nodes: FloatArray, radius: float) -> FloatArray:
    """How far half of each side of g moves a typical point."""
    low, high = nodes[:, LOW : LOW + 3], nodes[:, HIGH : HIGH + 3]
    half, centre = 0.5 * (high - low), 0.5 * (high + low)
    square = np.sum(centre**2, axis=1, keepdims=True)
    return np.asarray(2.0 * radius * half * np.sqrt(1.0 + square - centre**2) / (1.0 + square))


def ready(nodes: FloatArray, xi: float, radius: float) -> NDArray[np.bool_]:
    """Which nodes are to be searched on by slopes."""
    turn = turns(nodes, radius).max(axis=1, initial=0.0)
    width = 0.5 * (nodes[:, HIGH + 3 : HIGH + 6] - nodes[:, LOW + 3 : LOW + 6]).max(axis=1, initial=0.0)
    return np.asarray((turn <= SMALL_TURN * xi) | (width <= SMALL_BOX * (xi + turn)))


def split(nodes: FloatArray, radius: float) -> FloatArray:
    """Halve the sides of g that matter most: two, four or eight children a node."""
    effect = turns(nodes, radius)
    halve = effect >= EVEN * effect.max(axis=1, keepdims=True, initial=0.0)
    for j in range(3):
        wide = nodes[halve[:, j]].copy()
        middle = 0.5 * (wide[:, LOW + j] + wide[:, HIGH + j])
        lower = nodes.copy()
        lower[halve[:, j], HIGH + j] = middle
        wide[:, LOW + j] = middle
        nodes = np.concatenate([lower, wide])
        halve = np.concatenate([halve, halve[halve[:, j]]])
    return nodes


def describe(nodes: FloatArray, axis: FloatArray, fate: FloatArray | float = OPEN) -> FloatArray:
    """For the record: where an axis of the source points after the centre of each, angular radius, depth, fate.

    `axis` is where the incumbent turns it. Part of no bound.
    """
    low, high = nodes[:, LOW : LOW + 3], nodes[:, HIGH : HIGH + 3]
    half, c = 0.5 * (high - low), 0.5 * (high + low)
    square = np.sum(c**2, axis=1)
    number = nodes[:, FACE, None]
    v = np.where((number == 0) | (number - 1 == np.arange(3)), 1.0, -1.0) * axis
    turned = (1.0 - square)[:, None] * v + 2.0 * np.sum(c * v, axis=1)[:, None] * c + 2.0 * np.cross(c, v)
    length = np.sqrt(np.sum(half**2, axis=1) / (1.0 + square))
    angle = 2.0 * np.arctan(length / (1.0 - np.sum(half * np.abs(c), axis=1) / (1.0 + square)))
    depth = np.round(-np.log2(np.maximum(2.0**-60, np.min(high - low, axis=1, initial=2.0))))
    size = np.linalg.norm(turned, axis=1, keepdims=True)
    return np.column_stack([turned / size, angle, depth, np.broadcast_to(fate, len(nodes))])
