"""What to try when the answer is not good enough; `docs/troubleshooting.md` has more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tear3d.report import judged, words

if TYPE_CHECKING:
    from tear3d.clouds.register import CloudResult
    from tear3d.result import Result


def advice(result: Result, found: CloudResult | None) -> str:
    """A few sentences; empty where nothing is missing, or nothing can be done."""
    if found is not None and not found.success:
        return _between(found)
    if result.status == "no_consensus":
        return "" if found is not None else _among(result)
    if result.status in ("time_limit", "node_limit"):
        return _of_proof(result)
    return ""


def _between(found: CloudResult) -> str:
    """Of clouds that do not confirm a pose."""
    if found.ambiguity is not None:
        return (
            "What to try: the clouds alone cannot tell which of these poses is meant; say about where it is, with "
            "--initial and --within, or what is known of it, such as --rotation-axis."
        )
    text = (
        "What to try: do the clouds overlap, and have they the same units? Then another --voxel-size (smaller for "
        "small overlaps), or more matches with --top-k 3."
    )
    if found.evidence is not None and found.evidence.in_map:
        text += (
            " The target is so large that it was taken for a map, in which nearly all of the source has to lie: of a "
            "thing of which a scan shows one side only, cut the target down to where the thing is known to lie."
        )
    return text


def _among(result: Result) -> str:
    """Of pairs that no pose explains."""
    if result.noise is not None:
        return (
            "What to try: better matches. No noise bound that was tried makes a pose stand out; if you know it, "
            "pass --noise-bound."
        )
    if words.poseless(result):
        return ""
    if judged.scale(result):
        return (
            "What to try: is the scale, target over source, in the range looked at (--scale-range), and the noise "
            "bound in the units of the target? Otherwise, better matches."
        )
    bound = (
        "What to try: is the noise bound in the units of the points? A larger one if right pairs lie "
        "farther apart, a smaller one if chance alone fills it. "
    )
    if result.settings.get("prior") is not None:
        return (
            f"{bound}Is what is given of the pose right? Without it, or with wider limits, all poses are looked at. "
            "Otherwise, better matches."
        )
    return f"{bound}Have source and target one unit? --scale seeks a factor between them. Otherwise, better matches."


def _of_proof(result: Result) -> str:
    """Of a search that a limit ended."""
    gap = max((stage.gap for stage in result.certificate.stages), default=math.inf)
    if gap <= 1.0:
        return "For a complete proof, allow more time or cells, or a larger --rel-gap."
    known = "" if result.settings.get("prior") else ", or say what is known of the pose, such as --rotation-axis"
    return f"For a complete proof, allow much more time{known}; this one was far from its end."
