"""The noise bound of what `register` was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tear3d.noise.estimate import ladder_of, least_bound
from tear3d.noise.settle import Settled, settle
from tear3d.problem.arrays import FloatArray, Points, as_points, spread_rows, stored_as
from tear3d.problem.digits import least_length
from tear3d.problem.limits import Limits
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs

SAMPLE = 10_000
"""Points that tell how large a cloud is; free choice."""


def settled_noise(
    given: tuple[Points, Points],
    options: Options,
    limits: Limits,
    with_bound: Callable[[float], Pairs],
) -> Settled:
    """The noise bound of some pairs, and what a search finds with it; an InputError for what are no pairs.

    Parameters
    ----------
    given : source, target
    options, limits
    with_bound : callable
        Makes the pairs of the problem with a noise bound in the units of the target.
    """
    factor = 1.0 if options.scale is None else options.scale.applied
    sides = [as_points(given[0], "source"), as_points(given[1], "target")]
    samples = [points[spread_rows(len(points), SAMPLE)] for points in sides]
    samples[0] = factor * samples[0]
    # The largest bound that is looked at, or more: what may be set aside with it may be with all smaller ones.
    pairs = with_bound(max(map(_size, samples)))
    held = zip(samples, given, strict=True)
    rounding = max(least_length(sample, stored_as(side)) for sample, side in held)
    if options.scale is not None and options.scale.only:
        options = replace(options, scale=None)
    return settle(ladder_of(pairs, options, limits, least_bound(pairs, rounding)), with_bound)


def _size(points: FloatArray) -> float:
    """Of a cloud; never 0."""
    away = np.abs(points - np.median(points, axis=0)).max(axis=1) if len(points) else np.zeros(1)
    return float(np.median(away)) or float(away.max()) or 1.0
