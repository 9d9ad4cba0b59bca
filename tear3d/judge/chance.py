"""Could a consensus this large be chance? An a-contrario test.

Model. In meaningless data a pair agrees with a given pose with some probability p₀. Pairs whose source points share a
voxel of one noise bound are one witness: a pose that fits one of them fits the others that lead to the same place. A
voxel with n pairs bears a pose out by chance with probability 1 − (1 − p₀)ⁿ; let p be the mean over the voxels. The
poses a search can try are those through three witnesses that keep their distances, which meaningless pairs do with
probability p_c. The expected number of such poses that k or more of v voxels bear out (the number of false alarms) is
then at most

    NFA = tests · P(Binomial(v − 3, p) ≥ k − 3),   tests = C(v, 3)·p_c³,

likewise for the voxels of the target; the larger of both counts. Where only turns about a known axis are allowed, two
witnesses make a pose, and where only shifts are, one does: C(v, 2)·p_c, or v, and k − 2, or k − 1. log10 NFA is the
*level* of a pose; its significance is what `judge.standing` makes of it. p₀ and p_c are measured by re-pairing: source
points against targets of *other* pairs, so dense regions, planes and targets that many pairs share raise them as they
should. What voxels farther apart have in common is left to `judge.standing`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.judge.witnesses import Witnesses
from tear3d.problem.arrays import spread_rows
from tear3d.problem.objective import near_rows
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

SIGNIFICANT = -2.0
"""A pose counts as found when its significance, never below its level, is at most this: one in a hundred."""
REPAIRINGS = 100_000
LENGTHS = 5_000
"""Re-pairings drawn to measure p₀ and p_c; free choices. On real pairs other draws move a level by about a tenth, and
by nearly one where it is small: a pose at the limit may fall on either side of it."""
LARGEST, FINER = 32_768, 262_144
"""More pairs than this are thinned evenly before they are judged; where a pose could be chance among those, it is
judged once more among so many: of a hundred pairs in a hundred thousand the first look keeps too few to tell. Free
choices: the second takes a quarter of a second."""
VOXEL = 1.0
"""Edge of the voxels that count as one witness, in noise bounds. Chosen on data: `python -m benchmarks.chance` measures
the false alarms and the right poses that are missed, and scans of the same folder were looked at when it was chosen."""


class Chance:
    """The levels, log10 NFA, of poses over the same pairs: very negative is good. `judge.standing` compares them."""

    def __init__(self, pairs: Pairs, seed: int = 0, most: int = LARGEST) -> None:
        self._given = pairs
        self.seed, self.most = seed, most
        self._known: dict[bytes, float] = {}

    def like(self, pairs: Pairs) -> Chance:
        """The same over other pairs; over its own, itself with all it knows."""
        return self if pairs is self._given else Chance(pairs, self.seed)

    @cached_property
    def pairs(self) -> Pairs:
        """Those that are looked at."""
        given = self._given
        return given if len(given) <= self.most else given.take(spread_rows(len(given), self.most))

    @cached_property
    def finer(self) -> Chance | None:
        """The same that looks at more pairs, where there are more."""
        return None if len(self._given) <= self.most or self.most >= FINER else self._among(FINER)

    @cached_property
    def free(self) -> Chance:
        """The same for all poses, also those that a prior does not allow."""
        return Chance(replace(self._given, prior=None), self.seed, self.most)

    def _among(self, most: int) -> Chance:
        return Chance(self._given, self.seed, most)

    @cached_property
    def _length_chance(self) -> float:
        return length_chance(self.pairs, seed=self.seed)

    @cached_property
    def _agreement(self) -> Repaired:
        return Repaired(self.pairs, self.seed)

    @cached_property
    def _witnesses(self) -> tuple[Witnesses, Witnesses]:
        """Of the source and of the target."""
        size = VOXEL * self.pairs.typical_bound
        return Witnesses(self.pairs.x, size), Witnesses(self.pairs.y, size)

    @cached_property
    def witnesses(self) -> int:
        """How many it takes to make a pose."""
        prior = self._given.prior
        return 3 if prior is None else 1 if prior.fixed else 2 if prior.upright else 3

    @cached_property
    def log10_tests(self) -> float:
        """log10 of how many poses a search can try: those through as many witnesses as it takes."""
        return max(self._tests(side) for side in self._witnesses)

    def _tests(self, side: Witnesses) -> float:
        return log10_choices(side.count, self._length_chance, self.witnesses)

    def places(self, rows: NDArray[np.int64]) -> int:
        """How many witnesses some of `pairs` are, on the side where they are fewer."""
        return min(side.hit(rows) for side in self._witnesses) if len(rows) else 0

    def __call__(self, pose: Pose, rows: NDArray[np.int64] | None = None) -> float:
        """The level of a pose; `rows`, when it is known which of `pairs` agree with it."""
        key = pose.row.tobytes()
        if key not in self._known:
            self._known[key] = self._level(pose, near_rows(self.pairs, pose) if rows is None else rows)
        return self._known[key]

    def _level(self, pose: Pose, rows: NDArray[np.int64]) -> float:
        if len(rows) <= self.witnesses:
            return self.log10_tests
        p0 = self._agreement(pose)
        # A sum of unequal chances has no heavier tail than the binomial of their mean (Hoeffding 1956).
        return max(
            log10_nfa(side.hit(rows), side.count, side.chance(p0), self._tests(side), self.witnesses)
            for side in self._witnesses
        )


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


def log10_nfa(
    num_inliers: int, num_pairs: int, p0: float, log10_tests: float | None = None, witnesses: int = 3
) -> float:
    """log10 of the number of false alarms of a consensus.

    Parameters
    ----------
    num_inliers : pairs that agree with the pose
    num_pairs : all pairs
    p0 : probability that a meaningless pair agrees
    log10_tests : logarithm of the number of poses tried; by default that of all triples
    witnesses : how many agree with a pose because it was made of them
    """
    n, k, m = int(num_pairs), int(num_inliers), witnesses
    tests = log10_choices(n, 1.0, m) if log10_tests is None else log10_tests
    return tests + (log10_binomial_tail(k - m, n - m, p0) if k > m else 0.0)


def log10_choices(n: int, chance: float = 1.0, witnesses: int = 3) -> float:
    """log10 of C(n, m)·chance^(m (m − 1) / 2), at least 0: m witnesses that keep their distances."""
    m = witnesses
    return max(0.0, math.log10(math.comb(n, m)) + 0.5 * m * (m - 1) * math.log10(chance)) if n >= m else 0.0


def length_chance(pairs: Pairs, *, seed: int = 0, draws: int = LENGTHS) -> float:
    """Probability that meaningless pairs keep a distance up to their noise bounds; never 0."""
    i, j, k, m = np.random.default_rng(seed).integers(0, len(pairs), (4, draws))
    return (_count_kept(pairs.x, pairs.y, pairs.xi, i, j, k, m) + 1) / (draws + 1)


@njit(cache=True, nogil=True, error_model="numpy")
def _count_kept(x, y, xi, i, j, k, m):
    """How often the source points i and j are as far apart as the targets k and m, up to their noise bounds."""
    step = 0 if xi.shape[0] == 1 else 1
    count = 0
    for d in range(i.shape[0]):
        a, b, c = x[i[d], 0] - x[j[d], 0], x[i[d], 1] - x[j[d], 1], x[i[d], 2] - x[j[d], 2]
        p, q, r = y[k[d], 0] - y[m[d], 0], y[k[d], 1] - y[m[d], 1], y[k[d], 2] - y[m[d], 2]
        difference = np.sqrt(a * a + b * b + c * c) - np.sqrt(p * p + q * q + r * r)
        count += abs(difference) <= xi[i[d] * step] + xi[j[d] * step]
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _repaired_hits(moved, y, squares, shifts):
    """How many source points, moved, fall within ξ and within 3ξ of the target `shift` pairs further on."""
    n = moved.shape[1]
    near, wide = 0, 0
    for shift in shifts:
        for turn in range(2):
            first, last = (0, n - shift) if turn == 0 else (n - shift, n)
            ahead = shift - turn * n
            p0, p1, p2 = moved[0, first:last], moved[1, first:last], moved[2, first:last]
            first, last, limits = first + ahead, last + ahead, squares[first:last]
            q0, q1, q2 = y[0, first:last], y[1, first:last], y[2, first:last]
            for i in range(limits.shape[0]):  # no index that could be negative: vectorised
                a, b, c = q0[i] - p0[i], q1[i] - p1[i], q2[i] - p2[i]
                square = a * a + b * b + c * c
                near += square <= limits[i]
                wide += square <= 9.0 * limits[i]
    return near, wide


class Repaired:
    """Pairs put together anew: every source point with the targets of some other pairs."""

    def __init__(self, pairs: Pairs, seed: int = 0, repairings: int = REPAIRINGS) -> None:
        n = len(pairs)
        rounds = max(1, repairings // n)
        if rounds >= n - 1:
            self._shifts = np.arange(1, max(2, n))
        else:
            self._shifts = np.random.default_rng(seed).integers(1, n, rounds)
        self._x, self._y = pairs.columns[:3], pairs.columns[3:6]
        self._squares = pairs.columns[6] * pairs.columns[6]
        radius = pairs.typical_bound
        sides = np.ptp(self._y, axis=1) + 2.0 * radius
        self._share = 4.0 / 3.0 * math.pi * float(np.prod(radius / sides))

    def __call__(self, pose: Pose) -> float:
        """Probability that a meaningless pair agrees with the pose; never 0.

        The largest of: the hits within ξ; those within 3ξ divided by 27 (the same density seen on a
        coarser scale, less noisy); the volume of a typical ξ-ball relative to the targets' bounding box.
        """
        moved = pose.rotation @ self._x + pose.translation[:, None]
        near, wide = _repaired_hits(moved, self._y, self._squares, self._shifts)
        draws = len(self._squares) * len(self._shifts)
        return float(min(1.0, max(near / draws, wide / (27.0 * draws), self._share, 0.5 / draws)))
