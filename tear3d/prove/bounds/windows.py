"""Window bound of a cell: groups of points move together, so a smooth background costs little.

The points (all within `extent` of the origin) are put into a grid of n×n groups by their tangent coordinates. A group
moves as one by δ = d·p_g; that shift is bounded by sliding maxima along t, from the finest groups up. What is left
inside a group is the first-order bound (first_order.py) with p − p_g in place of p.

A node k of the root stands for all t within β/2 of it. Going down a level moves t by at most D; the sliding maximum
covers W whole bins of that and the rest, σ ← max(0, σ + D − Wβ), is carried down and added to what a node of a leaf
stands for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.bounds.data import BLOCK, FIELDS, LANES, X1, X2, X3, Y
from tear3d.prove.bounds.first_order import CROWD, DOUBLE, SINGLE
from tear3d.prove.bounds.grid import make_grid


@njit(cache=True, nogil=True, error_model="numpy")
def _deposit(points, cell, grid, beta, block, hist):
    """Scatter (1, offset in the bin, p − p_g, q) into hist[block][field][bin][lane].

    Points outside all bands go to the first and last bin from which no node is reached.
    """
    rows, origin, n, extent, groups, stride = (
        points.rows,
        points.start,
        points.count,
        points.extent,
        grid.groups,
        grid.stride,
    )
    f = rows.dtype.type
    offset, p1, p2, q, index = block.b, block.p1, block.p2, block.q, block.index
    c0, c1, c2 = f(cell.c[0]), f(cell.c[1]), f(cell.c[2])
    u0, u1, u2 = f(cell.e1[0]), f(cell.e1[1]), f(cell.e1[2])
    v0, v1, v2 = f(cell.e2[0]), f(cell.e2[1]), f(cell.e2[2])
    k0, t0, inv = f(cell.kappa0), f(grid.base), f(1.0 / beta)
    scale, size, last = f(0.5 * groups / extent), f(2.0 * extent / groups), f(groups - 1)
    corner = f(extent / groups - extent)
    zero, one, reach = f(0.0), f(1.0), f(extent)
    lowest, highest = f(2 * (grid.m + grid.e)), f(4 * (grid.m + grid.e) + grid.count - 1)
    along = np.int32(FIELDS * LANES * stride)
    across = np.int32(groups // 4) * along
    one_bit, two, four = np.int32(1), np.int32(2), np.int32(4)
    step = np.uint32(LANES * stride)
    step2, step3, step4 = np.uint32(2) * step, np.uint32(3) * step, np.uint32(4) * step
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        x0, x1 = rows[X1, origin + begin : origin + end], rows[X2, origin + begin : origin + end]
        x2, y = rows[X3, origin + begin : origin + end], rows[Y, origin + begin : origin + end]
        for i in range(end - begin):
            a0, a1, a2 = x0[i], x1[i], x2[i]
            qi = c0 * a0 + c1 * a1 + c2 * a2
            pi = u0 * a0 + u1 * a1 + u2 * a2
            ri = v0 * a0 + v1 * a1 + v2 * a2
            gi = np.int32(min(max((pi + reach) * scale, zero), last))
            gj = np.int32(min(max((ri + reach) * scale, zero), last))
            u = min(max((y[i] - k0 * qi - t0) * inv, lowest), highest)
            k = np.int32(u)
            first = (gi >> two) * across + (gj >> two) * along
            lane = ((gi & two) << two) | ((gj & two) << one_bit) | ((gi & one_bit) << one_bit) | (gj & one_bit)
            index[i] = first + (k << four) + lane
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
def _count(number, chunk, chunks):
    """Add the points of every `chunk` bins (all lanes) to chunks; returns Σ (points in a bin)²."""
    squares = 0.0
    for c in range(-(-len(number) // (LANES * chunk))):
        part = number[LANES * chunk * c : LANES * chunk * (c + 1)]
        n0, n1, n2, n3 = 0.0, 0.0, 0.0, 0.0
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(len(part) // 4):
            a0, a1, a2, a3 = part[4 * j], part[4 * j + 1], part[4 * j + 2], part[4 * j + 3]
            n0 += a0
            n1 += a1
            n2 += a2
            n3 += a3
            s0 += a0 * a0
            s1 += a1 * a1
            s2 += a2 * a2
            s3 += a3 * a3
        chunks[c] += (n0 + n1) + (n2 + n3)
        squares += (s0 + s1) + (s2 + s3)
    return squares


@njit(cache=True, nogil=True, error_model="numpy")
def _leaves(h, grid, cell, beta, row, work):
    """First-order bounds of the 16 groups of a block at all nodes into row[node][lane].

    All loops run from 0 over flat views and sums[k + LANES] depends on sums[k] only, so
    that everything vectorises.
    """
    m, e, count = grid.m, grid.e, grid.count
    reach = m + e
    length = LANES * (count + 4 * reach)
    number, offset = h[:length], h[length : 2 * length]
    weights, slopes, sums = work[0], work[1], work[2]
    # Node weights: 1 − f on a bin's own node, f on the next.
    weights[:LANES] = 0.0
    inside, current, own = weights[LANES:], number[LANES:], offset[LANES:]
    for k in range(length - LANES):
        inside[k] = np.float64(current[k]) - own[k] + offset[k]
    # Second differences: +1 at b ± ξ ± E, −1 at b ± ξ, −2 at b; summed up once to slopes, once more to values.
    w0, w1, w4 = weights[LANES * reach :], weights[LANES * 2 * reach :], weights
    w2, w3 = weights[LANES * (reach + m - e) :], weights[LANES * (reach - m + e) :]
    w5, w6 = weights[LANES * (reach + m) :], weights[LANES * e :]
    slopes[:LANES] = 0.0
    for k in range(LANES * (2 * reach + count)):
        slopes[k + LANES] = slopes[k] + (((w1[k] + w2[k]) + (w3[k] + w4[k])) - ((w5[k] + w6[k]) + 2.0 * w0[k]))
    before = LANES * (2 * reach - 1)
    after = slopes[LANES:]
    sums[:LANES] = 0.0
    for k in range(before):
        sums[k + LANES] = sums[k] + after[k]
    tail, after = sums[before:], slopes[before + LANES :]
    for k in range(LANES * count):
        value = tail[k] + after[k]
        tail[k + LANES] = value
        row[k] = beta * value
    # The linear term: the sums of sign·(1, p1, p2, q) step at b ± ξ and b.
    for field in range(4):
        source = number if field == 0 else h[(field + 1) * length : (field + 2) * length]
        factor = (
            0.5 * beta + grid.sigma if field == 0 else cell.h1 if field == 1 else cell.h2 if field == 2 else cell.eta
        )
        here, up, down = source[LANES * reach :], source[LANES * (reach + m) :], source[LANES * e :]
        for k in range(before):
            sums[k + LANES] = sums[k] + ((np.float64(up[k]) + down[k]) - 2.0 * here[k])
        here, up, down = here[before:], up[before:], down[before:]
        for k in range(LANES * count):
            value = tail[k] + ((np.float64(up[k]) + down[k]) - 2.0 * here[k])
            tail[k + LANES] = value
            row[k] += factor * abs(value)


@njit(cache=True, nogil=True, error_model="numpy")
def _slide(row, other, length, width, lanes):
    """Sliding maximum over 2·width + 1 entries, per lane, by doubling between two buffers.

    Returns (the new length, whether the result is in `other`).
    """
    span = 2 * width + 1
    done = 1
    swapped = False
    while done < span:
        step = min(done, span - done)
        length -= step
        a, b = (other, row) if swapped else (row, other)
        ahead = a[lanes * step :]
        for k in range(lanes * length):
            b[k] = max(a[k], ahead[k])
        swapped = not swapped
        done += step
    return length, swapped


@njit(cache=True, nogil=True, error_model="numpy")
def window_bound(points, cell, axis, levels, work, out):
    """Add to out[k] an upper bound of the saving for all r of the cell and all t that node k stands for.

    All points lie within `extent` of the origin, have weight 1 and ξ = mβ; 2^levels groups a side. Returns the rounding
    margin to be added to every node (mathematics.md, section 5.4), or -1 and no bound when the work space is too small
    or a bin may hold more points than float32 can count.
    """
    n, beta, nodes = points.count, axis.beta, axis.count
    grid = make_grid(points, cell, axis, levels)
    groups, widths, slack, count, stride = grid.groups, grid.widths, grid.slack, grid.count, grid.stride
    reach = grid.m + grid.e
    hist, rows = work.groups, work.levels
    if FIELDS * groups * groups * stride > hist.size or LANES * stride > min(work.sums.shape[1], rows.shape[1]):
        return -1.0
    _deposit(points, cell, grid, beta, work.block, hist)
    chunks = np.zeros(stride // reach + 1)
    squares = 0.0
    for level in range(levels - 1):
        rows[level, :count] = 0.0
    leaves, spare = rows[levels], rows[levels - 1]
    for block in range(groups * groups // LANES):
        # Blocks in the order of a quadtree, so that each level above needs one row only.
        gi, gj = 0, 0
        for level in range(levels - 2):
            gj |= ((block >> (2 * level)) & 1) << level
            gi |= ((block >> (2 * level + 1)) & 1) << level
        first = FIELDS * LANES * stride * (gi * (groups // 4) + gj)
        h = hist[first : first + FIELDS * LANES * stride]
        crowd = _count(h[: LANES * stride], reach, chunks)
        length = count
        if crowd > 0.0:
            squares += crowd
            _leaves(h, grid, cell, beta, leaves, work.sums)
            h[:] = 0.0
            row, other = leaves, spare
            for lanes, level in ((16, levels - 1), (4, levels - 2)):
                length, swapped = _slide(row, other, length, widths[level], lanes)
                if swapped:
                    row, other = other, row
                target = other if lanes == 16 else rows[levels - 2]
                for k in range(length * (lanes // 4)):
                    total = (row[4 * k] + row[4 * k + 1]) + (row[4 * k + 2] + row[4 * k + 3])
                    target[k] = total if lanes == 16 else target[k] + total
                row, other = other, row
        length = count - 2 * (widths[levels - 1] + widths[levels - 2])
        for level in range(levels - 2, 0, -1):
            if (block + 1) % (1 << (2 * (levels - 2 - level))) != 0:
                break
            shorter, swapped = _slide(rows[level], spare, length, widths[level - 1], 1)
            children, parent = spare if swapped else rows[level], rows[level - 1]
            for k in range(shorter):
                parent[k] += children[k]
            rows[level, :length] = 0.0
            length = shorter
    # No band |z| ≤ ξ + E, moved by any shift, holds more points than this (chunks of ξ + E; clamped ones left out).
    most = 0.0
    span = 3 + int(np.ceil(2.0 * slack / reach))
    for c in range(2, len(chunks)):
        total = 0.0
        for d in range(c, min(c + span, len(chunks))):
            total += chunks[d]
        most = max(most, total)
    if squares >= CROWD:
        return -1.0
    top = 0.0
    for k in range(nodes):
        top = max(top, rows[0, k])
        out[k] += rows[0, k]
    margin = grid.eps * most + 8.0 * SINGLE * squares * (beta + grid.inside) + (3 * levels + 4) * SINGLE * top
    return margin + 10.0 * DOUBLE * n * stride * (points.xi + beta * stride)
