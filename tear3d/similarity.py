"""One problem whose scale is unknown, from checked pairs to a result: find, judge, prove."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tear3d.errors import CollapsedError, InputError
from tear3d.find.scales import SimilarSearch
from tear3d.find.search import Search
from tear3d.find.swell import climb_similar
from tear3d.judge.ambiguity import Ambiguity, FreeMotion
from tear3d.judge.around import Around
from tear3d.judge.similar import (
    AtOwnScale,
    best_with_an_image,
    judge_at_own_scale,
    scales_with_an_image,
    shrunk,
    triple_chance,
)
from tear3d.judge.uncertainty import scale_deviation
from tear3d.judge.verdict import could_be_chance, said_first
from tear3d.problem import ranks
from tear3d.problem.arrays import FloatArray, as_points
from tear3d.problem.limits import Limits
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, scaled
from tear3d.prove.certificate import Certificate, Proof
from tear3d.result import Result
from tear3d.solving import Ending, Whole, package, solve

log = logging.getLogger("tear3d")

AT_END = 1e-9
_BEATEN = (
    "the best candidate that stands out; nothing is proven of it, since one saves more that shrinks the pairs which "
    "agree with it to less than their noise bound, and that is no pose"
)


class Scene(NamedTuple):
    """Pairs whose source was multiplied with `factor`, a power of two, and the scales to be looked at for these."""

    pairs: Pairs
    factor: float
    span: ScaleRange
    cut: bool
    """Whether smaller scales are allowed, but shrink the source into the noise."""

    @property
    def words(self) -> str:
        """The poses that are looked at."""
        low, high = (_exact(value * self.factor) for value in self.span)
        return f"with a scale of {low}" if self.span.low == self.span.high else f"with a scale from {low} to {high}"


def solve_similarity(
    pairs: Pairs,
    options: Options,
    limits: Limits,
    search: Search | None = None,
    chosen: Pose | None = None,
) -> Result:
    """`register` with `estimate_scale` for `similar_pairs`; `search` and `chosen` as for `solve`."""
    assert options.scale is not None
    ranks.load()
    pairs.check_range(options.the_loss)
    factor = options.scale.middle
    span = options.scale.over(factor)
    if options.scale.only:
        fixed = solve(pairs, replace(options, scale=None), limits, search, chosen)
        result = _outside(fixed, options.scale.applied)
        named = "" if options.scale.low == 1.0 else f"; the scale is the one given, {_exact(options.scale.low)}"
        return replace(
            result,
            message=result.message + named,
            settings=result.settings | {"scale": list(options.scale)},
        )
    looked_at = scales_with_an_image(pairs, options.scale)
    if looked_at.low > looked_at.high:
        size = span.high * pairs.radius / pairs.typical_bound
        return no_pose(
            pairs.num_given,
            options,
            "at every scale allowed the source is shrunk into the noise: at the largest, "
            f"{_exact(options.scale.high)}, its image is {size:.2g} noise bounds large (root mean square), "
            "and anything near a point would agree",
        )
    scene = Scene(pairs, factor, looked_at, looked_at.low > span.low)
    return _solved(scene, options, limits, search, chosen)


def _solved(scene: Scene, options: Options, limits: Limits, given: Search | None, chosen: Pose | None) -> Result:
    pairs, span, loss = scene.pairs, scene.span, options.the_loss
    with limits.timed("candidates"):
        triples = triple_chance(pairs, span)
        search = given or SimilarSearch.over(pairs, options, span, limits, judge_at_own_scale(triples))
        if chosen is None:
            best = Scored(*best_with_an_image(search)[:2])
        else:
            best = Scored(*climb_similar(pairs, chosen, loss, span, graduated=False, limits=limits)[:2])
        rivals = search.rivals(best.pose)
    log.info("candidate saves %.6g after %.3f s", best.saving, limits.seconds)
    with limits.timed("judgement"):
        frame = AtOwnScale(pairs, best.pose, triples)
        compared = frame.contest(rivals, loss)
    was_shrunk = shrunk(pairs, best.pose)
    proof, ended = Proof(best), limits.exceeded()
    if options.certify and ended is None and not could_be_chance(compared.significance) and not was_shrunk:
        from tear3d.prove.scales.search import prove_similarity

        with limits.proving():
            proof = prove_similarity(pairs, best, span, options, limits, scene.words, partial(shrunk, pairs))
            ended = limits.exceeded()
    beaten = not was_shrunk and shrunk(pairs, proof.best.pose)
    if beaten:  # the pose still stands out, but what saves most is none
        proof, ended = Proof(best), None
    if not proof.about(best):
        with limits.timed("judgement"):
            frame = AtOwnScale(pairs, proof.best.pose, triples)
            compared = frame.contest(search.others(proof.best.pose, [best.pose, *rivals]), loss)
    with limits.timed("packaging"):
        ending = Ending(ended, search.done, limits.laps)
        around = Around(frame.pairs, frame.pose)
        own = proof._replace(best=Scored(frame.pose, proof.best.saving))
        rigid = package(around, own, options, ending, compared, Whole.of(frame.pairs, loss, compared))
        result = _outside(rigid, frame.scale * scene.factor, frame.scale * scene.factor * scale_deviation(around, loss))
    if shrunk(pairs, proof.best.pose):
        return _not_believed(result)
    if beaten:
        return replace(result, message=said_first(result.ambiguity, _BEATEN + _notes(scene, frame.scale)))
    return replace(result, message=result.message + _notes(scene, frame.scale)) if result.success else result


def _outside(result: Result, scale: float, deviation: float = math.nan) -> Result:
    """What was found for a scaled source, for the source as it was given."""

    def times(matrix: FloatArray) -> FloatArray:
        out = matrix.copy()
        out[:3, :3] *= scale
        return out

    unit = np.array([1.0, 1.0, 1.0, 1.0 / scale, 1.0 / scale, 1.0 / scale])
    alternatives = tuple(replace(other, transformation=times(other.transformation)) for other in result.alternatives)
    return replace(
        result,
        transformation=times(result.transformation),
        scale=scale,
        scale_std=deviation,
        alternatives=alternatives,
        ambiguity=None if result.ambiguity is None else _ambiguity(result.ambiguity, scale),
        centre=result.centre / scale,
        covariance=result.covariance * np.outer(unit, unit),
    )


def _ambiguity(given: Ambiguity, scale: float) -> Ambiguity:
    return replace(given, free=tuple(_motion(motion, scale) for motion in given.free))


def _motion(given: FreeMotion, scale: float) -> FreeMotion:
    x, y, z = (value / scale for value in given.through)
    step = given.step if given.kind == "rotation" or given.step is None else given.step / scale
    return replace(given, through=(x, y, z), step=step)


def _notes(scene: Scene, scale: float) -> str:
    """What else is to be said of the scale."""
    notes = ""
    for end, name, other in ((scene.span.low, "smallest", "smaller"), (scene.span.high, "largest", "larger")):
        if abs(scale / end - 1.0) <= AT_END:
            notes += f"; the scale is the {name} that was looked at, a {other} one may fit better"
    if scene.cut:
        notes += f"; scales below {_exact(scene.span.low * scene.factor)} shrink the source into its noise"
    return notes


def _not_believed(result: Result) -> Result:
    return replace(
        result,
        status="no_consensus",
        message=(
            f"the {result.num_inliers} pairs that agree best are shrunk to less than their noise bound by the scale "
            f"{result.scale:.3g}: anything near one point would agree, and that is no pose"
        ),
        certificate=Certificate(),
    )


def no_pose(num_pairs: int, options: Options, message: str) -> Result:
    """For pairs of which nothing can be said: no pair agrees, nothing is known of the pose."""
    assert options.scale is not None
    matrix = np.diag([options.scale.clip(1.0)] * 3 + [1.0])
    return Result(
        transformation=matrix,
        inlier_mask=np.zeros(num_pairs, np.bool_),
        inlier_rmse=math.nan,
        objective=math.nan,
        status="no_consensus",
        message=message,
        certificate=Certificate(),
        significance=0.0,
        seconds={},
        settings=options.to_dict() | {"pairs": num_pairs},
        saving=0.0,
        scale=options.scale.clip(1.0),
    )


def similar_pairs(given: tuple[Any, Any, Any, Any], options: Options) -> Pairs:
    """The checked pairs of a problem with a scale. Their source is multiplied with the middle of the scales allowed; if
    only one is, with that, which leaves a rigid problem."""
    assert options.scale is not None
    if options.prior is not None:
        raise InputError(
            "estimate_scale does not go with what is known of the pose (an axis, a rotation, an initial pose, a plane, "
            "N×2 points) yet: leave one of them out"
        )
    factor = options.scale.middle
    span = options.scale.over(factor)
    try:
        pairs = Pairs.of(*given, factor=factor, scales=span)
    except CollapsedError:
        raise
    except InputError as error:
        if factor == 1.0:
            raise
        note = f"source coordinates times {factor:g}, the middle of scale_range"
        raise InputError(f"{error} ({note})") from None
    return scaled(pairs, span.low) if options.scale.only else pairs


def collapsed(error: CollapsedError, source: Any, options: Options) -> Result:
    """That the points of a cloud coincide, so that there is no scale to be found."""
    scale = "zero" if error.cloud == "target" else "without bound"
    reason = f"all {error.cloud} points coincide: the scale would be {scale}, and that is no pose"
    return no_pose(len(as_points(source, "source")), options, reason)


def _exact(value: float) -> str:
    """A number in as few digits as say exactly which it is."""
    short = f"{value:.6g}"
    return short if float(short) == value else repr(value)
