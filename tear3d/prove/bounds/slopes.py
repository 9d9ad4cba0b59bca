"""A convex function above the saving in a box of poses, pair by pair (mathematics.md, section 8).

In a box of g around c and of t around t_c, with a = g − c and b = t − t_c, a residual is r = z + e,

    z = y − p − t_c,   p = (1 − μ) R_c x,   e = −Σ_j a_j (u_j × p) − b + remainder,   u_j the columns of 2M/(1 − μ).

A convex loss lies above its tangents: ‖r‖₁ ≥ s·r for any |s_k| ≤ 1, |r|² ≥ 2 r₀·r − |r₀|² for any r₀. So with v for (a,
b) in half sides of the box, a pair saves at most max(0, m + κ·v), m = ξ − s·z (TEAR) or ξ² + |r₀|² − 2 r₀·z (TLS) and
what the remainder may add. The sum over the pairs is convex: it is largest at one of the 64 corners of the box
(`tear3d.prove.bounds.corners`). Pairs that surely save, or surely not, are affine and are added up here.

s_k is the sign of r_k where it has one in most of the box, and less where it may have both. r₀ is r somewhere there.

Points are stored about the pose at the middle of some larger box, their home: z and all that changes from box to box
is then small, and single precision is enough.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import CM, TEAR
from tear3d.prove.domains.rotations import Nine, Triple

Six = tuple[float, float, float, float, float, float]

PLACE, RESIDUAL, LENGTH, BOUND_OF, WEIGHT, ROWS = 0, 3, 6, 7, 8, 9
"""Rows of points: p (3) and z (3) at home, |x|, ξ and w."""
VALUE = 6
LINES = 7
"""Rows of lines: κ (6) and m, times w, of the pairs that may or may not save in the box; zeros for the others."""
ACTIVE, KINKED = 1, 2
"""Marks of pairs: those that can save something in the box, and those of them that may or may not."""
BLOCK = 512
"""Pairs added up together in the precision of the points; the sums of blocks are added up in float64."""
SMALL = 1e-30
"""Keeps quotients finite."""
LOCAL = 64.0
"""Roundings of a residual, in the precision of the points, in units of what moves in a box and of ξ: section 8.4 counts
32 and 8."""
SIDES, CORNERS, LANES = 6, 64, 32
"""Lines, and points, are filled up to a multiple of LANES, so that all are added up in vectors."""
MORE = 64
"""Rounding of sums: at most unit·(BLOCK + MORE)·Σ w (cap + Q) (section 8.5)."""

ANY_ORDER = {"reassoc", "nsz", "contract"}
"""Sums may be taken in any order, so that they run in vectors: the count of their roundings holds for every order."""


class Box(NamedTuple):
    """A box of poses, seen from home."""

    turn: Nine
    """D, by rows: from p at home to p = (1 − μ) R_c x it is P + D P."""
    moves: Nine
    """h_j u_j, one after the other."""
    shift: Triple
    half: Triple
    """Centre of t less that of home, and half sides."""
    remainder: float
    eps: float
    """Rounding of a residual, from the pairs given on, but for what is in proportion to its own ξ, ..."""
    own: float
    """... which is that many ξ."""
    steep: float
    touch: Six
    """Which tangents are taken: how steep they are, and where in the box they touch, in half sides (section 8.3)."""


class Work(NamedTuple):
    """Work space of a thread."""

    block: NDArray[Any]
    """Lines of a block of pairs."""
    lines: NDArray[Any]
    """Those of all pairs that may or may not save."""
    marks: NDArray[np.uint8]
    base: NDArray[Any]
    values: FloatArray
    faces: FloatArray
    """For corners and faces."""


def _apart(count: int, dtype: Any) -> NDArray[Any]:
    """Numbers with nothing near them: compiled sums run in another order, and end in other last digits, when what they
    write may overlap what they read, which is tested roughly."""
    margin = 8 * count + 4096
    return np.zeros(count + 2 * margin, dtype)[margin : margin + count]


def make_work(n: int, dtype: Any) -> Work:
    """Work space for n points."""
    block = _apart(LINES * BLOCK, dtype).reshape(LINES, BLOCK)
    lines = np.zeros((LINES, n + LANES), dtype)
    return Work(block, lines, _apart(n, np.uint8), np.zeros(BLOCK, dtype), np.zeros(CORNERS), np.zeros((SIDES, 2)))


class Sums(NamedTuple):
    """What a box comes to, without the pairs that may or may not save."""

    value: float
    slope: Six
    """Pairs that save in all of the box: together value + slope·v."""
    lines: int
    """The number of lines, with zeros up to a multiple of LANES."""
    lone: float
    """A bound of the saving of the box, every pair bounded alone; rounding included."""
    rounding: float
    """What rounding may have taken from the value at a corner, lines included."""
    centre: float
    """The saving at the centre of the box, nearly."""
    mass: float
    """Σ w of the pairs that can save something."""
    spread: Six
    """Σ |κ_j| over the lines: how much is gained by halving a side (part of no bound)."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=ANY_ORDER)
def _block(points, start, stop, box, loss, lines, mark):
    """Sums, lines and marks of points start:stop."""
    F = points.dtype.type
    zero, one, small, steep = F(0.0), F(1.0), F(SMALL), F(box.steep)
    absolute, counts = loss == TEAR, loss == CM
    n = stop - start
    xs, ys, zs = points[0, start:stop], points[1, start:stop], points[2, start:stop]
    us, vs, ws = points[3, start:stop], points[4, start:stop], points[5, start:stop]
    lengths, bounds, weights = points[LENGTH, start:stop], points[BOUND_OF, start:stop], points[WEIGHT, start:stop]
    line0, line1, line2 = lines[0], lines[1], lines[2]
    line3, line4, line5, line6 = lines[3], lines[4], lines[5], lines[6]
    d00, d01, d02 = F(box.turn[0]), F(box.turn[1]), F(box.turn[2])
    d10, d11, d12 = F(box.turn[3]), F(box.turn[4]), F(box.turn[5])
    d20, d21, d22 = F(box.turn[6]), F(box.turn[7]), F(box.turn[8])
    u00, u01, u02 = F(box.moves[0]), F(box.moves[1]), F(box.moves[2])
    u10, u11, u12 = F(box.moves[3]), F(box.moves[4]), F(box.moves[5])
    u20, u21, u22 = F(box.moves[6]), F(box.moves[7]), F(box.moves[8])
    o0, o1, o2 = F(box.shift[0]), F(box.shift[1]), F(box.shift[2])
    t0, t1, t2 = F(box.half[0]), F(box.half[1]), F(box.half[2])
    b0, b1, b2 = F(box.touch[0]), F(box.touch[1]), F(box.touch[2])
    b3, b4, b5 = F(box.touch[3]) * t0, F(box.touch[4]) * t1, F(box.touch[5]) * t2
    remainder, eps, own = F(box.remainder), F(box.eps), F(box.own)
    value, lone, size, centre, mass = zero, zero, zero, zero, zero
    g0 = g1 = g2 = g3 = g4 = g5 = zero
    e0 = e1 = e2 = e3 = e4 = e5 = zero
    for i in range(n):
        x0, x1, x2 = xs[i], ys[i], zs[i]
        q0 = d00 * x0 + d01 * x1 + d02 * x2
        q1 = d10 * x0 + d11 * x1 + d12 * x2
        q2 = d20 * x0 + d21 * x1 + d22 * x2
        z0, z1, z2 = us[i] - q0 - o0, vs[i] - q1 - o1, ws[i] - q2 - o2
        p0, p1, p2 = x0 + q0, x1 + q1, x2 + q2
        xi = bounds[i]
        rest = remainder * lengths[i] + own * xi + eps
        # c_jk = coordinate k of h_j u_j × p
        c00, c01, c02 = u01 * p2 - u02 * p1, u02 * p0 - u00 * p2, u00 * p1 - u01 * p0
        c10, c11, c12 = u11 * p2 - u12 * p1, u12 * p0 - u10 * p2, u10 * p1 - u11 * p0
        c20, c21, c22 = u21 * p2 - u22 * p1, u22 * p0 - u20 * p2, u20 * p1 - u21 * p0
        m0, m1, m2 = abs(z0), abs(z1), abs(z2)
        # What each coordinate of the residual can be off by, and is at least.
        r0 = abs(c00) + abs(c10) + abs(c20) + t0 + rest
        r1 = abs(c01) + abs(c11) + abs(c21) + t1 + rest
        r2 = abs(c02) + abs(c12) + abs(c22) + t2 + rest
        l0 = m0 - r0 if m0 > r0 else zero
        l1 = m1 - r1 if m1 > r1 else zero
        l2 = m2 - r2 if m2 > r2 else zero
        # Residuals where the tangents touch, nearly.
        f0 = z0 - (b0 * c00 + b1 * c10 + b2 * c20) - b3
        f1 = z1 - (b0 * c01 + b1 * c11 + b2 * c21) - b4
        f2 = z2 - (b0 * c02 + b1 * c12 + b2 * c22) - b5
        if absolute:
            cap = xi
            alone = xi - (l0 + l1 + l2)
            here = xi - (m0 + m1 + m2)
            s0, s1, s2 = steep * f0 / (r0 + small), steep * f1 / (r1 + small), steep * f2 / (r2 + small)
            s0 = s0 if s0 < one else one
            s1 = s1 if s1 < one else one
            s2 = s2 if s2 < one else one
            s0 = s0 if s0 > -one else -one
            s1 = s1 if s1 > -one else -one
            s2 = s2 if s2 > -one else -one
            middle = xi - (s0 * z0 + s1 * z1 + s2 * z2)
        else:
            cap = xi * xi
            alone = cap - (l0 * l0 + l1 * l1 + l2 * l2)
            here = cap - (z0 * z0 + z1 * z1 + z2 * z2)
            s0, s1, s2 = f0 + f0, f1 + f1, f2 + f2
            middle = cap + (f0 * (f0 - z0 - z0) + f1 * (f1 - z1 - z1) + f2 * (f2 - z2 - z2))
        curl = np.sqrt(s0 * s0 + s1 * s1 + s2 * s2) * rest
        middle += curl
        k0 = s0 * c00 + s1 * c01 + s2 * c02
        k1 = s0 * c10 + s1 * c11 + s2 * c12
        k2 = s0 * c20 + s1 * c21 + s2 * c22
        k3, k4, k5 = s0 * t0, s1 * t1, s2 * t2
        reach = abs(k0) + abs(k1) + abs(k2) + abs(k3) + abs(k4) + abs(k5)
        upper = middle + reach
        w = weights[i]
        active = (alone >= zero) & (w > zero) if counts else (alone > zero) & (upper > zero)
        if counts:
            here = one if here >= zero else zero
            cap, alone, upper, middle, reach, curl = one, one, one, one, zero, zero
            k0 = k1 = k2 = k3 = k4 = k5 = zero
        sure = active & (middle >= reach)
        kinked = active & (middle < reach)
        weight = w if active else zero
        at_least = alone if alone < upper else upper
        lone += weight * at_least if active else zero
        size += weight * (cap + reach + curl) if active else zero
        centre += weight * here if active & (here > zero) else zero
        mass += weight
        value += w * middle if sure else zero
        g0 += w * k0 if sure else zero
        g1 += w * k1 if sure else zero
        g2 += w * k2 if sure else zero
        g3 += w * k3 if sure else zero
        g4 += w * k4 if sure else zero
        g5 += w * k5 if sure else zero
        a0 = w * k0 if kinked else zero
        a1 = w * k1 if kinked else zero
        a2 = w * k2 if kinked else zero
        a3 = w * k3 if kinked else zero
        a4 = w * k4 if kinked else zero
        a5 = w * k5 if kinked else zero
        line0[i], line1[i], line2[i], line3[i], line4[i], line5[i] = a0, a1, a2, a3, a4, a5
        line6[i] = w * middle if kinked else zero
        mark[i] = (ACTIVE if active else 0) + (KINKED if kinked else 0)
        e0 += abs(a0)
        e1 += abs(a1)
        e2 += abs(a2)
        e3 += abs(a3)
        e4 += abs(a4)
        e5 += abs(a5)
    return value, lone, size, centre, mass, (g0, g1, g2, g3, g4, g5), (e0, e1, e2, e3, e4, e5)


@njit(cache=True, nogil=True, inline="always")
def _more(six, others):
    return (
        six[0] + others[0],
        six[1] + others[1],
        six[2] + others[2],
        six[3] + others[3],
        six[4] + others[4],
        six[5] + others[5],
    )


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _append(block, mark, n, lines, count):
    """Copy the lines of pairs that may or may not save behind the first `count`; returns how many there are then."""
    for i in range(n):
        for row in range(LINES):
            lines[row, count] = block[row, i]
        count += (mark[i] & KINKED) >> 1
    return count


@njit(cache=True, nogil=True, inline="always")
def sum_slopes(points, span, box, loss, unit, work):
    """Bound a box of poses but for its corners.

    Parameters
    ----------
    points : (ROWS, N) array
    span : (start, stop)
        Those that are looked at.
    box : Box
    loss : int
    unit : float
        The unit roundoff of the points.
    work : Work
        Marks are set for the points of the span, and lines are filled.

    Returns
    -------
    Sums
    """
    value, lone, size, centre, mass = 0.0, 0.0, 0.0, 0.0, 0.0
    slope = spread = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    count = 0
    for start in range(span[0], span[1], BLOCK):
        stop = min(span[1], start + BLOCK)
        mark = work.marks[start - span[0] : stop - span[0]]
        a, b, c, d, e, slopes, spreads = _block(points, start, stop, box, loss, work.block, mark)
        count = _append(work.block, mark, stop - start, work.lines, count)
        value += a
        lone += b
        size += c
        centre += d
        mass += e
        slope, spread = _more(slope, slopes), _more(spread, spreads)
    rounding = unit * ((BLOCK + MORE) * size + SMALL * (span[1] - span[0]))
    filled = -(-count // LANES) * LANES
    for row in range(LINES):
        for k in range(count, filled):
            work.lines[row, k] = 0.0
    return Sums(value, slope, filled, lone + rounding, rounding, centre, mass, spread)
