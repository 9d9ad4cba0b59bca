"""Points that share a voxel, and are one witness."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

_ALONG = 2_097_152
"""Voxels along an axis, at most: three such numbers fit into 63 bits."""


class Witnesses:
    """The occupied voxels of a cloud."""

    def __init__(self, points: FloatArray, size: float) -> None:
        self.numbers, self.count = voxel_numbers(points, size)
        held = np.bincount(np.bincount(self.numbers, minlength=self.count))
        self._held = np.flatnonzero(held)
        self._share = held[self._held] / self.count

    def hit(self, rows: NDArray[np.int64]) -> int:
        """How many voxels hold some of these points."""
        return int(np.count_nonzero(np.bincount(self.numbers[rows])))

    def chance(self, p0: float) -> float:
        """Mean probability that a voxel is hit when each of its points is with probability p0."""
        missed = np.expm1(self._held * math.log1p(-min(p0, 1.0 - 1e-12)))
        return -float(missed @ self._share)


def voxel_numbers(points: FloatArray, size: float) -> tuple[NDArray[np.int64], int]:
    """The number, from 0 on, of the occupied voxel that holds each point (at most 2²¹ along an axis); how many."""
    n = len(points)
    numbers, keys = np.empty(n, np.int64), np.empty(n, np.int64)
    table = np.full(2 << max(n, 1).bit_length(), -1, np.int64)
    return numbers, _number(points, size, table, keys, numbers)


@njit(cache=True, nogil=True, error_model="numpy")
def _number(points, size, table, keys, numbers):
    """Number voxels in the order in which they are met, by a table of the first point of each."""
    low, high = points[0].copy(), points[0].copy()
    for i in range(points.shape[0]):
        for k in range(3):
            low[k], high[k] = min(low[k], points[i, k]), max(high[k], points[i, k])
    for k in range(3):
        size = max(size, (high[k] - low[k]) / (_ALONG - 1))
    size = max(size, 1e-300)
    count = 0
    for i in range(points.shape[0]):
        key = 0
        for k in range(3):
            key = key * _ALONG + int((points[i, k] - low[k]) / size)
        slot = (key * 0x1E3779B97F4A7C15) >> 20
        while True:
            slot &= table.shape[0] - 1
            first = table[slot]
            if first < 0:
                table[slot], keys[i], numbers[i] = i, key, count
                count += 1
                break
            if keys[first] == key:
                numbers[i] = numbers[first]
                break
            slot += 1
    return count
