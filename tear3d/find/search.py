"""The pose with the largest full saving, found from pairs that keep their lengths."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.find.ascent import refine_pose
from tear3d.find.pool import Pool
from tear3d.find.procrustes import procrustes
from tear3d.find.rounds import Hits, plan, run_round, sample_rows
from tear3d.judge.chance import significance
from tear3d.problem.losses import TEAR
from tear3d.problem.objective import per_pair, saving_and_count, take

FloatArray = NDArray[np.float64]

LARGEST_SAMPLE = 20480
"""Pairs among which lengths are compared and poses judged during the search, at most."""
COMPARABLE = 0.6
"""Poses that save less than this share of the most are not ranked by significance."""
ENOUGH_HITS = 8
"""Independent pivots that must lead to the best pose before the search may stop early, ..."""
ENOUGH_INLIERS = 8
"""... what it saves, in caps, on a sample of the size they came from, ..."""
BEYOND_DOUBT = -5.0
"""... and its log10 NFA."""


@dataclass(frozen=True)
class Candidate:
    """A pose found by the search, refined on all pairs."""

    rotation: FloatArray
    translation: FloatArray
    saving: float
    """Full saving over all pairs, of the loss that was asked for."""
    num_inliers: int
    significance: float
    """log10 of the number of false alarms, see `tear3d.judge.chance`."""
    pivots: int
    """Pivots tried until the search ended."""
    ended_by: str
    """`hits` (found again and again), `exhausted` or `time_limit`."""


def find_pose(x, y, xi, w=None, **options) -> Candidate:
    """The best of `find_poses`; same arguments."""
    return find_poses(x, y, xi, w, top=1, **options)[0]


def find_poses(
    x,
    y,
    xi,
    w=None,
    *,
    loss: int = TEAR,
    top: int = 5,
    seed: int = 0,
    time_limit: float | None = None,
    threads: int = 1,
    rank: Literal["significance", "saving"] = "significance",
) -> list[Candidate]:
    """Distinct poses of large saving, best first; at least one.

    Parameters
    ----------
    x, y : N×3 arrays, float64 or float32, row i of one matched to row i of the other
    xi : noise bound, a number or one per pair
    w : weights ≥ 0, a number or one per pair, or None; pairs are drawn in proportion to them
    loss : a code of `tear3d.problem.losses`
    top : how many poses to return at most
    seed : of the random order of the pairs
    time_limit : seconds; the best so far is returned
    threads : the result does not depend on it
    rank : what "best" means among poses that save at least 60 % of the most: the significance of
        the consensus, which many-to-one matches cannot inflate, or the saving alone
    """
    started = time.perf_counter()
    bounds, weights = _checked(x, y, xi, w)
    order = _random_order(len(x), weights, min(len(x), LARGEST_SAMPLE), seed)
    frame, pool = _judges(x, y, bounds, weights, order, loss)
    tried, ended_by = _search(pool, started, time_limit, threads)
    rotation, t = procrustes(pool.x, pool.y, pool.w)
    if pool.best is None or pool.best.count < 0.5 * len(pool.x):
        pool.offer(np.concatenate([rotation.ravel(), t]))
    return _finish(x, y, bounds, weights, loss, frame, pool, top, rank, tried, ended_by)


def _checked(x, y, xi, w) -> tuple[FloatArray, FloatArray]:
    if len(x) < 3 or len(x) != len(y):
        raise InputError(f"x has {len(x)} and y {len(y)} rows: expected equal lengths of at least 3")
    bounds, weights = per_pair(xi), per_pair(w)
    for name, values in (("xi", bounds), ("w", weights)):
        if len(values) not in (1, len(x)):
            raise InputError(f"{name} has {len(values)} values: expected one, or one for each of {len(x)} pairs")
    return bounds, weights


def _random_order(n: int, weights: FloatArray, size: int, seed: int) -> NDArray[np.int64]:
    """`size` of n pairs in random order, drawn in proportion to their weights."""
    rng = np.random.default_rng(seed)
    if len(weights) == 1:
        return rng.permutation(n) if size == n else rng.choice(n, size, replace=False)
    with np.errstate(divide="ignore"):
        keys = rng.exponential(size=n) / weights  # the smallest keys are a weighted draw
    chosen = np.argpartition(keys, size - 1)[:size] if size < n else np.arange(n)
    chosen = chosen[np.argsort(keys[chosen], kind="stable")]
    useful = chosen[weights[chosen] > 0.0]
    return useful if len(useful) >= 3 else chosen


def _judges(x, y, bounds, weights, order, loss) -> tuple[tuple[FloatArray, FloatArray, float], Pool]:
    """The drawn pairs in centred coordinates of size about one."""
    xs = np.asarray(x[order], dtype=np.float64)
    ys = np.asarray(y[order], dtype=np.float64)
    x_mid, y_mid = np.median(xs[:1024], axis=0), np.median(ys[:1024], axis=0)
    xs -= x_mid
    ys -= y_mid
    scale = max(
        float(np.median(np.linalg.norm(xs[:1024], axis=1))),
        float(np.median(np.linalg.norm(ys[:1024], axis=1))),
    )
    scale = scale if scale > 0.0 else 1.0
    xs /= scale
    ys /= scale
    bound = np.broadcast_to(take(bounds, order), len(order)) / scale
    weight = np.ones(len(order))
    if len(order) == len(x) or len(order) < LARGEST_SAMPLE:  # else the draw has accounted for them
        weight *= take(weights, order)
    return (x_mid, y_mid, scale), Pool(xs, ys, bound, weight, loss)


def _search(pool: Pool, started: float, time_limit: float | None, threads: int) -> tuple[int, str]:
    """Fill the pool; return the number of pivots tried and why it ended."""
    timed_out = False

    def stop(hits: Hits) -> bool:
        nonlocal timed_out
        timed_out = time_limit is not None and time.perf_counter() - started > time_limit
        return timed_out or _settled(pool, hits, current.pairs)

    executor = ThreadPoolExecutor(threads) if threads > 1 else None
    tried = 0
    size = 0
    try:
        for current in plan(len(pool.x)):
            if current.pairs != size:
                size = current.pairs
                sample = sample_rows(pool.x, pool.y, pool.xi, size)
                hits = Hits(pool)
            before = hits.tried
            ended = run_round(current, sample, pool, hits, stop, executor)
            tried += hits.tried - before
            if ended:
                return tried, "time_limit" if timed_out else "hits"
    finally:
        if executor is not None:
            executor.shutdown()
    return tried, "exhausted"


def _settled(pool: Pool, hits: Hits, pairs: int) -> bool:
    """Nothing better is to be expected: a larger consensus would have been hit as often.

    The sample must show enough of the best pose's inliers, and their pivots must lead to it. When
    they rarely do, or when another pose comes close, more hits and more evidence are asked for.
    """
    best = pool.best
    if best is None or hits.count < ENOUGH_HITS:
        return False
    if best.saving / pool.ceiling * pairs < ENOUGH_INLIERS and pairs < len(pool.x):
        return False
    share = best.count / len(pool.x)
    rival = len(pool.members) > 1 and pool.members[1].saving > COMPARABLE * best.saving
    if hits.count >= 0.5 * share * hits.tried and not rival:
        return pool.significance(best) <= BEYOND_DOUBT
    return hits.count >= 3 * ENOUGH_HITS and pool.significance(best) <= 4 * BEYOND_DOUBT


def _finish(x, y, bounds, weights, loss, frame, pool, top, rank, tried, ended_by) -> list[Candidate]:
    """Back to the caller's coordinates, refined and judged on all pairs."""
    x_mid, y_mid, scale = frame
    members = pool.members
    if rank == "significance":
        close = [m for m in members if m.saving >= COMPARABLE * members[0].saving]
        close.sort(key=pool.significance)
        members = close + members[len(close) :]
    found = []
    for member in map(pool.polish, members[:top]):
        rotation = member.rotation
        t = scale * member.t + y_mid - rotation @ x_mid
        if len(pool.x) < len(x):
            rotation, t, _ = refine_pose(x, y, bounds, weights, rotation, t, loss, graduated=False)
            level = significance(x, y, rotation, t, bounds)
        else:
            level = pool.significance(member)
        saving, count = saving_and_count(x, y, rotation, t, bounds, weights, loss)
        found.append(Candidate(rotation, t, saving, count, level, tried, ended_by))
    if rank == "saving":
        found.sort(key=lambda candidate: -candidate.saving)
    return found
