"""The compiled search below one cell: depth first, in slices, without the interpreter lock."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.bounds.first_order import BLOCK, narrow_bound, project, wide_bound
from tear3d.prove.bounds.plan import plan_bound
from tear3d.prove.bounds.windows import window_bound
from tear3d.prove.domains.sphere import cell_geometry
from tear3d.prove.row.state import BOUND, CELLS, MAX_NODES, SAVING, SEGMENTS, TOP, TRACED, UNRESOLVED, VISITS

MIN_COPY = 64
HOPELESS = 6.0
"""A cell whose bound is expected to miss the threshold by more than this factor is split without being bounded."""


@njit(cache=True, nogil=True)
def arc_geometry(level, i, basis, out):
    """Like `cell_geometry`, for arc i of 2^level arcs of the circle spanned by basis[0] and basis[1]."""
    half = np.pi / 2.0**level
    middle = (2 * i + 1) * half
    ca, sa = np.cos(middle), np.sin(middle)
    for k in range(3):
        out[k] = ca * basis[0, k] + sa * basis[1, k]
        out[3 + k] = ca * basis[1, k] - sa * basis[0, k]
        out[6 + k] = 0.0
    out[9] = np.sin(min(half, 0.5 * np.pi)) * (1.0 + 1e-14) + 1e-15
    out[10] = 0.0
    out[11] = np.sqrt(half * half * (1.0 + 1e-14) + 4e-15)


@njit(cache=True, nogil=True)
def saving_at(points, start, n, general, xi, r, t):
    """Σ w·max(0, ξ − |y − r·x − t|) over a segment of the points."""
    total = 0.0
    x0, x1 = points[0, start : start + n], points[1, start : start + n]
    x2, y = points[2, start : start + n], points[3, start : start + n]
    xi_row, w_row = (
        points[points.shape[0] - 2, start : start + n],
        points[points.shape[0] - 1, start : start + n],
    )
    r0, r1, r2 = r[0], r[1], r[2]
    for i in range(n):
        z = abs(y[i] - r0 * x0[i] - r1 * x1[i] - r2 * x2[i] - t)
        if general:
            total += w_row[i] * max(0.0, xi_row[i] - z)
        else:
            total += max(0.0, xi - z)
    return total


@njit(cache=True, nogil=True)
def band_weight(points, general, xi, r, t):
    """Σ w of the points with |y − r·x − t| < 2ξ."""
    total = 0.0
    for i in range(points.shape[1]):
        z = abs(points[3, i] - r[0] * points[0, i] - r[1] * points[1, i] - r[2] * points[2, i] - t)
        if general:
            total += points[5, i] if z < 2.0 * points[4, i] else 0.0
        else:
            total += 1.0 if z < 2.0 * xi else 0.0
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def copy_active(points, segment, geo, t0, t1, setting, scratch):
    """Copy the points that can matter for t in [t0, t1] behind their segment; False when it does not pay."""
    start, n, near = scratch.segments[segment, 0], scratch.segments[segment, 1], scratch.segments[segment, 2]
    b, reach, p1, p2, q = (
        scratch.buffers[0],
        scratch.buffers[1],
        scratch.buffers[2],
        scratch.buffers[3],
        scratch.buffers[4],
    )
    arena = scratch.arena
    target = 0 if segment == 0 else start + n
    room = min(arena.shape[1] - target, 3 * n // 4 + BLOCK)
    cos_theta = np.cos(geo[11])
    kappa0, eta = 0.5 * (1.0 + cos_theta), 0.5 * (1.0 - cos_theta)
    middle, half = 0.5 * (t0 + t1), 0.5 * (t1 - t0)
    kept, kept_near = 0, 0
    xi = setting.xi
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        if kept + BLOCK > room:
            return False
        project(points, start + begin, start + end, geo, kappa0, eta, setting.eps, b, reach, p1, p2, q)
        x0, x1 = points[0, start + begin : start + end], points[1, start + begin : start + end]
        x2, y = points[2, start + begin : start + end], points[3, start + begin : start + end]
        first = target + kept
        c0, c1 = arena[0, first : first + BLOCK], arena[1, first : first + BLOCK]
        c2, c3 = arena[2, first : first + BLOCK], arena[3, first : first + BLOCK]
        # Without a branch: write always, advance only past the points to keep.
        new = np.uint64(0)
        for i in range(end - begin):
            if setting.general:
                xi = points[4, start + begin + i]
                arena[4, first + new] = xi
                arena[5, first + new] = points[5, start + begin + i]
            if begin + i == near:
                kept_near = kept + np.int64(new)
            c0[new], c1[new], c2[new], c3[new] = x0[i], x1[i], x2[i], y[i]
            new += np.uint64(abs(b[i] - middle) < half + xi + reach[i] * 1.000001)
        kept += np.int64(new)
    scratch.segments[segment + 1, 0] = target
    scratch.segments[segment + 1, 1] = kept
    scratch.segments[segment + 1, 2] = kept if near == n else kept_near
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def bound_cell(points, segment, geo, t0, beta, nodes, levels, setting, scratch):
    """Bounds of the cell at the nodes t0 + kβ into scratch.values, rounding included."""
    start, n, near = scratch.segments[segment, 0], scratch.segments[segment, 1], scratch.segments[segment, 2]
    values = scratch.values
    values[:nodes] = 0.0
    margin, done = 0.0, 0
    if levels > 0:
        rounding = window_bound(
            points, start, near, setting.xi, geo, setting.eps, setting.extent, levels, t0, beta, nodes,
            scratch.buffers, scratch.index, scratch.groups, scratch.work, scratch.rows, values,
        )  # fmt: skip
        if rounding >= 0.0:
            margin, done = rounding, near
    if done < n:
        m = int(np.round(setting.xi / beta))
        bins = nodes + 9 * m + 14
        if not setting.general and (nodes > 2 * m or bins < n) and bins <= scratch.hist.shape[0]:
            margin += wide_bound(
                points, start + done, n - done, setting.xi, geo, setting.eps, t0, beta, nodes,
                scratch.buffers, scratch.hist, scratch.sides, scratch.blunt, scratch.nodes, values,
            )  # fmt: skip
        else:
            margin += narrow_bound(
                points, start + done, n - done, setting.general, setting.xi, geo, setting.eps, t0, beta, nodes,
                scratch.buffers, scratch.second, scratch.steps, values,
            )  # fmt: skip
    for k in range(nodes):
        values[k] += margin


@njit(cache=True, nogil=True)
def push_children(cells, ranges, top, circle):
    """Replace the entry `top` of the stack by its quarters (halves of an arc); returns the new height."""
    face, level, i, j, segment = cells[top, 0], cells[top, 1], cells[top, 2], cells[top, 3], cells[top, 4]
    t0, t1, bound, above = ranges[top, 0], ranges[top, 1], ranges[top, 2], ranges[top, 3]
    for a in range(2):
        for b in range(1 if circle else 2):
            cells[top, 0], cells[top, 1], cells[top, 2], cells[top, 3], cells[top, 4] = (
                face,
                level + 1,
                2 * i + a,
                2 * j + b,
                segment,
            )
            ranges[top, 0], ranges[top, 1], ranges[top, 2], ranges[top, 3] = t0, t1, bound, above
            top += 1
    return top


@njit(cache=True, nogil=True, error_model="numpy")
def search_subtree(points, setting, task, scratch, copying, budget, cell_limit):
    """Work off the task's stack until it is empty or `budget` point visits or `cell_limit` cells are spent."""
    cells, ranges, state, count = task.cells, task.ranges, task.state, task.count
    values = scratch.values
    xi = setting.xi
    geo = np.empty(12)
    spent, visited = 0, 0
    while count[TOP] > 0 and visited < budget and spent < cell_limit:
        top = count[TOP] - 1
        face, level, ci, cj, segment = (
            cells[top, 0],
            cells[top, 1],
            cells[top, 2],
            cells[top, 3],
            cells[top, 4],
        )
        t0, t1, bound, above = ranges[top, 0], ranges[top, 1], ranges[top, 2], ranges[top, 3]
        threshold = state[SAVING] * (1.0 + setting.slack)
        if bound <= threshold:
            count[TOP] = top
            state[BOUND] = max(state[BOUND], bound)
            continue
        if setting.circle:
            arc_geometry(level, ci, setting.basis, geo)
        else:
            cell_geometry(face, level, ci, cj, geo)
        reach = setting.radius * max(geo[9], geo[10])
        if reach < 2.0 * setting.eps or level >= 40:
            count[TOP] = top
            count[UNRESOLVED] += 1
            state[BOUND] = max(state[BOUND], bound)
            continue
        size, near = scratch.segments[segment, 1], scratch.segments[segment, 2]
        levels, m, excess = plan_bound(size, near, t1 - t0, reach, geo, threshold, setting)
        if excess > HOPELESS and above < np.inf and level < 12:
            count[TOP] = push_children(cells, ranges, top, setting.circle)
            continue
        beta = xi / m
        nodes = int((t1 - t0) / beta) + 1
        if nodes > MAX_NODES:
            # Too long a range for one evaluation: halve it.
            for k in range(5):
                cells[top + 1, k] = cells[top, k]
            for k in range(4):
                ranges[top + 1, k] = ranges[top, k]
            ranges[top, 1] = ranges[top + 1, 0] = 0.5 * (t0 + t1)
            count[TOP] = top + 2
            continue
        count[TOP] = top
        source = points if segment == 0 else scratch.arena
        bound_cell(source, segment, geo, t0 + 0.5 * beta, beta, nodes, levels, setting, scratch)
        spent += 1
        visited += size
        first, last, arg = nodes, -1, 0
        for k in range(nodes):
            if values[k] > values[arg]:
                arg = k
            if values[k] > threshold:
                first = min(first, k)
                last = k
        for k in range(nodes):
            if k < first or k > last:
                state[BOUND] = max(state[BOUND], min(values[k], bound))
        bound = min(bound, values[arg])
        if count[TRACED] < task.trace.shape[0]:
            row = task.trace[count[TRACED]]
            row[0], row[1], row[2], row[3], row[4] = geo[0], geo[1], geo[2], geo[11], level
            row[5] = 1.0 if last < 0 else 0.0
            count[TRACED] += 1
        if last < 0:
            continue
        if 2.0 * reach < xi or size < MIN_COPY:
            t = t0 + (arg + 0.5) * beta
            value = saving_at(source, scratch.segments[segment, 0], size, setting.general, xi, geo, t)
            if value > state[SAVING]:
                state[SAVING] = value
                task.best[0], task.best[1], task.best[2], task.best[3] = geo[0], geo[1], geo[2], t
        t1 = t0 + (last + 1) * beta
        t0 = t0 + first * beta
        width = t1 - t0 + 2.0 * (xi + reach)
        narrower = copying and size > MIN_COPY and width < 0.7 * scratch.widths[segment] and segment + 1 < SEGMENTS
        if narrower and copy_active(source, segment, geo, t0, t1, setting, scratch):
            segment += 1
            scratch.widths[segment] = width
        cells[top, 4] = segment
        ranges[top, 0], ranges[top, 1], ranges[top, 2], ranges[top, 3] = t0, t1, bound, bound
        count[TOP] = push_children(cells, ranges, top, setting.circle)
    count[CELLS] += spent
    count[VISITS] += visited
