"""Intervals of scales, and the rigid problems that bound them (mathematics.md, section 13)."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.losses import TEAR, Loss
from tear3d.problem.pairs import Pairs
from tear3d.problem.scales import ScaleRange

UP, ROUNDING = 1.0 + 1e-9, 2.0**-49
"""Of what pairs may move by: relative, and in units of their distances from the middle (section 13.3)."""
FIRST, MOST = 2.0, 256
"""What a typical pair moves by, in noise bounds, in the intervals to begin with, and how many there are at most (free
choices, part of no bound)."""


class Interval(NamedTuple):
    """Scales from low to high, what none of them saves more than, and the pairs that matter there."""

    low: float
    high: float
    bound: float
    rows: NDArray[np.int64]

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)

    def halves(self) -> list[Interval]:
        """Both, or none at the resolution of the numbers."""
        cut = math.sqrt(self.low) * math.sqrt(self.high)
        return [self._replace(high=cut), self._replace(low=cut)] if self.low < cut < self.high else []


class Inflated(NamedTuple):
    """The rigid problems of an interval."""

    pairs: Pairs
    """With noise bounds for the loss, ..."""
    lengths: Pairs
    """... and for lengths, which are Euclidean."""
    moves: float
    """What a typical pair moves by, in typical noise bounds."""


def inflate(pairs: Pairs, loss: Loss, interval: Interval) -> Inflated:
    """The pairs of an interval with the source times its middle, and noise bounds that make up for the rest."""
    some, middle = pairs.take(interval.rows), interval.middle
    half = max(interval.high - middle, middle - interval.low) * UP
    x = some.x - some.x.mean(axis=0)
    away = np.sqrt(np.einsum("ij,ij->i", x, x)) * UP
    moved, rounded = half * away, ROUNDING * middle * away
    root = math.sqrt(3.0) * UP if loss.code == TEAR else 1.0
    own = replace(some, x=middle * x, x_mean=np.zeros(3))
    return Inflated(
        replace(own, xi=(some.xi + root * moved + 2.0 * rounded) * UP),
        replace(own, xi=(some.xi + moved + rounded) * UP),
        float(np.median(moved)) / some.typical_bound,
    )


def pieces(pairs: Pairs, span: ScaleRange) -> list[tuple[float, float]]:
    """The range in intervals with about the same motion of a typical pair, at most a factor of two each."""
    away = np.sqrt(np.sum((pairs.x - pairs.x.mean(axis=0)) ** 2, axis=1))
    step = 2.0 * FIRST * pairs.typical_bound / max(float(np.median(away)), 1e-300)
    edges = [span.low]
    while edges[-1] < span.high:
        edges.append(min(span.high, edges[-1] + max(min(step, edges[-1]), (span.high - span.low) / MOST)))
    return list(pairwise(edges))
