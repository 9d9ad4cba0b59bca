"""How large a cloud is, whatever a few stray points say; and what follows for which pairs can be used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray

SAMPLE = 10_000
FLAT = 1e-7
"""Points whose spread across their main axis is below this share of the spread along it are collinear."""
FAR = 1e4
"""Points this many times farther from the middle than nine in ten of the others are stray (free choice: setting pairs
aside is exact, not setting them aside costs digits and speed only)."""
ROUNDING = 2.0**-44
"""Noise bounds below this share of the size of the cloud drown in the rounding of residuals, some twenty units of
2⁻⁵³ of the coordinates, times a reserve of 2⁴."""


class Crowd(NamedTuple):
    """A cloud and what is known of it from a sample without its stray points."""

    points: FloatArray
    """All of them."""
    sample: FloatArray
    middle: FloatArray
    radius: float
    """The sample lies within this of the middle, along any axis."""
    largest: float
    """The largest coordinate in the sample."""
    reach: float
    """Points farther from the middle than this, along any axis, are stray."""

    @classmethod
    def of(cls, points: FloatArray, usable: NDArray[np.bool_] | None) -> Crowd:
        given = points if usable is None else points[usable]
        sample = given[:: max(1, len(given) // SAMPLE)]
        middle = np.median(sample, axis=0)
        away = _away(sample, middle)
        usual = float(np.quantile(away, 0.9))
        reach = FAR * usual if usual > 0.0 else np.inf
        near = away <= reach
        kept = sample if near.all() else sample[near]
        return cls(given, kept, middle, float(away[near].max()), float(np.abs(kept).max()), reach)

    def strays(self, points: FloatArray) -> bool:
        """Whether there may be any among these points (which takes a pass or two to tell)."""
        largest = max(float(points.max()), -float(points.min()))
        return not largest + float(np.abs(self.middle).max()) <= self.reach


def check_spread(crowd: Crowd, name: str) -> None:
    """Refuse points that coincide or lie on one line."""
    points = crowd.sample
    if _flat(crowd, points) and len(points) < len(crowd.points):
        points = crowd.points[_away(crowd.points, crowd.middle) <= crowd.reach]
    if not _flat(crowd, points):
        return
    if np.abs(points - crowd.middle).max() <= 1e-12 * crowd.largest:
        raise InputError(f"all {name} points coincide: a rotation needs points in different places")
    raise InputError(f"all {name} points lie on one line: the rotation about it cannot be found")


def _flat(crowd: Crowd, points: FloatArray) -> bool:
    centred = points - points.mean(axis=0)
    size = float(np.abs(centred).max())
    if size <= 1e-12 * crowd.largest:
        return True
    centred /= size
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(centred.T @ centred / len(centred)), 0.0))
    return bool(spread[1] <= max(FLAT * spread[2], 1e-12 * crowd.largest / size))


def check_noise_bound(xi: FloatArray, crowds: tuple[Crowd, Crowd]) -> None:
    """Refuse a noise bound that the rounding of the coordinates exceeds."""
    typical = float(np.median(xi[xi > 0.0]))
    size = max(crowd.radius for crowd in crowds)
    spacing = max(float(np.spacing(crowd.largest)) for crowd in crowds)
    least = max(ROUNDING * size, spacing)
    if typical < least:
        raise InputError(
            f"noise_bound is {typical:g}: smaller than what float64 can tell apart at points of this size; "
            f"expected at least {least:.2g}"
        )


def set_aside(x: FloatArray, y: FloatArray, xi: FloatArray, crowds: tuple[Crowd, Crowd]) -> NDArray[np.bool_] | None:
    """Which pairs to leave out of the search, or None; mathematics.md, section 1.4.

    A pair whose points lie at so different distances from the middles that a pose which it agrees with is one that no
    other pair agrees with. Stray pairs that are not like that are kept if the digits suffice, else refused.
    """
    source, target = crowds
    if not source.strays(x) and not target.strays(y):
        return None
    away_x, away_y = _away(x, source.middle), _away(y, target.middle)
    stray = (away_x > source.reach) | (away_y > target.reach)
    if not stray.any():
        return None
    radii = float(away_x[~stray].max()) + float(away_y[~stray].max())
    # Lengths between |·|_∞ and √3·|·|_∞; a motion that brings two of the others together moves the middle by `others`.
    others = np.sqrt(3.0) * radii + float(np.max(np.where(stray, 0.0, xi)))
    longer, shorter = np.maximum(away_x, away_y), np.minimum(away_x, away_y)
    apart = stray & (longer - np.sqrt(3.0) * shorter > (others + xi) * (1.0 + 1e-9))
    kept = stray & ~apart
    if kept.any():
        row = int(np.argmax(np.where(kept, longer, 0.0)))
        typical = float(np.median(xi[xi > 0.0]))
        if 2.0**-50 * longer[row] > 0.01 * typical:
            raise InputError(
                f"source and target, row {row}: {longer[row]:.2g} away from the other points; at that distance float64 "
                f"cannot tell {typical:g} (noise_bound) apart: remove the pair"
            )
    return apart if apart.any() else None


def _away(points: FloatArray, middle: FloatArray) -> FloatArray:
    """How far from the middle each point is, along any axis."""
    return np.asarray(np.abs(points - middle).max(axis=1))
