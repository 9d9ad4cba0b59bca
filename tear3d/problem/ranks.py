"""Values by their rank: medians and the like, of many numbers."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray

BINS, FEW = 256, 64
"""Numbers are sorted into so many bins until no more than FEW are left. Free choices."""


@njit(cache=True, nogil=True, error_model="numpy")
def ranked(values, rank):
    """The value that would come `rank`-th, from 0 on, if numbers were sorted.

    They are counted in bins of equal width, and so are those of the bin where it lies: unlike a partition, that leaves
    a processor nothing to guess.
    """
    left = values.copy()
    counts = np.empty(BINS, np.int64)
    while left.shape[0] > FEW:
        low, high, rest = left[0], left[0], 0.0
        for value in left:
            low, high = min(low, value), max(high, value)
            rest += value - value
        if low == high:
            return low
        scale = (BINS - 1) / (high - low)
        if not (rest == 0.0 and scale < np.inf):  # what is not finite, or too narrow, fits no bins
            break
        counts[:] = 0
        for value in left:
            counts[int((value - low) * scale)] += 1
        own = 0
        while counts[own] <= rank:
            rank -= counts[own]
            own += 1
        part, size = np.empty(counts[own]), 0
        for value in left:
            if int((value - low) * scale) == own:
                part[size] = value
                size += 1
        left = part
    return np.sort(left)[rank]


@njit(cache=True, nogil=True, error_model="numpy")
def _median(values):
    half = values.shape[0] // 2
    upper = ranked(values, half)
    if values.shape[0] % 2 == 1:
        return upper
    below, lower = 0, -np.inf
    for value in values:
        below += value < upper
        lower = max(lower, value if value < upper else -np.inf)
    return 0.5 * ((lower if below == half else upper) + upper)


def median(values: FloatArray) -> float:
    """As that of NumPy, of finite numbers; NaN of none at all."""
    return float(_median(np.ascontiguousarray(values))) if len(values) else float("nan")


def medians(points: FloatArray) -> FloatArray:
    """Of the columns."""
    return np.array([median(column) for column in points.T])


def nine_tenths(values: FloatArray) -> float:
    """The value that nine in ten do not exceed."""
    return float(ranked(np.ascontiguousarray(values), int(0.9 * (len(values) - 1))))


def typical(bounds: FloatArray) -> float:
    """The median of the positive noise bounds."""
    return float(bounds[0]) if len(bounds) == 1 else median(bounds[bounds > 0.0])
