"""Values by their rank: medians and the like, of many numbers."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray

BINS, FEW = 256, 64
"""Numbers are sorted into so many bins until no more than FEW are left. Free choices."""


@njit(cache=True, nogil=True, error_model="numpy")
def _narrow(values, rank):
    """Some of the numbers, and the rank among them of the one that has that rank, from 0 on, among all.

    They are counted in bins of equal width, and so are those of the bin where it lies: unlike a partition, that leaves
    a processor nothing to guess.
    """
    left, size = np.empty(values.shape[0]), values.shape[0]
    for i in range(size):
        left[i] = values[i]
    counts = np.empty(BINS, np.int64)
    while size > FEW:
        low, high, rest = left[0], left[0], 0.0
        for i in range(size):
            value = left[i]
            low = value if value < low else low
            high = value if value > high else high
            rest += value - value
        scale = (BINS - 1) / (high - low)
        if not (rest == 0.0 and scale < np.inf):  # what is not finite, or too narrow, fits no bins
            break
        for k in range(BINS):
            counts[k] = 0
        for i in range(size):
            counts[int((left[i] - low) * scale)] += 1
        own = 0
        while counts[own] <= rank:
            rank -= counts[own]
            own += 1
        found = 0
        for i in range(size):
            value = left[i]
            if int((value - low) * scale) == own:
                left[found] = value
                found += 1
        size = found
    return left[:size], rank


def loaded() -> bool:
    """Whether the kernel is ready; the first of a process waits for what all of them need."""
    return bool(getattr(_narrow, "signatures", True))


def load() -> None:
    """Have the kernel ready: until then NumPy finds the ranks, so that input is checked before anything is compiled."""
    _narrow(np.zeros(1), 0)


def ranked(values: FloatArray, rank: int) -> float:
    """The value that would come `rank`-th, from 0 on, if numbers were sorted."""
    left = values
    if loaded():
        left, rank = _narrow(np.ascontiguousarray(values), rank)
    return float(np.partition(left, rank)[rank])


def median(values: FloatArray) -> float:
    """As that of NumPy, of finite numbers; NaN of none at all."""
    half = len(values) // 2
    if half == 0 or not loaded():
        return float(np.median(values)) if len(values) else float("nan")
    left, rank = _narrow(np.ascontiguousarray(values), half)
    left.sort()
    if len(values) % 2:
        return float(left[rank])
    lower = left[rank - 1] if rank > 0 else ranked(values, half - 1)
    return float(0.5 * (lower + left[rank]))


def medians(points: FloatArray) -> FloatArray:
    """Of the columns."""
    return np.array([median(column) for column in points.T])


def nine_tenths(values: FloatArray) -> float:
    """The value that nine in ten do not exceed."""
    return ranked(values, int(0.9 * (len(values) - 1)))


def typical(bounds: FloatArray) -> float:
    """The median of the positive noise bounds."""
    return float(bounds[0]) if len(bounds) == 1 else median(bounds[bounds > 0.0])
