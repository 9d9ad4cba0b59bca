"""Whether it pays to leave out pairs by their lengths, how many at a time, and up to which saving: by trial."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.crew import Crew
from tear3d.prove.bounds.lengths import Lot, find_company, find_followers
from tear3d.prove.pose.lots import take_lot, units
from tear3d.prove.pose.sieve import SIZES, friends_of

SAMPLE, TOGETHER = 64, 8
ALIVE, ALIVE_TOGETHER = 0.05, 0.35
"""So many pivots of one part that disagree with the incumbent are tried first, a few together: at most this share may
stay, or that when all pairs are one part and nobody follows."""
FOLLOWERS, FOLLOWING = 4_096, 0.15
"""Then so many such pairs are tried with what is left of the part: no more than this share of all should follow."""
CAREFUL = 0.85
"""Parts differ: the trial is made with this share of the limit."""
MOST_WORK, MOST_TOGETHER, CHEAP = 6_000_000_000, 15_000_000_000, 600_000_000
"""Words and lengths, about half a nanosecond each: for the highest limit on the saving, in parts or all together, and
for lower ones. ..."""
AT_LEAST = 0.1
"""Share of all work that is the number of pairs times that of a part, about at the most: the rest is company. ..."""
RARE = 0.03
"""With a larger share of inliers the search is fast, and less is spent on all pairs together. All free choices, part of
no bound, made on a dozen of the problems of `benchmarks.proof`, real pairs among them, where they took least time."""


class Plan(NamedTuple):
    """How pairs are to be sifted."""

    size: int
    """Of a part."""
    limit: float
    """What a pose must save more than to matter."""
    work: float
    """Words and lengths to look at, about."""


def plan(
    lot: Lot,
    order: NDArray[np.int64],
    agree: NDArray[np.bool_],
    wanted: list[float],
    crew: Crew[None],
    most_work: float = np.inf,
) -> Plan | None:
    """The lowest limit for which most pairs should go at little cost, and the smallest parts for that.

    Parameters
    ----------
    lot : Lot
    order : int64 array
        All pairs, at random: the first of them are tried.
    agree : bool array
        Which pairs agree with the incumbent, and are not expected to go.
    wanted : list of float
        Limits in ascending order.
    crew : Crew
    most_work : float
        Parts are not tried that would surely take more.
    """
    n = len(order)
    best: Plan | None = None
    together = min(1.0, RARE * n / max(1, int(np.count_nonzero(agree))))
    for size in [size for size in SIZES if size < n] + ([n] if n <= SIZES[-1] else []):
        if (best is not None and n * size > CHEAP) or n * size > AT_LEAST * most_work:
            break
        trial = _Trial(lot, order, agree, size, crew)
        if trial.friends is None:
            return None
        for limit in wanted:
            if best is not None and limit >= best.limit:
                break
            work = trial.work(limit)
            most = MOST_TOGETHER * together if size == n else MOST_WORK
            if work <= (most if limit == wanted[-1] else CHEAP):
                best = Plan(size, limit, work)
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
        self.inliers, self.num_inliers = np.flatnonzero(agree[part])[:SAMPLE], np.count_nonzero(agree)
        self.friends = friends_of(self.part, crew)

    def work(self, limit: float) -> float:
        """Words and lengths to look at, infinite when too many pairs would be left."""
        if not len(self.pivots):
            return np.inf
        assert self.friends is not None
        share = 1.0 if self.size == self.n else CAREFUL * self.size / self.n
        most, left = units(limit * share, self.part), np.zeros(self.size, np.uint8)
        stay, visits, may = 0, 0, ALIVE_TOGETHER if self.size == self.n else ALIVE
        for some in np.array_split(self.pivots, -(-len(self.pivots) // TOGETHER)):
            alive, looked_at = find_company(self.part, self.friends, some, most, left)
            stay, visits = stay + alive, visits + looked_at
            if stay > may * len(self.pivots):
                return np.inf
        work = self.n * (self.size + visits / len(self.pivots))
        if self.size == self.n:
            _, visits = find_company(self.part, self.friends, self.inliers[:TOGETHER], most, left)
            return work + visits / max(1, len(self.inliers[:TOGETHER])) * self.num_inliers
        find_company(self.part, self.friends, self.inliers, most, left)
        core, follow = take_lot(self.part, left != 0), np.zeros(self.others.xi.size, np.uint8)
        find_followers(self.others, 0, len(follow), core, np.array([core.xi.size]), most, follow)
        if follow.sum() * self.n > FOLLOWING * self.size * len(follow):
            return np.inf
        return work + self.n / self.size * core.xi.size * self.n
