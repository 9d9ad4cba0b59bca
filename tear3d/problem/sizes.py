"""How large a cloud is, whatever a few stray points say; and what follows for which pairs can be used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import CollapsedError, InputError
from tear3d.problem.arrays import FloatArray, Summary, spread_rows
from tear3d.problem.ranks import medians, nine_tenths, typical

SAMPLE = 10_000
FAR = 1e4
"""Points this many times farther from the middle than nine in ten of the others are stray (free choice: setting pairs
aside is exact, not setting them aside costs digits and speed only)."""
ROUNDING = 2.0**-43
"""Noise bounds below this share of the size of the cloud drown in the rounding of residuals: some ten to twenty units
of 2⁻⁵³ of the coordinates, and a hundredth of the noise bound should still be told apart."""
LARGEST_BOUND = 1e12
"""Noise bounds beyond so many sizes of the cloud leave no digits for the savings of the other pairs."""


class Given(NamedTuple):
    """The pairs before anything was done to them."""

    x: FloatArray
    y: FloatArray
    xi: FloatArray
    usable: NDArray[np.bool_]
    """Which have a positive noise bound and weight; one entry per pair or for all, as `xi`."""


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
    widest: float
    """As `radius`, with the stray points of the sample."""
    farthest: float
    """No point at all is farther from the middle, along any axis; cheap, not tight."""

    @classmethod
    def of(cls, points: FloatArray, usable: NDArray[np.bool_] | None, largest: float | None = None) -> Crowd:
        """From points, which of them to look at, and the largest coordinate of all if it is known."""
        given = points if usable is None else points[usable]
        sample = np.asfortranarray(given[spread_rows(len(given), SAMPLE)])  # columns are what is looked at
        middle = medians(sample)
        away = _away(sample, middle)
        usual = nine_tenths(away)
        reach = FAR * usual if usual > 0.0 else np.inf
        near = away <= reach
        every = bool(near.all())
        kept = sample if every else sample[near]
        widest = float(away.max())
        largest = Summary.of(points).largest if largest is None else largest
        farthest = largest + float(np.abs(middle).max())
        return cls(
            points=given,
            sample=kept,
            middle=middle,
            radius=widest if every else float(away[near].max()),
            largest=float(np.abs(kept).max()),
            reach=reach,
            widest=widest,
            farthest=farthest,
        )


def check_spread(crowd: Crowd, name: str) -> None:
    """Refuse points that coincide; those on a line leave a turn free, which is said of the pose that is found."""
    points = crowd.sample
    if not _in_one_place(crowd, points):
        return
    if len(points) < len(crowd.points):
        points = crowd.points[_away(crowd.points, crowd.middle) <= crowd.reach]
        if not _in_one_place(crowd, points):
            return
    raise CollapsedError(f"all {name} points coincide: a rotation needs points in different places", name)


def _in_one_place(crowd: Crowd, points: FloatArray) -> bool:
    return bool(np.abs(points - points.mean(axis=0)).max() <= 1e-12 * crowd.largest)


def check_noise_bound(xi: FloatArray, crowds: tuple[Crowd, Crowd]) -> None:
    """Refuse noise bounds that the spacing of the coordinates exceeds, or that exceed the clouds beyond measure."""
    usual = typical(xi)
    spacing = max(float(np.spacing(crowd.largest)) for crowd in crowds)
    if usual < spacing:
        raise InputError(
            f"noise_bound is {usual:g}: float64 coordinates of this size are {spacing:.2g} apart; "
            "expected more than that, or coordinates nearer to the origin"
        )
    most = LARGEST_BOUND * max(crowd.radius for crowd in crowds)
    if xi.max() > most:
        raise InputError(
            f"noise_bound is {xi.max():g} (entry {int(np.argmax(xi))}), {LARGEST_BOUND:g} times the size of the "
            f"clouds and more: expected less than {most:.2g}; a pair that may be anywhere says nothing, leave it out"
        )


def set_aside(
    pairs: Given, crowds: tuple[Crowd, Crowd], scales: tuple[float, float] = (1.0, 1.0)
) -> NDArray[np.bool_] | None:
    """Which pairs to leave out of the search, or None; mathematics.md, section 1.5.

    Stray pairs that can save nothing, and those whose points lie at so different distances from the middles that a pose
    which they agree with is one that no other pair agrees with.
    """
    x, y, xi, usable = pairs
    source, target = crowds
    if source.farthest <= source.reach and target.farthest <= target.reach:
        return None
    away_x, away_y = _away(x, source.middle), _away(y, target.middle)
    stray = (away_x > source.reach) | (away_y > target.reach)
    if not stray.any() or np.count_nonzero(~stray) < 3:
        return None
    low, high = scales
    # Lengths lie between |·|_∞ and √3·|·|_∞: what the two of a pair differ by, at least, at any scale.
    differ = np.maximum(low * away_x - np.sqrt(3.0) * away_y, away_y - np.sqrt(3.0) * high * away_x)
    apart, before = stray, ~stray
    while not np.array_equal(apart, before):  # stray pairs that must be kept are among the others, too
        before, kept = apart, ~apart
        radii = high * float(away_x[kept].max()) + float(away_y[kept].max())
        # A pose that one of the kept agrees with moves the middle by `others`.
        others = np.sqrt(3.0) * radii + float(np.max(np.where(apart, 0.0, xi)))
        apart = apart & ((differ > (others + xi) * (1.0 + 1e-9)) | ~usable)
    return apart if apart.any() else None


def check_digits(pairs: Given, crowds: tuple[Crowd, Crowd], aside: NDArray[np.bool_] | None) -> None:
    """Refuse points so far from the others that the noise bound drowns in the rounding of residuals."""
    usual = typical(pairs.xi)
    most = usual / ROUNDING
    both = list(zip((pairs.x, pairs.y), crowds, ("source", "target"), strict=True))
    if all(crowd.farthest <= most for crowd in crowds):
        return
    for points, crowd, name in both:
        away = _away(points, crowd.middle)
        if aside is not None:
            away[aside] = 0.0
        row = int(np.argmax(away))
        if away[row] > most:
            raise InputError(
                f"noise_bound is {usual:g}: too small for what float64 can tell apart at {name} row {row}, "
                f"{away[row]:.2g} away from the middle of the cloud; expected at least {ROUNDING * away[row]:.2g}, "
                "or the pair left out"
            )


def _away(points: FloatArray, middle: FloatArray) -> FloatArray:
    """How far from the middle each point is, along any axis."""
    out = np.empty(len(points))
    for first in range(0, len(points), SAMPLE):  # no temporary array of all
        rows = slice(first, first + SAMPLE)
        a, b, c = np.abs(points[rows] - middle).T  # far faster than a maximum along rows of three
        np.maximum(np.maximum(a, b), c, out=out[rows])
    return out
