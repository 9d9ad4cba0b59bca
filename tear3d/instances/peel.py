"""Motions are peeled off a set of pairs, one after another: search, take away what the pose explains, search again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.find.search import Search
from tear3d.judge.chance import SIGNIFICANT, Chance
from tear3d.judge.rivals import Contest, contest
from tear3d.judge.standing import standing
from tear3d.problem.limits import Limits
from tear3d.problem.objective import inlier_mask, near_rows
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose
from tear3d.solving import solve

EXPLAINED = 3.0
"""Pairs within so many noise bounds of a pose are explained by it: noise beyond its bound, and poses that the library
takes for the same (`find.pool.SAME`), must not come back as another motion."""
MORE = 3
"""Motions that are peeled beyond those asked for, at most: an object too many is no chance either (free choice)."""
FEWEST = 8
"""Pairs that must be left for another search (as for rivals, `find.search.FEWEST_PAIRS`)."""
LATER = -15.0
"""The significance that a motion after the first must have. What one motion leaves are not independent patches but
matches of its own surfaces that went astray: on 73 sets of real matches, which show one motion each, the best pose that
was left came down to −9.3, the next to −6.1 (`python -m benchmarks.instances --data FOLDER`). Chosen on these data,
with some room; ten pairs that agree and nothing else reach it, of 10 000 evenly spread ones it takes about 50."""


class Motion(NamedTuple):
    """A pose that was peeled."""

    pose: Pose
    search: Search
    """The one that found it, among the pairs that were left then."""
    rivals: list[Pose]
    """What else that found."""
    surprise: float
    """log10 tests − level, in the words of `judge.standing`."""
    alone: float
    """Its significance if there were no other poses."""


class Scout:
    """A jury that keeps what it was asked."""

    seen: Motion

    def __call__(self, search: Search, chance: Chance, pose: Pose, others: list[Pose]) -> Contest:
        compared = contest(chance, pose, others, search.options.the_loss)
        level, tests = compared.level, compared.log10_tests
        self.seen = Motion(pose, search, others, max(tests, 1.0) - level, standing(level, (), tests))
        return compared


def peeled(pairs: Pairs, options: Options, limits: Limits) -> list[Motion]:
    """One motion after another, the first among all pairs.

    The last is one that would not be accepted even if there were no other poses, one that leaves too few pairs for
    another, or the one at which a limit ended it.
    """
    quick = replace(options, certify=False)
    motions: list[Motion] = []
    some = pairs
    while len(motions) < options.max_instances + MORE:
        scout = Scout()
        solve(some, quick, limits, jury=scout)
        motions.append(scout.seen)
        left = left_by(pairs, [motion.pose for motion in motions])
        if not scout.seen.alone <= asked(len(motions) - 1) or limits.over() or not _enough(pairs, left):
            break
        some = pairs.take(left)
    return motions


def asked(before: int) -> float:
    """The significance that a motion must have, after so many others."""
    return LATER if before else SIGNIFICANT


def left_by(pairs: Pairs, poses: Sequence[Pose], others: Sequence[Pose] = ()) -> NDArray[np.int64]:
    """Rows of the pairs that none of some poses explains.

    Those between one noise bound and three are left to `others` that they agree with.
    """
    agree, near, theirs = (np.zeros(len(pairs), np.bool_) for _ in range(3))
    for pose in poses:
        agree |= inlier_mask(pairs, pose)
        near |= inlier_mask(pairs, pose, EXPLAINED)
    for pose in others:
        theirs |= inlier_mask(pairs, pose)
    return np.flatnonzero(~(agree | (near & ~theirs)))


def alike(pairs: Pairs, pose: Pose, other: Pose) -> bool:
    """Whether two poses put most pairs that agree with the first to the same places, up to three noise bounds."""
    return _apart(pairs, pose, other) <= EXPLAINED


def same_as(pairs: Pairs, poses: Sequence[Pose], pose: Pose) -> int | None:
    """Which of some poses another one is, if it is one of them: the nearest."""
    apart = [_apart(pairs, known, pose) for known in poses]
    nearest = int(np.argmin(apart)) if apart else 0
    return nearest if apart and apart[nearest] <= EXPLAINED else None


def _apart(pairs: Pairs, pose: Pose, other: Pose) -> float:
    """How far apart two poses put the pairs that agree with the first, in their noise bounds: the median."""
    rows = near_rows(pairs, pose)
    if len(rows) == 0:
        return np.inf
    ways = pairs.x[rows] @ (pose.rotation - other.rotation).T + (pose.translation - other.translation)
    bounds = np.maximum(take(pairs.xi, rows), np.finfo(np.float64).tiny)
    return float(np.median(np.linalg.norm(ways, axis=1) / bounds))


def _enough(pairs: Pairs, rows: NDArray[np.int64]) -> bool:
    """Whether pairs that count are left for another search."""
    counts = (take(pairs.xi, rows) > 0.0) & (take(pairs.w, rows) > 0.0)
    return bool(np.count_nonzero(np.broadcast_to(counts, len(rows))) >= FEWEST)
