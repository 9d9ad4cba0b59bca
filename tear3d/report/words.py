"""Numbers and verdicts in plain words."""

from __future__ import annotations

import math
from typing import NamedTuple

from tear3d.judge.verdict import about_pose, up_to_percent
from tear3d.prove.certificate import POSE
from tear3d.result import Certificate, Result, StageCertificate

WRITTEN_OUT = 1e9
"""Numbers below are not written with a power of ten."""
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

ENDED_BY = {
    "gap": "gap closed",
    "time_limit": "time limit",
    "node_limit": "cell limit",
    "interrupted": "interrupted",
    "resolution": "smallest cell reached",
    "set_aside": "pairs set aside",
    "memory_limit": "no room to search on",
}

_STOPPED_BY = {
    "time_limit": "The time limit ended the search before it was complete",
    "node_limit": "The cell limit ended the search before it was complete",
    "interrupted": "The search was interrupted before it was complete",
}


class Verdict(NamedTuple):
    """What a reader should take away first."""

    tone: str
    """`good`, `warn` or `bad`."""
    label: str
    headline: str
    sentence: str
    reasons: tuple[str, ...] = ()


def count(number: int) -> str:
    """10000 → 10 000, with spaces that do not break."""
    return f"{number:,}".replace(",", "\u202f")


def number(value: float, digits: int = 4) -> str:
    """A number with a few significant digits, in the shortest readable form, which can be pasted elsewhere."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "-∞")
    short = f"{value:.{digits}g}"
    return f"{float(short):.0f}" if "e+" in short and abs(value) < WRITTEN_OUT else short


def seconds(value: float) -> str:
    """0.0123 → 12.3 ms, 75 → 75 s, 600 → 10 min."""
    if value < 1.0:
        return f"{value * 1000:.3g}\u202fms"
    if value < 100.0:
        return f"{value:.3g}\u202fs"
    if value < 7200.0:
        return f"{value / 60:.3g}\u202fmin"
    return f"{value / 3600:.3g}\u202fh"


def percent(fraction: float) -> str:
    """A gap in percent, rounded up to two digits so that it stays a bound: 0.00093 → 0.093 %."""
    if not math.isfinite(fraction):
        return "∞"
    return up_to_percent(fraction).replace(" ", "\u202f")


def share(part: int, whole: int) -> str:
    """A part of a whole in percent, to three digits and never rounded to 0 or 100 %."""
    if whole == 0 or part in (0, whole):
        return f"{100 if part else 0}\u202f%"
    value = 100.0 * part / whole
    return f"{min(value, 99.9) if value > 99.0 else value:.3g}\u202f%"


def power_of_ten(exponent: float) -> str:
    """−12.3 → 10⁻¹²."""
    if not math.isfinite(exponent):
        return "0" if exponent < 0 else "–"
    return "10" + str(round(exponent)).translate(_SUPERSCRIPT)


def part(fraction: float) -> str:
    """A share in percent to three digits; what is there is never rounded to nothing."""
    if math.isnan(fraction):
        return "–"
    return f"{100.0 * fraction:.3g}\u202f%" if fraction >= 0.001 or fraction == 0.0 else "less than 0.1\u202f%"


def probability(exponent: float) -> str:
    """Of log10: −12.3 → 10⁻¹², −0.3 → 0.5, and never more than 1."""
    if math.isnan(exponent) or exponent == math.inf:
        return "–"
    return power_of_ten(exponent) if exponent < -2.0 else number(10.0 ** min(exponent, 0.0), 2)


def certificate_sentence(certificate: Certificate, *, ambiguous: bool = False) -> str:
    """What the stages proved together, in one or two sentences."""
    if not certificate.stages:
        return "Nothing was proven: no bound was computed for this pose."
    gap = certificate.gap
    if not math.isfinite(gap):
        return "Nothing was proven yet: the bound was still infinitely far from what was found."
    if certificate.stages[0].name == POSE:
        sentence = about_pose(certificate, ambiguous=ambiguous).replace(" %", "\u202f%")
        return f"{_capital(sentence)}."
    closed = sum(stage.closed for stage in certificate.stages)
    each = "its one stage" if len(certificate.stages) == 1 else "each of its stages"
    if certificate.closed and not certificate.agrees:
        return "The rows that are best on their own are proven, but they are not rows of this pose: it is not proven."
    if certificate.closed:
        more = "more than what was found" if gap == 0.0 else f"more than {percent(gap)} beyond what was found"
        return f"The search covered every possibility in {each}: none saves {more}.{_others(certificate)}"
    ending = f" {closed or 'None'} of the {len(certificate.stages)} closed." if len(certificate.stages) > 1 else ""
    return f"In {each}, no solution can save more than {percent(gap)} beyond what was found.{ending}"


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _others(certificate: Certificate) -> str:
    """What was tried besides, and disagreed."""
    against = sum(not attempt.agrees for attempt in certificate.attempts)
    if against == 0:
        return ""
    rows = "The best rows along one other direction are" if against == 1 else "Those along two other directions are"
    return f" {rows} not those of this pose."


def stage_sentence(stage: StageCertificate) -> str:
    """What one stage proved."""
    if not math.isfinite(stage.gap):
        return f"Nothing proven after {count(stage.cells)} cells."
    if stage.name == POSE:
        covered = "all rotations and translations" if stage.closed else "rotations and translations"
        covered += " that are allowed" if stage.scope else ""
        return f"{count(stage.cells)} cells of {covered}, bounded by what no pose in them can exceed."
    if stage.gap == 0.0:
        return f"No pose of this stage saves more than what was found ({count(stage.cells)} cells)."
    return (
        f"No pose of this stage can save more than {percent(stage.gap)} beyond what was found "
        f"({count(stage.cells)} cells)."
    )


CHANCE = "Data without a true pose could show one that stands out as much"


def agreement(result: Result, things: str = "pairs") -> str:
    """How many pairs agree."""
    inliers, pairs = result.num_inliers, result.num_pairs
    return (
        f"{count(inliers)} of {count(pairs)} {things} ({share(inliers, pairs)}) "
        "agree with this pose within their noise bound."
    )


def message(result: Result) -> str:
    """That of a result, without the noise bound, which has a place of its own."""
    return result.message if result.noise is None else result.message.removesuffix(f"; {result.noise.sentence}")


def poseless(result: Result) -> bool:
    """Whether nothing was sought, since the pairs can have no pose: all points of a cloud coincide, for instance."""
    return math.isnan(result.objective)


def proof_sentence(result: Result) -> str:
    """What was proven, and what ended the proof before it was complete."""
    proof = certificate_sentence(result.certificate, ambiguous=result.ambiguous)
    if result.status == "uncertified" and result.certificate.closed and result.certificate.agrees:
        return f"Not proven: {message(result)}."
    if result.status in _STOPPED_BY:
        return f"{_STOPPED_BY[result.status]}. {proof}"
    return proof


def verdict(result: Result) -> Verdict:
    """The headline of the report."""
    found = _verdict(result)
    if result.ambiguity is None or not result.success:
        return found
    doubt = f"ambiguous: {result.ambiguity.sentence}"
    headline = "Registered, but another pose may be meant just as well"
    return Verdict("warn", f"{found.label}, ambiguous", headline, found.sentence, (doubt,))


def _verdict(result: Result) -> Verdict:
    agree, proof = agreement(result), proof_sentence(result)
    label = result.status.replace("_", " ")
    if poseless(result):
        return Verdict("bad", label, "There is no pose to be found", f"{_capital(message(result))}.")
    if result.status == "no_consensus":
        text = f"{agree} {CHANCE}: do not use this pose without other evidence."
        return Verdict("bad", label, "The best pose cannot be told from chance", text)
    if result.status == "optimal":
        among = " among the poses allowed" if result.certificate.scope else ""
        return Verdict("good", label, f"Registered, and proven optimal{among}", f"{agree} {proof}")
    if result.status == "uncertified":
        return Verdict("warn", label, "Registered, without a proof", f"{agree} {proof}")
    if not result.success:
        text = f"{agree} {CHANCE}. {_STOPPED_BY[result.status]}: do not use this pose without other evidence."
        return Verdict("bad", label, "Stopped before a pose stood out from chance", text)
    return Verdict("warn", label, "Registered, but the proof is unfinished", f"{agree} {proof}")
