"""Could a consensus this large be chance? An a-contrario test.

Model. In meaningless data a pair agrees with a given pose with some probability p₀. Pairs whose source points share a
voxel of one noise bound are one witness: a pose that fits one of them fits the others that lead to the same place. A
voxel with n pairs bears a pose out by chance with probability 1 − (1 − p₀)ⁿ; let p be the mean over the voxels. The
poses a search can try are those through three witnesses that keep their distances, which meaningless pairs do with
probability p_c. The expected number of such poses that k or more of v voxels bear out (the number of false alarms) is
then at most

    NFA = tests · P(Binomial(v − 3, p) ≥ k − 3),   tests = C(v, 3)·p_c³,

likewise for the voxels of the target; the larger of both counts. log10 NFA is the *level* of a pose; its significance
is what `judge.standing` makes of it. p₀ and p_c are
measured by re-pairing: source points against targets of *other* pairs, so dense regions, planes and targets that many
pairs share raise them as they should. What voxels farther apart have in common is left to `judge.standing`.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray, spread_rows
from tear3d.problem.objective import inlier_mask
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose

SIGNIFICANT = -2.0
"""A pose counts as found when its significance, never below its level, is at most this: one in a hundred."""
REPAIRINGS = 100_000
LENGTHS = 5_000
"""Re-pairings drawn to measure p₀ and p_c; free choices. On real pairs other draws move a level by about a tenth, and
by nearly one where it is small: a pose at the limit may fall on either side of it."""
LARGEST = 32_768
"""More pairs than this are thinned evenly before they are judged."""
VOXEL = 1.0
"""Edge of the voxels that count as one witness, in noise bounds. Chosen on data: `python -m benchmarks.chance` measures
the false alarms and the right poses that are missed, and scans of the same folder were looked at when it was chosen."""


class Chance:
    """The levels, log10 NFA, of poses over the same pairs: very negative is good. `judge.standing` compares them."""

    def __init__(self, pairs: Pairs, seed: int = 0) -> None:
        self.pairs = pairs if len(pairs) <= LARGEST else pairs.take(spread_rows(len(pairs), LARGEST))
        self.seed = seed

    @cached_property
    def _length_chance(self) -> float:
        return length_chance(self.pairs, seed=self.seed)

    @cached_property
    def _voxels(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The voxel of every source and of every target point."""
        size = VOXEL * self.pairs.typical_bound
        return voxel_numbers(self.pairs.x, size), voxel_numbers(self.pairs.y, size)

    @cached_property
    def log10_tests(self) -> float:
        """log10 of how many poses a search can try: those through three witnesses."""
        return max(log10_triples(int(numbers.max()) + 1, self._length_chance) for numbers in self._voxels)

    def __call__(self, pose: Pose) -> float:
        mask = inlier_mask(self.pairs, pose)
        if np.count_nonzero(mask) <= 3:
            return self.log10_tests
        p0 = chance_agreement(self.pairs, pose, seed=self.seed)
        return max(self._side(numbers, mask, p0) for numbers in self._voxels)

    def _side(self, numbers: NDArray[np.int64], mask: NDArray[np.bool_], p0: float) -> float:
        """The level by the witnesses of one cloud."""
        held = np.bincount(numbers)
        hit = len(np.unique(numbers[mask]))
        # A sum of unequal chances has no heavier tail than the binomial of their mean (Hoeffding 1956).
        p = float(np.mean(-np.expm1(held * math.log1p(-min(p0, 1.0 - 1e-12)))))
        return log10_nfa(hit, len(held), p, log10_triples(len(held), self._length_chance))


def log10_binomial_tail(k: int, n: int, p: float) -> float:
    """log10 P(Binomial(n, p) ≥ k), accurate however small.

    From the largest term by its ratio to the following ones, whose quotients fall.
    """
    if k <= 0:
        return 0.0
    if k > n or p <= 0.0:
        return -math.inf
    if p >= 1.0:
        return 0.0
    if k <= n * p:
        return 0.0  # at least about one half
    log_term = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
    )
    odds = p / (1.0 - p)
    total = term = 1.0
    for j in range(k, n):
        term *= odds * (n - j) / (j + 1)
        total += term
        if term < 1e-12 * total:
            break
    return min(0.0, (log_term + math.log(total)) / math.log(10.0))


def log10_nfa(num_inliers: int, num_pairs: int, p0: float, log10_tests: float | None = None) -> float:
    """log10 of the number of false alarms of a consensus.

    Parameters
    ----------
    num_inliers : pairs that agree with the pose
    num_pairs : all pairs
    p0 : probability that a meaningless pair agrees
    log10_tests : logarithm of the number of poses tried; by default that of all triples
    """
    n, k = int(num_pairs), int(num_inliers)
    tests = log10_triples(n) if log10_tests is None else log10_tests
    return tests + (log10_binomial_tail(k - 3, n - 3, p0) if k > 3 else 0.0)


def log10_triples(n: int, chance: float = 1.0) -> float:
    """log10 of C(n, 3)·chance³, at least 0."""
    return max(0.0, math.log10(n * (n - 1) * (n - 2) / 6) + 3.0 * math.log10(chance)) if n >= 3 else 0.0


def length_chance(pairs: Pairs, *, seed: int = 0, draws: int = LENGTHS) -> float:
    """Probability that meaningless pairs keep a distance up to their noise bounds; never 0."""
    i, j, k, m = np.random.default_rng(seed).integers(0, len(pairs), (4, draws))
    limit = take(pairs.xi, i) + take(pairs.xi, j)
    x, y = pairs.x, pairs.y
    difference = np.linalg.norm(x[i] - x[j], axis=1) - np.linalg.norm(y[k] - y[m], axis=1)
    return (int(np.count_nonzero(np.abs(difference) <= limit)) + 1) / (draws + 1)


@njit(cache=True, nogil=True)
def _repaired_hits(x, y, rotation, t, xi, shifts):
    """How many source points fall within ξ and within 3ξ of the target `shift` pairs further on."""
    n = x.shape[0]
    xi_step = 0 if xi.shape[0] == 1 else 1
    near, wide = 0, 0
    for shift in shifts:
        for i in range(n):
            j = i + shift
            if j >= n:
                j -= n
            square = 0.0
            for k in range(3):
                e = y[j, k] - (rotation[k, 0] * x[i, 0] + rotation[k, 1] * x[i, 1] + rotation[k, 2] * x[i, 2] + t[k])
                square += e * e
            bound = xi[i * xi_step]
            bound *= bound
            if square <= 9.0 * bound:
                wide += 1
                if square <= bound:
                    near += 1
    return near, wide


def chance_agreement(pairs: Pairs, pose: Pose, *, seed: int = 0, repairings: int = REPAIRINGS) -> float:
    """Probability that a meaningless pair agrees with the pose, from re-paired data; never 0.

    The largest of: the hits within ξ; those within 3ξ divided by 27 (the same density seen on a
    coarser scale, less noisy); the volume of a typical ξ-ball relative to the targets' bounding box.
    """
    n = len(pairs)
    rounds = max(1, repairings // n)
    if rounds >= n - 1:
        shifts = np.arange(1, max(2, n))
    else:
        shifts = np.random.default_rng(seed).integers(1, n, rounds)
    x, y = np.ascontiguousarray(pairs.x), np.ascontiguousarray(pairs.y)
    near, wide = _repaired_hits(x, y, pose.rotation, pose.translation, pairs.xi, shifts)
    draws = n * len(shifts)
    radius = pairs.typical_bound
    share = 4.0 / 3.0 * math.pi * float(np.prod(radius / (np.ptp(y, axis=0) + 2.0 * radius)))
    return float(min(1.0, max(near / draws, wide / (27.0 * draws), share, 0.5 / draws)))


def voxel_numbers(points: FloatArray, size: float) -> NDArray[np.int64]:
    """The number, from 0 on, of the occupied voxel that holds each point (at most 2²¹ along an axis)."""
    corner = points.min(axis=0)
    size = max(size, float(np.max(points - corner)) / 2_097_151, 1e-300)
    cells = np.floor((points - corner) / size).astype(np.int64)
    key = (cells[:, 0] * 2_097_152 + cells[:, 1]) * 2_097_152 + cells[:, 2]
    return np.unique(key, return_inverse=True)[1].ravel()
