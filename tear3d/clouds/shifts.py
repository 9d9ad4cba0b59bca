"""Shifts that may lay a cloud onto another as well as it lies now: equal things in a row."""

from __future__ import annotations

import numpy as np

from tear3d.problem.arrays import FloatArray

# Free choices: cells along the longest side, and the least share of the best shift's agreement.
_CELLS = 24
_SHARE = 0.6


def likely_shifts(points: FloatArray, onto: FloatArray, least: float, most: int) -> list[FloatArray]:
    """Motions by `least` or more, at most so many, those under which most points fall into occupied cells first."""
    both = np.concatenate((points, onto))
    low, high = both.min(axis=0), both.max(axis=0)
    cell = max(float((high - low).max()) / _CELLS, 0.5 * least)
    shape = np.ceil((high - low) / cell).astype(np.int64) + 1
    padded = [_fast_length(int(2 * n)) for n in shape]
    counts = [_counts(cloud, low, cell, shape) for cloud in (points, onto)]
    # Correlation: how many points meet an occupied cell after each shift.
    first, second = (np.fft.rfftn(grid, padded, (0, 1, 2)) for grid in (counts[0], np.minimum(counts[1], 1.0)))
    met = np.fft.irfftn(np.conj(first) * second, padded, (0, 1, 2))
    peaks = (met == _largest_around(met)) & (met >= _SHARE * met.max())
    steps = np.argwhere(peaks)
    shifts = cell * np.where(2 * steps >= padded, steps - padded, steps)
    order = np.argsort(-met[peaks])
    far = [shift for shift in shifts[order] if np.linalg.norm(shift) >= least]
    return [_by(shift) for shift in far[:most]]


def _fast_length(least: int) -> int:
    """The next number without a prime factor above 5: of such lengths the transform is quick."""
    length = least
    while True:
        rest = length
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return length
        length += 1


def _largest_around(values: FloatArray) -> FloatArray:
    """Of each value and its 26 neighbours, those across the border included."""
    for axis in range(values.ndim):
        values = np.maximum(values, np.maximum(np.roll(values, 1, axis), np.roll(values, -1, axis)))
    return values


def _counts(points: FloatArray, low: FloatArray, cell: float, shape: FloatArray) -> FloatArray:
    grid = np.zeros(shape, dtype=np.float64)
    np.add.at(grid, tuple(((points - low) / cell).astype(np.int64).T), 1.0)
    return grid


def _by(shift: FloatArray) -> FloatArray:
    motion = np.eye(4)
    motion[:3, 3] = shift
    return motion
