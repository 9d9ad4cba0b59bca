"""Does a pose stand out from the other poses of the same problem?

The level of `judge.chance` takes witnesses for independent. Where wrong matches come in patches, neighbours to
neighbours, they are not, and poses that have nothing to do with the truth reach levels that chance does not explain.
Those poses are at hand: they are what the search found besides the best. With t = log10 tests − level, the surprise
of a pose, independent witnesses give the best of many meaningless poses a surprise of about log10 tests. If a rival
has more, surprise comes cheaper in these data than the model says. So the yardstick is t₂, the surprise of the best
rival or log10 tests, whichever is larger, and the significance is

    log10 P(t₁/t₂ > r) = −m·(r − 1).

This is the law of the largest of 10ᵐ independent surprises with exponential tails, whatever their scale: the largest
is near m·ln 10 scales, and by a further scale larger with probability 1/e. m counts the independent structures in the
data, not the poses: they are far fewer. Several objects may move on their own, so a group of up to GROUP poses may
stand out together from the next one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

STRUCTURES = 2.0
"""m. A hundred structures, a free choice made on data: of 199 sets of matches between scans of different places one
came out below −2, at −2.6, and of 200 sets of patches that move on their own four, the lowest at −3.5
(`python -m benchmarks.chance --data FOLDER --count 200`, among whose scans are those it was chosen on)."""
GROUP = 3
"""Poses that may stand out together."""


def standing(level: float, rivals: Sequence[float], log10_tests: float) -> float:
    """The significance of a pose of some level, given the levels of its rivals."""
    tests = max(log10_tests, 1.0)
    own = tests - level
    others = sorted((tests - rival for rival in rivals), reverse=True)
    best = math.inf
    for size in range(min(GROUP, len(others) + 1)):
        weakest = min([own, *others[:size]])
        yardstick = max([tests, *others[size : size + 1]])
        best = min(best, math.log10(size + 1) - min(tests, STRUCTURES) * (weakest / yardstick - 1.0))
    return max(level, best)
