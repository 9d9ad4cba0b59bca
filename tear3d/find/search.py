"""The pose with the largest full saving, found from pairs that keep their lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import BAND, climb, climb_from
from tear3d.find.pool import SAME, Judge, Member, Pool
from tear3d.find.procrustes import procrustes
from tear3d.find.rounds import Explorer, Hits, Round
from tear3d.find.triples import offer_triples
from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew
from tear3d.problem.frame import Frame
from tear3d.problem.limits import Limits
from tear3d.problem.objective import Surveyed, full_saving, inlier_mask, survey
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs, some, take
from tear3d.problem.pose import Pose
from tear3d.problem.ranks import median, medians

LARGEST_SAMPLE = 20480
"""Pairs among which lengths are compared and poses judged during the search, at most."""
MIDDLE = 1024
"""Pairs that tell where the middle of the sample is and how large it is."""
COMPARABLE = 0.6
"""Poses that save less than this share of the most are not ranked by significance."""
ENOUGH_HITS = 8
"""Independent pivots that must lead to the best pose before the search may stop early, ..."""
ENOUGH_INLIERS = 8
"""... what it saves, in caps, on a sample of the size they came from, ..."""
BEYOND_DOUBT = -5.0
"""... and its log10 NFA. Free choices: what is found is judged and proven by others."""
ENOUGH_RIVALS = 8
"""Poses besides the best with which it is compared."""
RIVAL_PAIRS, RIVAL_PIVOTS, RIVAL_REACHES = 1024, 256, (6.0, 12.0, np.inf)
"""The short search for more of them; its cost is a few hundredths of a second at any size."""
FEWEST_PAIRS = 8


@dataclass(frozen=True, eq=False)
class Candidate:
    """A pose found by the search, refined on all pairs."""

    pose: Pose
    saving: float
    """Full saving over all pairs, of the loss that was asked for."""
    num_inliers: int
    significance: float
    """As the judge sees it."""
    pivots: int
    """Pivots tried until the search ended."""
    ended_by: str
    """`hits` (found again and again), `exhausted`, `time_limit` or `interrupted`."""


@dataclass(frozen=True, eq=False)
class Search:
    """A search that has come to its end: the pool of its poses over a sample of the pairs."""

    pairs: Pairs
    pool: Pool
    options: Options
    judge: Callable[[Pairs], Judge]
    tried: int
    ended_by: str
    _savings: dict[int, tuple[Pose, float]] = field(default_factory=dict, repr=False)
    """Over the sample, of poses by their identity."""
    _rest: dict[bytes, list[Pose]] = field(default_factory=dict, repr=False)
    """What a short search has found besides a pose, by its row."""

    @classmethod
    def run(cls, pairs: Pairs, options: Options, limits: Limits, judge: Callable[[Pairs], Judge]) -> Search:
        """Search until nothing better is to be expected; there is at least one pose, however soon the limits end it.

        Parameters
        ----------
        pairs : Pairs
            Drawn in proportion to their weights.
        options : Options
            `loss`, `seed` (of the random order of the pairs), `threads` (the result does not depend on it).
        limits : Limits
        judge : callable
            Makes, from some pairs, a function that tells how likely a pose's consensus among them is chance.
        """
        sample = draw_sample(_possible(pairs), options.seed)
        pool = Pool(sample, options.the_loss, _judge_of(sample, pairs, judge), limits)
        start = None if sample.prior is None else sample.prior.initial
        if start is not None:
            pool.offer(start.row)
        tried, ended_by = _explore(pool, options.threads)
        offer_triples(pool)
        # Least squares over all: where what agrees was hit again and again, it has nothing to add.
        if ended_by != "hits" and (pool.best is None or pool.best.count < 0.5 * len(sample)):
            pool.offer(procrustes(sample.x, sample.y, np.broadcast_to(sample.w, len(sample))).row)
        return cls(pairs, pool, options, judge, tried, ended_by)

    @property
    def done(self) -> bool:
        """Whether it came to its end by itself."""
        return self.ended_by in ("hits", "exhausted")

    def ranked(self, rank: Literal["significance", "saving"] = "significance") -> list[Member]:
        """The poses of the pool, best first.

        What "best" means among poses that save at least 60 % of the most: what the judge says, which many-to-one
        matches cannot inflate, or the saving alone.
        """
        members = self.pool.members
        if rank != "significance":
            return list(members)
        close = [m for m in members if m.saving >= COMPARABLE * members[0].saving]
        if len(close) > 1:
            close.sort(key=self.pool.significance)
        return close + members[len(close) :]

    def refined(self, member: Member) -> Surveyed:
        """A pose of the pool, refined once more, on all pairs."""
        pairs, loss = self.pairs, self.options.the_loss
        pose = pairs.allow(self.pool.pairs.frame.outside(self.pool.polish(member).pose))
        reached = survey(pairs, pose, loss, BAND)
        if len(self.pool.pairs) < len(pairs):
            return climb_from(reached, pairs, loss, limits=self.pool.limits)
        return reached

    def candidate(self, member: Member) -> Candidate:
        """The same, with all that is known of it."""
        found = self.refined(member)
        level = self.judge(self.pairs)(found.pose)
        return Candidate(found.pose, found.saving, found.num_inliers, level, self.tried, self.ended_by)

    def rivals(self, best: Pose) -> list[Pose]:
        """Other poses than `best`, those that save most first.

        From the pool, and when it holds few, because the search could stop early, from a short search among the pairs
        that `best` does not explain.
        """
        frame = self.pool.pairs.frame
        poses = [member.pose for member in self.pool.members]
        if len(poses) <= ENOUGH_RIVALS and not self.pool.limits.over():
            poses += self._search_rest(frame.inside(best))
        return self.others(best, [frame.outside(pose) for pose in poses])

    def outsiders(self, best: Pose) -> list[Pose]:
        """Poses that the prior does not allow: where an ascent from `best` leads without it, and those of a short
        search among the pairs that `best` does not explain. None without a prior."""
        prior, key = self.pairs.prior, best.row.tobytes()
        if prior is None or self.pool.limits.over():
            return []
        if key not in self._rest:
            free = replace(self.pairs, prior=None)
            sample = draw_sample(free, self.options.seed)
            found = [climb(free, best, self.options.the_loss, limits=self.pool.limits)[0]]
            found += [sample.frame.outside(pose) for pose in self._search_beside(sample, sample.frame.inside(best))]
            self._rest[key] = [pose for pose in found if not prior.contains(pose)]
        return self._rest[key]

    def others(self, best: Pose, poses: list[Pose]) -> list[Pose]:
        """Those of some poses that are neither `best` nor the same as one before, the one that saves most first."""
        sample, probes = self.pool.pairs, self.pool.probes
        inside = [sample.frame.inside(pose) for pose in (best, *poses)]
        images = probes.images(np.array([pose.row for pose in inside]))
        taken, distinct = [0], []
        for number, given in enumerate(poses, 1):
            if not probes.same(images[taken], images[number]).any():
                taken.append(number)
                if id(given) not in self._savings:
                    self._savings[id(given)] = given, full_saving(sample, inside[number], self.pool.loss)
                distinct.append(given)
        return sorted(distinct, key=lambda pose: -self._savings[id(pose)][1])[: ENOUGH_RIVALS + 2]

    def _search_rest(self, best: Pose) -> list[Pose]:
        return self._search_beside(self.pool.pairs, best)

    def _search_beside(self, sample: Pairs, best: Pose) -> list[Pose]:
        limits = self.pool.limits
        rest = sample.take(np.flatnonzero(~inlier_mask(sample, best, SAME)))
        if len(rest) < FEWEST_PAIRS:
            return []
        pool = Pool(rest, self.pool.loss, self.judge(rest), limits)
        pairs = min(len(rest), RIVAL_PAIRS)
        with Crew[None](self.options.threads, limits) as crew:
            explorer = Explorer(pool, crew, lambda hits, pairs: False)
            for reach in RIVAL_REACHES:
                explorer.sweep(Round(pairs, min(pairs, RIVAL_PIVOTS), reach))
                if limits.over():
                    break
        return [member.pose for member in pool.members]


def _judge_of(sample: Pairs, pairs: Pairs, judge: Callable[[Pairs], Judge]) -> Judge:
    """Of poses of the sample; when that is all pairs in another order, what they know already is used."""
    if len(sample) < len(pairs):
        return judge(sample)
    whole, outside = judge(pairs), sample.frame.outside
    return lambda pose: whole(outside(pose))


def _possible(pairs: Pairs) -> Pairs:
    """Those that can agree with a pose that is allowed, unless they are too few for a search."""
    if pairs.possible is None:
        return pairs
    rows = np.flatnonzero(pairs.possible)
    return pairs if len(rows) in (len(pairs), *range(FEWEST_PAIRS)) else pairs.take(rows)


def draw_sample(pairs: Pairs, seed: int) -> Pairs:
    """The pairs a search looks at, in random order and in a frame of their own."""
    useful = pairs.w if np.all(pairs.xi > 0.0) else np.where(pairs.xi > 0.0, pairs.w, 0.0)
    return _sample(pairs, _random_order(len(pairs), useful, min(len(pairs), LARGEST_SAMPLE), seed))


def _random_order(n: int, weights: FloatArray, size: int, seed: int) -> NDArray[np.int64]:
    """`size` of n pairs in random order, drawn in proportion to their weights."""
    rng = np.random.default_rng(seed)
    if len(weights) == 1:
        return rng.permutation(n) if size == n else rng.choice(n, size, replace=False)
    with np.errstate(divide="ignore", over="ignore"):
        keys = rng.exponential(size=n) / weights  # the smallest keys are a weighted draw
    chosen = np.argpartition(keys, size - 1)[:size] if size < n else np.arange(n)
    chosen = chosen[np.argsort(keys[chosen], kind="stable")]
    useful = chosen[weights[chosen] > 0.0]
    return useful if len(useful) >= 3 else chosen


def _sample(pairs: Pairs, order: NDArray[np.int64]) -> Pairs:
    """The drawn pairs in centred coordinates of size about one; their frame leads back to those of `pairs`."""
    x, y = some(pairs.x, order), some(pairs.y, order)
    x_mid, y_mid = medians(x[:MIDDLE]), medians(y[:MIDDLE])
    x -= x_mid
    y -= y_mid
    unit = max(median(np.linalg.norm(points[:MIDDLE], axis=1)) for points in (x, y))
    unit = unit if unit > 0.0 else 1.0
    x /= unit
    y /= unit
    xi = np.broadcast_to(take(pairs.xi, order), len(order)) / unit
    w = np.ones(len(order))
    if len(order) == len(pairs) or len(order) < LARGEST_SAMPLE:  # else the draw has accounted for them
        w *= take(pairs.w, order)
    prior = None if pairs.prior is None else pairs.prior.between(x_mid, y_mid, unit)
    return Pairs(x, y, xi, w, Frame(x_mid, y_mid, unit), np.zeros(3), np.zeros(3), prior=prior)


def _explore(pool: Pool, threads: int) -> tuple[int, str]:
    """Fill the pool; return the number of pivots tried and why it ended."""

    def settled(hits: Hits, pairs: int) -> bool:
        return _settled(pool, hits, pairs)

    with Crew[None](threads, pool.limits) as crew:
        explorer = Explorer(pool, crew, settled)
        explorer.report()
        for current in explorer.seeker.plan(len(pool.pairs)):
            if pool.limits.over() or explorer.run(current):
                reason = pool.limits.exceeded() if pool.limits.over() else None
                return explorer.tried, reason or "hits"
        return explorer.tried, "exhausted"


def _settled(pool: Pool, hits: Hits, pairs: int) -> bool:
    """Nothing better is to be expected: a larger consensus would have been hit as often.

    The sample must show enough of the best pose's inliers, and their pivots must lead to it. When
    they rarely do, or when another pose comes close, more hits and more evidence are asked for.
    """
    best = pool.best
    if best is None or hits.count < ENOUGH_HITS:
        return False
    if best.saving / pool.ceiling * pairs < ENOUGH_INLIERS and pairs < len(pool.pairs):
        return False
    share = best.count / len(pool.pairs)
    rival = len(pool.members) > 1 and pool.members[1].saving > COMPARABLE * best.saving
    if hits.count >= 0.5 * share * hits.tried and not rival:
        return pool.significance(best) <= BEYOND_DOUBT
    return hits.count >= 3 * ENOUGH_HITS and pool.significance(best) <= 4 * BEYOND_DOUBT
