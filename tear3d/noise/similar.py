"""A rung whose poses have a scale. Noise is that of the target, and lengths are in sizes of it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np

from tear3d.find.scales import SimilarSearch
from tear3d.find.search import Search
from tear3d.find.swell import climb_similar
from tear3d.judge.rivals import Contest
from tear3d.judge.similar import (
    AtOwnScale,
    Triples,
    best_with_an_image,
    judge_at_own_scale,
    scales_with_an_image,
    shrunk,
)
from tear3d.noise.rungs import Rung, Seen, Share, unit_sample
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Surveyed
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange

ONE_IN = 8
"""Of so many pairs one is a pivot, ..."""
RATIO = 75.0
"""... and a ratio of lengths takes as long as so many comparisons of them, about. Free choices."""


class SimilarRung(Rung):
    """Pairs at one noise bound, whose source was multiplied with the middle of the scales given."""

    def __init__(self, pairs: Pairs, given: ScaleRange, lengths: Triples | None = None) -> None:
        """`lengths`, when they are known from another noise bound."""
        super().__init__(pairs)
        self._lengths = lengths
        span = scales_with_an_image(pairs, given)
        self.span = ScaleRange(min(span.low, span.high), span.high)
        self.cut = span.low > given.over(given.middle).low

    @property
    def witnesses(self) -> int:
        return 3

    @property
    def freedom(self) -> int:
        return 7

    @cached_property
    def triples(self) -> float:
        """Probability that three meaningless pairs agree with one scale."""
        return (self._lengths or Triples(self.pairs)).chance(self.pairs.xi, self.span)

    def share(self, effort: float) -> Share:
        pivots = math.sqrt(effort / (ONE_IN * RATIO))
        return Share(int(min(len(self.pairs), ONE_IN * pivots)), int(min(len(self.pairs), pivots)))

    def looks_at_all(self, effort: float) -> bool:
        """The same are looked at with any noise bound."""
        return True

    def see(self, found: Surveyed) -> Seen:
        own = AtOwnScale(self.pairs, found.pose, self.triples)
        tests = own.chance.log10_tests
        level = tests if shrunk(self.pairs, found.pose) else own.chance(own.pose)
        return Seen(found.pose, level, found.num_inliers, tests)

    def climb(self, pose: Pose, options: Options, limits: Limits, *, graduated: bool = True) -> Seen:
        return self.see(
            climb_similar(self.pairs, pose, options.the_loss, self.span, graduated=graduated, limits=limits)
        )

    def explored(self, pairs: Pairs, options: Options, limits: Limits, pivots: int | None = None) -> Search:
        judge = judge_at_own_scale(self.triples)
        return SimilarSearch.over(pairs, options, self.span, limits, judge, pivots)

    def best(self, search: Search) -> Pose:
        return best_with_an_image(search).pose

    def contest(self, pose: Pose, others: list[Pose], loss: Loss) -> Contest:
        found = AtOwnScale(self.pairs, pose, self.triples).contest(others, loss)
        return replace(found, significance=found.log10_tests) if shrunk(self.pairs, pose) else found

    def rules_out_finer(self, search: Search) -> bool:
        """Not where smaller scales are looked at there."""
        return not self.cut and super().rules_out_finer(search)


def target_sample(pairs: Pairs, seed: int) -> Pairs:
    """As `unit_sample`, in a frame in which the target has size one, whatever the scale."""
    sample = unit_sample(pairs, seed)
    size = float(np.median(np.linalg.norm(sample.y, axis=1))) or 1.0
    frame = replace(sample.frame, unit=size * sample.frame.unit)
    return replace(sample, x=sample.x / size, y=sample.y / size, xi=sample.xi / size, frame=frame)
