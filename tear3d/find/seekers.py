"""How a search seeks poses around pivots: freely, or where only some poses are allowed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.find.pivots import Aim, search_pivots
from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import Loss
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import shortest_turn

TOLERANCE = 0.5
"""Share of ξ_i + ξ_j by which lengths may differ: keeps nearly all inlier pairs, halves chance."""
PRUNE = 0.6
FINE = 1e-4
"""Noise bounds below this share of the cloud's size need lengths in float64: float32 resolves 10⁻⁷ of it, ..."""
COARSE = 1e8
"""... and so do larger coordinates: their fourth powers exceed float32."""
STEEP = math.radians(20.0)
"""Axes that may be off by more than this are of no use to a search around pivots (free choice)."""
ROUNDED = 1e-7
"""Radians by which an angle from its cosine may be off."""
OUTSIDE = 3.0
"""A pose is given up when the nearest that is allowed moves the cloud by more noise bounds than this (free choice)."""


@dataclass(frozen=True)
class Round:
    """Which pivots to try on how many pairs, and how far from the pivot to look."""

    pairs: int
    pivots: int
    reach: float
    """In noise bounds; infinite for the whole sample."""


class Span(NamedTuple):
    """Pivots first..last−1, and the support that a pose needs to be looked at."""

    first: int
    last: int
    floor: float


def plan(n: int) -> Iterator[Round]:
    """Small samples first; local rounds find a consensus confined to a small overlap."""
    size = 512
    while size < n:
        yield Round(size, size, np.inf)
        if size > 512:
            yield Round(size, size // 2, 12.0)
            yield Round(size, size // 2, 6.0)
        size *= 4
    yield Round(n, n, 6.0)
    yield Round(n, n, 12.0)
    yield Round(n, n, np.inf)


def sample_rows(pairs: Pairs, size: int) -> NDArray[np.floating[Any]]:
    """The first `size` pairs as the kernel wants them; padding is far from everything."""
    largest = max(float(np.abs(pairs.x).max()), float(np.abs(pairs.y).max()))
    single = pairs.typical_bound >= FINE and max(largest, float(pairs.xi.max())) <= COARSE
    dtype = np.float32 if single else np.float64
    rows = np.empty((7, -(-size // 8) * 8), dtype=dtype)
    rows[:3], rows[3:6], rows[6] = 1e8, -1e9, 1e-6
    rows[:3, :size], rows[3:6, :size], rows[6, :size] = pairs.x[:size].T, pairs.y[:size].T, pairs.xi[:size]
    return rows


class Free:
    """Among all poses."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def plan(self, n: int) -> Iterator[Round]:
        return plan(n)

    def rows(self, size: int) -> NDArray[np.floating[Any]]:
        return sample_rows(self.pairs, size)

    def aim(self, loss: Loss, reach: float) -> Any:
        return Aim(loss.code, TOLERANCE, reach * self.pairs.typical_bound, PRUNE)

    def search(self, rows: NDArray[Any], aim: Any, span: Span, poses: FloatArray, scores: FloatArray) -> float:
        """Write the best pose around each pivot and its score; returns the floor as it rose."""
        return float(search_pivots(rows, aim, *span, poses, scores))


class Within(Free):
    """Among the poses that a prior allows, by looking at all."""

    def __init__(self, pairs: Pairs, prior: Prior) -> None:
        super().__init__(pairs)
        self.prior = prior
        self.radius = float(np.sqrt(np.mean(np.sum(pairs.x**2, axis=1))))

    def aim(self, loss: Loss, reach: float) -> Any:
        return super().aim(loss, reach)._replace(prune=0.0)  # the best of all may not be allowed

    def search(self, rows: NDArray[Any], aim: Any, span: Span, poses: FloatArray, scores: FloatArray) -> float:
        floor = super().search(rows, aim, span, poses, scores)
        most = OUTSIDE * self.pairs.typical_bound
        found = np.flatnonzero(scores > 0.0)
        far = self.least_distances(poses[found]) > most
        scores[found[far]] = 0.0
        for k in found[~far]:
            pose = Pose.from_row(poses[k])
            if pose.distance(self.pairs.allow(pose), self.radius) > most:
                scores[k] = 0.0
        return floor

    def least_distances(self, poses: FloatArray) -> FloatArray:
        """How far poses, as rows, are from any that is allowed, at least, as `Pose.distance` has it."""
        prior, turns = self.prior, poses[:, :9].reshape(-1, 3, 3)
        least = np.zeros(len(poses))
        if prior.rotation is not None:
            angles = _angles(0.5 * (np.einsum("nij,ij->n", turns, prior.rotation) - 1.0))
            least = self._moved(angles - prior.turn)
        if prior.axis is not None:
            angles = _angles(turns @ prior.source_axis @ prior.axis)
            least = np.maximum(least, self._moved(angles - prior.tilt))
        # A turn moves the point by so many times as much as the rim of the cloud.
        lever = max(1.0, float(np.linalg.norm(prior.point)) / self.radius) if self.radius > 0.0 else math.inf
        away = turns @ prior.point + poses[:, 9:] - prior.place
        least = np.maximum(least, (np.linalg.norm(away, axis=1) - prior.distance) / lever)
        if prior.axis is not None:
            least = np.maximum(least, (np.abs(away @ prior.axis) - prior.slide) / lever)
        return np.asarray(least)

    def _moved(self, excess: FloatArray) -> FloatArray:
        """How far a turn by at least so much moves a point at the rim."""
        return 2.0 * np.sin(0.5 * np.clip(excess, 0.0, math.pi)) * self.radius


def _angles(cosines: FloatArray) -> FloatArray:
    """Of cosines with a rounding, surely not too large."""
    return np.asarray(np.arccos(np.clip(cosines, -1.0, 1.0)) - ROUNDED)


class Upright(Free):
    """Among turns about an axis that is known, perhaps not exactly, or among shifts alone.

    Two pairs are enough for a pose, or one: heights must agree, too, and the pose is where most angles do.
    """

    def __init__(self, pairs: Pairs, prior: Prior) -> None:
        super().__init__(pairs)
        axis = np.array([0.0, 0.0, 1.0])
        if prior.fixed:
            assert prior.rotation is not None
            self.before, self.after, self.tilt = prior.rotation, np.eye(3), -1.0
        else:
            assert prior.axis is not None
            self.before = shortest_turn(prior.source_axis, axis)
            self.after = shortest_turn(axis, prior.axis)
            self.tilt = prior.tilt

    def plan(self, n: int) -> Iterator[Round]:
        size = 512
        while size < n:
            yield Round(size, size, np.inf)
            size *= 4
        yield Round(n, n, np.inf)

    def rows(self, size: int) -> NDArray[np.floating[Any]]:
        out = super().rows(size)
        out[:3, :size] = self.before @ self.pairs.x[:size].T
        out[3:6, :size] = self.after.T @ self.pairs.y[:size].T
        return out

    def aim(self, loss: Loss, reach: float) -> Any:
        from tear3d.find.upright import UprightAim  # others do without its kernels

        lean = 2.0 * math.sin(0.5 * max(self.tilt, 0.0))
        return UprightAim(loss.code, TOLERANCE, lean, PRUNE, self.tilt < 0.0)

    def search(self, rows: NDArray[Any], aim: Any, span: Span, poses: FloatArray, scores: FloatArray) -> float:
        from tear3d.find.upright import search_upright

        floor = float(search_upright(rows, aim, *span, poses, scores))
        found = scores > 0.0
        turns = self.after @ poses[found, :9].reshape(-1, 3, 3) @ self.before
        poses[found] = np.column_stack([turns.reshape(-1, 9), poses[found, 9:] @ self.after.T])
        return floor


def by_heights(prior: Prior | None) -> bool:
    """Whether poses are sought by heights and angles, or by shifts."""
    return prior is not None and (prior.fixed or (prior.axis is not None and prior.tilt <= STEEP))


def seeker_for(pairs: Pairs) -> Free:
    """How poses of these pairs are sought."""
    prior = pairs.prior
    if prior is None:
        return Free(pairs)
    if by_heights(prior):
        return Upright(pairs, prior)
    return Within(pairs, prior)
