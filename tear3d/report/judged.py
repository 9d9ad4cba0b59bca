"""What was judged about a pose, in words: verdict of the clouds, ambiguity, other poses, uncertainty."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tear3d.clouds.result import CloudResult
from tear3d.clouds.tries import Try
from tear3d.clouds.verdict import REJECTED_FIT
from tear3d.judge.uncertainty import carried
from tear3d.lab.metrics import rotation_error
from tear3d.problem.arrays import FloatArray
from tear3d.report import words
from tear3d.result import Alternative, FreeMotion, Result, shift_of

_HEADLINES = {
    "confirmed": ("good", "Aligned, and confirmed by the clouds"),
    "doubtful": ("warn", "The clouds do not confirm this pose"),
    "rejected": ("bad", "The clouds contradict the best pose found"),
}
CHANCE = "the probability that data without a true pose show one that stands out like this"


def verdict(result: Result, found: CloudResult | None = None) -> words.Verdict:
    """The headline of a run: that of the clouds, where there are any, whatever the matches say."""
    if found is None:
        return words.verdict(result)
    tone, headline = _HEADLINES[found.verdict]
    if found.success and result.proven:
        headline = "Aligned, confirmed by the clouds, and proven optimal for the matches"
    if found.verdict == "doubtful" and all(reason.startswith("ambiguous") for reason in found.reasons):
        headline = "Aligned, but another pose may be meant just as well"
    agree = words.agreement(result, "matches")
    if result.success:
        sentence = f"{agree} {words.proof_sentence(result)}"
    else:
        sentence = f"{agree} {words.CHANCE}{': it rests on the clouds alone.' if found.success else '.'}"
    return words.Verdict(tone, found.verdict, headline, sentence, found.reasons)


def message(result: Result) -> str:
    """That of a result, without the ambiguity and the noise bound, which have places of their own."""
    if result.ambiguity is None:
        return words.message(result)
    return words.message(result).removeprefix(f"ambiguous: {result.ambiguity.sentence}; ")


def rest_of_message(result: Result, sentence: str) -> str:
    """What the message says that a sentence, that of the verdict, does not say already; empty when that is nothing."""
    return _unsaid(message(result).split("; "), sentence)


def notes(result: Result, sentence: str) -> str:
    """The same of what the message adds to its first statement."""
    return _unsaid(message(result).split("; ")[1:], sentence)


def _unsaid(parts: list[str], sentence: str) -> str:
    said = _plain(sentence)
    rest = "; ".join(part for part in parts if _plain(part) not in said)
    return f"{rest[0].upper()}{rest[1:]}." if rest else ""


def _plain(text: str) -> str:
    return text.replace("\u202f", " ").casefold()


def evidence(found: CloudResult) -> Iterator[tuple[str, str]]:
    """What was measured on the clouds, as rows of a table."""
    known = found.evidence
    if math.isnan(known.fit):
        return
    yield (
        "overlap",
        f"{words.part(known.overlap_source)} of the source and {words.part(known.overlap_target)} of the target "
        f"within {words.number(known.voxel_size, 3)} of the other",
    )
    yield (
        "fit",
        f"{known.fit:.2f}, from 0 to 1: {words.part(known.agreement)} of the surface within reach agrees, "
        f"{words.part(known.coverage)} of all",
    )
    if not known.blind:
        sure, guess = known.contradicted, known.perhaps_contradicted
        seen = [] if math.isnan(sure) else [f"{words.part(sure)} contradicted"]
        seen += [] if math.isnan(guess) else [f"{words.part(guess)} contradicted as far as a guessed viewpoint tells"]
        yield "free space", "; ".join(seen)
    elif known.fit >= REJECTED_FIT:
        yield "free space", "says nothing: the viewpoints are not known"
    yield (
        "drift",
        f"the clouds settle {words.number(known.drift, 2)} noise bounds from the pose of the matches, overlapping "
        f"points {words.number(known.residual, 2)} voxels apart",
    )


def tried(each: Try) -> str:
    """How the matches of a try were made."""
    more = f", {each.top_k} matches a point" if each.top_k > 1 else ""
    points = f", {each.keypoints} keypoints" if each.keypoints else ""
    return f"voxel {each.voxel_size:g}{more}{points}"


def outcome(each: Try) -> str:
    """What came of a try."""
    return each.verdict or "no matches"


def scale(result: Result) -> str:
    """The scale and its standard deviation; empty when none was sought."""
    if result.settings.get("scale") is None:
        return ""
    low, high = result.settings["scale"]
    if low == high:
        return f"{words.number(result.scale, 6)}, as given"
    known = math.isfinite(result.scale_std)
    return words.number(result.scale, 6) + (f" ± {words.number(result.scale_std, 2)}" if known else "")


class Other(NamedTuple):
    """How another pose compares with the one returned."""

    saved: str
    inliers: str
    chance: str
    turn: str
    shift: str


def other(result: Result, alternative: Alternative) -> Other:
    """An alternative beside the pose of the pairs."""
    ratio = alternative.saving / result.saving if result.saving > 0.0 else math.nan
    here, there = (shift_of(result.centre, pose) for pose in (result.transformation, alternative.transformation))
    return Other(
        saved=words.part(ratio),
        inliers=words.count(alternative.num_inliers),
        chance=words.probability(alternative.significance),
        turn=f"{words.number(rotation_error(alternative.transformation, result.transformation), 3)}°",
        shift=words.number(float(np.linalg.norm(there - here)), 3),
    )


def next_best(result: Result) -> str:
    """The best alternative in a sentence; empty without any."""
    if not result.alternatives:
        return ""
    best, more = other(result, result.alternatives[0]), len(result.alternatives) - 1
    if not result.saving > 0.0:  # of nothing there is no share
        return ""
    rest = f"; {words.count(more)} more {'was' if more == 1 else 'were'} kept" if more else ""
    besides = "besides the other motions: " if len(result.instances) > 1 else ""
    return (
        f"{besides}saves {best.saved} of what this one does, turned by {best.turn}, the centre {best.shift} away{rest}"
    )


def runner_up(result: Result) -> str:
    """How near any pose elsewhere can come, in a sentence; empty when that is not known."""
    share = result.certificate.runner_up
    if share is None:
        return ""
    most = words.percent(share)
    none = result.certificate.stages[0].none
    return f"{none} that puts a point more than 3 noise bounds elsewhere saves more than {most} of what this one does"


def deviations(covariance: FloatArray, centre: FloatArray) -> tuple[float, float] | None:
    """Standard deviations along the worst axes: of the rotation, in degrees, and of where a source point lands.

    Of the point `centre`, not of the origin: far from the points that one is uncertain for its distance alone.
    """
    moved = carried(covariance, 1.0, -centre)
    if not np.isfinite(moved).all():
        return None
    turn, shift = (math.sqrt(max(0.0, np.linalg.eigvalsh(block)[-1])) for block in (moved[:3, :3], moved[3:, 3:]))
    return math.degrees(turn), shift


def uncertainty(result: Result, found: CloudResult | None = None) -> str:
    """One row about the covariance."""
    holder = result if found is None else found
    known = deviations(holder.covariance, holder.centre)
    if known is None:
        return "not known: what agrees does not determine the pose, or the refinement did not converge"
    text = f"about {words.number(known[0], 2)}° and {words.number(known[1], 2)} at the centre, one standard deviation"
    return text if holder.success else f"{text}, if it is the right pose"


def motion(free: FreeMotion) -> str:
    """A motion after which the source fits as well."""
    axis, through = _vector(free.axis), _vector(free.through)
    if free.kind == "translation":
        return f"slide along ({axis}) by {'any amount' if free.step is None else words.number(free.step, 3)}"
    turn = "any angle" if free.step is None else f"{words.number(free.step, 3)}°"
    return f"turn about ({axis}) through ({through}) by {turn}"


def _vector(values: tuple[float, float, float]) -> str:
    """With as many decimals as its largest entry needs for three digits."""
    largest = max(map(abs, values))
    decimals = 2 - math.floor(math.log10(largest)) if largest > 0.0 else 0
    return ", ".join(words.number(round(v, decimals) + 0.0, 6) for v in values)
