"""The noise bound of what `register` was given."""

from __future__ import annotations

import numpy as np

from tear3d.noise.estimate import ladder_of, least_bound
from tear3d.noise.settle import Settled, settle
from tear3d.problem.arrays import FloatArray, Numbers, Points, as_points, spread_rows, stored_as
from tear3d.problem.digits import least_length
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs

SAMPLE = 10_000
"""Points that tell how large a cloud is; free choice."""


def settled_noise(source: Points, target: Points, weights: Numbers | None, options: Options, limits: Limits) -> Settled:
    """The noise bound of some pairs, and what a search finds with it; an InputError for what are no pairs."""
    sides = [as_points(source, "source"), as_points(target, "target")]
    samples = [points[spread_rows(len(points), SAMPLE)] for points in sides]
    # The largest bound that is looked at, or more: what may be set aside with it may be with all smaller ones.
    pairs = Pairs.of(source, target, max(map(_size, samples)), weights).confined(options.prior)
    held = zip(samples, (source, target), strict=True)
    rounding = max(least_length(sample, stored_as(given)) for sample, given in held)
    ladder = ladder_of(pairs, options, limits, least_bound(pairs, rounding))
    return settle(ladder, lambda bound: Pairs.of(source, target, bound, weights).confined(options.prior))


def _size(points: FloatArray) -> float:
    """Of a cloud; never 0."""
    away = np.abs(points - np.median(points, axis=0)).max(axis=1) if len(points) else np.zeros(1)
    return float(np.median(away)) or float(away.max()) or 1.0
