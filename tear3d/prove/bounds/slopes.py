"""First-order bound of a box of poses (mathematics.md, section 8).

In a box of g around c and of t around t_c, with a = g − c and b = t − t_c, a residual is r = z + e,

    z = y − p − t_c,   p = (1 − μ) R_c x,   e = −Σ_j a_j (u_j × p) − b + remainder,   u_j the columns of 2M/(1 − μ).

For any signs σ, ‖r‖₁ ≥ σ·r. So s(r) ≤ max(0, s0 + q) with s0 = ξ − σ·z and q = −σ·e, |q| ≤ Q, and a convex function
of q lies below its chord from −Q to Q. The chords add up to one affine function of (a, b) that lies above the saving in
the whole box: slopes of opposite sign cancel, and what the chords cost is of second order, for points near the edge of
the noise bound only. A point may also be bounded alone, by ξ − Σ_k max(0, |z_k| − E_k) with E_k ≥ |e_k|, or by
‖r‖₁ ≥ ||y − t| − |x||, which no rotation changes; the smallest is taken.

σ are the signs of the residuals at a pose of the box to which the affine function should be tight: the best known pose,
moved into the box. At an optimum in the box the bound is then sharp whatever the position of the optimum in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.prove.domains.rotations import Triple

Six = tuple[float, float, float, float, float, float]

ROOT_3 = 1.7320508075688774
ROUNDING = 2.0**-51
"""Rounding of the sums: ROUNDING·(points + MORE)·Σ w (ξ + Q), 4 units of 2⁻⁵³ a point where 3 occur (section 8.5)."""
MORE = 16


class Shifts(NamedTuple):
    """A box of t."""

    centre: Triple
    half: Triple


class Affine(NamedTuple):
    """A bound of the saving of every pose of a box: value + slope·(a, b), and another one: lone. Rounding included."""

    value: float
    slope: Six
    """By g, then by t."""
    lone: float
    """Every point bounded alone."""
    spread: Six
    """What each side contributes to chords and lone bounds: how much is gained by halving it (part of no bound)."""
    centre: float
    """The saving at the centre of the box, nearly."""
    mass: float
    """Σ w of the points that matter, ..."""
    found: int
    """... and their number."""


@njit(cache=True, nogil=True, error_model="numpy")
def slope_bound(points, start, stop, frame, shifts, toward, eps, active):
    """Bound a box of poses, and write the points that matter into `active`.

    Parameters
    ----------
    points : Points
        Those from start to stop are looked at.
    frame : CellFrame
    shifts : Shifts
    toward : six numbers
        Offsets (g, t) from the centre to the pose whose signs are used.
    eps : float
        Bound of the length of the rounding error of a residual.
    active : integer array

    Returns
    -------
    Affine
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = frame.rotation
    u00, u01, u02, u10, u11, u12, u20, u21, u22 = frame.axes
    h0, h1, h2 = frame.half
    o0, o1, o2 = shifts.centre
    t0, t1, t2 = shifts.half
    a0, a1, a2, b0, b1, b2 = toward
    sides = t0 + t1 + t2
    diagonal = np.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
    remainder = frame.remainder
    value, size, at_centre = 0.0, 0.0, 0.0
    g0, g1, g2, g3, g4, g5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    d0, d1, d2, d3, d4, d5, lone, mass = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    found = 0
    for i in range(start, stop):
        x0, x1, x2 = points.x[0, i], points.x[1, i], points.x[2, i]
        y0, y1, y2 = points.y[0, i] - o0, points.y[1, i] - o1, points.y[2, i] - o2
        length, xi = points.norm[i], points.xi[i]
        shell = abs(np.sqrt(y0 * y0 + y1 * y1 + y2 * y2) - length) - diagonal - eps
        if shell >= xi:
            continue
        p0 = r00 * x0 + r01 * x1 + r02 * x2
        p1 = r10 * x0 + r11 * x1 + r12 * x2
        p2 = r20 * x0 + r21 * x1 + r22 * x2
        z0, z1, z2 = y0 - p0, y1 - p1, y2 - p2
        rest = remainder * length + eps
        # c_jk = coordinate k of u_j × p
        c00, c01, c02 = u01 * p2 - u02 * p1, u02 * p0 - u00 * p2, u00 * p1 - u01 * p0
        c10, c11, c12 = u11 * p2 - u12 * p1, u12 * p0 - u10 * p2, u10 * p1 - u11 * p0
        c20, c21, c22 = u21 * p2 - u22 * p1, u22 * p0 - u20 * p2, u20 * p1 - u21 * p0
        m0, m1, m2 = abs(z0), abs(z1), abs(z2)
        e0 = h0 * abs(c00) + h1 * abs(c10) + h2 * abs(c20) + t0 + rest
        e1 = h0 * abs(c01) + h1 * abs(c11) + h2 * abs(c21) + t1 + rest
        e2 = h0 * abs(c02) + h1 * abs(c12) + h2 * abs(c22) + t2 + rest
        alone = xi - max(0.0, max(shell, max(0.0, m0 - e0) + max(0.0, m1 - e1) + max(0.0, m2 - e2)))
        if alone <= 0.0:
            continue
        s0 = 1.0 if z0 - a0 * c00 - a1 * c10 - a2 * c20 >= b0 else -1.0
        s1 = 1.0 if z1 - a0 * c01 - a1 * c11 - a2 * c21 >= b1 else -1.0
        s2 = 1.0 if z2 - a0 * c02 - a1 * c12 - a2 * c22 >= b2 else -1.0
        k0, k1, k2 = (
            s0 * c00 + s1 * c01 + s2 * c02,
            s0 * c10 + s1 * c11 + s2 * c12,
            s0 * c20 + s1 * c21 + s2 * c22,
        )
        curl = ROOT_3 * rest
        reach = h0 * abs(k0) + h1 * abs(k1) + h2 * abs(k2) + sides + curl
        middle = xi - s0 * z0 - s1 * z1 - s2 * z2
        upper = middle + reach
        if upper <= 0.0:
            continue
        w = points.w[i]
        active[found] = i
        found += 1
        at_centre += w * max(0.0, xi - m0 - m1 - m2)
        lower = max(0.0, middle - reach)
        slope = 0.5 * (upper - lower) / reach
        chord = 0.5 * (upper + lower) + slope * curl
        if alone <= chord:
            value += w * alone
            slope = 0.0
        else:
            value += w * chord
        lone += w * min(alone, upper)
        mass += w
        if slope == 0.0:
            if m0 > e0:
                d0, d1, d2, d3 = d0 + w * abs(c00), d1 + w * abs(c10), d2 + w * abs(c20), d3 + w
            if m1 > e1:
                d0, d1, d2, d4 = d0 + w * abs(c01), d1 + w * abs(c11), d2 + w * abs(c21), d4 + w
            if m2 > e2:
                d0, d1, d2, d5 = d0 + w * abs(c02), d1 + w * abs(c12), d2 + w * abs(c22), d5 + w
        elif slope < 1.0:
            d0, d1, d2 = d0 + w * abs(k0), d1 + w * abs(k1), d2 + w * abs(k2)
            d3, d4, d5 = d3 + w, d4 + w, d5 + w
        slope *= w
        g0 += slope * k0
        g1 += slope * k1
        g2 += slope * k2
        g3 += slope * s0
        g4 += slope * s1
        g5 += slope * s2
        size += w * (xi + reach)
    rounding = ROUNDING * (found + MORE) * size
    return Affine(
        value=value + rounding,
        slope=(g0, g1, g2, g3, g4, g5),
        lone=lone + rounding,
        spread=(d0 * h0, d1 * h1, d2 * h2, d3 * t0, d4 * t1, d5 * t2),
        centre=at_centre,
        mass=mass,
        found=found,
    )
