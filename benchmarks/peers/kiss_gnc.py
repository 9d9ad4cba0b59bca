"""KISS-Matcher's solver alone: graduated non-convexity on all given pairs, nothing pruned."""

from __future__ import annotations

from benchmarks.peers import FloatArray, nowhere
from benchmarks.peers.kiss import PAPER, answer, lacks, matcher, prepare

__all__ = ["METRES", "NAME", "PAPER", "SETTINGS", "missing", "prepare", "register"]

NAME = "KISS GNC"
PACKAGE = "kiss-matcher"
SETTINGS = (
    "kiss_matcher's solve with the authors' defaults for a voxel as large as the noise bound, of which the solver's"
    " is 0.75; on all pairs, without the pruning that its authors recommend: what the solver does by itself. Scaled"
    " as KISS-Matcher"
)
METRES = True


def missing() -> str | None:
    return lacks("solve")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    if len(source) < 3:
        return nowhere()
    return answer(matcher(noise_bound, len(source)).solve(source.T.copy(), target.T.copy()))
