"""The pairs of one problem: validated once, here, and carrying the frame they are in.

Inside, coordinates are centred, and scaled when their size is out of the ordinary: a registration problem has no units.
Weights are relative to a power of two near the largest. `Frame` knows the way back. A saving belongs to the `Pairs` it
was computed from: with source and target swapped, or in other axes, it is another number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import (
    LARGEST,
    FloatArray,
    Numbers,
    Points,
    Summary,
    as_numbers,
    as_points,
    check_finite,
    covariance_of,
    spread_rows,
    stored_as,
)
from tear3d.problem.digits import check_lost_digits
from tear3d.problem.frame import Block, Frame
from tear3d.problem.losses import Loss
from tear3d.problem.pose import Pose
from tear3d.problem.possible import possible
from tear3d.problem.prior import Prior
from tear3d.problem.ranks import typical
from tear3d.problem.sizes import Crowd, Given, check_digits, check_noise_bound, check_spread, set_aside

COPY_LIMIT = 200_000
"""More pairs than this are not copied to be centred, ... (memory; free choice)"""
FAR_OFF = 1e3
"""... unless they lie this far off, in spreads: then centring saves digits."""
PLAIN = 2.0**40
"""Clouds of a size between 1/PLAIN and PLAIN are left in their units: float32 holds their products easily."""
SAMPLE = 100_000
"""Statistics come from about so many pairs."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs x_i, y_i with noise bounds ξ_i and weights w_i. `xi` and `w` have one entry per pair, or one for all."""

    x: FloatArray
    y: FloatArray
    xi: FloatArray
    w: FloatArray
    frame: Frame
    x_mean: FloatArray
    """What is left of the mean of x: zero unless the pairs are too many to copy."""
    y_mean: FloatArray
    rows: NDArray[np.int64] | None = None
    """Rows of the input that these pairs are, when some were set aside."""
    num_given: int = 0
    aside: tuple[FloatArray, FloatArray] = (np.empty(0), np.empty(0))
    """ξ and w of the pairs set aside: they agree with no pose that any other pair agrees with."""
    prior: Prior | None = None
    """The poses that are allowed, in the coordinates of x and y; None for all."""

    @classmethod
    def of(
        cls,
        source: Points,
        target: Points,
        noise_bound: Numbers,
        weights: Numbers | None = None,
        *,
        factor: float = 1.0,
        scales: tuple[float, float] = (1.0, 1.0),
    ) -> Pairs:
        """Checked pairs, or an InputError that says what is wrong and what is expected.

        The source is multiplied with `factor`; `scales` are the least and the largest that a pose may have after that.
        """
        x, y = (as_points(obj, name, finite=False) for obj, name in ((source, "source"), (target, "target")))
        x = x if factor == 1.0 else factor * x
        if len(x) != len(y):
            raise InputError(
                f"source has {len(x)} points and target {len(y)}: row i of one must be matched to row i of the other"
            )
        if len(x) < 3:
            raise InputError(f"source has {len(x)} points: a pose needs at least 3 pairs")
        summaries = Summary.of(x), Summary.of(y)
        for points, summary, name in zip((x, y), summaries, ("source", "target"), strict=True):
            if not summary.largest <= LARGEST:
                check_finite(points, name)
        xi = _shared(as_numbers(noise_bound, "noise_bound", len(x)))
        if xi.size == 1 and xi[0] == 0.0:
            raise InputError("noise_bound is 0: expected a positive number in the units of the points")
        w, weight = _relative(np.ones(1) if weights is None else _shared(as_numbers(weights, "weights", len(x))))
        usable = (xi > 0.0) & (w > 0.0)
        if np.count_nonzero(np.broadcast_to(usable, len(x))) < 3:
            raise InputError(
                f"only {np.count_nonzero(np.broadcast_to(usable, len(x)))} pairs have a positive weight and noise "
                "bound: expected at least 3"
            )
        every = None if usable.all() else np.broadcast_to(usable, len(x))
        crowds = Crowd.of(x, every, summaries[0].largest), Crowd.of(y, every, summaries[1].largest)
        usual = typical(xi)
        for crowd, obj, name in zip(crowds, (source, target), ("source", "target"), strict=True):
            check_lost_digits(crowd.sample, stored_as(obj), name, usual, "noise bound")
            check_spread(crowd, name)
        check_noise_bound(xi, crowds)
        given = Given(x, y, xi, usable)
        far = set_aside(given, crowds, scales)
        check_digits(given, crowds, far)
        everything = Block(slice(0, len(x)), x, y, xi, w)
        if far is None:
            return _framed(everything, weight, crowds, (summaries[0].mean, summaries[1].mean))
        rows = np.flatnonzero(~far)
        aside = np.broadcast_to(xi, len(x))[far], np.broadcast_to(w, len(x))[far]
        del x, y, given, crowds  # the kept are copies
        kept = Block(slice(0, len(rows)), *(take(values, rows) for values in everything[1:]))
        usable = (kept.xi > 0.0) & (kept.w > 0.0)
        some = None if usable.all() else np.broadcast_to(usable, len(rows))
        crowds = Crowd.of(kept.x, some), Crowd.of(kept.y, some)
        for crowd, name in zip(crowds, ("source", "target"), strict=True):
            check_spread(crowd, name)
        means = Summary.of(kept.x).mean, Summary.of(kept.y).mean
        return _framed(kept, weight, crowds, means, Aside(rows, len(far), aside))

    def __len__(self) -> int:
        return len(self.x)

    def confined(self, prior: Prior | None) -> Pairs:
        """The same pairs, for poses that are allowed by a prior in the coordinates given."""
        frame = self.frame
        return self if prior is None else replace(self, prior=prior.between(frame.source, frame.target, frame.unit))

    def allow(self, pose: Pose) -> Pose:
        """An allowed pose near another, which is that one unless there is a prior."""
        if self.prior is None:
            return pose
        return self.prior.nearest(pose, self.x_mean, self.radius)

    def blocks(self, size: int = 500_000) -> Iterator[Block]:
        """The pairs in pieces, in order: for data that is looked at a piece at a time."""
        for begin in range(0, len(self), size):
            rows = slice(begin, min(begin + size, len(self)))
            yield Block(rows, self.x[rows], self.y[rows], take(self.xi, rows), take(self.w, rows))

    def take(self, index: NDArray[np.int64] | slice) -> Pairs:
        """Some of the pairs, in the same frame."""
        return replace(
            self,
            x=some(self.x, index),
            y=some(self.y, index),
            xi=take(self.xi, index),
            w=take(self.w, index),
            rows=None,
        )

    @cached_property
    def possible(self) -> NDArray[np.bool_] | None:
        """Which pairs can agree with a pose that is allowed, as far as each tells alone; None when all are."""
        if self.prior is None or min(self.prior.distance, self.prior.slide) == math.inf:
            return None
        return possible(self.prior, self.x, self.y, self.xi)

    @cached_property
    def swapped(self) -> Pairs:
        """The same pairs with source and target in each other's role: another problem, with the inverse poses."""
        return replace(self, x=self.y, y=self.x, x_mean=self.y_mean, y_mean=self.x_mean, frame=self.frame.swapped)

    @cached_property
    def columns(self) -> FloatArray:
        """x, y and ξ once more, as seven rows: what kernels go through fastest."""
        out = np.empty((7, len(self)))
        out[:3], out[3:6], out[6] = self.x.T, self.y.T, self.xi
        return out

    @cached_property
    def sample(self) -> slice | NDArray[np.int64]:
        """About SAMPLE pairs, evenly."""
        return spread_rows(len(self), SAMPLE)

    @cached_property
    def source_covariance(self) -> FloatArray:
        return covariance_of(self.x[self.sample])

    @cached_property
    def target_covariance(self) -> FloatArray:
        return covariance_of(self.y[self.sample])

    @property
    def radius(self) -> float:
        """Root mean square distance of x from its mean."""
        return math.sqrt(float(np.trace(self.source_covariance)))

    @cached_property
    def typical_bound(self) -> float:
        """The median of the positive noise bounds."""
        return typical(self.xi)

    @property
    def given_bound(self) -> float | dict[str, float]:
        """The noise bound as it was given: a number, or the lowest and the highest."""
        bounds = self.frame.unit * np.concatenate([self.xi, self.aside[0]])
        low, high = float(bounds.min()), float(bounds.max())
        return low if low == high else {"lowest": low, "highest": high}

    def total(self, loss: Loss) -> float:
        """Σ w·cap: the objective when every pair is an outlier, those set aside included."""
        return _sum(self.w * loss.caps(self.xi), len(self)) + self.aside_total(loss)

    def check_range(self, loss: Loss) -> None:
        """Refuse pairs whose objective, in the units given, float64 cannot hold."""
        with np.errstate(over="ignore", under="ignore"):
            given = np.float64(self.frame.weight) * np.float64(self.frame.unit) ** loss.power * self.total(loss)
        if not 1e-300 < given < 1e300:
            raise InputError(
                f"noise_bound and weights: the {loss.name} objective of these pairs is of the order of {given:.2g}, "
                "which float64 cannot hold exactly; use another unit of length or other weights"
            )

    def aside_total(self, loss: Loss) -> float:
        """The most that a pose can save which none but the pairs set aside agree with."""
        xi, w = self.aside
        return float(np.sum(w * loss.caps(xi)))

    def mask(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Some of these pairs as a mask of the pairs given."""
        out = np.zeros(self.num_given, bool)
        out[rows if self.rows is None else self.rows[rows]] = True
        return out


def take(values: FloatArray, index: NDArray[np.integer[Any]] | NDArray[np.bool_] | slice) -> FloatArray:
    """`values[index]`, for values of which there may be one for all."""
    return values if len(values) == 1 else some(values, index)


def some(values: FloatArray, index: NDArray[np.integer[Any]] | NDArray[np.bool_] | slice) -> FloatArray:
    """`values[index]`, which for points by their row numbers is slow."""
    if isinstance(index, slice) or index.dtype == np.bool_:
        return values[index]
    return values.take(index, axis=0)


def _shared(values: FloatArray) -> FloatArray:
    """One value when all are equal."""
    return values[:1] if values.size > 1 and np.all(values == values[0]) else values


def _relative(w: FloatArray) -> tuple[FloatArray, float]:
    """Weights divided by a power of two near the largest, and that power: no product of theirs overflows."""
    largest = float(w.max())
    if largest == 0.0:
        raise InputError("weights are all 0: expected at least 3 positive ones")
    if largest < 1e-150:
        raise InputError(f"weights go up to {largest:g} only: scale them, only their ratios count")
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return (w, 1.0) if unit == 1.0 else (w / unit, unit)


class Aside(NamedTuple):
    """Which pairs were not set aside, of how many; and ξ and w of those that were."""

    rows: NDArray[np.int64] | None
    num_given: int
    bounds_and_weights: tuple[FloatArray, FloatArray] = (np.empty(0), np.empty(0))


def _framed(
    kept: Block,
    weight: float,
    crowds: tuple[Crowd, Crowd],
    means: tuple[FloatArray, FloatArray],
    apart: Aside | None = None,
) -> Pairs:
    """Centre, and scale if need be."""
    _, x, y, xi, w = kept
    rows, num_given, aside = apart or Aside(None, len(x))
    size = max(crowd.widest for crowd in crowds)
    unit = 1.0 if 1.0 / PLAIN <= size <= PLAIN else math.ldexp(1.0, math.frexp(size)[1])
    zero = np.zeros(3)
    away = max(float(np.abs(mean).max()) / max(crowd.widest, 1e-300) for mean, crowd in zip(means, crowds, strict=True))
    if len(x) > COPY_LIMIT and unit == 1.0 and away <= FAR_OFF:
        return Pairs(x, y, xi, w, Frame(zero, zero, 1.0, weight), *means, rows, num_given, aside)
    x, y = x - means[0], y - means[1]
    if unit != 1.0:
        x, y, xi, aside = x / unit, y / unit, xi / unit, (aside[0] / unit, aside[1])
    return Pairs(x, y, xi, w, Frame(*means, unit, weight), zero, zero, rows, num_given, aside)


def _sum(product: FloatArray, n: int) -> float:
    return float(product[0]) * n if product.size == 1 else float(product.sum())
