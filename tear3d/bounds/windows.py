"""Window bound of a cell (bounds.md, section 3): groups of points move together, so a smooth background costs little.

The points (all within `extent` of the origin) are put into a grid of n×n groups by their tangent coordinates. A group moves as
one by δ = d·p_g; that shift is bounded by sliding maxima along t, from the finest groups up. What is left inside a group
is the first-order bound (first_order.py) with p − p_g in place of p.

A node k of the root stands for all t within β/2 of it. Going down a level moves t by at most D; the sliding maximum covers W whole
bins of that and the rest, σ ← max(0, σ + D − Wβ), is carried down and added to the reach of the leaves.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.bounds.first_order import BLOCK

FIELDS = 5
MAX_LEVELS = 6


@njit(cache=True, nogil=True, error_model="numpy")
def window_plan(levels, h, extent, beta, widths):
    """Half windows in bins per level (widths[l] for the step from level l to its children); returns the rest σ."""
    sigma = 0.0
    half = 0.5 * extent
    for level in range(levels):
        total = sigma + h * half
        widths[level] = int(total / beta + 0.5)
        sigma = max(0.0, total - widths[level] * beta)
        half *= 0.5
    return sigma


@njit(cache=True, nogil=True, error_model="numpy")
def window_reach(levels, geo, extent, eps, beta):
    """The reach E of a leaf, a whole number of bins."""
    eta = 0.5 * (1.0 - np.cos(geo[11]))
    h = geo[9] + geo[10]
    sigma = window_plan(levels, h, extent, beta, np.zeros(MAX_LEVELS, np.int64))
    return np.ceil((h * extent / 2**levels + eta * extent + eps + sigma) / beta + 0.5) * beta


@njit(cache=True, nogil=True, error_model="numpy")
def _deposit(points, origin, n, geo, kappa0, groups, extent, base, inverse, stride, low, high, index, buffers, hist):
    """Scatter (1, offset in the bin, p − p_g, q) of every point into hist[group][field][bin], bins in [low, high]."""
    f = points.dtype.type
    offset, p1, p2, q = buffers[0], buffers[1], buffers[2], buffers[3]
    c0, c1, c2 = f(geo[0]), f(geo[1]), f(geo[2])
    u0, u1, u2 = f(geo[3]), f(geo[4]), f(geo[5])
    v0, v1, v2 = f(geo[6]), f(geo[7]), f(geo[8])
    k0, t0, inv = f(kappa0), f(base), f(inverse)
    scale, size, last = f(0.5 * groups / extent), f(2.0 * extent / groups), f(groups - 1)
    corner = f(extent / groups - extent)
    zero, one, reach = f(0.0), f(1.0), f(extent)
    lowest, highest = f(low), f(high)
    across, along = np.int32(FIELDS * groups * stride), np.int32(FIELDS * stride)
    step, step2, step3, step4 = np.uint32(stride), np.uint32(2 * stride), np.uint32(3 * stride), np.uint32(4 * stride)
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        x0, x1 = points[0, origin + begin : origin + end], points[1, origin + begin : origin + end]
        x2, y = points[2, origin + begin : origin + end], points[3, origin + begin : origin + end]
        for i in range(end - begin):
            a0, a1, a2 = x0[i], x1[i], x2[i]
            qi = c0 * a0 + c1 * a1 + c2 * a2
            pi = u0 * a0 + u1 * a1 + u2 * a2
            ri = v0 * a0 + v1 * a1 + v2 * a2
            gi = np.int32(min(max((pi + reach) * scale, zero), last))
            gj = np.int32(min(max((ri + reach) * scale, zero), last))
            u = min(max((y[i] - k0 * qi - t0) * inv, lowest), highest)
            k = np.int32(u)
            index[i] = gi * across + gj * along + k
            offset[i] = u - f(k)
            p1[i] = pi - (f(gi) * size + corner)
            p2[i] = ri - (f(gj) * size + corner)
            q[i] = qi
        for i in range(end - begin):
            k = index[i]
            hist[k] += one
            hist[k + step] += offset[i]
            hist[k + step2] += p1[i]
            hist[k + step3] += p2[i]
            hist[k + step4] += q[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _leaf(h, m, e, h1, h2, eta, beta, count, row, work, sums):
    """First-order bound of one group at its `count` nodes (node k is bin k + 3(m + e)) into row; False if it is empty.

    Adds to sums[0] the largest number of points in any band |z| ≤ ξ + E, to sums[1] Σ (points in a bin)².
    All loops run from 0 over shifted views: plain counters vectorise.
    """
    reach = m + e
    bins = count + 2 * reach
    length = bins + 2 * reach
    number, offset = h[:length], h[length : 2 * length]
    squares = 0.0
    for j in range(2 * reach + 1, 2 * reach + bins - 1):
        squares += number[j] * number[j]
    if squares == 0.0:
        return False
    sums[1] += squares
    # Node weights: 1 − f on a bin's own node, f on the next.
    weights = work[0]
    weights[0] = 0.0
    previous, inside, current, own = offset, weights[1:], number[1:], offset[1:]
    for j in range(length - 1):
        inside[j] = np.float64(current[j]) - own[j] + previous[j]
    steps = 2 * reach + count
    # Second differences: +1 at b ± ξ ± E, −1 at b ± ξ, −2 at b.
    w0, w1, w2, w3, w4 = weights[reach:], weights[2 * reach :], weights[reach + m - e :], weights[reach - m + e :], weights
    w5, w6 = weights[reach + m :], weights[e:]
    second = work[1]
    for j in range(steps):
        second[j] = w1[j] + w2[j] + w3[j] + w4[j] - w5[j] - w6[j] - 2.0 * w0[j]
    # The sums of sign·(1, p1, p2, q) step at b ± ξ and b.
    for field in range(4):
        source = number if field == 0 else h[(field + 1) * length : (field + 2) * length]
        here, up, down = source[reach:], source[reach + m :], source[e:]
        turn = work[2 + field]
        for j in range(steps):
            turn[j] = (np.float64(up[j]) + down[j]) - 2.0 * here[j]
    t0, t1, t2, t3 = work[2], work[3], work[4], work[5]
    enter = number[2 * reach :]
    value, slope, band, most = 0.0, 0.0, 0.0, 0.0
    g0, g1, g2, g3 = 0.0, 0.0, 0.0, 0.0
    for j in range(steps):
        slope += second[j]
        value += slope
        second[j] = value
        g0 += t0[j]
        g1 += t1[j]
        g2 += t2[j]
        g3 += t3[j]
        t0[j], t1[j], t2[j], t3[j] = g0, g1, g2, g3
        band += enter[j] - number[j]
        most = max(most, band)
    sums[0] += most
    first = 2 * reach - 1
    value_at, at0, at1, at2, at3 = second[first:], t0[first:], t1[first:], t2[first:], t3[first:]
    for k in range(count):
        row[k] = beta * value_at[k] + (
            (h1 * abs(at1[k]) + h2 * abs(at2[k])) + (eta * abs(at3[k]) + 0.5 * beta * abs(at0[k]))
        )
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _slide_and_add(row, length, width, parent):
    """parent[k] += max(row[k : k + 2·width + 1]); `row` is overwritten."""
    span = 2 * width + 1
    done = 1
    while 2 * done <= span:
        length -= done
        for k in range(length):
            row[k] = max(row[k], row[k + done])
        done *= 2
    rest = span - done
    for k in range(length - rest):
        parent[k] += max(row[k], row[k + rest])


@njit(cache=True, nogil=True, error_model="numpy")
def window_bound(points, origin, n, xi, geo, eps, extent, levels, t0, beta, nodes, buffers, index, hist, work, rows, out):
    """Add to out[k] an upper bound of the saving for all r of the cell and all t within β/2 of node t0 + kβ, k < nodes.

    All points lie within `extent` of the origin, have weight 1 and ξ = mβ; 2^levels groups a side. `hist` is all zero
    before and after. Returns the rounding margin to be added to every node, or -1 when the scratch arrays are too small.
    """
    cos_theta = np.cos(geo[11])
    kappa0, eta = 0.5 * (1.0 + cos_theta), 0.5 * (1.0 - cos_theta)
    h1, h2 = geo[9], geo[10]
    groups = 2**levels
    widths = np.zeros(MAX_LEVELS, np.int64)
    sigma = window_plan(levels, h1 + h2, extent, beta, widths)
    slack = 0
    for level in range(levels):
        slack += widths[level]
    m = int(round(xi / beta))
    eps += 4e-7 * (abs(t0) + nodes * beta)
    inside = (h1 + h2) * extent / groups + eta * extent + eps
    e = int(np.ceil((inside + sigma + 0.5 * beta) / beta))
    reach = m + e
    count = nodes + 2 * slack
    stride = count + 4 * reach
    if FIELDS * groups * groups * stride > hist.shape[0] or stride > work.shape[1] or count > rows.shape[1]:
        return -1.0
    base = t0 - (slack + 3 * reach) * beta
    _deposit(points, origin, n, geo, kappa0, groups, extent, base, 1.0 / beta, stride, 2 * reach, 4 * reach + count - 1, index, buffers, hist)
    sums = np.zeros(2)
    rows[: levels + 1] = 0.0
    for g in range(groups * groups):
        gi, gj = 0, 0
        for level in range(levels):
            gj |= ((g >> (2 * level)) & 1) << level
            gi |= ((g >> (2 * level + 1)) & 1) << level
        first = FIELDS * stride * (gi * groups + gj)
        h = hist[first : first + FIELDS * stride]
        if _leaf(h, m, e, h1, h2, eta, beta, count, rows[levels], work, sums):
            _slide_and_add(rows[levels], count, widths[levels - 1], rows[levels - 1])
        h[:] = 0.0
        length = count
        for level in range(levels - 1, 0, -1):
            length -= 2 * widths[level]
            if (g + 1) % (1 << (2 * (levels - level))) != 0:
                break
            _slide_and_add(rows[level], length, widths[level - 1], rows[level - 1])
            rows[level] = 0.0
    top = 0.0
    for k in range(nodes):
        top = max(top, rows[0, k])
        out[k] += rows[0, k]
    # Rounding: eps per point in a band; float32 sums inside a bin (n² units of half an ulp); float32 rows; float64 sums.
    return eps * sums[0] + 6e-8 * sums[1] * 8.0 * (beta + inside) + 1e-6 * top + 1e-15 * n * xi * stride
