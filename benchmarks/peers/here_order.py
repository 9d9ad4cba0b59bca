"""HERE's order of the pairs: those that agree in length with many that agree with many come first.

Lengths are compared again in the second pass instead of being kept, so that memory stays linear.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor

import numpy as np
from numba import njit
from numpy.typing import NDArray

from benchmarks.peers import BoolArray, FloatArray


@njit(cache=True, nogil=True)
def agree(x, y, i, j, limit):
    """Whether two pairs are as far apart in one cloud as in the other, within the limit (coordinates are rows)."""
    a = (x[0, i] - x[0, j]) ** 2 + (x[1, i] - x[1, j]) ** 2 + (x[2, i] - x[2, j]) ** 2
    b = (y[0, i] - y[0, j]) ** 2 + (y[1, i] - y[1, j]) ** 2 + (y[2, i] - y[2, j]) ** 2
    # |√a - √b| ≤ limit with one square root.
    return a + b - limit * limit <= 2.0 * math.sqrt(a * b)


@njit(cache=True, nogil=True)
def agree_later(x, y, i, limit, edges):
    """1 in `edges` for each pair after i that agrees with it, else 0. Plain rows, so that the loop is vectorised."""
    x0, x1, x2 = x[0, i + 1 :], x[1, i + 1 :], x[2, i + 1 :]
    y0, y1, y2 = y[0, i + 1 :], y[1, i + 1 :], y[2, i + 1 :]
    a0, a1, a2, b0, b1, b2 = x[0, i], x[1, i], x[2, i], y[0, i], y[1, i], y[2, i]
    for k in range(len(x0)):
        a = (x0[k] - a0) ** 2 + (x1[k] - a1) ** 2 + (x2[k] - a2) ** 2
        b = (y0[k] - b0) ** 2 + (y1[k] - b1) ** 2 + (y2[k] - b2) ** 2
        edges[k] = 1.0 if a + b - limit * limit <= 2.0 * math.sqrt(a * b) else 0.0


@njit(cache=True, nogil=True)
def neighbour_sums(x, y, limit, weights, first, step):
    """For each pair the sum of its neighbours' weights, over the edges (i, j > i) with i = first, first + step…"""
    n = x.shape[1]
    sums, edges = np.zeros(n), np.zeros(n)
    for i in range(first, n, step):
        agree_later(x, y, i, limit, edges)
        later, their, own, total = sums[i + 1 :], weights[i + 1 :], weights[i], 0.0
        for k in range(len(later)):
            later[k] += edges[k] * own
            total += edges[k] * their[k]
        sums[i] += total
    return sums


def scores(x: FloatArray, y: FloatArray, limit: float, pool: Executor, threads: int) -> FloatArray:
    """0.4 of a pair's degree in the graph of agreeing lengths and 0.1 of the sum of its neighbours' degrees."""
    degrees = np.ones(x.shape[1])
    for _ in range(2):
        parts = [pool.submit(neighbour_sums, x, y, limit, degrees, k, threads) for k in range(threads)]
        own, degrees = degrees, np.sum([part.result() for part in parts], axis=0)
    return 0.4 * own + 0.1 * degrees


def agree_with(x: FloatArray, y: FloatArray, i: int, others: NDArray[np.int64], limit: float) -> BoolArray:
    """Which other pairs agree with one in length (points are rows)."""
    a, b = (np.linalg.norm(points[others] - points[i], axis=1) for points in (x, y))
    return (np.abs(a - b) <= limit) & (others != i)
