"""Pairs seen at one noise bound after the other: a ladder, each rung half as high as the one before.

All lengths are in sizes of the cloud: the sample is in a frame in which the median distance from the middle is one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tear3d.find.ascent import BAND, climb_from
from tear3d.find.pool import SAME, Probes
from tear3d.find.search import Search, draw_sample
from tear3d.judge.chance import Chance, length_chance
from tear3d.judge.rivals import contest
from tear3d.problem.frame import Frame
from tear3d.problem.limits import Limits
from tear3d.problem.objective import survey
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

TOP, STEP, RUNGS = 0.25, 0.5, 12
"""Noise bounds from a quarter of the cloud's size, where nearly every pair agrees with some pose, down to 1.2·10⁻⁴ of
it, where the kernels of the search still work in single precision. Smaller ones are reached by following a pose."""


class Seen(NamedTuple):
    """A pose at one noise bound."""

    pose: Pose
    level: float
    """log10 of the number of false alarms."""
    num_inliers: int


class Rung:
    """The sample at one noise bound."""

    def __init__(self, sample: Pairs, bound: float) -> None:
        self.bound = bound
        self.pairs = replace(sample, xi=np.array([bound]))
        self.chance = Chance(self.pairs)

    @cached_property
    def length_chance(self) -> float:
        """Probability that meaningless pairs keep a distance."""
        return length_chance(self.pairs)

    def size(self, effort: float) -> int:
        """How many pairs a search may look at: n pivots compare (n·p)² lengths each, where p is the chance of one."""
        return int(min(len(self.pairs), (effort / self.length_chance**2) ** (1.0 / 3.0)))

    def climb(self, pose: Pose, options: Options, limits: Limits, *, graduated: bool = True) -> Seen:
        """The best pose near another."""
        loss = options.the_loss
        start = survey(self.pairs, self.pairs.allow(pose), loss, BAND)
        found = climb_from(start, self.pairs, loss, graduated=graduated, limits=limits)
        return Seen(found.pose, self.chance(found.pose), found.num_inliers)

    def search(self, options: Options, limits: Limits, effort: float) -> tuple[Seen, Search]:
        """The best pose that a search finds, and what else it has found."""
        size = self.size(effort)
        pairs = self.pairs if size == len(self.pairs) else self.pairs.take(slice(0, size))
        found = Search.run(pairs, options, limits, self.chance.like)
        best = found.refined(found.ranked()[0])
        return self.climb(best.pose, options, limits, graduated=False), found

    def significance(self, pose: Pose, search: Search) -> float:
        """That of a pose among all others that a search has found."""
        return contest(self.chance, pose, search.rivals(pose), search.options.the_loss).significance

    @cached_property
    def _probes(self) -> Probes:
        return Probes(self.pairs)

    def same(self, pose: Pose, other: Pose, wide: float = 0.0) -> bool:
        """Whether poses lead to the same places, up to this rung's noise bound or a wider one."""
        images = self._probes.images(np.array([pose.row, other.row])).reshape(2, 6, 3)
        apart = np.linalg.norm(images[0] - images[1], axis=1).max()
        return bool(apart < SAME * max(self.bound, wide))


def unit_sample(pairs: Pairs, seed: int) -> Pairs:
    """At most 20480 pairs in random order, in a frame of size one that leads to the coordinates given."""
    sample = draw_sample(pairs, seed)
    outer, inner = pairs.frame, sample.frame
    source, target = (getattr(outer, side) + outer.unit * getattr(inner, side) for side in ("source", "target"))
    return replace(sample, frame=Frame(source, target, outer.unit * inner.unit))
