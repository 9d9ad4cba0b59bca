"""TurboReg's graph and its cliques of three, on bit rows: N²/8 bytes, and common neighbours counted by words.

The publication's names: compatibility graph, SC² scores, O²Graph (indices in order), pivot-guided search.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numba import njit, uint64


@njit(cache=True, nogil=True)
def ones(word):
    """Bits set in a word of 64."""
    word = word - ((word >> uint64(1)) & uint64(0x5555555555555555))
    word = (word & uint64(0x3333333333333333)) + ((word >> uint64(2)) & uint64(0x3333333333333333))
    word = (word + (word >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return (word * uint64(0x0101010101010101)) >> uint64(56)


@njit(cache=True, nogil=True)
def has(row, k):
    """Whether bit k of a row is set."""
    return (row[k >> 6] >> uint64(k & 63)) & uint64(1) == uint64(1)


@njit(cache=True, nogil=True)
def compatible(x, y, tolerance, nearest):
    """The graph: lengths differ by less than the tolerance, and their sum exceeds `nearest`. One row of bits a pair."""
    n = len(x)
    rows = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for i in range(n):
        for j in range(i + 1, n):
            a = math.sqrt((x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2)
            b = math.sqrt((y[i, 0] - y[j, 0]) ** 2 + (y[i, 1] - y[j, 1]) ** 2 + (y[i, 2] - y[j, 2]) ** 2)
            if abs(a - b) < tolerance and a + b > nearest:
                rows[i, j >> 6] |= uint64(1) << uint64(j & 63)
                rows[j, i >> 6] |= uint64(1) << uint64(i & 63)
    return rows


@njit(cache=True, nogil=True)
def common(a, b):
    """Common neighbours of two pairs: the SC² score of an edge."""
    total = uint64(0)
    for k in range(len(a)):
        total += ones(a[k] & b[k])
    return np.int64(total)


@njit(cache=True, nogil=True)
def pivots(rows, most):
    """The edges with the highest scores, best first, among equals the earlier: columns score, i, j > i."""
    n = len(rows)
    heap = [(0, 0, 0)]
    heap.pop()
    for i in range(n):
        for j in range(i + 1, n):
            if not has(rows[i], j):
                continue
            score = common(rows[i], rows[j])
            # The last of the heap's order is what leaves first: the lowest score, then the latest edge.
            if score > 0 and len(heap) < most:
                heapq.heappush(heap, (score, -i, -j))
            elif score > 0 and (score, -i, -j) > heap[0]:
                heapq.heapreplace(heap, (score, -i, -j))
    found = np.empty((len(heap), 3), dtype=np.int64)
    for k in range(len(heap) - 1, -1, -1):
        score, i, j = heapq.heappop(heap)
        found[k, 0], found[k, 1], found[k, 2] = score, -i, -j
    return found


@njit(cache=True, nogil=True)
def cliques(rows, edges, per_pivot):
    """For every pivot (i, j) the third pairs z > j with the largest sums of the three edges' scores: rows i, j, z.

    Ordered indices give every clique to one pivot only (O²Graph).
    """
    n = len(rows)
    found = np.empty((len(edges) * per_pivot, 3), dtype=np.int64)
    size = 0
    best, third = np.empty(per_pivot, dtype=np.int64), np.empty(per_pivot, dtype=np.int64)
    for e in range(len(edges)):
        i, j = edges[e, 1], edges[e, 2]
        kept = 0
        for z in range(j + 1, n):
            if not (has(rows[i], z) and has(rows[j], z)):
                continue
            score = common(rows[i], rows[z]) + common(rows[j], rows[z])
            if kept < per_pivot:
                place = kept
                kept += 1
            elif score > best[kept - 1]:
                place = kept - 1
            else:
                continue
            while place > 0 and best[place - 1] < score:
                best[place], third[place] = best[place - 1], third[place - 1]
                place -= 1
            best[place], third[place] = score, z
        for k in range(kept):
            found[size, 0], found[size, 1], found[size, 2] = i, j, third[k]
            size += 1
    return found[:size]


@njit(cache=True, nogil=True)
def inlier_counts(poses, x, y, width):
    """How many pairs each pose brings within the width."""
    counts = np.zeros(len(poses), dtype=np.int64)
    limit = width * width
    for k in range(len(poses)):
        t = poses[k]
        for i in range(len(x)):
            a = t[0, 0] * x[i, 0] + t[0, 1] * x[i, 1] + t[0, 2] * x[i, 2] + t[0, 3] - y[i, 0]
            b = t[1, 0] * x[i, 0] + t[1, 1] * x[i, 1] + t[1, 2] * x[i, 2] + t[1, 3] - y[i, 1]
            c = t[2, 0] * x[i, 0] + t[2, 1] * x[i, 1] + t[2, 2] * x[i, 2] + t[2, 3] - y[i, 2]
            counts[k] += a * a + b * b + c * c < limit
    return counts
