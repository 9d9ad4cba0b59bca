"""Cells of poses and the poses that are allowed: what can be cut off, and what is wholly outside (mathematics.md, 12).

The rotations of a cell are A C(g) F with a chart A, a rotation that is the same for all of a search: its third column
is the axis when there is one, so that turns about it are the line g = (0, 0, g₃) of the faces 0 and 3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.prove.bounds.groups import moves
from tear3d.prove.domains.rotations import CellFrame, Nine, Triple, turned

SLACK = 1e-7
"""Radians by which an angle from its cosine may be off: √(2·20·2⁻⁵³) is less (section 12.3)."""
PLAIN: Nine = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
"""The plain chart."""


class Allowed(NamedTuple):
    """The poses that are allowed, for packed pairs: those with R s within `tilt` of a, trace(R Bᵀ) of an angle up to
    `turn`, and R p + t within `distance` of q and, along a, within `slide`. Where all are, in the plain chart, kernels
    get None, and are compiled without what follows."""

    chart: Nine
    axis: Triple
    source_axis: Triple
    tilt: float
    """Negative where the cells see to it by themselves, as is ..."""
    centre: Nine
    turn: float
    """... this, and not a bound either."""
    point: Triple
    place: Triple
    distance: float
    slide: float
    margin: float
    """Rounding of a place."""


@njit(cache=True, nogil=True, inline="always")
def _columns(chart, n):
    """Chart times the columns of a matrix given by rows, by rows."""
    a00, a01, a02, a10, a11, a12, a20, a21, a22 = chart
    return (
        a00 * n[0] + a01 * n[3] + a02 * n[6],
        a00 * n[1] + a01 * n[4] + a02 * n[7],
        a00 * n[2] + a01 * n[5] + a02 * n[8],
        a10 * n[0] + a11 * n[3] + a12 * n[6],
        a10 * n[1] + a11 * n[4] + a12 * n[7],
        a10 * n[2] + a11 * n[5] + a12 * n[8],
        a20 * n[0] + a21 * n[3] + a22 * n[6],
        a20 * n[1] + a21 * n[4] + a22 * n[7],
        a20 * n[2] + a21 * n[5] + a22 * n[8],
    )


@njit(cache=True, nogil=True)
def turned_in(allowed, face, g):
    """The rotation at chart point g of a face, by rows."""
    rotation = turned(face, g, 1.0)
    if allowed is not None:
        rotation = _columns(allowed.chart, rotation)
    return rotation


@njit(cache=True, nogil=True, inline="always")
def charted(frame, chart):
    """A frame of the plain chart in another."""
    u = frame.axes
    # The axes are columns one after the other: as a matrix by rows, transposed.
    v = _columns(chart, (u[0], u[3], u[6], u[1], u[4], u[7], u[2], u[5], u[8]))
    return CellFrame(
        _columns(chart, frame.rotation),
        (v[0], v[3], v[6], v[1], v[4], v[7], v[2], v[5], v[8]),
        frame.half,
        frame.remainder,
        frame.cosine,
        frame.sine,
        frame.angle,
        frame.inward,
        frame.stretch,
        frame.bend,
        frame.pace,
    )


@njit(cache=True, nogil=True)
def angle_of_cosine(cosine):
    """Of one that may be off by a rounding."""
    return np.arccos(min(1.0, max(-1.0, cosine)))


@njit(cache=True, nogil=True)
def _angles(allowed, r):
    """How far a rotation, by rows, is from the axis and from the centre; 0 where that is no matter."""
    tilt, turn = 0.0, 0.0
    if allowed.tilt >= 0.0:
        a, s = allowed.axis, allowed.source_axis
        for k in range(3):
            tilt += a[k] * (r[3 * k] * s[0] + r[3 * k + 1] * s[1] + r[3 * k + 2] * s[2])
        tilt = angle_of_cosine(tilt)
    if allowed.turn >= 0.0:
        for k in range(9):
            turn += r[k] * allowed.centre[k]
        turn = angle_of_cosine(0.5 * (turn - 1.0))
    return tilt, turn


@njit(cache=True, nogil=True)
def turns_allowed(allowed, frame):
    """False where no rotation of a cell is allowed."""
    r = frame.rotation
    inward = 1.0 / frame.inward
    full = (r[0] * inward, r[1] * inward, r[2] * inward, r[3] * inward, r[4] * inward, r[5] * inward, r[6] * inward,
            r[7] * inward, r[8] * inward)  # fmt: skip
    tilt, turn = _angles(allowed, full)
    reach = frame.angle + SLACK
    return (allowed.tilt < 0.0 or tilt - reach <= allowed.tilt) and (allowed.turn < 0.0 or turn - reach <= allowed.turn)


@njit(cache=True, nogil=True)
def confine(allowed, frame, low, high):
    """What of the t from low to high is allowed with some rotation of a cell: whether anything is, and the smaller box.
    Nothing that is allowed is cut off."""
    r = frame.rotation
    if not turns_allowed(allowed, frame):
        return False, low, high
    p, q, a, far = allowed.point, allowed.place, allowed.axis, allowed.distance + allowed.margin
    least, largest = moves(frame, p)
    # t + R p − q along each axis is t less these.
    c0, c1, c2 = (
        q[0] - (r[0] * p[0] + r[1] * p[1] + r[2] * p[2]),
        q[1] - (r[3] * p[0] + r[4] * p[1] + r[5] * p[2]),
        q[2] - (r[6] * p[0] + r[7] * p[1] + r[8] * p[2]),
    )
    d0, d1, d2 = c0 - largest[0], c1 - largest[1], c2 - largest[2]
    u0, u1, u2 = c0 - least[0], c1 - least[1], c2 - least[2]
    l0, l1, l2 = max(low[0], d0 - far), max(low[1], d1 - far), max(low[2], d2 - far)
    h0, h1, h2 = min(high[0], u0 + far), min(high[1], u1 + far), min(high[2], u2 + far)
    if l0 > h0 or l1 > h1 or l2 > h2:
        return False, low, high
    g0, g1, g2 = max(0.0, l0 - u0, d0 - h0), max(0.0, l1 - u1, d1 - h1), max(0.0, l2 - u2, d2 - h2)
    if g0 * g0 + g1 * g1 + g2 * g2 > far * far:
        return False, low, high
    if allowed.slide < np.inf:
        # Σ a_k (t_k − c_k) within the slide: what the other two coordinates leave to each.
        e0, e1, e2 = abs(a[0]) * (h0 - l0), abs(a[1]) * (h1 - l1), abs(a[2]) * (h2 - l2)
        s0, s1, s2 = abs(a[0]) * (u0 - d0), abs(a[1]) * (u1 - d1), abs(a[2]) * (u2 - d2)
        middle = 0.5 * (a[0] * (l0 + h0 - d0 - u0) + a[1] * (l1 + h1 - d1 - u1) + a[2] * (l2 + h2 - d2 - u2))
        room = allowed.slide + allowed.margin + 0.5 * (s0 + s1 + s2)
        if abs(middle) > room + 0.5 * (e0 + e1 + e2):
            return False, low, high
        l0, h0 = _along(a[0], l0, h0, middle, room + 0.5 * (e1 + e2))
        l1, h1 = _along(a[1], l1, h1, middle, room + 0.5 * (e0 + e2))
        l2, h2 = _along(a[2], l2, h2, middle, room + 0.5 * (e0 + e1))
    return l0 <= h0 and l1 <= h1 and l2 <= h2, (l0, l1, l2), (h0, h1, h2)


@njit(cache=True, nogil=True, inline="always")
def _along(a, low, high, middle, room):
    """What of one coordinate is left when a·(coordinate − its middle) + middle may be within ± room."""
    if abs(a) < 0.5:  # the others cut better
        return low, high
    centre = 0.5 * (low + high)
    first, last = centre + (-room - middle) / a, centre + (room - middle) / a
    if a < 0.0:
        first, last = last, first
    slack = 1e-15 * (abs(low) + abs(high) + abs(centre))
    return max(low, first - slack), min(high, last + slack)


@njit(cache=True, nogil=True)
def permits(allowed, face, pose):
    """Whether the pose at chart point pose[0:3] of a face and t = pose[3:6] is allowed."""
    r = turned_in(allowed, face, (pose[0], pose[1], pose[2]))
    tilt, turn = _angles(allowed, r)
    if (allowed.tilt >= 0.0 and tilt > allowed.tilt) or (allowed.turn >= 0.0 and turn > allowed.turn):
        return False
    p, q, a = allowed.point, allowed.place, allowed.axis
    square, along = 0.0, 0.0
    for k in range(3):
        away = r[3 * k] * p[0] + r[3 * k + 1] * p[1] + r[3 * k + 2] * p[2] + pose[3 + k] - q[k]
        square += away * away
        along += a[k] * away
    far = allowed.distance + allowed.margin
    return square <= far * far and abs(along) <= allowed.slide + allowed.margin
