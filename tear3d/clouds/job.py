"""A checked call of `register_clouds`: try, judge, try again, prove, refine."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from tear3d.clouds.elsewhere import MARGIN, distance, elsewhere
from tear3d.clouds.equations import Method
from tear3d.clouds.evidence import Scene
from tear3d.clouds.jury import Judged, Jury
from tear3d.clouds.refine import Refinement, RefineResult, refined
from tear3d.clouds.region import Region
from tear3d.clouds.result import CloudResult
from tear3d.clouds.symmetry import Allowed, ambiguity
from tear3d.clouds.tries import Given, Maker, Matched, Poses
from tear3d.clouds.verdict import SAME_POSE, CloudEvidence, judge
from tear3d.errors import InputError, StoppedError
from tear3d.features.steps import Steps
from tear3d.judge.ambiguity import Ambiguity
from tear3d.judge.verdict import said_first
from tear3d.problem.arrays import FloatArray
from tear3d.problem.compiling import COMPILING
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.result import Result

# Of the time that is left: what the search may take when a refinement follows, and what further tries may. Free
# choices.
_SEARCH_SHARE, _TRIES_SHARE = 0.8, 0.6
# Points with which a handle can be told from chance: with fewer, the matches alone are asked for other poses.
_FEWEST_FOR_SHAPE = 500
_STOPPED = "whether the clouds fit as well in another pose was not asked: stopped before"


@dataclass(frozen=True)
class Job:
    """One checked call."""

    maker: Maker
    given: Given
    refine: Method | None
    options: Options
    limits: Limits
    threads: int | None

    def run(self) -> CloudResult:
        steps = Steps(self.limits)
        jury = Jury(steps, self.threads, self.maker.target, self.options.prior)
        self._search(jury, steps)
        assert jury.best is not None
        best = jury.best
        with steps("register"), self._time_for_search():
            result = self._prove(best)
        return self._package(best, result, jury, steps)

    def _search(self, jury: Jury, steps: Steps) -> None:
        """Tries until the clouds confirm a pose; only the first may fail."""
        began = time.perf_counter()
        first = self.maker.first(self.given, steps)
        self._try(first, jury, steps, began)
        with _less_time(self.limits, _TRIES_SHARE):
            for other in self.given.others(first.recipe, lambda: jury.hopeless, len(first.rows)):
                if self.limits.over() or jury.confirmed:
                    break
                began = time.perf_counter()
                try:
                    self._try(self.maker.match(other, steps), jury, steps, began)
                except (InputError, StoppedError):
                    jury.failed(other, began)

    def _try(self, matched: Matched, jury: Jury, steps: Steps, began: float) -> None:
        with steps("register"), self._time_for_search(), self.maker.inputs.explained():
            poses = Poses.of(matched, self.options, self.limits)
        jury.hear(matched, poses, began)
        self._ask_the_matches(jury, steps)

    def _ask_the_matches(self, jury: Jury, steps: Steps) -> None:
        """Of a pose that the clouds confirm only with its matches: how these stand among all that is known of them."""
        best = jury.best
        if best is None or not best.confirmed or judge(best.evidence, math.inf).verdict == "confirmed":
            return
        with steps("register"), self._time_for_search():
            result = best.poses.solve(best.candidate, replace(self.options, certify=False), self.limits)
        jury.judge_again(result)

    def _prove(self, best: Judged) -> Result:
        """The result for the pose that was chosen, proven if it can be."""
        matched, chosen = best.matched, best.candidate
        rejected = best.judgement.verdict == "rejected"
        hopeless = rejected or (best.outdone and best.rank > 0)
        if self.options.certify and not hopeless:
            result = best.poses.solve(chosen, self.options, self.limits)
            moved = distance(matched.source, result.transformation, chosen.pose.matrix)
            if best.rank == 0 or moved <= SAME_POSE * matched.recipe.noise_bound:
                return result
        result = best.answer or best.poses.solve(chosen, replace(self.options, certify=False), self.limits)
        if not self.options.certify:
            return result
        why = "the clouds reject this pose" if rejected else "the clouds prefer this pose to one that saves more"
        settings = result.settings | {"certify": self.options.certify}
        if result.status != "uncertified":
            return replace(result, settings=settings)
        return replace(result, message=said_first(result.ambiguity, f"{why}: nothing was proven"), settings=settings)

    def _package(self, best: Judged, result: Result, jury: Jury, steps: Steps) -> CloudResult:
        matched, recipe = best.matched, best.matched.recipe
        known = CloudEvidence() if jury.scene is None else jury.measure(result.transformation, recipe)
        judgement = judge(known, result.significance)
        refinement = None
        if self.refine is not None and jury.scene is not None and judgement.verdict != "rejected":
            refinement = self._refined(jury.scene, result.transformation, matched, steps)
            if math.isnan(refinement.fitness):  # stopped before it had begun
                refinement = replace(refinement, transformation=result.transformation)
            known = jury.scene.measure(refinement.transformation, result.transformation, recipe.noise_bound)
        pose = result.transformation if refinement is None else refinement.transformation
        unasked = self._unasked(matched)
        free = result.ambiguity
        if not unasked:
            try:
                free = self._ambiguity(best, pose, result, jury, steps)
            except StoppedError:
                unasked = _STOPPED
        # Not asked of those that were stopped, or have so few points that there may be too few blocks of space to tell.
        slides = refinement is not None and not unasked and bool(np.isnan(refinement.covariance).any())
        judgement = judge(
            known,
            result.significance,
            settled=refinement is not None,
            ambiguity=free,
            held=not slides,
        )
        unsaid = (unasked,) if unasked and free is None and judgement.verdict != "rejected" else ()
        if self.options.prior is not None:
            unsaid = (f"only poses {self.options.prior.words()} were looked at", *unsaid)
        return CloudResult(
            result=result,
            transformation=pose,
            refinement=refinement,
            pairs=matched.rows,
            source_points=matched.source,
            target_points=matched.target,
            voxel_size=float(recipe.voxel_size),
            noise_bound=float(recipe.noise_bound),
            seconds=steps.seconds | {name: took for name, took in self.limits.laps.items() if name == COMPILING},
            evidence=known,
            verdict=judgement.verdict,
            reasons=judgement.reasons + unsaid,
            ambiguity=free,
            tries=tuple(jury.tries),
            covariance=result.covariance if refinement is None else refinement.covariance,
            dropped=self.maker.inputs.dropped,
            notes=self.maker.inputs.notes + ((recipe.note,) if recipe.note else ()),
        )

    def _unasked(self, matched: Matched) -> str:
        """Why the clouds are not asked for other poses; empty when they are."""
        if self.limits.over():
            return _STOPPED
        if min(len(matched.source), len(matched.target)) < _FEWEST_FOR_SHAPE:
            return (
                f"whether the clouds fit as well in another pose was not asked: fewer than {_FEWEST_FOR_SHAPE} points"
            )
        return ""

    def _ambiguity(self, best: Judged, pose: FloatArray, result: Result, jury: Jury, steps: Steps) -> Ambiguity | None:
        # Also without a consensus: that of a ball's matches is none, for every turn has as many.
        began, matched = self.limits.seconds, best.matched
        others = [other.transformation for other in result.alternatives]
        if len(best.rivals) > 1:
            others += best.rivals
        size, target = matched.recipe.voxel_size, matched.target
        if matched.recipe.wide:
            target = target[Region.of(matched.source).rows(target, pose, MARGIN * size)]
        allowed = Allowed(self.options.prior, matched.source, size)
        found = ambiguity(matched.source, target, pose, size, others=others, threads=self.threads, allowed=allowed)
        if matched.recipe.wide and found is None and jury.scene is not None:
            with steps("elsewhere") as tick:
                others += [candidate.pose.matrix for candidate in best.poses.candidates]
                found = elsewhere(matched, jury.scene, pose, others, tick)
        steps.seconds["ambiguity"] = self.limits.seconds - began - steps.seconds.get("elsewhere", 0.0)
        return found

    def _refined(self, scene: Scene, pose: FloatArray, matched: Matched, steps: Steps) -> RefineResult:
        began, start = self.limits.seconds, scene.settle(pose)
        size = matched.recipe.voxel_size
        source, target = self.maker.inputs.clouds
        if matched.recipe.wide:
            target = target[Region.of(matched.source).rows(target, start, MARGIN * size)]
        # Finer than the matches: the pose is near. Also after a try with larger voxels, which may hide a thin wall.
        refinement = refined(
            Refinement(
                (source, target),
                start,
                self.refine or "gicp",
                self.threads,
                max(2.0 * matched.recipe.noise_bound, 3.0 * size),
                0.5 * min(size, scene.voxel_size),
                self.options.prior,
                settled=True,
            ),
            self.limits,
        )
        steps.seconds["refine"] = self.limits.seconds - began
        return refinement

    @contextmanager
    def _time_for_search(self) -> Iterator[None]:
        with _less_time(self.limits, 1.0 if self.refine is None else _SEARCH_SHARE):
            yield


@contextmanager
def _less_time(limits: Limits, share: float) -> Iterator[None]:
    """While the block runs, only this share of the time that is left."""
    whole = limits.time_limit
    if whole is not None:
        limits.time_limit = whole - (1.0 - share) * max(0.0, whole - limits.seconds)
    try:
        yield
    finally:
        limits.time_limit = whole
