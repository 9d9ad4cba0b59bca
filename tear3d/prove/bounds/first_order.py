"""First-order bound of a cell with every point's own E, ξ and weight.

For a cell with centre c, tangent frame (e1, e2) and r = κ c + d, a point is at b = y − κ0 q and can move by at most
E = h1|p1| + h2|p2| + η|q|. At a node t_k, which stands for all t within β/2, its saving is at most

    f(z) = s(z) + (linear term) + max(0, E' − ||z| − ξ|),   z = b − t_k,   E' = E + β/2 + eps     if E' < ξ,
    f(z) = min(ξ, max(0, ξ + E' − |z|))                                                    otherwise (the point alone).

Both are piecewise linear in t. Their kinks are deposited exactly as second differences on the nodes, so one running sum
gives Σ f at all nodes; the sums of sign(z)·(1, p1, p2, q) give the linear term h1|G1| + h2|G2| + η|Q| + (β/2)|G0|.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.bounds.data import (
    BLOCK,
    COUNT,
    G0,
    G1,
    G2,
    G3,
    LEFT,
    LEFT_OFFSET,
    OFFSET,
    P1,
    P2,
    RIGHT,
    RIGHT_OFFSET,
    X1,
    X2,
    X3,
    XI,
    Q,
    W,
    Y,
)

SINGLE, DOUBLE = 6e-8, 1.2e-16
"""The unit roundoffs 2⁻²⁴ and 2⁻⁵³, a little more: that covers the terms of second order."""
REACH_FACTOR = 1.000001
"""E is rounded up by this: five float32 roundings of it are 3·10⁻⁷ (mathematics.md, section 4.4)."""
CROWD = 2.0**48
"""If the squares of the numbers of points in all bins add up to less, no bin holds 2²⁴, up to where float32 counts."""


@njit(cache=True, nogil=True, error_model="numpy")
def project(rows, start, stop, cell, pad, block):
    """b, E + pad, p1, p2 and q of rows[:, start:stop] at a cell into `block`, in the points' own precision."""
    f = rows.dtype.type
    c0, c1, c2 = f(cell.c[0]), f(cell.c[1]), f(cell.c[2])
    u0, u1, u2 = f(cell.e1[0]), f(cell.e1[1]), f(cell.e1[2])
    v0, v1, v2 = f(cell.e2[0]), f(cell.e2[1]), f(cell.e2[2])
    h1, h2, k0, n0, e0 = f(cell.h1), f(cell.h2), f(cell.kappa0), f(cell.eta), f(pad)
    x0, x1 = rows[X1, start:stop], rows[X2, start:stop]
    x2, y = rows[X3, start:stop], rows[Y, start:stop]
    b, reach, p1, p2, q = block.b, block.reach, block.p1, block.p2, block.q
    for i in range(stop - start):
        a0, a1, a2 = x0[i], x1[i], x2[i]
        qi = c0 * a0 + c1 * a1 + c2 * a2
        pi = u0 * a0 + u1 * a1 + u2 * a2
        ri = v0 * a0 + v1 * a1 + v2 * a2
        q[i] = qi
        p1[i] = pi
        p2[i] = ri
        b[i] = y[i] - k0 * qi
        reach[i] = h1 * abs(pi) + h2 * abs(ri) + n0 * abs(qi) + e0


@njit(cache=True, nogil=True, error_model="numpy")
def _kink(position, slope, last, second, start):
    """The slope changes at a position, in node units: before the first node, or as second differences at the nodes."""
    if position <= 0.0:
        start[1] += slope
    elif position < last:
        k = int(position)
        f = position - k
        second[k] += slope * (1.0 - f)
        second[k + 1] += slope * f


@njit(cache=True, nogil=True, error_model="numpy")
def _turn(position, g, last, p1, p2, q, steps, start):
    """From `position` on, the sums of w·sign·(1, p1, p2, q) change by g·(1, p1, p2, q)."""
    if position <= 0.0:
        start[2] += g
        start[3] += g * p1
        start[4] += g * p2
        start[5] += g * q
    elif position < last:
        k = int(position) + 1
        steps[k, G0] += g
        steps[k, G1] += g * p1
        steps[k, G2] += g * p2
        steps[k, G3] += g * q


@njit(cache=True, nogil=True, error_model="numpy")
def wide_bound(points, cell, axis, work, out):
    """Add to out[k] the bound at node k for one common ξ = mβ and unit weights.

    Because ξ is a whole number of bins, the kinks of a point at b − ξ, b, b + ξ share one deposit that is shifted by
    ±m bins afterwards; the same for the kinks at b ± E. `hist` and `sides` are float32 so that they stay in the
    cache. Returns the rounding margin for all nodes (mathematics.md, section 4.5), or -1 and no bound when a bin may
    hold more points than float32 can count.
    """
    b, reach, p1, p2, q = work.block.b, work.block.reach, work.block.p1, work.block.p2, work.block.q
    hist, sides, blunt, second = work.hist, work.sides, work.blunt, work.shifted
    t0, beta, nodes = axis
    eps, xi, h1, h2, eta = points.eps, points.xi, cell.h1, cell.h2, cell.eta
    inverse = 1.0 / beta
    m = int(np.rint(xi * inverse))
    pad = 5 * m + 6
    bins = nodes + pad + 4 * m + 8
    hist[:bins] = 0.0
    sides[:bins] = 0.0
    blunt[:bins] = 0.0
    half = 0.5 * (nodes - 1.0)
    lowest, highest = -3.0 * m - 1.0, nodes + 3.0 * m
    one = np.float32(1.0)
    active = 0
    any_blunt = False
    origin, n = points.start, points.count
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        project(points.rows, origin + begin, origin + end, cell, eps + 0.5 * beta, work.block)
        for i in range(end - begin):
            u = (b[i] - t0) * inverse
            e = reach[i] * (inverse * REACH_FACTOR)
            if abs(u - half) >= half + m + e:
                continue
            active += 1
            left, right = max(u - e, lowest) + pad, min(u + e, highest) + pad
            j, k = np.int64(left), np.int64(right)
            if e < m:
                sides[np.uint64(j), COUNT] += one
                sides[np.uint64(j), OFFSET] += np.float32(left - j)
                sides[np.uint64(k), COUNT] += one
                sides[np.uint64(k), OFFSET] += np.float32(right - k)
                v = u + pad
                k = np.int64(v)
                hist[np.uint64(k), COUNT] += one
                hist[np.uint64(k), OFFSET] += np.float32(v - k)
                hist[np.uint64(k), P1] += np.float32(p1[i])
                hist[np.uint64(k), P2] += np.float32(p2[i])
                hist[np.uint64(k), Q] += np.float32(q[i])
            else:
                any_blunt = True
                blunt[np.uint64(j), LEFT] += one
                blunt[np.uint64(j), LEFT_OFFSET] += np.float32(left - j)
                blunt[np.uint64(k), RIGHT] += one
                blunt[np.uint64(k), RIGHT_OFFSET] += np.float32(right - k)
    # Second differences at the nodes from (count, offset) of the bins: 1 − f on a bin's own node, f on the next one.
    # Column 0 is wanted m bins further left, column 1 m bins further right, column 2 in place.
    squares = 0.0
    h0, s0, l0, r0 = 0.0, 0.0, 0.0, 0.0
    for j in range(bins):
        weight = hist[j, COUNT] - np.float64(hist[j, OFFSET]) + h0
        smooth = sides[j, COUNT] - np.float64(sides[j, OFFSET]) + s0 - weight
        h0, s0 = hist[j, OFFSET], sides[j, OFFSET]
        left, right = 0.0, 0.0
        if any_blunt:
            left = blunt[j, LEFT] - np.float64(blunt[j, LEFT_OFFSET]) + l0
            right = blunt[j, RIGHT] - np.float64(blunt[j, RIGHT_OFFSET]) + r0
            l0, r0 = blunt[j, LEFT_OFFSET], blunt[j, RIGHT_OFFSET]
            squares += blunt[j, LEFT] * blunt[j, LEFT] + blunt[j, RIGHT] * blunt[j, RIGHT]
        squares += hist[j, COUNT] * hist[j, COUNT] + sides[j, COUNT] * sides[j, COUNT]
        second[j, 0] = smooth + left
        second[j, 1] = smooth + right
        second[j, 2] = 2.0 * weight + left + right
    if squares >= CROWD:
        return -1.0
    value, slope = 0.0, 0.0
    g0, g1, g2, g3 = 0.0, 0.0, 0.0, 0.0
    for k in range(-4 * m - 4, nodes):
        j = k + pad
        if k >= 0:
            out[k] += value * beta + h1 * abs(g1) + h2 * abs(g2) + eta * abs(g3) + 0.5 * beta * abs(g0)
        up, down = j + m, j - m
        slope += second[up, 0] + second[down, 1] - second[j, 2]
        value += slope
        g0 += (np.float64(hist[up, COUNT]) + hist[down, COUNT]) - 2.0 * hist[j, COUNT]
        g1 += (np.float64(hist[up, P1]) + hist[down, P1]) - 2.0 * hist[j, P1]
        g2 += (np.float64(hist[up, P2]) + hist[down, P2]) - 2.0 * hist[j, P2]
        g3 += (np.float64(hist[up, Q]) + hist[down, Q]) - 2.0 * hist[j, Q]
    return active * eps + 6.0 * SINGLE * squares * xi


@njit(cache=True, nogil=True, error_model="numpy")
def narrow_bound(points, cell, axis, work, out):
    """Add the same bound for any β, ξ and weights; best for few nodes.

    Points without a kink among the nodes only add to the start values. Returns the rounding margin for all nodes
    (mathematics.md, section 4.6).
    """
    b, reach, p1, p2, q = work.block.b, work.block.reach, work.block.p1, work.block.p2, work.block.q
    second, steps = work.second, work.steps
    t0, beta, nodes = axis
    rows, general, eps, xi = points.rows, points.general, points.eps, points.xi
    h1, h2, eta = cell.h1, cell.h2, cell.eta
    last = nodes - 1.0
    half = 0.5 * last
    inverse = 1.0 / beta
    second[: nodes + 2] = 0.0
    steps[: nodes + 2] = 0.0
    start = np.zeros(6)
    active, active_weight, mass = 0, 0.0, 0.0
    x_i = xi * inverse
    w = 1.0
    origin, n = points.start, points.count
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        project(rows, origin + begin, origin + end, cell, eps + 0.5 * beta, work.block)
        for i in range(end - begin):
            if general:
                x_i = rows[XI, origin + begin + i] * inverse
                w = rows[W, origin + begin + i]
            u = (b[i] - t0) * inverse
            e = reach[i] * (inverse * REACH_FACTOR)
            a = abs(u - half)
            if a >= half + x_i + e:
                continue
            active += 1
            active_weight += w
            mass += w * (x_i + e)
            if e >= x_i:
                start[0] += w * min(x_i, max(0.0, x_i + e - abs(u)))
                for side in (-1.0, 1.0):
                    _kink(u + side * (e + x_i), w, last, second, start)
                    _kink(u + side * e, -w, last, second, start)
            elif a >= half and abs(a - x_i) >= half + e:
                if a < x_i:
                    s = w if u > half else -w
                    start[0] += w * (x_i - abs(u))
                    start[1] += s
                    start[2] += s
                    start[3] += s * p1[i]
                    start[4] += s * p2[i]
                    start[5] += s * q[i]
            else:
                start[0] += w * (max(0.0, x_i - abs(u)) + max(0.0, e - abs(abs(u) - x_i)))
                for side in (-1.0, 1.0):
                    edge = u + side * x_i
                    _kink(edge - e, w, last, second, start)
                    _kink(edge, -w, last, second, start)
                    _kink(edge + e, w, last, second, start)
                    _turn(edge, w, last, p1[i], p2[i], q[i], steps, start)
                _kink(u, -2.0 * w, last, second, start)
                _turn(u, -2.0 * w, last, p1[i], p2[i], q[i], steps, start)
    value, slope = start[0], start[1]
    g0, g1, g2, g3 = start[2], start[3], start[4], start[5]
    for k in range(nodes):
        g0 += steps[k, G0]
        g1 += steps[k, G1]
        g2 += steps[k, G2]
        g3 += steps[k, G3]
        out[k] += value * beta + h1 * abs(g1) + h2 * abs(g2) + eta * abs(g3) + 0.5 * beta * abs(g0)
        slope += second[k]
        value += slope
    rounding = (25.0 * active + 3.0 * nodes + 64.0) * mass + (168.0 * active + nodes + 64.0) * nodes * active_weight
    return active_weight * eps + DOUBLE * beta * rounding
