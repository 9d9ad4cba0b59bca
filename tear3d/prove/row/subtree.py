"""The compiled search below one cell: depth first, in slices, without the interpreter lock."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.bounds.data import BLOCK, MAX_NODES, X1, X2, X3, XI, Axis, Points, W, Y
from tear3d.prove.bounds.first_order import REACH_FACTOR, narrow_bound, project, wide_bound
from tear3d.prove.bounds.plan import NODE_COST, POINT_COST, plan_bound
from tear3d.prove.bounds.windows import window_bound
from tear3d.prove.domains.circle import arc_geometry
from tear3d.prove.domains.sphere import DEEPEST_LEVEL, cell_geometry
from tear3d.prove.row.state import (
    ABOVE,
    BOUND,
    CELL_I,
    CELL_J,
    CELLS,
    CLOSED,
    COUNT,
    FACE,
    HIGH,
    HULL_BOUND,
    HULL_HIGH,
    HULL_LOW,
    LEVEL,
    LOW,
    NEAR,
    SAVING,
    SEGMENT,
    SEGMENTS,
    SLACK,
    STACK,
    START,
    TOP,
    TRACED,
)

MIN_COPY = 64
"""Fewer points are not copied. Free choice, part of no bound."""
NARROWER = 0.7
"""Points are copied again where the stretch they come from shrank by this. Free choice, part of no bound."""
HOPELESS, HOPELESS_LEVEL = 6.0, 12
"""A cell, not too deep, whose bound is expected to miss the threshold by more than this factor is split without being
bounded. Free choices, part of no bound."""
COARSE = 0.25
"""Width of a bin, as a share of the typical reach, where bins of a share of ξ would be too many. Free choice, part of
no bound."""
CELL_COST = 1000.0
"""Rough nanoseconds of a node besides its bound, to tell how long a slice lasts."""


@njit(cache=True, nogil=True)
def saving_at(points, r, t):
    """Σ w·max(0, ξ − |y − r·x − t|)."""
    total = 0.0
    rows, start, stop = points.rows, points.start, points.start + points.count
    x0, x1, x2, y = rows[X1, start:stop], rows[X2, start:stop], rows[X3, start:stop], rows[Y, start:stop]
    xi_row, w_row = rows[rows.shape[0] - 2, start:stop], rows[rows.shape[0] - 1, start:stop]
    xi, r0, r1, r2 = points.xi, r[0], r[1], r[2]
    for i in range(points.count):
        z = abs(y[i] - r0 * x0[i] - r1 * x1[i] - r2 * x2[i] - t)
        if points.general:
            total += w_row[i] * max(0.0, xi_row[i] - z)
        else:
            total += max(0.0, xi - z)
    return total


@njit(cache=True, nogil=True)
def band_weight(points, r, t):
    """Σ w of the points with |y − r·x − t| < 2ξ."""
    total = 0.0
    rows, xi, w = points.rows, points.xi, 1.0
    for i in range(points.start, points.start + points.count):
        z = abs(rows[Y, i] - r[0] * rows[X1, i] - r[1] * rows[X2, i] - r[2] * rows[X3, i] - t)
        if points.general:
            xi, w = rows[XI, i], rows[W, i]
        total += w if z < 2.0 * xi else 0.0
    return total


@njit(cache=True, nogil=True)
def segment_points(points, space, segment):
    """The points of a segment."""
    rows = points.rows if segment == 0 else space.arena
    start, count, near = space.segments[segment, START], space.segments[segment, COUNT], space.segments[segment, NEAR]
    return Points(rows, start, count, near, points.extent, points.xi, points.eps, points.general)


@njit(cache=True, nogil=True, error_model="numpy")
def copy_active(points, segment, cell, t0, t1, space):
    """Copy the points that can matter for t in [t0, t1] behind their segment; False when it does not pay.

    `points` are those of the segment.
    """
    rows, start, n, near = points.rows, points.start, points.count, points.near
    block, arena = space.work.block, space.arena
    b, reach = block.b, block.reach
    target = 0 if segment == 0 else start + n
    room = min(arena.shape[1] - target, 3 * n // 4 + BLOCK)
    middle, half = 0.5 * (t0 + t1), 0.5 * (t1 - t0)
    kept, kept_near = 0, 0
    xi = points.xi
    for begin in range(0, n, BLOCK):
        end = min(n, begin + BLOCK)
        if kept + BLOCK > room:
            return False
        project(rows, start + begin, start + end, cell, points.eps, block)
        x0, x1 = rows[X1, start + begin : start + end], rows[X2, start + begin : start + end]
        x2, y = rows[X3, start + begin : start + end], rows[Y, start + begin : start + end]
        first = target + kept
        c0, c1 = arena[X1, first : first + BLOCK], arena[X2, first : first + BLOCK]
        c2, c3 = arena[X3, first : first + BLOCK], arena[Y, first : first + BLOCK]
        # Without a branch: write always, advance only past the points to keep.
        new = np.uint64(0)
        for i in range(end - begin):
            if points.general:
                xi = rows[XI, start + begin + i]
                arena[XI, first + new] = xi
                arena[W, first + new] = rows[W, start + begin + i]
            if begin + i == near:
                kept_near = kept + np.int64(new)
            c0[new], c1[new], c2[new], c3[new] = x0[i], x1[i], x2[i], y[i]
            new += np.uint64(abs(b[i] - middle) < half + (xi + reach[i]) * REACH_FACTOR)
        kept += np.int64(new)
    into = space.segments[segment + 1]
    into[START], into[COUNT], into[NEAR] = target, kept, kept if near == n else kept_near
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def bound_cell(points, cell, axis, levels, work, values):
    """Bounds of the cell at the nodes of `axis` into `values`, rounding included; 0 levels for first order."""
    nodes, n, done, margin = axis.count, points.count, 0, 0.0
    values[:nodes] = 0.0
    if levels > 0:
        rounding = window_bound(_part(points, 0, points.near), cell, axis, levels, work, values)
        if rounding >= 0.0:
            margin, done = rounding, points.near
    if done < n:
        rest = _part(points, done, n)
        m = int(np.round(points.xi / axis.beta))
        bins = nodes + 9 * m + 14
        rounding = -1.0
        whole = abs(m * axis.beta - points.xi) <= 1e-9 * points.xi
        if whole and not points.general and (nodes > 2 * m or bins < n) and bins <= work.hist.shape[0]:
            rounding = wide_bound(rest, cell, axis, work, values)
        if rounding < 0.0:
            rounding = narrow_bound(rest, cell, axis, work, values)
        margin += rounding
    for k in range(nodes):
        values[k] += margin


@njit(cache=True, nogil=True)
def _part(points, begin, end):
    return Points(
        points.rows, points.start + begin, end - begin, end - begin,
        points.extent, points.xi, points.eps, points.general,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def node_geometry(node, setting):
    """The cell of a node."""
    level, i = int(node[LEVEL]), int(node[CELL_I])
    if setting.circle:
        return arc_geometry(level, i, setting.basis)
    return cell_geometry(int(node[FACE]), level, i, int(node[CELL_J]))


@njit(cache=True, nogil=True)
def push_children(stack, top, circle):
    """Replace entry `top` of the stack by its quarters (halves of an arc); returns the new height."""
    i, j = 2.0 * stack[top, CELL_I], 2.0 * stack[top, CELL_J]
    stack[top, LEVEL] += 1.0
    stack[top, CELL_I], stack[top, CELL_J] = i, j
    children = 2 if circle else 4
    for k in range(1, children):
        stack[top + k] = stack[top]
        stack[top + k, CELL_I] = i + (k if circle else k // 2)
        stack[top + k, CELL_J] = j + (0 if circle else k % 2)
    return top + children


@njit(cache=True, nogil=True)
def _note(subtree, cell, level, pruned):
    k = subtree.count[TRACED]
    if k < subtree.trace.shape[0]:
        row = subtree.trace[k]
        row[0], row[1], row[2], row[3], row[4] = cell.c[0], cell.c[1], cell.c[2], cell.theta, level
        row[5] = 1.0 if pruned else 0.0
        subtree.count[TRACED] = k + 1


@njit(cache=True, nogil=True, error_model="numpy")
def search_subtree(points, setting, subtree, space, deep, budget, cell_limit):
    """Work off the stack until it is empty or `cell_limit` cells or about `budget` nanoseconds are spent.

    Not `deep`: bound the cells of the stack only and note the hull of the t that survive.
    """
    stack, state, count, values = subtree.stack, subtree.state, subtree.count, space.values
    xi, spent, cost = points.xi, 0, 0.0
    while count[TOP] > 0 and cost < budget and spent < cell_limit:
        top = count[TOP] - 1
        node = stack[top]
        t0, t1, bound, level, segment = node[LOW], node[HIGH], node[BOUND], node[LEVEL], int(node[SEGMENT])
        threshold = state[SAVING] * (1.0 + state[SLACK])
        cost += CELL_COST
        if bound <= threshold:
            count[TOP] = top
            state[CLOSED] = max(state[CLOSED], bound)
            continue
        cell = node_geometry(node, setting)
        reach = setting.radius * max(cell.h1, cell.h2)
        if reach < 2.0 * points.eps or xi < points.eps or level >= DEEPEST_LEVEL or top + 4 > STACK:
            # Beyond what this precision, or the work space, can tell apart.
            count[TOP] = top
            state[CLOSED] = max(state[CLOSED], bound)
            continue
        part = segment_points(points, space, segment)
        plan = plan_bound(part, cell, t1 - t0, reach, threshold, setting.background)
        if deep and plan.excess > HOPELESS and node[ABOVE] < np.inf and level < HOPELESS_LEVEL:
            count[TOP] = push_children(stack, top, setting.circle)
            continue
        beta, levels, price = xi / plan.bins, plan.levels, plan.cost
        if (t1 - t0) / beta >= MAX_NODES and reach > xi:
            # Points move by more than ξ: bins may be wider than ξ too, and only `narrow_bound` takes them as they are.
            beta, levels = min((t1 - t0) / (MAX_NODES - 1), COARSE * reach), 0
            price = part.count * POINT_COST + MAX_NODES * NODE_COST
        if (t1 - t0) / beta >= MAX_NODES:
            # Too long a range for one evaluation: halve it.
            stack[top + 1] = node
            node[HIGH] = stack[top + 1, LOW] = 0.5 * (t0 + t1)
            count[TOP] = top + 2
            continue
        nodes = int((t1 - t0) / beta) + 1
        count[TOP] = top
        bound_cell(part, cell, Axis(t0 + 0.5 * beta, beta, nodes), levels, space.work, values)
        spent += 1
        cost += price
        first, last, arg = nodes, -1, 0
        for k in range(nodes):
            if values[k] > values[arg]:
                arg = k
            if values[k] > threshold:
                first = min(first, k)
                last = k
        for k in range(nodes):
            if k < first or k > last:
                state[CLOSED] = max(state[CLOSED], min(values[k], bound))
        bound = min(bound, values[arg])
        _note(subtree, cell, level, last < 0)
        if last < 0:
            continue
        if 2.0 * reach < xi or part.count < MIN_COPY:
            t = t0 + (arg + 0.5) * beta
            value = saving_at(part, cell.c, t)
            if value > state[SAVING]:
                state[SAVING] = value
                best = subtree.best
                best[0], best[1], best[2], best[3] = cell.c[0], cell.c[1], cell.c[2], t
        t1 = t0 + (last + 1) * beta
        t0 = t0 + first * beta
        if not deep:
            state[HULL_LOW], state[HULL_HIGH] = min(state[HULL_LOW], t0), max(state[HULL_HIGH], t1)
            state[HULL_BOUND] = max(state[HULL_BOUND], bound)
            continue
        node[LOW], node[HIGH], node[BOUND], node[ABOVE] = t0, t1, bound, bound
        width = t1 - t0 + 2.0 * (xi + reach)
        narrower = part.count > MIN_COPY and width < NARROWER * space.widths[segment] and segment + 1 < SEGMENTS
        if narrower and copy_active(part, segment, cell, t0, t1, space):
            node[SEGMENT] = segment + 1
            space.widths[segment + 1] = width
        count[TOP] = push_children(stack, top, setting.circle)
    count[CELLS] += spent
