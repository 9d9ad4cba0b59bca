"""At which scales the pairs around a pivot agree: votes of the ratios of lengths.

If pair p is an inlier, every other inlier j has |y_j − y_p| = s·|x_j − x_p| up to the noise, so that its ratio of
lengths lies in a short interval around the scale s. The intervals of wrong pairs are spread over all scales. Where
more of them meet than chance would have it, there may be a scale.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.find.seekers import TOLERANCE
from tear3d.problem.arrays import FloatArray
from tear3d.problem.pairs import Pairs
from tear3d.problem.ranks import median
from tear3d.problem.scales import ScaleRange

BINS, FINEST = 2048, 2e-3
"""Bins of the logarithm of the scale, at most, and their width, at least: where intervals are shorter, the sweep inside
a bin tells them apart."""
REPAIRED = 64
"""Pivots that tell what chance gives, ..."""
PEAKS = 3
"""... and scales proposed for each pivot. All free choices, part of no bound."""


class Proposal(NamedTuple):
    """A pivot, a scale, and the pairs that agree with both."""

    pivot: int
    scale: float
    rows: NDArray[np.int64]


class Ratios:
    """The ratios of lengths of the first pairs of a sample."""

    def __init__(self, pairs: Pairs, size: int, span: ScaleRange) -> None:
        self.x, self.y = pairs.x[:size].T.copy(), pairs.y[:size].T.copy()
        self.xi = np.broadcast_to(pairs.xi, len(pairs))[:size]
        self.low, self.high = math.log(span.low), math.log(span.high)
        self.width = max(FINEST, (self.high - self.low) / BINS)
        self.bins = max(1, math.ceil((self.high - self.low) / self.width))

    def count_votes(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.int64]]:
        """How many of a pivot's intervals reach each bin; the first and the last bin of each, none where −1."""
        inside = (low <= self.high) & (high >= self.low)
        starts = np.clip((low - self.low) / self.width, 0, self.bins - 1).astype(np.int64)
        ends = np.clip((high - self.low) / self.width, 0, self.bins - 1).astype(np.int64)
        count = len(low)
        line = np.arange(count)[:, None] * (self.bins + 1)
        change = np.bincount((starts + line)[inside], minlength=count * (self.bins + 1)).astype(np.float64)
        change -= np.bincount((ends + 1 + line)[inside], minlength=count * (self.bins + 1))
        ends[~inside] = -1
        return np.cumsum(change.reshape(count, -1)[:, :-1], axis=1), starts, ends

    @cached_property
    def usual(self) -> FloatArray:
        """The votes that pivots get by chance: those of pairs put together anew, which the random order makes easy."""
        size = len(self.xi)
        others = self.y[:, np.arange(size) - size // 2]
        return np.asarray(self.count_votes(*self.intervals(0, min(size, REPAIRED), others))[0].mean(axis=0))

    def proposals(self, first: int, last: int) -> list[Proposal]:
        """The scales at which most pairs agree, for the pivots first..last−1, the most surprising first."""
        low, high = self.intervals(first, last, self.y)
        votes, starts, ends = self.count_votes(low, high)
        usual = self.usual
        surprise = (votes - usual) / np.sqrt(usual + 1.0)
        found = []
        for k in range(last - first):
            for _ in range(PEAKS):
                peak = int(np.argmax(surprise[k]))
                if votes[k, peak] < 3:
                    break
                here = np.flatnonzero((starts[k] <= peak) & (ends[k] >= peak))
                scale = _deepest(np.maximum(low[k, here], self.low), np.minimum(high[k, here], self.high))
                rows = here[(low[k, here] <= scale) & (high[k, here] >= scale)]
                found.append(Proposal(first + k, math.exp(scale), rows))
                apart = 1 + int(0.5 * median(high[k, here] - low[k, here]) / self.width)
                surprise[k, max(0, peak - apart) : peak + apart + 1] = -np.inf
        return found

    def intervals(self, first: int, last: int, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The logarithms of the least and the largest scale at which each pair agrees with each pivot."""
        a, b = (np.sqrt(sum((side[None, :] - side[first:last, None]) ** 2 for side in cloud)) for cloud in (self.x, y))
        c = TOLERANCE * (self.xi[None, :] + self.xi[first:last, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = np.log((b - c) / a), np.log((b + c) / a)
        short = ~((b > c) & (a > 0.0))  # too short to mean something; also the pivot itself
        low[short], high[short] = np.inf, -np.inf
        return low, high


def _deepest(low: FloatArray, high: FloatArray) -> float:
    """The middle of the place where most intervals meet."""
    places = np.sort(low)
    depth = np.arange(1, len(low) + 1) - np.searchsorted(np.sort(high), places, side="left")
    at = int(np.argmax(depth))
    after = high[(low <= places[at]) & (high >= places[at])].min()
    return 0.5 * float(places[at] + min(after, places[at + 1] if at + 1 < len(places) else after))
