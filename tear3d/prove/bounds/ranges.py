"""Exact ranges of r·x_i while r runs through a cell, widened by a few units of rounding so that they hold."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_PAD = 32.0 * 2.0**-53
"""Relative to |x|₁: sixteen roundings, of x and of the vertices too, doubled (mathematics.md, section 3.2)."""

_POINT, _NARROW, _WIDE, _FULL = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _arc_mode(a1, a2):
    width = a2 - a1
    if width <= 0.0:
        return _POINT
    if width <= math.pi:
        return _NARROW
    return _WIDE if width < 2.0 * math.pi - 1e-9 else _FULL


@njit(cache=True, nogil=True)
def _arc_max(p, q, c1, s1, c2, s2, mode):
    """Largest p·cos a + q·sin a on an arc from (c1, s1) to (c2, s2), the shape of which `mode` tells.

    The peak √(p² + q²) counts when (p, q) points into the arc. Next to the arc's ends rounding may get this
    test wrong, where the value at the end differs from the peak by a relative u² only.
    """
    if mode == _NARROW:
        inside = c1 * q - s1 * p >= 0.0 and p * s2 - q * c2 >= 0.0
    elif mode == _WIDE:
        inside = not (c2 * q - s2 * p > 0.0 and p * s1 - q * c1 > 0.0)
    else:
        inside = mode == _FULL
    if inside:
        return math.sqrt(p * p + q * q)
    return max(p * c1 + q * s1, p * c2 + q * s2)


@njit(cache=True, nogil=True)
def arc_ranges(x, u, v, a1, a2, lo, hi):
    """Range of r·x_i for r = cos a·u + sin a·v, a1 ≤ a ≤ a2, written into `lo` and `hi`."""
    c1, s1, c2, s2, mode = math.cos(a1), math.sin(a1), math.cos(a2), math.sin(a2), _arc_mode(a1, a2)
    for i in range(x.shape[0]):
        p = u[0] * x[i, 0] + u[1] * x[i, 1] + u[2] * x[i, 2]
        q = v[0] * x[i, 0] + v[1] * x[i, 1] + v[2] * x[i, 2]
        pad = _PAD * (abs(x[i, 0]) + abs(x[i, 1]) + abs(x[i, 2]))
        lo[i] = -_arc_max(-p, -q, c1, s1, c2, s2, mode) - pad
        hi[i] = _arc_max(p, q, c1, s1, c2, s2, mode) + pad


@njit(cache=True, nogil=True)
def rectangle_ranges(x, a1, a2, b1, b2, lo, hi):
    """Range of r·x_i for r = (sin β cos α, sin β sin α, cos β), α in [a1, a2], β in [b1, b2] ⊂ [0, π].

    Proposition 2 with the four-quadrant angle: first the range over α of x₁cos α + x₂sin α, then β. The two
    steps are exact because sin β ≥ 0.
    """
    c1, s1, c2, s2, mode = math.cos(a1), math.sin(a1), math.cos(a2), math.sin(a2), _arc_mode(a1, a2)
    k1, z1, k2, z2, tilt = math.cos(b1), math.sin(b1), math.cos(b2), math.sin(b2), _arc_mode(b1, b2)
    for i in range(x.shape[0]):
        pad = _PAD * (abs(x[i, 0]) + abs(x[i, 1]) + abs(x[i, 2]))
        low = -_arc_max(-x[i, 0], -x[i, 1], c1, s1, c2, s2, mode)
        high = _arc_max(x[i, 0], x[i, 1], c1, s1, c2, s2, mode)
        lo[i] = -_arc_max(-x[i, 2], -low, k1, z1, k2, z2, tilt) - pad
        hi[i] = _arc_max(x[i, 2], high, k1, z1, k2, z2, tilt) + pad


@njit(cache=True, nogil=True)
def cell_ranges(x, vertices, lo, hi):
    """Range of r·x_i over a convex spherical quadrilateral with unit vertices (4×3, in cyclic order).

    Where x points into the cell the maximum is |x|, elsewhere it lies on one of the four great-circle arcs.
    """
    tangent, normal, cosine, sine = np.empty((4, 3)), np.empty((4, 3)), np.empty(4), np.empty(4)
    for k in range(4):
        v, e, n = vertices[k], tangent[k], normal[k]
        along = 0.0
        for m in range(3):
            e[m] = vertices[(k + 1) % 4, m] - v[m]
            along += e[m] * v[m]
        for m in range(3):
            e[m] -= along * v[m]
        cosine[k] = 1.0 + along
        sine[k] = math.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
        for m in range(3):
            e[m] /= sine[k]
        side = 0.0
        for m in range(3):
            n[m] = v[(m + 1) % 3] * e[(m + 2) % 3] - v[(m + 2) % 3] * e[(m + 1) % 3]
            side += n[m] * vertices[(k + 2) % 4, m]
        if side < 0.0:
            for m in range(3):
                n[m] = -n[m]
    for i in range(x.shape[0]):
        x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
        length = math.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
        low, high = length, -length
        contains, contains_opposite = True, True
        for k in range(4):
            p = vertices[k, 0] * x0 + vertices[k, 1] * x1 + vertices[k, 2] * x2
            q = tangent[k, 0] * x0 + tangent[k, 1] * x1 + tangent[k, 2] * x2
            height = normal[k, 0] * x0 + normal[k, 1] * x1 + normal[k, 2] * x2
            contains = contains and height >= 0.0
            contains_opposite = contains_opposite and height <= 0.0
            high = max(high, _arc_max(p, q, 1.0, 0.0, cosine[k], sine[k], _NARROW))
            low = min(low, -_arc_max(-p, -q, 1.0, 0.0, cosine[k], sine[k], _NARROW))
        pad = _PAD * (abs(x0) + abs(x1) + abs(x2))
        lo[i] = (-length if contains_opposite else low) - pad
        hi[i] = (length if contains else high) + pad
