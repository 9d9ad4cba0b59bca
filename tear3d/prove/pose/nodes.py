"""Nodes of the search for the whole pose: boxes of poses, where they start, how they are split."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray
from tear3d.prove.domains.rotations import FACES
from tear3d.prove.stage import BOUND, CELL, OPEN

FACE = CELL
LOW = CELL + 1
HIGH = LOW + 6
LIST = HIGH + 6
NODE = LIST + 1
"""Columns of a node: bound, phase, face, then the least and the largest g (3) and t (3), and the number of the list of
the pairs that matter in it (0: all)."""
EVERYWHERE = -1
"""The face of a node of all rotations: votes shrink its box of t, nothing else is done with it."""
Sides = dict[int, tuple[float, float, float]]
"""Faces, and how far g goes on each along its three axes."""
VOTES, BOXES, NEAR = 0, 1, 2
"""Phases: cells to be bounded by votes, boxes to be searched by slopes, and boxes whose poses are all near the
incumbent."""

SMALL_TURN = 0.8
"""Votes say little more when the rotations of a node move a typical point by less than this many noise bounds, ..."""
LARGEST_TURN = 1.5
SMALL_BOX = 2.0
"""... or by less than so many while its box of t is no wider than this many times what a point can move (free
choices, part of no bound; made on five real pairs and 10⁷ synthetic ones, where a factor of 1.5 either way made at most
a tenth of the time)."""
KEEP_WHOLE = 0.17
"""How far from the incumbent, in widths, a node that holds it is cut: where it lies on the edge of several, the work
around it is done in each (free choice)."""
REACH = 0.45
"""What a side of a cell moves a coordinate of a typical point by, as a share of what it moves the point by, ..."""
ENOUGH = 0.9
"""... and the share of the threshold to which the next split should bring the bound (free choices)."""
HALF_TURNS = np.array(
    [
        np.eye(4),
        [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, -1, 0]],
        [[0, 0, -1, 0], [0, 0, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]],
        [[0, 0, 0, -1], [0, 0, 1, 0], [0, -1, 0, 0], [1, 0, 0, 0]],
    ]
)
"""Quaternions of a face: (1, g) times half a turn about the axis of the face."""


def roots(
    low: FloatArray, high: FloatArray, bound: float, sides: Sides | None = None, parts: int = 3, halves: int = 3
) -> FloatArray:
    """All rotations, or those of some faces and half sides of g, with translations from low to high: each side in so
    many parts, an odd number, so that the incumbent is in the middle of one. Short sides, all of whose parts would be
    near the incumbent, are cut in two for the threads if they are among the so many longest."""
    nodes = [
        [bound, VOTES, face, g0[0], g1[0], g2[0], *low, g0[1], g1[1], g2[1], *high, 0]
        for face, reach in (sides or dict.fromkeys(range(FACES), (1.0, 1.0, 1.0))).items()
        for g0, g1, g2 in product(*_parts(reach, parts, halves))
    ]
    return np.array(nodes)


def _parts(reach: tuple[float, float, float], parts: int, halves: int) -> list[list[tuple[float, float]]]:
    """Sides from −reach to reach in parts."""
    longest, out = sorted(range(3), key=lambda k: -reach[k])[:halves], []
    for k, side in enumerate(reach):
        count = parts if side > 1.0 / 3.0 else 2 if k in longest and side > 0.0 else 1
        out.append(list(pairwise(side * ((2 * j - count) / count) + 0.0 for j in range(count + 1))))
    return out


def everywhere(low: FloatArray, high: FloatArray, bound: float) -> FloatArray:
    """All rotations at once, with translations from low to high."""
    return np.array([bound, VOTES, EVERYWHERE, 0, 0, 0, *low, 0, 0, 0, *high, 0])


def no_nodes() -> FloatArray:
    return np.empty((0, NODE))


@njit(cache=True, nogil=True, inline="always")
def place_to_cut(node, side):
    """Where to cut a side in two: in the middle, but not near the incumbent (face 0, all zeros)."""
    cut = 0.5 * (node[LOW + side] + node[HIGH + side])
    away = KEEP_WHOLE * (node[HIGH + side] - node[LOW + side])
    if node[FACE] == 0.0 and abs(cut) < away:
        cut += away if cut > 0.0 else -away
    return cut


@njit(cache=True, nogil=True, inline="always")
def turns(node, radius):
    """How far half of each side of g moves a typical point."""
    c0, c1, c2 = (
        0.5 * (node[LOW] + node[HIGH]),
        0.5 * (node[LOW + 1] + node[HIGH + 1]),
        0.5 * (node[LOW + 2] + node[HIGH + 2]),
    )
    square = c0 * c0 + c1 * c1 + c2 * c2
    f = radius / (1.0 + square)
    return (
        f * (node[HIGH] - node[LOW]) * np.sqrt(1.0 + square - c0 * c0),
        f * (node[HIGH + 1] - node[LOW + 1]) * np.sqrt(1.0 + square - c1 * c1),
        f * (node[HIGH + 2] - node[LOW + 2]) * np.sqrt(1.0 + square - c2 * c2),
    )


@njit(cache=True, nogil=True, inline="always")
def is_ready(node, xi, radius):
    """Whether a node is to be searched on by slopes."""
    t0, t1, t2 = turns(node, radius)
    turn = max(t0, t1, t2)
    width = 0.5 * max(node[HIGH + 3] - node[LOW + 3], node[HIGH + 4] - node[LOW + 4], node[HIGH + 5] - node[LOW + 5])
    return turn <= SMALL_TURN * xi or (turn <= LARGEST_TURN * xi and width <= SMALL_BOX * (xi + turn))


@njit(cache=True, nogil=True, inline="always")
def sides_to_halve(node, xi, radius, threshold):
    """Which sides of g to halve: the fewest that should bring the bound below the threshold, those that matter
    first."""
    t0, t1, t2 = turns(node, radius)
    halve0, halve1, halve2 = False, False, False
    before = xi + REACH * (t0 + t1 + t2)
    for _ in range(3):
        u0, u1, u2 = 0.0 if halve0 else t0, 0.0 if halve1 else t1, 0.0 if halve2 else t2
        if max(u0, u1, u2) == 0.0:  # the halves of a side without length would be the same cell
            break
        if u0 >= u1 and u0 >= u2:
            halve0 = True
        elif u1 >= u2:
            halve1 = True
        else:
            halve2 = True
        after = xi + REACH * (
            (0.5 * t0 if halve0 else t0) + (0.5 * t1 if halve1 else t1) + (0.5 * t2 if halve2 else t2)
        )
        if node[BOUND] * (after / before) ** 3 <= ENOUGH * threshold:
            break
    return halve0, halve1, halve2


def describe(nodes: FloatArray, fate: FloatArray | float = OPEN, chart: FloatArray | None = None) -> FloatArray:
    """For the record: rotation vector of the centre of each, angular radius, depth, fate. Part of no bound."""
    width = nodes[:, HIGH : HIGH + 3] - nodes[:, LOW : LOW + 3]
    turns = _rotation_vectors(nodes[:, FACE], nodes[:, LOW : LOW + 3] + 0.5 * width)
    out = np.empty((len(nodes), 6))
    out[:, :3] = turns if chart is None else turns @ chart.T
    out[:, 3] = largest_angles(nodes)
    out[:, 4] = np.round(-np.log2(np.maximum(2.0**-60, np.where(width > 0.0, width, 2.0).min(axis=1))))
    out[:, 5] = fate
    return out


def largest_angles(nodes: FloatArray) -> FloatArray:
    """The largest angle between a rotation of a node and that of its centre, as in `cell_frame`, without a margin."""
    low, high = nodes[:, LOW : LOW + 3], nodes[:, HIGH : HIGH + 3]
    half, c = 0.5 * (high - low), 0.5 * (high + low)
    length = 1.0 + np.einsum("ij,ij->i", c, c)
    radius = np.sqrt(np.einsum("ij,ij->i", half, half) / length)
    return np.asarray(2.0 * np.arctan(radius / (1.0 - np.einsum("ij,ij->i", half, np.abs(c)) / length)))


def _rotation_vectors(face: FloatArray, c: FloatArray) -> FloatArray:
    """Axis times angle of the rotations at chart points."""
    q = np.ones((len(c), 4))
    q[:, 1:] = c
    q = np.einsum("nij,nj->ni", HALF_TURNS[face.astype(np.int64)], q)
    q *= np.copysign(1.0, q[:, :1])
    size = np.sqrt(np.einsum("ij,ij->i", q[:, 1:], q[:, 1:]))
    angle = 2.0 * np.arctan2(size, q[:, 0])
    return np.asarray(q[:, 1:] * (angle / np.maximum(size, 1e-300))[:, None])
