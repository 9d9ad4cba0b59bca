"""The grid of groups of the window bound: how many bins, how wide the windows (mathematics.md, section 5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.prove.bounds.data import MAX_LEVELS


class Grid(NamedTuple):
    """How a cell is bounded by groups."""

    levels: int
    groups: int
    """2^levels groups a side."""
    widths: NDArray[np.int64]
    """Half windows in bins per level: widths[l] for the step from level l to its children."""
    sigma: float
    """What the windows leave over, for the leaves."""
    slack: int
    """The sum of the half windows."""
    eps: float
    """Bound of the rounding error of a point, of its place in the bins included."""
    inside: float
    """The most that a point of a group deviates from its group."""
    m: int
    """Bins per ξ."""
    e: int
    """Bins per E."""
    count: int
    """Nodes of a leaf."""
    stride: int
    """Bins of a leaf; node k of the leaves is bin k + 3(m + e)."""
    base: float
    """Where bin 0 begins."""


@njit(cache=True, nogil=True, error_model="numpy")
def window_plan(levels, h, extent, beta, widths):
    """Fill in the half windows; returns the rest σ."""
    sigma = 0.0
    half = 0.5 * extent
    for level in range(levels):
        total = sigma + h * half
        widths[level] = int(total / beta + 0.5)
        sigma = max(0.0, total - widths[level] * beta)
        half *= 0.5
    return sigma


@njit(cache=True, nogil=True, error_model="numpy")
def window_reach(levels, cell, extent, eps, beta):
    """The reach E of a leaf, a whole number of bins."""
    h = cell.h1 + cell.h2
    sigma = window_plan(levels, h, extent, beta, np.zeros(MAX_LEVELS, np.int64))
    return np.ceil((h * extent / 2**levels + cell.eta * extent + eps + sigma) / beta + 0.5) * beta


@njit(cache=True, nogil=True, error_model="numpy")
def make_grid(points, cell, axis, levels):
    """The grid of 2^levels × 2^levels groups for a cell and the nodes of `axis`."""
    h, beta, xi, extent = cell.h1 + cell.h2, axis.beta, points.xi, points.extent
    groups = 2**levels
    widths = np.zeros(MAX_LEVELS, np.int64)
    sigma = window_plan(levels, h, extent, beta, widths)
    slack = 0
    for level in range(levels):
        slack += widths[level]
    m = int(np.rint(xi / beta))
    inside = h * extent / groups + cell.eta * extent + points.eps
    # Bins are computed in the points' precision from the lowest bin on (mathematics.md, section 5.4).
    unit = 2.0**-24 if points.rows.itemsize == 4 else 2.0**-53
    span = (axis.count + 2 * slack) * beta + 4.0 * (xi + inside + sigma + 1.5 * beta)
    placing = 6.0 * unit * (abs(axis.t0) + span)
    inside += placing
    e = int(np.ceil((inside + sigma + 0.5 * beta) / beta))
    count = axis.count + 2 * slack
    stride = count + 4 * (m + e)
    base = axis.t0 - (slack + 3 * (m + e)) * beta
    return Grid(levels, groups, widths, sigma, slack, points.eps + placing, inside, m, e, count, stride, base)
