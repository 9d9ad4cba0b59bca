"""Near the incumbent and elsewhere: which boxes are which, and up to which bounds each kind is closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray
from tear3d.prove.domains.allowed import PLAIN, turned_in
from tear3d.prove.pose.nodes import FACE, HIGH, LOW

STRAIGHT = 1.0 + 1e-9
"""Covers the rounding of what a box moves points by."""


class Slacks(NamedTuple):
    """How far above the incumbent nodes are closed."""

    near: float
    """Near it, when their bound is at most (1 + near)·incumbent, ..."""
    share: float
    far: float
    """... elsewhere at the larger of share·incumbent and (1 + far)·the best known pose elsewhere."""


class Setting(NamedTuple):
    """What is the same for all boxes of a search."""

    xi: float
    radius: float
    """Typical ξ and |x|: part of no bound."""
    eps: float
    unit: float
    """Rounding of a residual in float64, and the unit roundoff of the points at home."""
    slacks: Slacks
    loss: int
    farthest: float
    zone: float
    """No point is farther out; what lies within `zone` of where the incumbent leaves every point is near, ..."""
    elsewhere: float
    """... and what moves some point by more than this is elsewhere; in between lies neither."""
    tips: FloatArray


@njit(cache=True, nogil=True)
def is_near(node, farthest, zone):
    """Whether every pose of a box moves every point by at most `zone` from where the identity leaves it."""
    if node[FACE] != 0.0:
        return False
    turn, shift = 0.0, 0.0
    for j in range(3):
        g = max(abs(node[LOW + j]), abs(node[HIGH + j]))
        t = max(abs(node[LOW + 3 + j]), abs(node[HIGH + 3 + j]))
        turn += g * g
        shift += t * t
    return (2.0 * np.sqrt(turn) * farthest + np.sqrt(shift)) * STRAIGHT <= zone


@njit(cache=True, nogil=True)
def is_elsewhere(allowed, face, pose, tips, distance):
    """Whether a pose moves a point of the cloud farther than `distance` from where the identity leaves it: the mean,
    which no cloud moves farther than its points, or one of the tips."""
    if pose[3] * pose[3] + pose[4] * pose[4] + pose[5] * pose[5] > distance * distance:
        return True
    r = turned_in(allowed, face, (pose[0], pose[1], pose[2]))
    c = PLAIN
    if allowed is not None:
        c = allowed.chart
    for i in range(tips.shape[0]):
        x0, x1, x2 = tips[i]
        e0 = (r[0] - c[0]) * x0 + (r[1] - c[1]) * x1 + (r[2] - c[2]) * x2 + pose[3]
        e1 = (r[3] - c[3]) * x0 + (r[4] - c[4]) * x1 + (r[5] - c[5]) * x2 + pose[4]
        e2 = (r[6] - c[6]) * x0 + (r[7] - c[7]) * x1 + (r[8] - c[8]) * x2 + pose[5]
        if e0 * e0 + e1 * e1 + e2 * e2 > distance * distance:
            return True
    return False


@njit(cache=True, nogil=True)
def farthest_square(x, turn, shift):
    """The largest |turn·x + shift|² of points as rows."""
    farthest = 0.0
    for i in range(x.shape[0]):
        square = 0.0
        for row in range(3):
            moved = turn[row, 0] * x[i, 0] + turn[row, 1] * x[i, 1] + turn[row, 2] * x[i, 2] + shift[row]
            square += moved * moved
        farthest = max(farthest, square)
    return farthest


def elsewhere_limit(saving: float, far: float, slacks: Slacks) -> float:
    """The bound up to which nodes elsewhere are closed."""
    return min(saving * (1.0 + slacks.near), max(slacks.share * saving, far * (1.0 + slacks.far)))


_elsewhere_limit = njit(cache=True, nogil=True)(elsewhere_limit)


@njit(cache=True, nogil=True)
def thresholds(saving, far, slacks):
    """The bounds up to which nodes near the incumbent and elsewhere are closed."""
    return saving * (1.0 + slacks.near), _elsewhere_limit(saving, far, slacks)
