"""Which bound a cell gets: the cheapest that is expected to prune it."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.bounds.windows import FIELDS, MAX_LEVELS, window_reach
from tear3d.prove.row.state import GRID_LIMIT, MIN_WINDOW_POINTS

NODES_PER_REACH = 3.0
POINT_COST, WINDOW_POINT_COST, BIN_COST = 9.0, 4.5, 4.0
"""Rough costs, in the same unit, of a point in the first-order and the window bound and of a bin of a group."""


@njit(cache=True, nogil=True, error_model="numpy")
def plan_bound(size, near, width, reach, geo, threshold, setting):
    """Which bound for a cell: (grid levels or 0 for first order, bins per ξ, expected excess over what is allowed).

    The background of wrong points has density background/ξ² per unit of t, so a reach of E costs about twice that times
    E². The cheapest bound that is expected to prune is taken, else the tightest in reason.
    """
    xi, extent, background = setting.xi, setting.extent, setting.background
    allowed = max(threshold - background, 0.02 * threshold)
    price = 2.0 * background / (xi * xi)
    bins = max(4, int(np.ceil(NODES_PER_REACH * xi / reach)))
    typical = 1.3 * reach + 0.5 * xi / bins
    levels, excess = 0, price * typical * min(typical, xi) / allowed
    if excess <= 1.0 or near < MIN_WINDOW_POINTS:
        return levels, bins, excess
    eta = 0.5 * (1.0 - np.cos(geo[11]))
    h = geo[9] + geo[10]
    noise = 1.2 * np.sqrt(2.0 * background / xi) * 0.5 * h * extent
    first_order = size * POINT_COST
    dearest = first_order * min(max(excess, 1.0), 3.0)
    for grid in range(2, MAX_LEVELS):
        inside = h * extent / 2**grid + eta * extent
        fewest = int(min(16.0, max(4.0, np.ceil(xi / inside))))
        best, choice = np.inf, 4
        for m in range(fewest, fewest + 4):
            leaf = window_reach(grid, geo, extent, setting.eps, xi / m) * (1.0 + 0.04 * (m - fewest))
            if leaf < best:
                best, choice = leaf, m
        count = 4.0**grid * ((width + 2.0 * h * extent) / xi + 5.0) * choice
        work = near * WINDOW_POINT_COST + (size - near) * POINT_COST + count * BIN_COST
        if count * FIELDS > GRID_LIMIT or work > dearest:
            break
        expected = (price * best * min(best, xi) + grid * noise) / allowed
        # Enough to prune: worth almost what the four children would cost. Else: only if it is cheap and tighter.
        if expected <= 1.0 or (expected < excess and work <= 0.8 * first_order):
            levels, bins, excess = grid, choice, expected
        if expected <= 1.0:
            break
    return levels, bins, excess
