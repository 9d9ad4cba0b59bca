"""Which bound a cell gets: the cheapest that is expected to prune it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.prove.bounds.data import FIELDS, GRID_LIMIT, MAX_LEVELS, MIN_WINDOW_POINTS
from tear3d.prove.bounds.grid import window_reach

NODES_PER_REACH = 3.0
"""Free choice, part of no bound."""
POINT_COST, WINDOW_POINT_COST, NODE_COST, BIN_COST = 9.0, 4.5, 8.0, 4.0
"""Rough nanoseconds: a point in the first-order and the window bound, a node of the former, a bin of the latter. They
guide a choice and the length of a slice, and are part of no bound."""


class Plan(NamedTuple):
    """A choice of bound."""

    levels: int
    """2^levels groups a side; 0 for first order."""
    bins: int
    """Per ξ."""
    excess: float
    """How far the bound is expected to lie above the background, as a multiple of what pruning allows."""
    cost: float
    """Expected, in nanoseconds."""


@njit(cache=True, nogil=True, error_model="numpy")
def plan_bound(points, cell, width, reach, threshold, background):
    """Which bound for a cell whose shifts span `width`, when typical points move by `reach`.

    The background of wrong points has density background/ξ² per unit of t, so a reach of E costs about twice that times
    E². The cheapest bound that is expected to prune is taken, else the tightest in reason.
    """
    xi, extent, size, near = points.xi, points.extent, points.count, points.near
    allowed = max(threshold - background, 0.02 * threshold)
    price = 2.0 * background / (xi * xi)
    bins = max(4, int(np.ceil(NODES_PER_REACH * xi / reach)))
    cost = size * POINT_COST + (width / xi + 9.0) * bins * NODE_COST
    typical = 1.3 * reach + 0.5 * xi / bins
    # All points together save size·ξ at most: more than the model of a background gives when ξ is tiny.
    levels, excess = 0, min(price * typical * min(typical, xi), size * xi) / allowed
    if excess <= 1.0 or near < MIN_WINDOW_POINTS:
        return Plan(levels, bins, excess, cost)
    h = cell.h1 + cell.h2
    noise = 1.2 * np.sqrt(2.0 * background / xi) * 0.5 * h * extent
    first_order = size * POINT_COST
    dearest = first_order * min(max(excess, 1.0), 3.0)
    for grid in range(2, MAX_LEVELS):
        inside = h * extent / 2**grid + cell.eta * extent
        fewest = int(min(16.0, max(4.0, np.ceil(xi / inside))))
        best, choice = np.inf, 4
        for m in range(fewest, fewest + 4):
            leaf = window_reach(grid, cell, extent, points.eps, xi / m) * (1.0 + 0.04 * (m - fewest))
            if leaf < best:
                best, choice = leaf, m
        count = 4.0**grid * ((width + 2.0 * h * extent) / xi + 5.0) * choice
        work = near * WINDOW_POINT_COST + (size - near) * POINT_COST + count * BIN_COST
        if count * FIELDS > GRID_LIMIT or work > dearest:
            break
        expected = (price * best * min(best, xi) + grid * noise) / allowed
        # Enough to prune: worth almost what the four children would cost. Else: only if it is cheap and tighter.
        if expected <= 1.0 or (expected < excess and work <= 0.8 * first_order):
            levels, bins, excess, cost = grid, choice, expected, work
        if expected <= 1.0:
            break
    return Plan(levels, bins, excess, cost)
