"""The pairs around a pose: what its noise, its covariance and its ambiguity are read from."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.judge.noise import Noise, fit_noise
from tear3d.problem.arrays import FloatArray, spread_rows
from tear3d.problem.flat import axes_of
from tear3d.problem.frame import Frame
from tear3d.problem.losses import TEAR, Loss
from tear3d.problem.objective import near_rows, residuals
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose
from tear3d.problem.ranks import median
from tear3d.problem.turns import cross_matrix

REACH = 2.0
"""The noise is measured on residuals up to so many noise bounds."""
SAMPLE = 2_000
"""Of so many pairs at most, ..."""
LARGEST = 100_000
"""... and sums are over so many at most. Free choices."""
BREADTH = 2.0
"""Source points that lie no farther from a line than this many times their noise do not say how it is turned, ..."""
FLAT = 1e-7
"""... nor those whose spread across their main axis is below this share of that along it, however exact they are: what
rounding leaves of a line (free choice), ..."""
LONG = 2.5
"""A line is at least so many times as long as broad; a ball is 1.7 times (free choice), ..."""
STRAY = 100
"""... and one in so many is not believed alone: it may agree by chance. Free choices."""


class Around:
    """What is near a pose; all of it from one pass over the pairs, or two."""

    def __init__(self, pairs: Pairs, pose: Pose, share: float = 1.0) -> None:
        """`share` is that of the pairs near the pose that are among `pairs`, when not all of them are."""
        self.pairs, self.pose, self.share = pairs, pose, share

    @cached_property
    def _wide(self) -> NDArray[np.int64]:
        return near_rows(self.pairs, self.pose, REACH)

    @cached_property
    def inside(self) -> NDArray[np.int64]:
        """Pairs within their noise bounds."""
        if 4 * len(self._wide) > len(self.pairs):
            return near_rows(self.pairs, self.pose)
        return self._wide[near_rows(self.pairs.take(self._wide), self.pose)]

    @property
    def rmse(self) -> float:
        """Root mean square of the residuals within noise bounds; NaN without any."""
        total = 0.0
        for first in range(0, len(self.inside), LARGEST):
            some = residuals(self.pairs.take(self.inside[first : first + LARGEST]), self.pose)
            total += float(some @ some)
        return math.sqrt(total / len(self.inside)) if len(self.inside) else math.nan

    @cached_property
    def near(self) -> Near:
        """Those of them that count, or some of very many."""
        rows = self._counting(self.inside)
        some = rows[spread_rows(len(rows), LARGEST)]
        return Near.of(self.pairs.take(some), self.pose, self.share * len(some) / max(1, len(rows)))

    @cached_property
    def noise(self) -> Noise:
        rows = self._counting(self._wide)
        around = self.pairs.take(rows[spread_rows(len(rows), SAMPLE)])
        with np.errstate(all="ignore"):
            squares = residuals(around, self.pose) ** 2 / around.xi**2
            return fit_noise(squares, np.broadcast_to(around.xi, len(around)), REACH, axes_of(self.pairs))

    @cached_property
    def on_a_line(self) -> bool:
        """Whether those that agree are, up to their noise, so that a turn about it stays open."""
        return self._thin(self.near)

    @property
    def is_long(self) -> bool:
        """Whether those that agree are spread along one axis, not all in one place as noisy as they are."""
        return self.near.length >= LONG * self.near.breadth

    def all_on_a_line(self, pairs: Pairs) -> bool:
        """Whether other pairs are: all of them, not only those that agree."""
        every = Near.of(pairs, self.pose, 1.0)
        # Where all is smaller than the noise there is no line either.
        return len(self.near.x) > 0 and every.length > self._noise_breadth and self._thin(every)

    def _thin(self, some: Near) -> bool:
        return some.breadth <= max(self._noise_breadth, FLAT * some.length)

    @property
    def _noise_breadth(self) -> float:
        return BREADTH * median(self.near.spread(self.noise))

    def _counting(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Without those of no weight, and those with no noise bound."""
        counts = (take(self.pairs.xi, rows) > 0.0) & (take(self.pairs.w, rows) > 0.0)
        return rows if counts.all() else rows[np.broadcast_to(counts, len(rows))]


class Near(NamedTuple):
    """The pairs that agree with a pose."""

    x: FloatArray
    """Source points around their centre."""
    r: FloatArray
    """Residuals, in the axes of the target."""
    xi: FloatArray
    w: FloatArray
    centre: FloatArray
    rotation: FloatArray
    least: float
    """What rounding of the coordinates does to a residual."""
    share: float
    """Of all that agree."""

    @classmethod
    def of(cls, pairs: Pairs, pose: Pose, share: float) -> Near:
        count = len(pairs)
        centre = pairs.x.sum(axis=0) / max(1, count)
        r = pairs.y - pose.apply(pairs.x)
        xi, w = (np.broadcast_to(values, count).astype(np.float64) for values in (pairs.xi, pairs.w))
        size = max(np.abs(pairs.x).max(initial=0.0), np.abs(pairs.y).max(initial=0.0), *_given(pairs.frame))
        least = float(np.finfo(np.float64).eps * size)
        return cls(pairs.x - centre, r, xi, w, centre, pose.rotation, least, share)

    @property
    def squares(self) -> FloatArray:
        return np.einsum("ij,ij->i", self.r, self.r)

    @property
    def breadth(self) -> float:
        """Root mean square distance of the points from the nearest plane along their main axis: 0 on a line.

        Without the few that are farthest from it.
        """
        x = self.x
        few = len(x) // STRAY
        if few:
            axis = np.linalg.eigh(x.T @ x)[1][:, 2]
            off = x - np.outer(x @ axis, axis)
            x = x[np.argpartition(np.einsum("ij,ij->i", off, off), len(x) - few)[:-few]]
            x = x - x.mean(axis=0)
        return max(0.0, float(np.linalg.eigvalsh(x.T @ x / len(x))[1])) ** 0.5

    @property
    def length(self) -> float:
        """Root mean square distance of the points from their centre."""
        return float(np.sqrt(np.einsum("ij,ij->", self.x, self.x) / max(1, len(self.x))))

    def spread(self, noise: Noise) -> FloatArray:
        """Standard deviations of the residuals along an axis."""
        return np.maximum(noise.scale * self.xi, self.least)

    def gradients(self, loss: Loss) -> FloatArray:
        """Of the savings of the pairs, with respect to (ω, v)."""
        inside = np.abs(self.r).sum(axis=1) < self.xi if loss.code == TEAR else np.ones(len(self.r), bool)
        psi = (np.sign(self.r) if loss.code == TEAR else self.r) * (self.w * inside)[:, None] @ self.rotation
        (a, b, c), (p, q, r) = self.x.T, psi.T
        return np.stack((b * r - c * q, c * p - a * r, a * q - b * p, p, q, r), axis=1)

    def information(self, weights: FloatArray) -> FloatArray:
        """Σ weight·Jᵀ J of (ω, v)."""
        x = self.x
        out = np.zeros((6, 6))
        moment = (weights[:, None] * x).T @ x
        out[:3, :3] = np.trace(moment) * np.eye(3) - moment
        out[:3, 3:] = cross_matrix(weights @ x)
        out[3:, :3] = out[:3, 3:].T
        out[3:, 3:] = np.sum(weights) * np.eye(3)
        return out


def _given(frame: Frame) -> tuple[float, float]:
    """How far off the clouds lie in the coordinates given, in units of those inside."""
    return float(np.abs(frame.source).max() / frame.unit), float(np.abs(frame.target).max() / frame.unit)
