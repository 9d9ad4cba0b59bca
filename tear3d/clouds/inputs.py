"""Two clouds as they were given: what had to be left out, and what would make any answer a lie."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tear3d.clouds.region import WIDE
from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, Points, as_points, check_finite, finite_rows, spread_rows, stored_as
from tear3d.problem.digits import check_lost_digits
from tear3d.problem.far import origin_doubt
from tear3d.problem.prior import Prior

NAMES = ("source", "target")
SAMPLE = 10_000
UNLIKE = 5.0
"""Clouds whose spans differ by this factor may still be a thing and its scene: worth a note (free choice)."""
HOPELESS = 100.0
"""From this factor on, voxels that show the smaller cloud cut the larger one into dust: refused (free choice)."""
FEWEST_LEFT = 10
"""With fewer points left of the smaller cloud, its surface has no shape that descriptors could tell."""
UNITS = {
    3.281: "feet and the other in metres",
    10.0: "millimetres and the other in centimetres",
    12.0: "inches and the other in feet",
    25.4: "millimetres and the other in inches",
    39.37: "inches and the other in metres",
    100.0: "centimetres and the other in metres",
    304.8: "millimetres and the other in feet",
    1000.0: "millimetres and the other in metres",
    1e6: "micrometres and the other in metres",
}
"""What a ratio of spans may mean."""

_log = logging.getLogger(__name__)


class Cloud(NamedTuple):
    """One cloud as it was given."""

    points: FloatArray
    """The finite ones."""
    dropped: int
    note: str
    """On what was dropped, in words; empty when nothing was."""
    stored: str
    """The type of its numbers."""
    span: float

    @classmethod
    def of(cls, obj: Points, name: str) -> Cloud:
        """A checked cloud, or an InputError."""
        points, dropped, note = _finite(obj, name)
        return cls(points, dropped, note, stored_as(obj), span_of(points))


@dataclass(frozen=True)
class Inputs:
    """Clouds that can be registered, as far as they tell before any work."""

    clouds: tuple[FloatArray, FloatArray]
    dropped: tuple[int, int]
    """Points that were left out because they are not finite."""
    notes: tuple[str, ...]
    """What was noticed, in words."""
    units: str
    """What the spans of the clouds suggest; empty when they are alike."""
    stored: tuple[str, str] = field(repr=False)

    @classmethod
    def of(cls, source: Points, target: Points) -> Inputs:
        """Checked clouds, or an InputError; what was noticed is logged as a warning."""
        return cls.together(*(Cloud.of(obj, name) for obj, name in zip((source, target), NAMES, strict=True)))

    @classmethod
    def together(cls, source: Cloud, target: Cloud) -> Inputs:
        """Of clouds that were checked one by one."""
        units = _unlike(source.span, target.span, len(target.points) > WIDE * len(source.points))
        inputs = cls(
            clouds=(source.points, target.points),
            dropped=(source.dropped, target.dropped),
            notes=tuple(note for note in (source.note, target.note, units) if note),
            units=units,
            stored=(source.stored, target.stored),
        )
        for note in inputs.notes:
            _log.warning("%s", note)
        return inputs

    def doubting(self, prior: Prior | None) -> Inputs:
        """The same, with a note where what is known of the pose is about an origin far from the source."""
        if prior is None:
            return self
        centre = self.clouds[0].mean(axis=0)
        doubt = origin_doubt(prior, centre, float(np.linalg.norm(self.clouds[0] - centre, axis=1).mean()))
        if not doubt:
            return self
        _log.warning("%s", doubt)
        return replace(self, notes=(*self.notes, doubt))

    def check_thinned(self, thinned: tuple[FloatArray, FloatArray], voxel_size: float) -> None:
        """Refuse what the voxel size shows: digits that the coordinates have not, or a cloud that is a speck."""
        for cloud, stored, name in zip(self.clouds, self.stored, NAMES, strict=True):
            check_lost_digits(cloud[spread_rows(len(cloud), SAMPLE)], stored, name, voxel_size, "voxel size")
        left, name = min((len(points), name) for points, name in zip(thinned, NAMES, strict=True))
        if self.units and left < FEWEST_LEFT:
            raise InputError(f"only {left} points of {name} are left at the voxel size {voxel_size:g}: {self.units}")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """An InputError of the block is about the matches, and the units may be why."""
        try:
            yield
        except InputError as error:
            more = f"; {self.units}" if self.units else ""
            raise InputError(f"no pose can be found from the matches of the clouds: {error}{more}") from error


def note_units(source: FloatArray, target: FloatArray) -> str:
    """What the spans of two clouds suggest, logged as a warning; an InputError when they cannot belong together."""
    note = _unlike(span_of(source), span_of(target), len(target) > WIDE * len(source))
    if note:
        _log.warning("%s", note)
    return note


def span_of(points: FloatArray) -> float:
    """How large a cloud is: twice the distance from its middle within which nine in ten of its points lie."""
    sample = points[spread_rows(len(points), SAMPLE)]
    away = np.linalg.norm(sample - np.median(sample, axis=0), axis=1)
    return 2.0 * float(np.quantile(away, 0.9, method="lower"))


def _finite(obj: Points, name: str) -> tuple[FloatArray, int, str]:
    """The finite points, how many others there were, and a note on them."""
    points = as_points(obj, name, finite=False)
    given, keep = len(points), finite_rows(points)
    dropped = given - int(np.count_nonzero(keep))
    if dropped:
        points = points[keep]
    check_finite(points, name)
    if len(points) < 3:
        which = f"{len(points)} finite points of {given}" if dropped else f"{given} points"
        raise InputError(f"{name} has {which}: expected a cloud of at least 3")
    return points, dropped, f"dropped {dropped} of {given} points of {name} that are not finite" if dropped else ""


def _unlike(source: float, target: float, in_map: bool) -> str:
    """A sentence when the spans are no pair's; an InputError when no registration can come of them."""
    if min(source, target) == 0.0:
        return ""  # points that coincide are refused where a voxel size is chosen
    ratio = max(source / target, target / source)
    unit = next((words for factor, words in UNITS.items() if abs(ratio / factor - 1.0) < _tolerance(factor)), "")
    if not unit and (ratio < UNLIKE or (in_map and source < target and ratio < HOPELESS)):
        return ""
    (small, less), (large, more) = sorted(((source, "source"), (target, "target")))
    units = f"{less} spans {_short(small)} and {more} {_short(large)}, {_short(ratio)} times as much: " + (
        f"is one in {unit}?" if unit else "have they the same unit?"
    )
    if ratio < HOPELESS:
        return units
    raise InputError(f"{units} Bring both to one unit, or cut the larger one down to where the other may lie")


def _tolerance(factor: float) -> float:
    """Scans of one thing span about the same. Below the spans of a usual pair only a narrow hit counts."""
    if factor < UNLIKE:
        return 0.01
    return 0.08 if factor < HOPELESS else 0.3


def _short(value: float) -> str:
    """Three digits, written out up to a million."""
    return f"{float(f'{value:.3g}'):g}"
