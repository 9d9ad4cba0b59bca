"""The compatibility graph of MAC: neighbours of every pair with second-order weights, and its reduction when dense."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from benchmarks.peers import BoolArray, FloatArray
from benchmarks.peers.hypotheses import popcount

OTSU_BINS = 100
DENSE = 3.0
"""A graph is reduced when all three typical clustering coefficients exceed this (authors' code)."""
KEPT_AT_LEAST = 100
"""So many pairs and one more stay when a graph is reduced (authors' code)."""
MATRIX_NODES = 10_000
"""Up to here the second order of a dense graph is a product of matrices, as in the authors' code."""


@dataclass(frozen=True)
class Graph:
    """Compressed rows: the neighbours of i are indices[starts[i] : starts[i + 1]], ascending."""

    starts: np.ndarray
    indices: np.ndarray
    weights: np.ndarray

    @property
    def edges(self) -> int:
        return len(self.indices) // 2

    def keep(self, nodes: BoolArray) -> Graph:
        """The same graph without the edges of all other nodes."""
        return self.where(nodes[self.indices] & np.repeat(nodes, np.diff(self.starts)))

    def where(self, kept: BoolArray) -> Graph:
        starts = np.concatenate([[0], np.cumsum(kept)])[self.starts]
        return Graph(starts, self.indices[kept], self.weights[kept])


def compatible(source: FloatArray, target: FloatArray, limit: float) -> np.ndarray:
    """Row i, bit j: whether pairs i and j differ in length by less than the limit. N²/8 bytes."""
    return _bits(np.ascontiguousarray(source.T), np.ascontiguousarray(target.T), limit)


def second_order_graph(source: FloatArray, target: FloatArray, bits: np.ndarray, scale: float) -> Graph:
    """Edges weighed by w_ij Σ_k w_ik w_kj with w = exp(-d² / 2 scale²) (Eq. 1 to 3); those without triangle go."""
    starts = np.concatenate([[0], np.cumsum(row_counts(bits))])
    indices, first = _rows(bits, starts, source, target, scale)
    weights = first * two_steps(starts, indices, first)
    return Graph(starts, indices, weights).where(weights > 0.0)


def coefficients(graph: Graph) -> tuple[FloatArray, float]:
    """The weighted clustering coefficient of every node, and that of the graph."""
    root = np.cbrt(graph.weights)
    size = np.diff(graph.starts)
    owner = np.repeat(np.arange(len(size)), size)
    paths = two_steps(graph.starts, graph.indices, root)
    triangles = 0.5 * np.bincount(owner, root * paths, minlength=len(size))
    possible = 0.5 * size * (size - 1.0)
    return triangles / np.maximum(possible, 1.0), float(triangles.sum() / max(possible.sum(), 1.0))


def two_steps(starts: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of every edge ij: Σ_k w_ik w_kj."""
    size = np.diff(starts)
    n = len(size)
    if n > MATRIX_NODES or np.sum(size.astype(float) ** 2) < n**3 / 16:
        return _paths(starts, indices, weights)
    owner = np.repeat(np.arange(n), size)
    matrix = np.zeros((n, n), np.float32)
    matrix[owner, indices] = weights
    return (matrix @ matrix)[owner, indices]


def otsu(values: FloatArray) -> float:
    """The threshold that separates values into two classes best (Otsu), in steps of a hundredth of their range."""
    low, high = float(values.min()), float(values.max())
    if high <= low:
        return 0.0
    step = (high - low) / OTSU_BINS
    bins = np.minimum((values / step).astype(np.int64), OTSU_BINS - 1)
    below = np.cumsum(np.bincount(bins, minlength=OTSU_BINS))
    sums = np.cumsum(np.bincount(bins, values, minlength=OTSU_BINS))
    above = len(values) - below
    usable = (below > 0) & (above > 0)
    means = sums / np.maximum(below, 1) - (sums[-1] - sums) / np.maximum(above, 1)
    between = np.where(usable, below * above * means**2, -1.0)
    return step * int(np.argmax(between))


def reduced(graph: Graph) -> Graph:
    """The graph of the most clustered nodes if the graph is dense, else the graph itself (authors' code)."""
    local, whole = coefficients(graph)
    split = otsu(local)
    if min(split, float(local.mean()), whole) <= DENSE or len(local) <= KEPT_AT_LEAST:
        return graph
    unit = max(split, whole)
    last = np.sort(local)[-1 - KEPT_AT_LEAST]
    steps = max(0, int(np.ceil((10.0 - last / unit) / 0.05)))
    return graph.keep(local > (10.0 - 0.05 * steps) * unit)


@njit(cache=True, nogil=True)
def _bits(x, y, limit):
    n = x.shape[1]
    bits = np.zeros((n, (n + 63) // 64), np.uint64)
    gap = np.empty(n)
    for i in range(n):
        for j in range(n):
            p, q, r = x[0, i] - x[0, j], x[1, i] - x[1, j], x[2, i] - x[2, j]
            s, t, u = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            gap[j] = abs(np.sqrt(p * p + q * q + r * r) - np.sqrt(s * s + t * t + u * u))
        gap[i] = np.inf
        for j in range(n):
            if gap[j] < limit:
                bits[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
    return bits


@njit(cache=True, nogil=True)
def row_counts(bits):
    """How many bits are set in every row."""
    counts = np.zeros(len(bits), np.int64)
    for i in range(len(bits)):
        for word in range(bits.shape[1]):
            counts[i] += popcount(bits[i, word])
    return counts


@njit(cache=True, nogil=True)
def _rows(bits, starts, source, target, scale):
    indices = np.empty(starts[-1], np.int32)
    weights = np.empty(starts[-1], np.float32)
    for i in range(len(bits)):
        at = starts[i]
        for word in range(bits.shape[1]):
            rest = bits[i, word]
            while rest:
                j = 64 * word + np.int64(popcount((rest & (~rest + np.uint64(1))) - np.uint64(1)))
                rest &= rest - np.uint64(1)
                a, b = source[i] - source[j], target[i] - target[j]
                gap = (np.sqrt(np.sum(a * a)) - np.sqrt(np.sum(b * b))) / scale
                indices[at], weights[at] = j, np.exp(-0.5 * gap * gap)
                at += 1
    return indices, weights


@njit(cache=True, nogil=True)
def _paths(starts, indices, weights):
    sums = np.zeros(len(indices), np.float32)
    mine = np.zeros(len(starts) - 1, np.float32)
    for i in range(len(starts) - 1):
        for e in range(starts[i], starts[i + 1]):
            mine[indices[e]] = weights[e]
        for e in range(starts[i], starts[i + 1]):
            j = indices[e]
            if j < i:
                continue
            total = 0.0
            for f in range(starts[j], starts[j + 1]):
                total += weights[f] * mine[indices[f]]
            sums[e] = total
            back = starts[j] + np.searchsorted(indices[starts[j] : starts[j + 1]], i)
            sums[back] = total
        for e in range(starts[i], starts[i + 1]):
            mine[indices[e]] = 0.0
    return sums
