"""Points about the pose at the middle of a box, in which smaller boxes are searched (mathematics.md, section 8.4)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import point_saving
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.slopes import BOUND_OF, LANES, LENGTH, LOCAL, PLACE, RESIDUAL, ROWS, WEIGHT, Box
from tear3d.prove.domains.allowed import turned_in
from tear3d.prove.domains.rotations import UP
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, NEAR
from tear3d.prove.stage import PHASE

SINGLE_UP = 1.0 + 2.0**-22
"""Covers the rounding of ξ and w to float32."""
STEEP = 1.5
"""Slopes of tangents, see section 8.3 (free choice, made on five real pairs: 1 takes a quarter more boxes, 2 as many),
..."""
STEEPER, TOUCH = 4.0, 0.5
"""... and in boxes near the incumbent, where they touch so far on the way from the middle of a box to its place nearest
to the incumbent (free choices, made on twelve synthetic problems, with half of the boxes of 1.5 and 0, and on ten real
pairs, with a tenth fewer; 2.5 and 0.3 to 0.7 are nearly as good)."""
TINY = 1e-300
"""A side of an empty box has at least this length."""


class Home(NamedTuple):
    """The pose at the middle of a box."""

    rotation: FloatArray
    shift: FloatArray


def padded(n: int) -> int:
    """Places for n points that are looked at LANES at a time."""
    return -(-n // LANES) * LANES


@njit(cache=True, nogil=True)
def fill_up(points, start, stop):
    """Fill points[start:stop] up to a multiple of LANES with points that save nothing; returns where they end."""
    end = start + (stop - start + LANES - 1) // LANES * LANES
    for row in range(ROWS):
        for k in range(stop, end):
            points[row, k] = 0.0
    return end


@njit(cache=True, nogil=True)
def settle(node, home, allowed):
    """Make the middle of a box the home."""
    g = (0.5 * (node[LOW] + node[HIGH]), 0.5 * (node[LOW + 1] + node[HIGH + 1]), 0.5 * (node[LOW + 2] + node[HIGH + 2]))
    rotation = turned_in(allowed, int(node[FACE]), g)
    for k in range(3):
        for j in range(3):
            home.rotation[k, j] = rotation[3 * k + j]
        home.shift[k] = 0.5 * (node[LOW + 3 + k] + node[HIGH + 3 + k])


@njit(cache=True, nogil=True, inline="always")
def _put(points, k, x, y, home):
    """Write a pair at home, but for its ξ and w."""
    own = home.rotation
    for row in range(3):
        turned = own[row, 0] * x[0] + own[row, 1] * x[1] + own[row, 2] * x[2]
        points[PLACE + row, k] = turned
        points[RESIDUAL + row, k] = y[row] - turned - home.shift[row]
    points[LENGTH, k] = np.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])


@njit(cache=True, nogil=True)
def _gather(x, y, xi, w, index, frame, home, up, points):
    rotation, mean, shift = frame
    shared, equal = xi.size == 1, w.size == 1
    for k in range(index.size):
        i = index[k]
        a, b, c = x[i, 0] - mean[0], x[i, 1] - mean[1], x[i, 2] - mean[2]
        turned = (
            rotation[0, 0] * a + rotation[0, 1] * b + rotation[0, 2] * c,
            rotation[1, 0] * a + rotation[1, 1] * b + rotation[1, 2] * c,
            rotation[2, 0] * a + rotation[2, 1] * b + rotation[2, 2] * c,
        )
        _put(points, k, turned, (y[i, 0] - shift[0], y[i, 1] - shift[1], y[i, 2] - shift[2]), home)
        points[BOUND_OF, k] = up * (xi[0] if shared else xi[i])
        points[WEIGHT, k] = up * (w[0] if equal else w[i])


def gather(
    pairs: Pairs, frame: tuple[FloatArray, ...], index: NDArray[np.int32], home: Home, points: NDArray[Any]
) -> int:
    """Write some pairs, packed by (rotation, mean, shift), into the front of `points`; returns where they end."""
    up = SINGLE_UP if points.dtype == np.float32 else 1.0
    _gather(pairs.x, pairs.y, pairs.xi, pairs.w, index, frame, home, up, points)
    return int(fill_up(points, 0, len(index)))


@njit(cache=True, nogil=True)
def gather_voters(voters, start, stop, w, home, points):
    """Write some voters, which lie close together in memory, into the front of `points`; `w` are their weights, or one
    for all. Returns where they end."""
    rows = voters.rows
    shared, equal = voters.xi.size == 1, w.size == 1
    for k in range(stop - start):
        i = start + k
        x = (np.float64(rows[0, i]), np.float64(rows[1, i]), np.float64(rows[2, i]))
        _put(points, k, x, (np.float64(rows[3, i]), np.float64(rows[4, i]), np.float64(rows[5, i])), home)
        points[BOUND_OF, k] = voters.xi[0 if shared else i]
        points[WEIGHT, k] = SINGLE_UP * w[0 if equal else k]
    return fill_up(points, np.int64(0), stop - start)  # a literal 0 would be a type of its own


@njit(cache=True, nogil=True, inline="always")
def _turn(r, home):
    """D: a rotation, times some factor, is (I + D) times home's."""
    h = home.rotation
    return (
        r[0] * h[0, 0] + r[1] * h[0, 1] + r[2] * h[0, 2] - 1.0,
        r[0] * h[1, 0] + r[1] * h[1, 1] + r[2] * h[1, 2],
        r[0] * h[2, 0] + r[1] * h[2, 1] + r[2] * h[2, 2],
        r[3] * h[0, 0] + r[4] * h[0, 1] + r[5] * h[0, 2],
        r[3] * h[1, 0] + r[4] * h[1, 1] + r[5] * h[1, 2] - 1.0,
        r[3] * h[2, 0] + r[4] * h[2, 1] + r[5] * h[2, 2],
        r[6] * h[0, 0] + r[7] * h[0, 1] + r[8] * h[0, 2],
        r[6] * h[1, 0] + r[7] * h[1, 1] + r[8] * h[1, 2],
        r[6] * h[2, 0] + r[7] * h[2, 1] + r[8] * h[2, 2] - 1.0,
    )


@njit(cache=True, nogil=True)
def _length(values):
    total = 0.0
    for value in values:
        total += value * value
    return np.sqrt(total)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _nearest(low, high):
    """Where a side is nearest to zero, from the middle on, in half sides, as far as tangents follow it."""
    half = 0.5 * (high - low)
    return TOUCH * min(1.0, max(-1.0, -0.5 * (low + high) / half)) if half > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _tangents(node):
    """Where tangents touch in a box, and how steep they are (section 8.3): near the incumbent, on its side."""
    if node[PHASE] != NEAR:
        return STEEP, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    return STEEPER, (
        _nearest(node[LOW], node[HIGH]),
        _nearest(node[LOW + 1], node[HIGH + 1]),
        _nearest(node[LOW + 2], node[HIGH + 2]),
        _nearest(node[LOW + 3], node[HIGH + 3]),
        _nearest(node[LOW + 4], node[HIGH + 4]),
        _nearest(node[LOW + 5], node[HIGH + 5]),
    )


@njit(cache=True, nogil=True)
def seen_from_home(node, frame, home, farthest, eps, unit):
    """A box, whose rotations have some frame, for points at home, none of which is farther out."""
    turn = _turn(frame.rotation, home)
    a, h = frame.axes, frame.half
    moves = (
        h[0] * a[0],
        h[0] * a[1],
        h[0] * a[2],
        h[1] * a[3],
        h[1] * a[4],
        h[1] * a[5],
        h[2] * a[6],
        h[2] * a[7],
        h[2] * a[8],
    )
    shift = (
        0.5 * (node[LOW + 3] + node[HIGH + 3]) - home.shift[0],
        0.5 * (node[LOW + 4] + node[HIGH + 4]) - home.shift[1],
        0.5 * (node[LOW + 5] + node[HIGH + 5]) - home.shift[2],
    )
    half = (
        0.5 * (node[HIGH + 3] - node[LOW + 3]) * UP + TINY,
        0.5 * (node[HIGH + 4] - node[LOW + 4]) * UP + TINY,
        0.5 * (node[HIGH + 5] - node[LOW + 5]) * UP + TINY,
    )
    steep, touch = _tangents(node)
    moved = (_length(turn) + _length(moves[:3]) + _length(moves[3:6]) + _length(moves[6:]) + frame.remainder) * farthest
    moved += _length(shift) + _length(half)
    return Box(turn, moves, shift, half, frame.remainder, eps + LOCAL * unit * moved, LOCAL * unit, steep, touch)


@njit(cache=True, nogil=True)
def saving_at(points, span, loss, home, allowed, face, pose):
    """What points[span] save at chart point pose[0:3] of a face and t = pose[3:6], nearly."""
    d = _turn(turned_in(allowed, face, (pose[0], pose[1], pose[2])), home)
    t0, t1, t2 = pose[3] - home.shift[0], pose[4] - home.shift[1], pose[5] - home.shift[2]
    total = 0.0
    for i in range(span[0], span[1]):
        p0, p1, p2 = points[PLACE, i], points[PLACE + 1, i], points[PLACE + 2, i]
        e0 = points[RESIDUAL, i] - (d[0] * p0 + d[1] * p1 + d[2] * p2) - t0
        e1 = points[RESIDUAL + 1, i] - (d[3] * p0 + d[4] * p1 + d[5] * p2) - t1
        e2 = points[RESIDUAL + 2, i] - (d[6] * p0 + d[7] * p1 + d[8] * p2) - t2
        square = e0 * e0 + e1 * e1 + e2 * e2
        xi = np.float64(points[BOUND_OF, i])
        if square <= xi * xi:
            total += points[WEIGHT, i] * point_saving(loss, xi, abs(e0) + abs(e1) + abs(e2), square)
    return total
