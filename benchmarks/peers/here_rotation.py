"""HERE's second and third stage: with the translation known, the axis that keeps one pair, then the angle."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from benchmarks.peers.here_order import agree
from benchmarks.peers.here_stab import inside, stab, wrapped

TURN = 2.0 * math.pi


@njit(cache=True, nogil=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(cache=True, nogil=True)
def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@njit(cache=True, nogil=True)
def across(m):
    """Two unit vectors that complete a unit vector to a frame."""
    k = np.argmin(np.abs(m))
    a = -m[k] * m
    a[k] += 1.0
    a /= math.sqrt(dot(a, a))
    return a, cross(m, a)


@njit(cache=True, nogil=True)
def axis_arcs(a, b, moves, width):
    """Where on the half circle cos φ a + sin φ b an axis is within width of orthogonal to each move y - t - x.

    A move of a right pair is orthogonal to the axis, since a rotation keeps the part along it. Angles are modulo π.
    """
    starts, ends = np.empty(len(moves)), np.empty(len(moves))
    for i in range(len(moves)):
        u, v = dot(moves[i], a), dot(moves[i], b)
        size = math.sqrt(u * u + v * v)
        if size <= width:
            starts[i], ends[i] = 0.0, math.pi
        else:
            middle, half = math.atan2(v, u) + 0.5 * math.pi, math.asin(width / size)
            starts[i], ends[i] = wrapped(middle - half, math.pi), wrapped(middle + half, math.pi)
    return starts, ends


@njit(cache=True, nogil=True)
def find_axis(x, y, translation, members, width, edge_limit, samples):
    """The axis that most members agree with, on the circles orthogonal to the first members' moves; and who agrees.

    Only members whose lengths agree with the sample's vote. `x` and `y` have coordinates as rows.
    """
    n = len(members)
    moves = np.empty((n, 3))
    for i in range(n):
        for c in range(3):
            moves[i, c] = y[c, members[i]] - translation[c] - x[c, members[i]]
    best, axis, kept = -1, np.array([0.0, 0.0, 1.0]), np.zeros(n, dtype=np.bool_)
    for k in range(min(samples, n)):
        size = math.sqrt(dot(moves[k], moves[k]))
        m = moves[k] / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        a, b = across(m)
        starts, ends = axis_arcs(a, b, moves, width)
        for i in range(n):
            if i == k or not agree(x, y, members[i], members[k], edge_limit):
                starts[i] = np.nan
        voting = ~np.isnan(starts)
        angle, count = stab(starts[voting], ends[voting])
        if count > best:
            best, axis = count, math.cos(angle) * a + math.sin(angle) * b
            for i in range(n):
                kept[i] = i == k or (voting[i] and inside(starts[i], ends[i], angle))
    return axis, members[kept]


@njit(cache=True, nogil=True)
def find_angle(x, y, translation, axis, members, width):
    """The turn about the axis that brings most members within width of their targets; and which."""
    n = len(members)
    starts, ends = np.full(n, np.nan), np.full(n, np.nan)
    for k in range(n):
        p, q = x[:, members[k]].copy(), y[:, members[k]] - translation
        along = dot(p, axis)
        rise = dot(q, axis) - along
        p -= along * axis
        q -= (along + rise) * axis
        # |q|² + |p|² - 2 |p| |q| cos(θ - ω) ≤ width² - rise²
        excess = dot(p, p) + dot(q, q) + rise * rise - width * width
        scale = 2.0 * math.sqrt(dot(p, p) * dot(q, q))
        if excess > scale:
            continue
        if excess <= -scale:
            starts[k], ends[k] = 0.0, TURN
        else:
            middle = math.atan2(dot(axis, cross(p, q)), dot(p, q))
            half = math.acos(excess / scale)
            starts[k], ends[k] = wrapped(middle - half, TURN), wrapped(middle + half, TURN)
    some = ~np.isnan(starts)
    angle, _ = stab(starts[some], ends[some])
    kept = np.zeros(n, dtype=np.bool_)
    for k in range(n):
        kept[k] = some[k] and inside(starts[k], ends[k], angle)
    return angle, members[kept]
