"""Rounds of the pivot search over one sample, in batches, until nothing better is to be expected."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tear3d.find.pivots import search_pivots
from tear3d.find.pool import Member, Pool

FloatArray = NDArray[np.float64]

TOLERANCE = 0.5
"""Share of ξ_i + ξ_j by which lengths may differ: keeps nearly all inlier pairs, halves chance."""
PRUNE = 0.6
OFFERS = 8
"""Distinct hypotheses of a round that are refined at its end."""


@dataclass(frozen=True)
class Round:
    """Which pivots to try on how many pairs, and how far from the pivot to look."""

    pairs: int
    pivots: int
    reach: float
    """In noise bounds; infinite for the whole sample."""


def plan(n: int) -> Iterator[Round]:
    """Small samples first; local rounds find a consensus confined to a small overlap."""
    size = 512
    while size < n:
        yield Round(size, size, np.inf)
        if size > 512:
            yield Round(size, size // 2, 12.0)
            yield Round(size, size // 2, 6.0)
        size *= 4
    yield Round(n, n, 6.0)
    yield Round(n, n, 12.0)
    yield Round(n, n, np.inf)


def sample_rows(x, y, xi, size: int) -> NDArray[np.float32]:
    """The first `size` pairs as the kernel wants them; padding is far from everything."""
    rows = np.empty((7, -(-size // 8) * 8), dtype=np.float32)
    rows[:3], rows[3:6], rows[6] = 1e8, -1e9, 1e-6
    rows[:3, :size], rows[3:6, :size], rows[6, :size] = x[:size].T, y[:size].T, xi[:size]
    return rows


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
            new = self._images
        else:
            new = [images]
        self.count += sum(int(np.count_nonzero(self.pool.near(image, best))) for image in new)


def run_round(
    current: Round,
    sample: NDArray[np.float32],
    pool: Pool,
    hits: Hits,
    stop: Callable[[Hits], bool],
    executor: ThreadPoolExecutor | None,
) -> bool:
    """Try the pivots of a round; True when `stop` said so.

    The batches and their parts do not depend on the number of threads, so neither does the result.
    """
    reach = current.reach * float(np.median(pool.xi))
    floor = 4.0
    if np.isinf(reach) and pool.best is not None:  # all inliers are neighbours, so demand many
        floor = max(floor, 0.4 * pool.best.count * current.pairs / len(pool.x))
    poses = np.empty((current.pivots, 12))
    scores = np.zeros(current.pivots)
    record = 0.0
    first, batch = 0, 8
    while first < current.pivots:
        last = min(current.pivots, first + batch)

        def search(a: int, b: int, floor: float = floor) -> float:
            options = (pool.loss, np.float32(TOLERANCE), reach, a, b, floor, PRUNE)
            return search_pivots(sample, *options, poses[a:b], scores[a:b])

        count = 4 if last - first >= 256 else 1
        edges = [first + (last - first) * k // count for k in range(count + 1)]
        parts = map if executor is None else executor.map
        floor = max(parts(search, edges[:-1], edges[1:]))
        leader = first + int(np.argmax(scores[first:last]))
        if scores[leader] > record:
            record = scores[leader]
            pool.offer(poses[leader])
        useful = first + np.flatnonzero(scores[first:last] > 0.3 * record)
        hits.add(pool.images(poses[useful]), last - first)
        if stop(hits):
            _offer_best(pool, poses[:last], scores[:last])  # may bring up a rival
            if stop(hits):
                return True
        first, batch = last, min(2 * batch, 1024)
    _offer_best(pool, poses, scores)
    return stop(hits)


def _offer_best(pool: Pool, poses: FloatArray, scores: FloatArray) -> None:
    """Refine the highest-scoring distinct hypotheses of a round."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > 0.5 * scores[order[0]]][:512]  # none if all are 0
    images = pool.images(poses[order])
    alive = np.ones(len(order), dtype=bool)
    for _ in range(OFFERS):
        left = np.flatnonzero(alive)
        if len(left) == 0:
            return
        pool.offer(poses[order[left[0]]])
        distance = np.max(np.linalg.norm(images - images[left[0]], axis=2), axis=1)
        alive &= distance >= pool.same_limit
