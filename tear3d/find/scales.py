"""Candidates for a similarity: pivots propose scales, and at each of them lengths are kept as a motion keeps them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np

from tear3d.find.pivots import Aim, search_pivots
from tear3d.find.pool import SAME, Judge, Member, Pool
from tear3d.find.procrustes import procrustes
from tear3d.find.ratios import Proposal, Ratios
from tear3d.find.rounds import Hits, offer_best
from tear3d.find.search import FEWEST_PAIRS, Search, _settled, draw_sample
from tear3d.find.seekers import COARSE, FINE, PRUNE, TOLERANCE
from tear3d.find.swell import climb_similar
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Surveyed, inlier_mask
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, similar

SIZES = (512, 2048, 8192)
"""Pairs among which ratios are compared, in turn, ..."""
PIVOTS = 1024
"""... and pivots at most in each turn, ..."""
BITE = 16
"""... so many at a time. All free choices: what is found is judged and proven by others."""
FEW = 8
"""Of so few pairs all triples are tried."""
RIVAL_PIVOTS = 128
"""Pivots of the short search for other similarities than the best."""


class SimilarPool(Pool):
    """Distinct local maxima over scale, rotation and translation; the matrices of its poses are scaled rotations."""

    def __init__(self, pairs: Pairs, loss: Loss, judge: Judge, limits: Limits, span: ScaleRange) -> None:
        super().__init__(pairs, loss, judge, limits)
        self.span = span

    def _refine(self, pose: Pose, loss: Loss) -> Member:
        reached = climb_similar(self.pairs, pose, loss, self.span, limits=self.limits)
        return Member(reached.pose, reached.saving, reached.num_inliers, self.probes.images(reached.pose.row))


class SimilarSearch(Search):
    """A search for similarities that has come to its end."""

    @classmethod
    def over(
        cls,
        pairs: Pairs,
        options: Options,
        span: ScaleRange,
        limits: Limits,
        judge: Callable[[Pairs], Judge],
        pivots: int | None = None,
    ) -> SimilarSearch:
        """Search until nothing better is to be expected; there is at least one pose.

        With a number of `pivots`, all pairs of a sample are looked at in one turn, with so many.
        """
        sample = draw_sample(pairs, options.seed)
        pool = SimilarPool(sample, options.the_loss, judge(sample), limits, span)
        turns = _turns(len(sample)) if pivots is None else [(len(sample), pivots)]
        tried, ended_by = _explore(pool, turns)
        if pool.best is None or pool.best.count < 0.5 * len(sample):
            pool.offer(similar_fit(sample.x, sample.y, span).row)
        return cls(pairs, pool, options, judge, tried, ended_by)

    def refined(self, member: Member) -> Surveyed:
        """A pose of the pool, refined once more, on all pairs."""
        pool = self.pool
        assert isinstance(pool, SimilarPool)
        pose = pool.pairs.frame.outside(pool.polish(member).pose)
        return climb_similar(self.pairs, pose, self.options.the_loss, pool.span, graduated=False, limits=pool.limits)

    def _search_rest(self, best: Pose) -> list[Pose]:
        """Other similarities, from a short search among the pairs that `best` does not explain."""
        key = best.row.tobytes()
        if key not in self._rest:
            self._rest[key] = self._others_than(best)
        return list(self._rest[key])

    def _others_than(self, best: Pose) -> list[Pose]:
        pool = self.pool
        assert isinstance(pool, SimilarPool)
        rest = pool.pairs.take(np.flatnonzero(~inlier_mask(pool.pairs, best, SAME)))
        if len(rest) < FEWEST_PAIRS:
            return []
        others = SimilarPool(rest, pool.loss, self.judge(rest), pool.limits, pool.span)
        _Turn(others, min(len(rest), SIZES[0]), settles=False).run(RIVAL_PIVOTS)
        return [member.pose for member in others.members]


def similar_fit(source: FloatArray, target: FloatArray, span: ScaleRange) -> Pose:
    """The rotation of least squares, and the scale that goes with it (Umeyama 1991), as far as it is allowed."""
    x, y = source - source.mean(axis=0), target - target.mean(axis=0)
    rotation = procrustes(x, y).rotation
    size = float(np.sum(x**2))
    scale = span.clip(float(np.sum(y * (x @ rotation.T))) / size) if size > 0.0 else span.clip(1.0)
    return similar(scale, Pose(rotation, target.mean(axis=0) - scale * rotation @ source.mean(axis=0)))


def _turns(n: int) -> list[tuple[int, int]]:
    """Pairs and pivots, in turn."""
    return [(size, PIVOTS) for size in (*(size for size in SIZES if size < n), min(n, SIZES[-1]))]


def _explore(
    pool: SimilarPool, turns: list[tuple[int, int]]
) -> tuple[int, Literal["hits", "exhausted", "time_limit", "interrupted", "node_limit"]]:
    """Fill the pool; how many pivots were tried, and why it ended."""
    pairs, limits = pool.pairs, pool.limits
    tried = 0
    if len(pairs) <= FEW:
        for triple in combinations(range(len(pairs)), 3):
            pool.offer(similar_fit(pairs.x[list(triple)], pairs.y[list(triple)], pool.span).row)
        return len(pairs), "exhausted"
    for size, pivots in turns:
        turn = _Turn(pool, size)
        over = turn.run(pivots)
        tried += turn.tried
        if limits.over():
            return tried, limits.exceeded() or "time_limit"
        if over:
            return tried, "hits"
    return tried, "exhausted"


class _Turn:
    """The pivots of one sample."""

    def __init__(self, pool: SimilarPool, size: int, *, settles: bool = True) -> None:
        self.pool, self.size, self.settles = pool, size, settles
        self.ratios = Ratios(pool.pairs, size, pool.span)
        self.hits = Hits(pool)
        self.tried, self.floor = 0, 4.0
        largest = max(float(np.abs(pool.pairs.y).max()), float(pool.pairs.xi.max()))
        self.dtype = np.float32 if pool.pairs.typical_bound >= FINE and largest <= COARSE else np.float64
        self.aim = Aim(pool.loss.code, TOLERANCE, np.inf, PRUNE)

    def run(self, most: int) -> bool:
        """Try pivots in turn; True when nothing better is to be expected, or the limits are over."""
        pivots = min(self.size, most)
        poses, scores = np.empty((pivots, 12)), np.zeros(pivots)
        record = 0.0
        for first in range(0, pivots, BITE):
            if self.pool.limits.over():
                return True
            last = min(pivots, first + BITE)
            for proposal in self.ratios.proposals(first, last):
                pose, score = self._pose(proposal)
                if score > scores[proposal.pivot]:
                    poses[proposal.pivot], scores[proposal.pivot] = pose, score
            self.tried += last - first
            leader = first + int(np.argmax(scores[first:last]))
            if scores[leader] > record:
                record = scores[leader]
                self.pool.offer(poses[leader])
            useful = first + np.flatnonzero(scores[first:last] > 0.3 * record)
            self.hits.add(self.pool.probes.images(poses[useful]), last - first)
            self._report()
            if self._settled():
                offer_best(self.pool, poses[:last], scores[:last])  # may bring up a rival
                if self._settled():
                    return True
        offer_best(self.pool, poses, scores)
        return self._settled()

    def _settled(self) -> bool:
        return self.settles and _settled(self.pool, self.hits, self.size)

    def _report(self) -> None:
        best = self.pool.best
        self.pool.limits.report("candidates", best.saving if best else 0.0, self.pool.ceiling)

    def _pose(self, proposal: Proposal) -> tuple[FloatArray, float]:
        """The best motion around a pivot among the pairs that agree with its scale, and its score."""
        pairs, rows = self.pool.pairs, np.concatenate([[proposal.pivot], proposal.rows])
        points = np.empty((7, -(-len(rows) // 8) * 8), self.dtype)
        points[:3], points[3:6], points[6] = 1e8, -1e9, 1e-6  # far from everything
        points[:3, : len(rows)], points[3:6, : len(rows)] = proposal.scale * pairs.x[rows].T, pairs.y[rows].T
        points[6, : len(rows)] = pairs.xi[rows]
        pose, score = np.empty((1, 12)), np.zeros(1)
        search_pivots(points, self.aim, 0, 1, self.floor, pose, score)
        return similar(proposal.scale, Pose.from_row(pose[0])).row, float(score[0])
