"""The pose with the largest full saving, found from pairs that keep their lengths."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import climb
from tear3d.find.pool import Judge, Member, Pool
from tear3d.find.procrustes import procrustes
from tear3d.find.rounds import Explorer, Hits, plan
from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import saving_and_count
from tear3d.problem.options import Options
from tear3d.problem.pairs import Frame, Pairs, take
from tear3d.problem.pose import Pose

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


def find_poses(
    pairs: Pairs,
    options: Options,
    limits: Limits,
    judge: Callable[[Pairs], Judge],
    *,
    top: int = 1,
    rank: Literal["significance", "saving"] = "significance",
) -> list[Candidate]:
    """Distinct poses of large saving, best first; at least one, however soon the limits end the search.

    Parameters
    ----------
    pairs : Pairs
        Drawn in proportion to their weights.
    options : Options
        `loss`, `seed` (of the random order of the pairs), `threads` (the result does not depend on it).
    limits : Limits
    judge : callable
        Makes, from some pairs, a function that tells how likely a pose's consensus among them is chance.
    top : int
        How many poses to return at most.
    rank : {"significance", "saving"}
        What "best" means among poses that save at least 60 % of the most: what the judge says, which many-to-one
        matches cannot inflate, or the saving alone.
    """
    useful = pairs.w if np.all(pairs.xi > 0.0) else np.where(pairs.xi > 0.0, pairs.w, 0.0)
    order = _random_order(len(pairs), useful, min(len(pairs), LARGEST_SAMPLE), options.seed)
    sample = _sample(pairs, order)
    pool = Pool(sample, options.the_loss, judge(sample), limits)
    tried, ended_by = _explore(pool, options.threads)
    if pool.best is None or pool.best.count < 0.5 * len(sample):
        pool.offer(procrustes(sample.x, sample.y, np.broadcast_to(sample.w, len(sample))).row)
    members = _ranked(pool, rank)[:top]
    found = []
    for member in map(pool.polish, members):
        pose = sample.frame.outside(member.pose)
        if len(sample) < len(pairs):
            pose, level = _on_all(pairs, pose, options.the_loss, limits, judge)
        else:
            level = pool.significance(member)
        saving, count = saving_and_count(pairs, pose, options.the_loss)
        found.append(Candidate(pose, saving, count, level, tried, ended_by))
    if rank == "saving":
        found.sort(key=lambda candidate: -candidate.saving)
    return found


def _on_all(
    pairs: Pairs, pose: Pose, loss: Loss, limits: Limits, judge: Callable[[Pairs], Judge]
) -> tuple[Pose, float]:
    pose, _ = climb(pairs, pose, loss, graduated=False, limits=limits)
    return pose, judge(pairs)(pose)


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
    x, y = pairs.x[order], pairs.y[order]
    x_mid, y_mid = np.median(x[:MIDDLE], axis=0), np.median(y[:MIDDLE], axis=0)
    x -= x_mid
    y -= y_mid
    unit = max(float(np.median(np.linalg.norm(points[:MIDDLE], axis=1))) for points in (x, y))
    unit = unit if unit > 0.0 else 1.0
    x /= unit
    y /= unit
    xi = np.broadcast_to(take(pairs.xi, order), len(order)) / unit
    w = np.ones(len(order))
    if len(order) == len(pairs) or len(order) < LARGEST_SAMPLE:  # else the draw has accounted for them
        w *= take(pairs.w, order)
    return Pairs(x, y, xi, w, Frame(x_mid, y_mid, unit), np.zeros(3), np.zeros(3))


def _explore(pool: Pool, threads: int) -> tuple[int, str]:
    """Fill the pool; return the number of pivots tried and why it ended."""

    def settled(hits: Hits, pairs: int) -> bool:
        return _settled(pool, hits, pairs)

    with Crew[None](threads, pool.limits) as crew:
        explorer = Explorer(pool, crew, settled)
        explorer.report()
        for current in plan(len(pool.pairs)):
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


def _ranked(pool: Pool, rank: str) -> list[Member]:
    members = pool.members
    if rank != "significance":
        return members
    close = [m for m in members if m.saving >= COMPARABLE * members[0].saving]
    close.sort(key=pool.significance)
    return close + members[len(close) :]
