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

BLOCK = 1024


@njit(cache=True, nogil=True, error_model="numpy")
def project(points, start, stop, geo, kappa0, eta, eps, b, reach, p1, p2, q):
    """b, E (plus `eps`), p1, p2 and q of points[:, start:stop] for one cell, in the points' own precision."""
    f = points.dtype.type
    c0, c1, c2 = f(geo[0]), f(geo[1]), f(geo[2])
    u0, u1, u2 = f(geo[3]), f(geo[4]), f(geo[5])
    v0, v1, v2 = f(geo[6]), f(geo[7]), f(geo[8])
    h1, h2, k0, n0, e0 = f(geo[9]), f(geo[10]), f(kappa0), f(eta), f(eps)
    x0, x1 = points[0, start:stop], points[1, start:stop]
    x2, y = points[2, start:stop], points[3, start:stop]
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
    """Add slope·max(0, t − position) at the nodes 0..last (positions in node units) as second differences."""
    if position <= 0.0:
        start[0] -= slope * position
        start[1] += slope
    elif position < last:
        k = int(position)
        f = position - k
        second[k] += slope * (1.0 - f)
        second[k + 1] += slope * f


@njit(cache=True, nogil=True, error_model="numpy")
def _turn(position, weight, last, w, p1, p2, q, steps, start):
    """From `position` on, the sums of sign·(1, p1, p2, q) change by weight·(w, w·p1, w·p2, w·q)."""
    g = w * weight
    if position <= 0.0:
        start[2] += g
        start[3] += g * p1
        start[4] += g * p2
        start[5] += g * q
    elif position < last:
        k = int(position) + 1
        steps[k, 0] += g
        steps[k, 1] += g * p1
        steps[k, 2] += g * p2
        steps[k, 3] += g * q


@njit(cache=True, nogil=True, error_model="numpy")
def wide_bound(points, origin, n, xi, geo, eps, t0, beta, nodes, buffers, hist, sides, blunt, second, out):
    """Add to out[k] the bound at node t0 + kβ, k < nodes, for one common ξ = mβ and unit weights.

    Because ξ is a whole number of bins, the kinks of a point at b − ξ, b, b + ξ share one deposit that is shifted by
    ±m bins afterwards; the same for the kinks at b ± E. `hist` and `sides` are float32 so that they stay in the
    cache; the offsets and tangents of a bin lose half an ulp per addition. Returns the rounding margin for all nodes.
    """
    b, reach, p1, p2, q = buffers[0], buffers[1], buffers[2], buffers[3], buffers[4]
    cos_theta = np.cos(geo[11])
    kappa0, eta = 0.5 * (1.0 + cos_theta), 0.5 * (1.0 - cos_theta)
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
    u0, u1 = np.uint64(0), np.uint64(1)
    u2, u3, u4 = np.uint64(2), np.uint64(3), np.uint64(4)
    active = 0
    any_blunt = False
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        project(points, origin + begin, origin + end, geo, kappa0, eta, eps + 0.5 * beta, b, reach, p1, p2, q)
        for i in range(end - begin):
            u = (b[i] - t0) * inverse
            e = reach[i] * (inverse * 1.000001)
            if abs(u - half) >= half + m + e:
                continue
            active += 1
            left, right = max(u - e, lowest) + pad, min(u + e, highest) + pad
            j, k = np.int64(left), np.int64(right)
            if e < m:
                sides[np.uint64(j), u0] += one
                sides[np.uint64(j), u1] += np.float32(left - j)
                sides[np.uint64(k), u0] += one
                sides[np.uint64(k), u1] += np.float32(right - k)
                v = u + pad
                k = np.int64(v)
                hist[np.uint64(k), u0] += one
                hist[np.uint64(k), u1] += np.float32(v - k)
                hist[np.uint64(k), u2] += np.float32(p1[i])
                hist[np.uint64(k), u3] += np.float32(p2[i])
                hist[np.uint64(k), u4] += np.float32(q[i])
            else:
                any_blunt = True
                blunt[np.uint64(j), u0] += one
                blunt[np.uint64(j), u1] += np.float32(left - j)
                blunt[np.uint64(k), u2] += one
                blunt[np.uint64(k), u3] += np.float32(right - k)
    # Second differences at the nodes from (count, offset) of the bins: 1 − f on a bin's own node, f on the next one.
    # Column 0 is wanted m bins further left, column 1 m bins further right, column 2 in place.
    squares = 0.0
    h0, s0, l0, r0 = 0.0, 0.0, 0.0, 0.0
    for j in range(bins):
        weight = hist[j, 0] - np.float64(hist[j, 1]) + h0
        smooth = sides[j, 0] - np.float64(sides[j, 1]) + s0 - weight
        h0, s0 = hist[j, 1], sides[j, 1]
        left, right = 0.0, 0.0
        if any_blunt:
            left = blunt[j, 0] - np.float64(blunt[j, 1]) + l0
            right = blunt[j, 2] - np.float64(blunt[j, 3]) + r0
            l0, r0 = blunt[j, 1], blunt[j, 3]
            squares += blunt[j, 0] * blunt[j, 0] + blunt[j, 2] * blunt[j, 2]
        squares += hist[j, 0] * hist[j, 0] + sides[j, 0] * sides[j, 0]
        second[j, 0] = smooth + left
        second[j, 1] = smooth + right
        second[j, 2] = 2.0 * weight + left + right
    h1, h2 = geo[9], geo[10]
    value, slope = 0.0, 0.0
    g0, g1, g2, g3 = 0.0, 0.0, 0.0, 0.0
    for k in range(-4 * m - 4, nodes):
        j = k + pad
        if k >= 0:
            out[k] += value * beta + h1 * abs(g1) + h2 * abs(g2) + eta * abs(g3) + 0.5 * beta * abs(g0)
        up, down = j + m, j - m
        slope += second[up, 0] + second[down, 1] - second[j, 2]
        value += slope
        g0 += (np.float64(hist[up, 0]) + hist[down, 0]) - 2.0 * hist[j, 0]
        g1 += (np.float64(hist[up, 2]) + hist[down, 2]) - 2.0 * hist[j, 2]
        g2 += (np.float64(hist[up, 3]) + hist[down, 3]) - 2.0 * hist[j, 3]
        g3 += (np.float64(hist[up, 4]) + hist[down, 4]) - 2.0 * hist[j, 4]
    # Half an ulp of a sum of up to n_bin terms, n_bin times: 8 kinks a point for the offsets (β ≤ ξ/4), 4 steps for the
    # tangents, which move a point by less than ξ here.
    # In float64, a slope is off by an ulp per bin at most, and a value by that per node.
    return active * (eps + xi * 3e-16 * nodes + beta * 3e-16 * nodes * bins) + 6e-8 * squares * 6.0 * xi


@njit(cache=True, nogil=True, error_model="numpy")
def narrow_bound(points, origin, n, general, xi, geo, eps, t0, beta, nodes, buffers, second, steps, out):
    """Add the same bound for any β, ξ and weights (rows 4 and 5 of `points` when `general`); best for few nodes.

    Points without a kink among the nodes only add to the start values. Returns the rounding margin for all nodes.
    """
    b, reach, p1, p2, q = buffers[0], buffers[1], buffers[2], buffers[3], buffers[4]
    cos_theta = np.cos(geo[11])
    kappa0, eta = 0.5 * (1.0 + cos_theta), 0.5 * (1.0 - cos_theta)
    last = nodes - 1.0
    half = 0.5 * last
    inverse = 1.0 / beta
    second[: nodes + 2] = 0.0
    steps[: nodes + 2] = 0.0
    start = np.zeros(6)
    active = 0.0
    x_i = xi * inverse
    w = 1.0
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        project(points, origin + begin, origin + end, geo, kappa0, eta, eps + 0.5 * beta, b, reach, p1, p2, q)
        for i in range(end - begin):
            if general:
                x_i = points[4, origin + begin + i] * inverse
                w = points[5, origin + begin + i]
            u = (b[i] - t0) * inverse
            e = reach[i] * (inverse * 1.000001)
            a = abs(u - half)
            if a >= half + x_i + e:
                continue
            active += w
            if e >= x_i:
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
                for side in (-1.0, 1.0):
                    edge = u + side * x_i
                    _kink(edge - e, w, last, second, start)
                    _kink(edge, -w, last, second, start)
                    _kink(edge + e, w, last, second, start)
                    _turn(edge, 1.0, last, w, p1[i], p2[i], q[i], steps, start)
                _kink(u, -2.0 * w, last, second, start)
                _turn(u, -2.0, last, w, p1[i], p2[i], q[i], steps, start)
    value, slope = start[0], start[1]
    g0, g1, g2, g3 = start[2], start[3], start[4], start[5]
    h1, h2 = geo[9], geo[10]
    for k in range(nodes):
        g0 += steps[k, 0]
        g1 += steps[k, 1]
        g2 += steps[k, 2]
        g3 += steps[k, 3]
        out[k] += value * beta + h1 * abs(g1) + h2 * abs(g2) + eta * abs(g3) + 0.5 * beta * abs(g0)
        slope += second[k]
        value += slope
    # A slope is off by an ulp per deposit or node at most, a value by that per node.
    return active * (eps + xi * 3e-16 * (nodes + 16.0 * n) + beta * 3e-16 * nodes * (nodes + 16.0 * n))
