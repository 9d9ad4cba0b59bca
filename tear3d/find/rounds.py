"""Rounds of the pivot search over one sample, in batches, until nothing better is to be expected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tear3d.find.pool import Member, Pool
from tear3d.find.seekers import Round, Span, seeker_for
from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew

OFFERS = 8
"""Distinct hypotheses of a round that are refined at its end."""
FIRST_BATCH, LARGEST_BATCH = 8, 1024
"""Pivots between two looks at what was found."""
SHARED = 4_000_000
"""Batches with so many lengths to compare are shared between threads, in PARTS parts whatever the number of threads,
(a part of fewer takes about as long as waking a thread), ..."""
PARTS = 4
BITE, LENGTHS = 32, 1 << 18
"""... and searched in bites of so many pivots, or more with so few lengths, between which a part looks at the clock."""


@dataclass
class Hits:
    """Independent pivots that led to the best pose of the pool, and how many were tried."""

    pool: Pool
    tried: int = 0
    count: int = 0
    _images: list[FloatArray] = field(default_factory=list)
    _best: Member | None = None

    def add(self, images: FloatArray, tried: int) -> None:
        """Count new hypotheses, and the old ones again if the best pose has changed."""
        self._images.append(images)
        self.tried += tried
        best = self.pool.best
        if best is None:
            return
        if best is not self._best:
            self._best, self.count = best, 0
            images = np.concatenate(self._images)
        self.count += int(np.count_nonzero(self.pool.near(images, best)))


@dataclass
class Hypotheses:
    """Poses of a round's pivots (rows of 12 numbers), their scores, and the support the next ones need."""

    poses: FloatArray
    scores: FloatArray
    floor: float = 4.0


class Explorer:
    """Tries the pivots of rounds. Batches and parts do not depend on the number of threads, so neither does the result.

    `done(hits, pairs)` says whether nothing better is to be expected.
    """

    def __init__(self, pool: Pool, crew: Crew[None], done: Callable[[Hits, int], bool]) -> None:
        self.pool, self.crew, self._done = pool, crew, done
        self.limits = pool.limits
        self.hits = Hits(pool)
        self.tried = 0
        self.seeker = seeker_for(pool.pairs)
        self._sample = np.empty((7, 0), np.float32)
        self._pairs = 0

    def run(self, current: Round) -> bool:
        """Try the pivots of a round; True when the search is over."""
        if current.pairs != self._pairs:
            self._pairs = current.pairs
            self._sample = self.seeker.rows(current.pairs)
            self.hits = Hits(self.pool)
        found = Hypotheses(np.empty((current.pivots, 12)), np.zeros(current.pivots))
        best = self.pool.best
        if np.isinf(current.reach) and best is not None:  # all inliers are neighbours, so demand many
            found.floor = max(found.floor, 0.4 * best.count * current.pairs / len(self.pool.pairs))
        poses, scores = found.poses, found.scores
        record = 0.0
        first, batch = 0, FIRST_BATCH
        while first < current.pivots:
            last = min(current.pivots, first + batch)
            self._batch(first, last, current.reach, found)
            self.tried += last - first
            leader = first + int(np.argmax(scores[first:last]))
            if scores[leader] > record:
                record = scores[leader]
                self.pool.offer(poses[leader])
            useful = first + np.flatnonzero(scores[first:last] > 0.3 * record)
            self.hits.add(self.pool.probes.images(poses[useful]), last - first)
            self.report()
            if self._over():
                offer_best(self.pool, poses[:last], scores[:last])  # may bring up a rival
                if self._over():
                    return True
            first, batch = last, min(2 * batch, LARGEST_BATCH)
        offer_best(self.pool, poses, scores)
        return self._over()

    def sweep(self, current: Round) -> None:
        """Try all pivots of a round, however often some lead to the same pose."""
        self._sample = self.seeker.rows(current.pairs)
        found = Hypotheses(np.empty((current.pivots, 12)), np.zeros(current.pivots))
        self._batch(0, current.pivots, current.reach, found)
        self.tried += current.pivots
        self.report()
        offer_best(self.pool, found.poses, found.scores)

    def report(self) -> None:
        best = self.pool.best
        self.limits.report("candidates", best.saving if best else 0.0, self.pool.ceiling)

    def _over(self) -> bool:
        return self.limits.over() or self._done(self.hits, self._pairs)

    def _batch(self, first: int, last: int, reach: float, found: Hypotheses) -> None:
        """Search the pivots first..last−1."""
        poses, scores = found.poses, found.scores
        aim = self.seeker.aim(self.pool.loss, reach)
        bite = max(BITE, LENGTHS // self._sample.shape[1])

        def search(part: tuple[int, int], _: None = None) -> float:
            level = found.floor
            for a in range(part[0], part[1], bite):
                if self.limits.over():
                    break
                b = min(a + bite, part[1])
                level = self.seeker.search(self._sample, aim, Span(a, b, level), poses[a:b], scores[a:b])
            return level

        if (last - first) * self._sample.shape[1] < SHARED:
            found.floor = search((first, last))
        else:
            edges = [first + (last - first) * k // PARTS for k in range(PARTS + 1)]
            found.floor = max(self.crew.map(search, list(pairwise(edges)), self.report))


def offer_best(pool: Pool, poses: FloatArray, scores: FloatArray) -> None:
    """Refine the highest-scoring distinct hypotheses of a round."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0.5 * scores[order[0]]][:512]  # none if all are 0
    images = pool.probes.images(poses[order])
    alive = np.ones(len(order), dtype=bool)
    for _ in range(OFFERS):
        left = np.flatnonzero(alive)
        if len(left) == 0 or pool.limits.over():
            return
        pool.offer(poses[order[left[0]]])
        alive &= ~pool.probes.same(images, images[left[0]])
