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
from tear3d.judge.rivals import Contest, contest
from tear3d.problem.flat import axes_of
from tear3d.problem.frame import Frame
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Surveyed, survey
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
    log10_tests: float
    """The level of a pose that nothing bears out."""


class Share(NamedTuple):
    """How much a search looks at."""

    pairs: int
    pivots: int


class Rung:
    """Pairs at one noise bound, the same for all."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs, self.bound = pairs, float(pairs.xi[0])

    @cached_property
    def chance(self) -> Chance:
        """Judges poses alone."""
        return Chance(self.pairs)

    @property
    def witnesses(self) -> int:
        """How many pairs make a pose."""
        return self.chance.witnesses

    @property
    def freedom(self) -> int:
        """How many numbers a pose has."""
        return 3 * (axes_of(self.pairs) - 1)

    @cached_property
    def length_chance(self) -> float:
        """Probability that meaningless pairs keep a distance."""
        return length_chance(self.pairs)

    def share(self, effort: float) -> Share:
        """How much a search may look at: n pivots compare (n·p)² lengths each, where p is the chance of one."""
        size = int(min(len(self.pairs), (effort / self.length_chance**2) ** (1.0 / 3.0)))
        return Share(size, size)

    def looks_at_all(self, effort: float) -> bool:
        """Whether a search may look at all pairs."""
        return self.share(effort).pairs == len(self.pairs)

    def see(self, found: Surveyed) -> Seen:
        """A pose, judged alone."""
        return Seen(found.pose, self.chance(found.pose), found.num_inliers, self.chance.log10_tests)

    def climb(self, pose: Pose, options: Options, limits: Limits, *, graduated: bool = True) -> Seen:
        """The best pose near another."""
        loss = options.the_loss
        start = survey(self.pairs, self.pairs.allow(pose), loss, BAND)
        return self.see(climb_from(start, self.pairs, loss, graduated=graduated, limits=limits))

    def search(self, options: Options, limits: Limits, effort: float) -> tuple[Seen, Search]:
        """The best pose that a search finds, and what else it has found."""
        share = self.share(effort)
        pairs = self.pairs if share.pairs == len(self.pairs) else self.pairs.take(slice(0, share.pairs))
        found = self.explored(pairs, options, limits, share.pivots)
        return self.climb(self.best(found), options, limits, graduated=False), found

    def explored(self, pairs: Pairs, options: Options, limits: Limits, pivots: int | None = None) -> Search:
        """A search among these pairs or some of them; it tries as many pivots as it takes."""
        return Search.run(pairs, options, limits, self.chance.like)

    def best(self, search: Search) -> Pose:
        """Of what a search has found."""
        return search.refined(search.ranked()[0]).pose

    def contest(self, pose: Pose, others: list[Pose], loss: Loss) -> Contest:
        """A pose among others."""
        return contest(self.chance, pose, others, loss)

    def significance(self, pose: Pose, search: Search) -> float:
        """That of a pose among all others that a search has found."""
        return self.contest(pose, search.rivals(pose), search.options.the_loss).significance

    def rules_out_finer(self, search: Search) -> bool:
        """Whether what was found says that no pose stands out at a smaller noise bound: none has more pairs than it
        takes, and one, of all; there it would have no more."""
        if not search.done or search.tried < len(self.pairs) or len(search.pairs) < len(self.pairs):
            return False
        return all(member.count <= self.witnesses + 1 for member in search.pool.members)

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
