"""The noise bound of some pairs, from what is least likely by chance and from the residuals around it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tear3d.judge.bound import FACTOR, NoiseEstimate
from tear3d.judge.chance import SIGNIFICANT
from tear3d.noise.ladder import EFFORTS, Found, Ladder
from tear3d.noise.rungs import STEP, TOP, Rung, unit_sample
from tear3d.noise.similar import target_sample
from tear3d.noise.spread import Spread, measure
from tear3d.problem.flat import axes_of
from tear3d.problem.limits import Limits
from tear3d.problem.objective import residuals
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.sizes import ROUNDING

DESCENTS = 8
"""How often the pose is looked at more closely where its noise is far below the lowest rung; each time by a factor of
thousands if need be. Free choice."""


LOOKS = 3
"""Noise bounds, those where it is least likely by chance, at which the pose is compared with others. Free choice."""


class Guess(NamedTuple):
    """What is known before the pairs are registered; lengths and poses are those of the sample."""

    bound: float
    """The noise bound to register with."""
    anchor: float
    """The one at which the pose is least likely by chance."""
    pose: Pose
    significance: float
    spread: Spread | None
    unit: float
    """What a length is multiplied with to be one in the units given."""
    finest: bool
    """The digits of the points allow no smaller bound."""
    doubt: str
    """Why it is not to be trusted, if it is not."""

    @property
    def trusted(self) -> bool:
        return self.significance <= SIGNIFICANT

    def words(self, bound: float) -> NoiseEstimate:
        """The estimate, with the bound that was settled on."""
        spread, unit = self.spread, self.unit
        if not self.trusted or spread is None:
            nan = float("nan")
            few = "here the pose is least likely by chance; too few pairs are near it to measure their spread"
            return NoiseEstimate(unit * bound, nan, nan, nan, self.trusted, few if self.trusted else self.doubt)
        sigma, low, high = unit * spread.sigma, unit * FACTOR * spread.low, unit * FACTOR * spread.high
        measured = f"5.54 times the spread of right pairs along an axis, {sigma:.3g} ({low:.3g} to {high:.3g})"
        if bound != self.bound:
            off = "much" if bound < self.bound else "little"
            measured = f"{measured}, is too {off} for the pose to stand out; this is nearer to where it does most"
        elif self.finest:
            measured = f"{measured}, is less than the digits of the points allow: this is what they do"
        return NoiseEstimate(unit * bound, sigma, low, high, True, measured)


def guess(ladder: Ladder) -> Guess:
    """Searches at all noise bounds, the pose that is least likely by chance, and the spread of the residuals there."""
    found = ladder.found()
    best = ladder.tracks(found)[0]
    number, pose = best.best, best.seen[best.best].pose
    if best.seen[number].level > SIGNIFICANT:  # levels below which there are hardly poses to try say nothing
        most = _most_surprising(found)
        number, pose = most.rung, most.seen.pose
    significance = _significance(found, ladder, pose)
    doubt = ""
    if significance > SIGNIFICANT:
        quick = [each for each in found if _quick(ladder, each)]
        most = _most_surprising(quick) if quick else max(found, key=lambda each: each.rung)
        number, pose, doubt = most.rung, most.seen.pose, _doubt(found, ladder, most)
    anchor = ladder.rung(number)
    unit = ladder.sample.frame.unit
    spread, bound = None, anchor.bound
    if significance <= SIGNIFICANT:
        spread, pose = _descend(ladder, anchor, pose)
    if spread is not None:
        bound = min(FACTOR * spread.sigma, TOP / STEP**2)
    finest = bound < ladder.lowest
    bound = max(bound, ladder.lowest)
    return Guess(bound, max(anchor.bound, ladder.lowest), pose, significance, spread, unit, finest, doubt)


def _most_surprising(found: list[Found]) -> Found:
    return max(found, key=lambda each: each.surprise)


def _quick(ladder: Ladder, found: Found) -> bool:
    """Whether all pairs can be searched at a rung with the largest effort: where no pose stands out from chance it is
    not worth more to look for the best of those."""
    return ladder.rung(found.rung).looks_at_all(EFFORTS[-1])


def _doubt(found: list[Found], ladder: Ladder, most: Found) -> str:
    """What is to be said of a bound at which no pose stands out from chance."""
    if ladder.limits.over():
        return "the search was ended before it was settled; this is one of those that were tried"
    if most is _most_surprising(found):
        return "no pose stands out from chance at any; here the best one is the least likely"
    return "no pose stands out from chance at any; this is one of those at which all pairs were compared"


def _significance(found: list[Found], ladder: Ladder, pose: Pose) -> float:
    """The best that a search said of the pose: at some noise bound it stood out from all others."""
    same = [each for each in found if ladder.rung(each.rung).same(each.seen.pose, pose)][:LOOKS]
    return min((each.significance for each in same), default=math.inf)


def _descend(ladder: Ladder, anchor: Rung, pose: Pose) -> tuple[Spread | None, Pose]:
    """The spread around a pose, looked at as closely as it takes."""
    rung, spread = anchor, None
    for _ in range(DESCENTS):
        spread = measure(residuals(rung.pairs, pose), rung.bound, axes_of(rung.pairs), rung.freedom)
        if spread is None:
            return None, pose
        closer = max(FACTOR * spread.sigma, ladder.lowest)
        if closer > 0.25 * rung.bound or ladder.limits.over():
            break
        rung = ladder.at(closer)
        pose = rung.climb(pose, ladder.options, ladder.limits).pose
    return spread, pose


def ladder_of(pairs: Pairs, options: Options, limits: Limits, least: float) -> Ladder:
    """What to climb: a sample of the pairs; `least` is the smallest noise bound their digits allow, in units given."""
    sample = (unit_sample if options.scale is None else target_sample)(pairs, options.seed)
    alone = replace(options, certify=False, max_instances=1)
    return Ladder(sample, alone, limits, least / sample.frame.unit)


def least_bound(pairs: Pairs, rounding: float) -> float:
    """The smallest noise bound for pairs, in the units given, that `Pairs.of` takes; `rounding` is that of what held
    them."""
    frame = pairs.frame
    size = frame.unit * max(float(np.abs(pairs.x).max()), float(np.abs(pairs.y).max()))
    far = max(float(np.abs(frame.source).max()), float(np.abs(frame.target).max()))
    # Twice as much: the middle of the cloud and its mean are not the same.
    return max(2.0 * rounding, 4.0 * ROUNDING * size, 4.0 * float(np.spacing(size + far)))
