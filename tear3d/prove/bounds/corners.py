"""A convex function of poses is largest at one of the 64 corners of a box (mathematics.md, section 8.1)."""

from __future__ import annotations

from itertools import product

import numpy as np
from numba import njit

from tear3d.prove.bounds.slopes import ANY_ORDER, BLOCK, CORNERS, SIDES, VALUE

SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
"""Corner 8 i + k of a box has the signs SIGNS[i] for g and SIGNS[k] for t."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER)
def _eight(lines, start, stop, signs, base):
    """Σ max(0, m + κ·v) over some lines at the eight corners with these signs of g."""
    F = lines.dtype.type
    zero = F(0.0)
    n = stop - start
    f0, f1, f2 = F(signs[0]), F(signs[1]), F(signs[2])
    m, a, b, c = lines[VALUE, start:stop], lines[0, start:stop], lines[1, start:stop], lines[2, start:stop]
    for i in range(n):
        base[i] = m[i] + f0 * a[i] + f1 * b[i] + f2 * c[i]
    a, b, c = lines[3, start:stop], lines[4, start:stop], lines[5, start:stop]
    s0, s1, s2, s3, s4, s5, s6, s7 = zero, zero, zero, zero, zero, zero, zero, zero
    for i in range(n):
        x = base[i]
        plus, minus = b[i] + c[i], b[i] - c[i]
        k0, k1, k2, k3 = a[i] + plus, a[i] + minus, a[i] - minus, a[i] - plus
        s0 += x - k0 if x > k0 else zero
        s1 += x - k1 if x > k1 else zero
        s2 += x - k2 if x > k2 else zero
        s3 += x - k3 if x > k3 else zero
        s4 += x + k3 if x > -k3 else zero
        s5 += x + k2 if x > -k2 else zero
        s6 += x + k1 if x > -k1 else zero
        s7 += x + k0 if x > -k0 else zero
    return s0, s1, s2, s3, s4, s5, s6, s7


@njit(cache=True, nogil=True, inline="always")
def corner_values(sums, work):
    """Fill `work.values` with bounds of the saving at the corners of a box; returns the largest, which bounds the box.

    Parameters
    ----------
    sums : Sums
    work : Work
        As `sum_slopes` left it.
    """
    lines, base, values, count = work.lines, work.base, work.values, sums.lines
    g, most = sums.slope, 0.0
    for u in range(8):
        signs = (SIGNS[u, 0], SIGNS[u, 1], SIGNS[u, 2])
        common = sums.value + sums.rounding + signs[0] * g[0] + signs[1] * g[1] + signs[2] * g[2]
        for k in range(8):
            values[8 * u + k] = common + SIGNS[k, 0] * g[3] + SIGNS[k, 1] * g[4] + SIGNS[k, 2] * g[5]
        for start in range(0, count, BLOCK):
            eight = _eight(lines, start, min(count, start + BLOCK), signs, base)
            for k in range(8):
                values[8 * u + k] += eight[k]
        for k in range(8):
            most = max(most, values[8 * u + k])
    return most


@njit(cache=True, nogil=True)
def face_values(values, faces):
    """Fill `faces` with the largest values on the two faces across each side, lower and upper; `values` are used up."""
    half = CORNERS // 2
    for side in range(SIDES):
        # What is left of the values are the largest along the sides before: corners differ by this side in halves.
        lower, upper = 0.0, 0.0
        for k in range(half):
            lower, upper = max(lower, values[k]), max(upper, values[half + k])
            values[k] = max(values[k], values[half + k])
        faces[side, 0], faces[side, 1] = lower, upper
        half //= 2
