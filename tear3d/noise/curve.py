"""What other noise bounds would have made of the pairs: over two decades around the one that was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tear3d.judge.bound import At
from tear3d.judge.standing import standing
from tear3d.noise.ladder import Ladder
from tear3d.problem.objective import saving_and_count
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

PER_DECADE = 6
"""Points of the curve; free choice."""
RIVALS = 2
"""Other poses that are followed, too; free choice."""


def sensitivity(ladder: Ladder, pairs: Pairs, bound: float, pose: Pose, rivals: list[Pose]) -> tuple[At, ...]:
    """The pose, its inliers and its significance at noise bounds around one.

    Parameters
    ----------
    ladder : Ladder
    pairs : Pairs
        All of them, among which the inliers are counted.
    bound : float
        The noise bound that was chosen, ...
    pose, rivals
        ... the pose there, and others; all in lengths of the ladder's sample.
    """
    steps = range(1, PER_DECADE + 1)
    upwards = list(_followed(ladder, pairs, [bound * 10.0 ** (k / PER_DECADE) for k in (0, *steps)], [pose, *rivals]))
    down = [bound * 10.0 ** (-k / PER_DECADE) for k in steps]
    downwards = list(_followed(ladder, pairs, [each for each in down if each >= ladder.lowest], [pose, *rivals]))
    return (*reversed(downwards), *upwards)


def _followed(ladder: Ladder, pairs: Pairs, bounds: list[float], poses: list[Pose]) -> Iterator[At]:
    """Poses from bound to bound."""
    frame, options, limits = ladder.sample.frame, ladder.options, ladder.limits
    poses = poses[: 1 + RIVALS]
    for bound in bounds:
        if limits.over():
            return
        rung = ladder.at(bound)
        first, *others = [rung.climb(pose, options, limits, graduated=False) for pose in poses]
        poses = [first.pose, *(other.pose for other in others)]
        rivals = [other.level for other in others if not rung.same(other.pose, first.pose)]
        given = frame.outside(first.pose)
        scaled = replace(pairs, xi=np.array([bound * frame.unit / pairs.frame.unit]))
        inliers = saving_and_count(scaled, pairs.frame.inside(given), options.the_loss)[1]
        level = standing(first.level, rivals, first.log10_tests)
        yield At(bound * frame.unit, given.matrix, inliers, level)
