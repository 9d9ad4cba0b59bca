"""Many poses judged on all pairs at once, and bits of words counted: what systems that vote among hypotheses share."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.peers import FloatArray
from benchmarks.peers.rigid import fit, residuals


@njit(cache=True, nogil=True)
def popcount(word):
    """How many bits of a 64-bit word are set, in the form that compilers make one instruction of."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def judge(poses, source, target, noise_bound):
    """Of every pose: how many pairs agree within the bound, and the sum of 1 - residual / bound over these."""
    counts = np.zeros(len(poses), np.int64)
    sums = np.zeros(len(poses))
    x = np.ascontiguousarray(source.T)
    y = np.ascontiguousarray(target.T)
    limit = noise_bound * noise_bound
    for k in range(len(poses)):
        p = poses[k]
        count, total = 0, 0.0
        for i in range(len(source)):
            a = p[0, 0] * x[0, i] + p[0, 1] * x[1, i] + p[0, 2] * x[2, i] + p[0, 3] - y[0, i]
            b = p[1, 0] * x[0, i] + p[1, 1] * x[1, i] + p[1, 2] * x[2, i] + p[1, 3] - y[1, i]
            c = p[2, 0] * x[0, i] + p[2, 1] * x[1, i] + p[2, 2] * x[2, i] + p[2, 3] - y[2, i]
            square = a * a + b * b + c * c
            if square < limit:
                count += 1
                total += 1.0 - np.sqrt(square) / noise_bound
        counts[k], sums[k] = count, total
    return counts, sums


def reweighted(pose: FloatArray, source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    """The fit to the pairs within the bound of a pose, each weighed by 1 / (1 + (residual / bound)²)."""
    distance = residuals(pose, source, target)
    near = distance < noise_bound
    return fit(source[near], target[near], 1.0 / (1.0 + (distance[near] / noise_bound) ** 2))
