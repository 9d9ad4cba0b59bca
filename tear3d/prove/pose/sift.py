"""Pairs that are in no pose which saves much, found by lengths alone and left out (mathematics.md, section 9).

Few pairs are looked at all together. Many are cut into parts at random: a pose that saves more than T saves more than
T / K in one of K parts. What is left of that part is a core, and the pairs of all other parts must agree in length
with so much of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Scored
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.lengths import LEVELS, WORD, Lot, find_company, find_followers, find_friends

SIZES = (1_000, 1_500, 2_200, 3_200, 4_700, 7_000, 10_000, 15_000)
"""Sizes of parts, ..."""
FEWEST_PAIRS, MOST_PAIRS = 100, 400_000
WORTH_MORE, FEW_MORE = 0.9, 3.0
"""Sifted again and again until more than this share is left, or hardly more than agree with the incumbent."""
SAMPLE = 64
ALIVE = 0.05
"""... one of which so many pivots that disagree with the incumbent are tried of first: at most this share may stay."""
FOLLOWERS, FOLLOWING = 4_096, 0.15
"""Then so many such pairs are tried with what is left of the part: no more than this share of all should follow."""
MOST_INLIERS = 0.25
"""With a larger share of inliers nothing is to be gained."""
MOST_WORK, CHEAP = 6_000_000_000, 1_200_000_000
"""Words and lengths, about half a nanosecond each: for the highest limit on the saving, and for lower ones. All free
choices, part of no bound."""
PIECE = 20_000_000
"""Words and lengths between two looks at the clock."""
SLOP_SINGLE, SLOP_GIVEN = 32.0 * 2.0**-24, 32.0 * 2.0**-53
"""Rounding of a difference of lengths in units of the sizes of both clouds and of the coordinates as given: section 9.3
counts 16 of each."""
SINGLE_UP = np.float32(1.0 + 2.0**-22)


class Sifted(NamedTuple):
    """What is left of some pairs."""

    index: NDArray[np.int64]
    limit: float
    """A pose that saves more than this saves nothing with the pairs left out."""


class _Plan(NamedTuple):
    size: int
    limit: float
    work: float


def sift(
    pairs: Pairs, loss: Loss, known: Scored, shares: Sequence[float], limits: Limits, threads: int
) -> Sifted | None:
    """Leave out pairs that are in no pose which saves more than some share of what a known pose saves.

    Parameters
    ----------
    pairs : Pairs
        All with w ξ > 0.
    loss : Loss
    known : Scored
        A good pose: the pairs that agree with it are not expected to go.
    shares : sequence of float
        In ascending order; the lowest for which that costs little is taken.
    limits : Limits
    threads : int
        The result is the same for any number.

    Returns
    -------
    Sifted or None
        None when it would not help, or the time is over.
    """
    n = len(pairs)
    wanted = [share * known.saving for share in shares]
    if not FEWEST_PAIRS <= n <= MOST_PAIRS or not wanted[0] > 0.0:
        return None
    lot = _lot(pairs, loss)
    if wanted[-1] > MOST_INLIERS * LEVELS * lot.unit * n:
        return None
    order = np.random.default_rng(0).permutation(n)
    agree = np.sum((pairs.y - known.pose.apply(pairs.x)) ** 2, axis=1) <= pairs.xi**2
    crew: Crew[None]
    with Crew(threads, limits) as crew:
        plan = _plan(lot, order, agree, wanted, crew)
        if plan is None:
            return None
        index, expected = np.arange(n), np.count_nonzero(agree)
        while True:
            left = _sifted(take_lot(lot, index), plan, crew)
            if left is None:
                return None
            before, index = len(index), index[left]
            if len(index) > WORTH_MORE * before or len(index) < max(FEWEST_PAIRS, FEW_MORE * expected):
                return Sifted(index, plan.limit)


def _lot(pairs: Pairs, loss: Loss) -> Lot:
    """The pairs about their means, in float32."""
    n = len(pairs)
    rows = np.empty((6, n), np.float32)
    sizes, given = 0.0, 0.0
    for first, points in ((0, pairs.x), (3, pairs.y)):
        mean = points.mean(axis=0, dtype=np.float64)
        centred = points - mean
        rows[first : first + 3] = centred.T
        sizes += float(np.sqrt(np.max(np.sum(centred**2, axis=1))))
        given = max(given, float(np.abs(points).max()))
    xi = np.broadcast_to(pairs.xi.astype(np.float32) * SINGLE_UP, n)
    w = np.broadcast_to(pairs.w, n)
    unit = float(np.max(pairs.w * loss.caps(pairs.xi))) / LEVELS
    slop = SLOP_SINGLE * sizes + SLOP_GIVEN * given
    return Lot(rows, np.ascontiguousarray(xi), np.ascontiguousarray(w, np.float64), slop, unit, loss.code)


def take_lot(lot: Lot, index: NDArray[Any]) -> Lot:
    """Some pairs of a lot."""
    return lot._replace(rows=np.ascontiguousarray(lot.rows[:, index]), xi=lot.xi[index], w=lot.w[index])


def units(limit: float, lot: Lot) -> int:
    """The largest number of steps that is not worth more than `limit`."""
    return int(np.floor(limit / lot.unit * (1.0 - 1e-9)))


def _plan(
    lot: Lot, order: NDArray[np.int64], agree: NDArray[np.bool_], wanted: list[float], crew: Crew[None]
) -> _Plan | None:
    """The lowest limit for which most pairs should go at little cost, and the smallest parts for that."""
    n = len(order)
    best: _Plan | None = None
    for size in [size for size in SIZES if size < n] + ([n] if n <= SIZES[-1] else []):
        if best is not None and n * size > CHEAP:
            break
        trial = _Trial(lot, order, agree, size, crew)
        for limit in wanted:
            if best is not None and limit >= best.limit:
                break
            work = trial.work(limit)
            if work <= (MOST_WORK if limit == wanted[-1] else CHEAP):
                best = _Plan(size, limit, work)
        if crew.limits.over():
            return None
        if best is not None and best.limit == wanted[0]:
            break
    return best


class _Trial:
    """What parts of some size would lead to, from a few pairs of one of them."""

    def __init__(
        self, lot: Lot, order: NDArray[np.int64], agree: NDArray[np.bool_], size: int, crew: Crew[None]
    ) -> None:
        part, rest = order[:size], order[size:]
        self.size, self.n = size, len(order)
        self.part, self.others = take_lot(lot, part), take_lot(lot, rest[~agree[rest]][:FOLLOWERS])
        self.pivots = np.flatnonzero(~agree[part])[:SAMPLE]
        self.inliers = np.flatnonzero(agree[part])[:SAMPLE]
        self.friends = _friends(self.part, crew)

    def work(self, limit: float) -> float:
        """Words and lengths to look at, infinite when too many pairs would be left."""
        if self.friends is None or not len(self.pivots):
            return np.inf
        most, left = units(limit * self.size / self.n, self.part), np.zeros(self.size, np.uint8)
        stay, visits = find_company(self.part, self.friends, self.pivots, most, left)
        work = self.n * (self.size + visits / len(self.pivots))
        if stay > ALIVE * len(self.pivots):
            return np.inf
        if self.size == self.n:
            return work
        find_company(self.part, self.friends, self.inliers, most, left)
        core, follow = take_lot(self.part, left != 0), np.zeros(self.others.xi.size, np.uint8)
        find_followers(self.others, 0, len(follow), core, np.array([core.xi.size]), most, follow)
        if follow.sum() * self.n > FOLLOWING * self.size * len(follow):
            return np.inf
        return work + self.n / self.size * core.xi.size * self.n


def _sifted(lot: Lot, plan: _Plan, crew: Crew[None]) -> NDArray[np.int64] | None:
    """The pairs that are left, or None when the time is over."""
    n = lot.xi.size
    number = max(n // plan.size, -(-n // SIZES[-1])) if n > SIZES[1] else 1
    if number == 1:
        return _alone(lot, units(plan.limit, lot), crew)
    parts = [np.sort(part) for part in np.array_split(np.random.default_rng(1).permutation(n), number)]
    most = units(plan.limit / len(parts), lot)

    def core(part: NDArray[np.int64], _: None) -> NDArray[np.int64]:
        if crew.limits.over():
            return part
        own = take_lot(lot, part)
        friends = np.empty((len(part), -(-len(part) // WORD)), np.uint64)
        left = np.zeros(len(part), np.uint8)
        find_friends(own, 0, len(part), friends)
        find_company(own, friends, np.arange(len(part)), most, left)
        return part[left != 0]

    cores = crew.map(core, parts)
    together = np.concatenate(cores)
    ends = np.cumsum([len(part) for part in cores])
    middle, left = take_lot(lot, together), np.zeros(n, np.uint8)
    left[together] = 1
    step = max(1, PIECE // max(1, len(together)))

    def follow(start: int, _: None) -> None:
        if not crew.limits.over():
            find_followers(lot, start, min(n, start + step), middle, ends, most, left)

    crew.map(follow, range(0, n, step))
    return None if crew.limits.over() else np.flatnonzero(left)


def _friends(lot: Lot, crew: Crew[None]) -> NDArray[np.uint64] | None:
    n = lot.xi.size
    friends = np.empty((n, -(-n // WORD)), np.uint64)
    step = max(1, PIECE // n)

    def find(start: int, _: None) -> None:
        if not crew.limits.over():
            find_friends(lot, start, min(n, start + step), friends)

    crew.map(find, range(0, n, step))
    return None if crew.limits.over() else friends


def _alone(lot: Lot, most: int, crew: Crew[None]) -> NDArray[np.int64] | None:
    """What is left when all pairs are looked at together."""
    n = lot.xi.size
    friends = _friends(lot, crew)
    if friends is None:
        return None
    left = np.zeros(n, np.uint8)
    step = max(8, PIECE // n // 100)

    def find(start: int, _: None) -> None:
        if not crew.limits.over():
            find_company(lot, friends, np.arange(start, min(n, start + step)), most, left)

    crew.map(find, range(0, n, step))
    return None if crew.limits.over() else np.flatnonzero(left)
