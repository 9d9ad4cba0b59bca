"""One way to get matches from two clouds and poses from the matches, and the next ways to try."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.describe import Description, Keypoints
from tear3d.clouds.inputs import Inputs
from tear3d.clouds.prepared import Prepared
from tear3d.clouds.region import WIDE
from tear3d.clouds.sizes import MAP_POINTS, choose_size
from tear3d.clouds.verdict import CloudVerdict
from tear3d.errors import InputError
from tear3d.features.steps import Steps, Tick, part_of
from tear3d.features.voxel import voxel_downsample
from tear3d.find.search import Candidate, Search
from tear3d.judge.chance import Chance
from tear3d.judge.standing import standing
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.result import Result
from tear3d.solving import solve

_log = logging.getLogger(__name__)

CANDIDATES = 8
"""Poses of a try that the clouds are asked about: the right one, if found, was among the first six so far."""
# In voxels.
NOISE_BOUND = 1.5
# Coarser costs a fraction of the first try, finer a small multiple; three matches a point three times the search.
_COARSER, _FINER, _MORE, _MANY = 1.5, 0.67, 3, 6000

Clouds = tuple[FloatArray, FloatArray]
Matcher = Callable[..., NDArray[np.int64]]


@dataclass(frozen=True)
class Recipe:
    """How matches are made."""

    voxel_size: float
    noise_bound: float
    top_k: int = 1
    keypoints: Keypoints | None = None
    wide: bool = False
    """The target is a map, many times as large as the source."""
    note: str = ""
    """On the voxel size, in words."""


@dataclass(frozen=True)
class Given:
    """What the caller has fixed; the rest may be varied."""

    voxel_size: float | None = None
    noise_bound: float | None = None
    top_k: int = 1
    keypoints: Keypoints | None = None
    filtered: bool = False
    """By ratio or mutual: more matches a point would undo it."""

    def first(self, voxel_size: float, wide: bool = False, note: str = "") -> Recipe:
        return Recipe(voxel_size, self._bound(voxel_size), self.top_k, self.keypoints, wide, note)

    def others(self, first: Recipe, hopeless: Callable[[], bool], matches: int = 0) -> Iterator[Recipe]:
        """What to try when the first way leads to no pose that the clouds confirm.

        Other voxels first. When all poses of all voxels are rejected, more of the same matches are not tried; nor are
        more matches a point when there are many already, for they would take many times as long.
        """
        if self.voxel_size is None:
            for factor in (_COARSER, _FINER):
                size = float(f"{factor * first.voxel_size:.2g}")
                yield replace(first, voxel_size=size, noise_bound=self._bound(size), note="")
            if hopeless():
                return
        if self.top_k == 1 and not self.filtered and matches <= _MANY:
            yield replace(first, top_k=_MORE)
        if self.keypoints is None:
            yield replace(first, keypoints="iss")

    def _bound(self, voxel_size: float) -> float:
        return NOISE_BOUND * voxel_size if self.noise_bound is None else float(self.noise_bound)


@dataclass(frozen=True)
class Try:
    """One way that was tried, and what came of it."""

    voxel_size: float
    top_k: int
    keypoints: Keypoints | None
    num_matches: int
    verdict: CloudVerdict | None
    """Of the best of its poses; None when it had none."""
    fit: float | None
    overlap: float | None
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class Matched:
    """Thinned clouds and their matches."""

    recipe: Recipe
    source: FloatArray
    target: FloatArray
    rows: NDArray[np.int64]
    """Of `source` and `target`."""

    @property
    def pairs(self) -> Pairs:
        return Pairs.of(self.source[self.rows[:, 0]], self.target[self.rows[:, 1]], self.recipe.noise_bound, None)


@dataclass(frozen=True)
class Maker:
    """Makes matches by recipe."""

    inputs: Inputs
    target: Prepared
    description: Description
    matcher: Matcher
    kept: dict[tuple[float, bool], NDArray[Any]] = field(default_factory=dict, repr=False)
    """Descriptors of the source: several recipes have the same voxels."""

    def first(self, given: Given, steps: Steps) -> Matched:
        """As asked for, with a voxel size that suits the clouds if none was given."""
        with steps("downsample") as tick:
            tick(0.0)
            if given.voxel_size is None:
                size, wide, note = choose_size(self.inputs.clouds[0], self.target, tick)
                source, target = self._thinned(size, tick)
            else:
                size, note = given.voxel_size, ""
                source, target = self._thinned(size, tick)
                wide = len(target) > WIDE * len(source)
        self.inputs.check_thinned((source, target), size)
        return self._matched(given.first(size, wide, note), (source, target), steps)

    def match(self, recipe: Recipe, steps: Steps) -> Matched:
        """Raises InputError when there are too few, StoppedError when the limits are over."""
        with steps("downsample") as tick:
            tick(0.0)
            thinned = self._thinned(recipe.voxel_size, tick)
        if recipe.wide and len(thinned[1]) > MAP_POINTS:
            raise InputError(f"target: a map of more than {MAP_POINTS} points is not tried unless asked for")
        return self._matched(recipe, thinned, steps)

    def _thinned(self, voxel_size: float, tick: Tick) -> Clouds:
        source = voxel_downsample(self.inputs.clouds[0], voxel_size, tick=tick)
        return source, self.target.thinned(voxel_size, tick)

    def _matched(self, recipe: Recipe, thinned: Clouds, steps: Steps) -> Matched:
        source, target = thinned
        with steps("describe source") as tick:
            source_rows, source_features = self._described(source, recipe, tick)
        with steps("describe target") as tick:
            target_rows, target_features = self.target.described(recipe.voxel_size, recipe.keypoints, recipe.wide, tick)
        with steps("match") as tick:
            tick(0.0)
            found = self.matcher(source_features, target_features, top_k=recipe.top_k, tick=tick)
        rows = np.column_stack((source_rows[found[:, 0]], target_rows[found[:, 1]]))
        counts = len(source), len(target)
        _log.info("%d matches of %d and %d points, voxel size %g", len(rows), *counts, recipe.voxel_size)
        if len(rows) < 3:
            advice = self.inputs.units or "use a smaller voxel_size, or no ratio, mutual or keypoints"
            raise InputError(
                f"source and target: only {len(rows)} matches between {len(source)} and {len(target)} points, at "
                f"least 3 are needed: {advice}"
            )
        return Matched(recipe, source, target, rows)

    def _described(self, points: FloatArray, recipe: Recipe, tick: Tick) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Which points of the source to match, and their descriptors."""
        size, way = recipe.voxel_size, replace(self.description, keypoints=recipe.keypoints, local=recipe.wide)
        if (size, recipe.wide) not in self.kept:
            self.kept[size, recipe.wide] = way.features(points, size, part_of(tick, 0.0, 0.7))
        features = self.kept[size, recipe.wide]
        rows = way.rows(points, size, features, part_of(tick, 0.7, 1.0))
        return rows, features[rows]


@dataclass(frozen=True, eq=False)
class Poses:
    """The search among the matches of a try, and the best of its poses."""

    search: Search
    candidates: list[Candidate]
    """In the coordinates of the clouds, the one that would be returned without clouds first; at least one."""

    @classmethod
    def of(cls, matched: Matched, options: Options, limits: Limits) -> Poses:
        pairs = matched.pairs.confined(options.prior)
        pairs.check_range(options.the_loss)
        with limits.timed("candidates"):
            chance = Chance(pairs)
            search = Search.run(pairs, options, limits, chance.like)
            found = [search.candidate(member) for member in search.ranked()[:CANDIDATES]]
        levels, tests = [candidate.significance for candidate in found], chance.log10_tests
        return cls(
            search,
            [
                replace(
                    candidate,
                    pose=pairs.frame.outside(candidate.pose),
                    significance=standing(candidate.significance, levels[:k] + levels[k + 1 :], tests),
                )
                for k, candidate in enumerate(found)
            ],
        )

    def solve(self, chosen: Candidate, options: Options, limits: Limits) -> Result:
        """The result for one of the candidates, with its proof; the best so far when the limits are over."""
        pairs = self.search.pairs
        return solve(pairs, options, limits, self.search, pairs.frame.inside(chosen.pose))
