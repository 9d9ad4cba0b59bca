"""First-order bound of a box of poses (mathematics.md, section 8).

In a box of g around c and of t around t_c, with a = g − c and b = t − t_c, a residual is r = z + e,

    z = y − p − t_c,   p = (1 − μ) R_c x,   e = −Σ_j a_j (u_j × p) − b + remainder,   u_j the columns of 2M/(1 − μ).

A convex loss lies above its tangents: ‖r‖₁ ≥ σ·r for any signs σ, |r|² ≥ 2 r₀·r − |r₀|² for any r₀. So a pair saves
at most max(0, m + q) with q = −v·e, v = σ and m = ξ − σ·z (TEAR) or v = 2r₀ and m = ξ² + |r₀|² − v·z (TLS), |q| ≤ Q,
and a convex function of q lies below its chord from −Q to Q. The chords add up to one affine function of (a, b) that
lies above the saving in the whole box: a pair that surely saves costs nothing but its remainder, slopes of opposite
sign cancel, and what the chords cost is of second order, for pairs near the edge of the noise bound only. A pair may
also be bounded alone, by what is left of ξ when each coordinate of the residual is as small as it can be, or by |r| ≥
||y − t| − |x||, which no rotation changes; the smallest is taken.

σ and r₀ are those of the residuals at a pose of the box to which the affine function should be tight: the best known
pose, moved into the box. At an optimum in the box the bound is then sharp whatever the position of the optimum in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import CM, TEAR
from tear3d.prove.domains.rotations import Triple

Six = tuple[float, float, float, float, float, float]

ROUNDING = 2.0**-51
SMALL = 1e-300
"""Keeps a quotient finite."""
MORE = 16
"""Rounding of the sums: at most ROUNDING·(points + MORE)·Σ w (cap + Q), that is 4 units of 2⁻⁵³ a point and 64 more
where 1 and 32 occur (section 8.5)."""


ANY_ORDER = {"reassoc", "nsz", "contract"}
"""Sums may be taken in any order, so that they run in vectors: the count of their roundings holds for every order."""


class Points(NamedTuple):
    """Pairs as the kernels want them: x and y as 3×N, the others with N entries."""

    x: FloatArray
    y: FloatArray
    norm: FloatArray
    """|x|."""
    xi: FloatArray
    w: FloatArray


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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER)
def slope_bound(points, span, frame, shifts, toward, rule, matters):
    """Bound a box of poses, and mark the points that matter.

    Parameters
    ----------
    points : Points
    span : (start, stop)
        Those that are looked at.
    frame : CellFrame
    shifts : Shifts
    toward : six numbers
        Offsets (g, t) from the centre to the pose to which the bound is tight.
    rule : (loss, eps)
        The loss, and the bound of the length of the rounding error of a residual.
    matters : array of bytes
        1 for points of the span that can save something, else 0.

    Returns
    -------
    Affine
    """
    loss, eps = rule
    start, n = span[0], span[1] - span[0]
    absolute, counts = loss == TEAR, loss == CM
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = frame.rotation
    u00, u01, u02, u10, u11, u12, u20, u21, u22 = frame.axes
    h0, h1, h2 = frame.half
    o0, o1, o2 = shifts.centre
    t0, t1, t2 = shifts.half
    a0, a1, a2, b0, b1, b2 = toward
    diagonal = np.sqrt(t0 * t0 + t1 * t1 + t2 * t2) + eps
    remainder = frame.remainder
    xs, ys, zs = points.x[0, start:], points.x[1, start:], points.x[2, start:]
    us, vs, ws = points.y[0, start:], points.y[1, start:], points.y[2, start:]
    norms, bounds, weights = points.norm[start:], points.xi[start:], points.w[start:]
    value, lone, size, at_centre, mass = 0.0, 0.0, 0.0, 0.0, 0.0
    g0, g1, g2, g3, g4, g5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    d0, d1, d2, d3, d4, d5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    found = 0
    for i in range(n):
        x0, x1, x2 = xs[i], ys[i], zs[i]
        y0, y1, y2 = us[i] - o0, vs[i] - o1, ws[i] - o2
        length, xi, w = norms[i], bounds[i], weights[i]
        shell = abs(np.sqrt(y0 * y0 + y1 * y1 + y2 * y2) - length) - diagonal
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
        # What each coordinate of the residual is at least.
        l0 = m0 - (h0 * abs(c00) + h1 * abs(c10) + h2 * abs(c20) + t0 + rest)
        l1 = m1 - (h0 * abs(c01) + h1 * abs(c11) + h2 * abs(c21) + t1 + rest)
        l2 = m2 - (h0 * abs(c02) + h1 * abs(c12) + h2 * abs(c22) + t2 + rest)
        l0 = l0 if l0 > 0.0 else 0.0
        l1 = l1 if l1 > 0.0 else 0.0
        l2 = l2 if l2 > 0.0 else 0.0
        shell = shell if shell > 0.0 else 0.0
        # The residual at the pose to which the bound is tight.
        q0 = z0 - a0 * c00 - a1 * c10 - a2 * c20 - b0
        q1 = z1 - a0 * c01 - a1 * c11 - a2 * c21 - b1
        q2 = z2 - a0 * c02 - a1 * c12 - a2 * c22 - b2
        if absolute:
            most = l0 + l1 + l2
            most = shell if shell > most else most
            alone = xi - most
            here = xi - m0 - m1 - m2
            s0 = 1.0 if q0 >= 0.0 else -1.0
            s1 = 1.0 if q1 >= 0.0 else -1.0
            s2 = 1.0 if q2 >= 0.0 else -1.0
            middle, cap = xi, xi
        else:
            most = l0 * l0 + l1 * l1 + l2 * l2
            most = shell * shell if shell * shell > most else most
            alone = xi * xi - most
            here = xi * xi - z0 * z0 - z1 * z1 - z2 * z2
            s0, s1, s2 = 2.0 * q0, 2.0 * q1, 2.0 * q2
            cap = xi * xi
            middle = cap + q0 * q0 + q1 * q1 + q2 * q2
        middle -= s0 * z0 + s1 * z1 + s2 * z2
        k0 = s0 * c00 + s1 * c01 + s2 * c02
        k1 = s0 * c10 + s1 * c11 + s2 * c12
        k2 = s0 * c20 + s1 * c21 + s2 * c22
        curl = np.sqrt(s0 * s0 + s1 * s1 + s2 * s2) * rest
        reach = h0 * abs(k0) + h1 * abs(k1) + h2 * abs(k2)
        reach += t0 * abs(s0) + t1 * abs(s1) + t2 * abs(s2) + curl
        upper = middle + reach
        lower = middle - reach
        lower = lower if lower > 0.0 else 0.0
        slope = 0.5 * (upper - lower) / (reach + SMALL)
        slope = slope if slope < 1.0 else 1.0
        chord = 0.5 * (upper + lower) + slope * curl
        active = alone >= 0.0 if counts else alone > 0.0 and upper > 0.0
        if counts:
            alone = 1.0 if active else 0.0
            here = 1.0 if here >= 0.0 else 0.0
            cap, chord, upper, reach, slope = 1.0, 2.0, 1.0, 1.0, 0.0
        weight = w if active else 0.0
        flat = alone <= chord
        kinked = slope < 1.0 and not flat
        slope = 0.0 if flat else slope * weight
        value += weight * (alone if flat else chord)
        lone += weight * (alone if alone < upper else upper)
        size += weight * (cap + reach)
        at_centre += weight * (here if here > 0.0 else 0.0)
        mass += weight
        matters[i] = 1 if active else 0
        found += 1 if active else 0
        g0 += slope * k0
        g1 += slope * k1
        g2 += slope * k2
        g3 += slope * s0
        g4 += slope * s1
        g5 += slope * s2
        # Which sides would sharpen what is not exact.
        f0 = weight if flat and l0 > 0.0 else 0.0
        f1 = weight if flat and l1 > 0.0 else 0.0
        f2 = weight if flat and l2 > 0.0 else 0.0
        kink = weight if kinked else 0.0
        d0 += f0 * abs(c00) + f1 * abs(c01) + f2 * abs(c02) + kink * abs(k0)
        d1 += f0 * abs(c10) + f1 * abs(c11) + f2 * abs(c12) + kink * abs(k1)
        d2 += f0 * abs(c20) + f1 * abs(c21) + f2 * abs(c22) + kink * abs(k2)
        d3 += f0 + kink
        d4 += f1 + kink
        d5 += f2 + kink
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
