"""Kernels of SC²-PCR: compatibility of pairs in bits, seeds, and the consensus set of each seed."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.peers.hypotheses import popcount


@njit(cache=True, nogil=True)
def compatibility(source, target, bound):
    """First order (Eq. 1 and 2): 1 - (difference of lengths / bound)², never below 0, and whether the difference is
    less than the bound and less than half of it, in bits."""
    n = len(source)
    x, y = np.ascontiguousarray(source.T), np.ascontiguousarray(target.T)
    soft = np.empty((n, n), np.float32)
    loose = np.zeros((n, (n + 63) // 64), np.uint64)
    tight = np.zeros_like(loose)
    gap = np.empty(n)
    for i in range(n):
        for j in range(n):
            p, q, r = x[0, i] - x[0, j], x[1, i] - x[1, j], x[2, i] - x[2, j]
            s, t, u = y[0, i] - y[0, j], y[1, i] - y[1, j], y[2, i] - y[2, j]
            gap[j] = abs(np.sqrt(p * p + q * q + r * r) - np.sqrt(s * s + t * t + u * u)) / bound
        for j in range(n):
            soft[i, j] = max(0.0, 1.0 - gap[j] * gap[j])
        for word in range(loose.shape[1]):
            first = 64 * word
            a, b = np.uint64(0), np.uint64(0)
            for j in range(first, min(n, first + 64)):
                bit = np.uint64(1) << np.uint64(j - first)
                a |= bit if gap[j] < 1.0 else np.uint64(0)
                b |= bit if gap[j] < 0.5 else np.uint64(0)
            loose[i, word], tight[i, word] = a, b
    return soft, loose, tight


@njit(cache=True, nogil=True)
def local_maxima(points, scores, radius):
    """Whether no point within the radius has a higher score."""
    n = len(points)
    highest = np.ones(n, np.bool_)
    for i in range(n):
        for j in range(n):
            if scores[j] > scores[i]:
                p, q, r = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1], points[i, 2] - points[j, 2]
                if np.sqrt(p * p + q * q + r * r) < radius:
                    highest[i] = False
                    break
    return highest


@njit(cache=True, nogil=True)
def second_order(seeds, loose, tight):
    """Of every seed and pair: with how many pairs both are compatible, 0 where they are not with each other (Eq. 3)."""
    n = len(loose)
    counts = np.zeros((len(seeds), n), np.int32)
    for s in range(len(seeds)):
        seed = seeds[s]
        for j in range(n):
            if (loose[seed, j >> 6] >> np.uint64(j & 63)) & np.uint64(1):
                total = np.uint64(0)
                for word in range(tight.shape[1]):
                    total += popcount(tight[seed, word] & tight[j, word])
                counts[s, j] = total
    return counts


@njit(cache=True, nogil=True)
def largest(values, k):
    """The indices of the k largest, in descending order, the first of equals first."""
    chosen = np.full(k, -1, np.int64)
    height = np.full(k, -1.0)
    for j in range(len(values)):
        if values[j] > height[k - 1]:
            at = k - 1
            while at > 0 and values[j] > height[at - 1]:
                chosen[at], height[at] = chosen[at - 1], height[at - 1]
                at -= 1
            chosen[at], height[at] = j, values[j]
    return chosen


@njit(cache=True, nogil=True)
def _gap(source, target, i, j):
    a, b = source[i] - source[j], target[i] - target[j]
    return abs(np.sqrt(np.sum(a * a)) - np.sqrt(np.sum(b * b)))


@njit(cache=True, nogil=True)
def consensus_sets(counts, source, target, bound, sizes, turns):
    """Two-stage sampling (Sec. 3.4): `sizes[0]` pairs of the highest second-order measure with a seed, of these
    `sizes[1]` of the highest measure within the set, and how much each belongs, from the leading eigenvector."""
    k1, k2 = sizes
    members = np.empty((len(counts), k2), np.int64)
    weights = np.empty((len(counts), k2))
    for s in range(len(counts)):
        group = largest(counts[s], k1)
        hard = np.empty((k1, k1))
        for a in range(k1):
            for b in range(k1):
                hard[a, b] = 1.0 if _gap(source, target, group[a], group[b]) < bound else 0.0
        inner = largest(hard[0] @ hard, k2)
        soft = np.zeros((k2, k2))
        for a in range(k2):
            members[s, a] = group[inner[a]]
            for b in range(a):
                gap = _gap(source, target, group[inner[a]], group[inner[b]]) / bound
                soft[a, b] = soft[b, a] = max(0.0, 1.0 - gap * gap)
        vector = np.ones(k2)
        for _ in range(turns):
            vector = soft @ vector
            vector /= np.sqrt(np.sum(vector * vector)) + 1e-6
        weights[s] = vector
    return members, weights
