"""What is known of a pose before: the poses that a registration is confined to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import LARGEST, FloatArray
from tear3d.problem.nearest import brought_back, turn_for
from tear3d.problem.pose import Pose
from tear3d.problem.turns import (
    amount_of,
    angle_between,
    angle_of,
    bring_onto,
    cross_matrix,
    numbers_of,
    rotation_of,
    rotation_towards,
    turn_about,
    unit_vector,
)

Within = tuple[float | None, float | None]
STEPS = 12
"""Turns and shifts until a pose is allowed, before shifts alone do it (free choice: a few are enough), and ..."""
FAR, TURNS = 100.0, 4
"""A point so many radii away is first brought back by so many turns alone (free choices)."""
EXACT = ".12g"  # limits in words are those that were given: what lies beyond must not seem to be within
ROUNDS = 64
"""... steps between two sets of rotations until a rotation is in both."""
EDGE = 0.95
"""A pose lies at the edge beyond this share of what is allowed (free choice; with 0.99 one at 0.97, as near to a truth
outside as it could get, was not said to)."""
ROUNDED = 1e-9
"""Radians, and shares of lengths, that a pose may lie outside by rounding."""


@dataclass(frozen=True, eq=False)
class Prior:
    """Poses (R, t) with R s within `tilt` of a, R within `turn` of R₀, |R p + t − q| ≤ `distance` and
    |a·(R p + t − q)| ≤ `slide`. All angles are radians; infinite is no bound."""

    axis: FloatArray | None = None
    """a, a unit vector of the target, and ..."""
    source_axis: FloatArray = field(default_factory=lambda: np.zeros(3))
    """... s, the one of the source that is turned onto it."""
    tilt: float = math.inf
    rotation: FloatArray | None = None
    """R₀."""
    turn: float = math.inf
    point: FloatArray = field(default_factory=lambda: np.zeros(3))
    """p, a point of the source, and ..."""
    place: FloatArray = field(default_factory=lambda: np.zeros(3))
    """... q, of the target."""
    distance: float = math.inf
    slide: float = math.inf

    @classmethod
    def of(
        cls,
        *,
        rotation_axis: Any = None,
        axis_tolerance: Any = 0.0,
        planar: Any = False,
        plane_tolerance: Any = 0.0,
        rotation: Any = None,
        initial: Any = None,
        within: Any = None,
    ) -> Prior | None:
        """From the options of `register`; None when none of them is given, an InputError when one is wrong."""
        tilt = amount_of(axis_tolerance, "axis_tolerance", "degrees")
        slide = amount_of(plane_tolerance, "plane_tolerance", "a length")
        if not isinstance(planar, bool | np.bool_):
            raise InputError(f"planar is {planar!r}: expected True or False")
        if rotation_axis is None and (tilt > 0.0 or planar):
            name = "planar" if planar else "axis_tolerance"
            raise InputError(f"{name} is given without rotation_axis: say which axis, such as (0, 0, 1)")
        if slide > 0.0 and not planar:
            raise InputError("plane_tolerance is given without planar=True")
        if rotation is not None and (rotation_axis is not None or initial is not None):
            other = "rotation_axis" if rotation_axis is not None else "initial"
            raise InputError(f"rotation and {other} both say how to turn: pass one of them")
        if (initial is None) != (within is None):
            missing, given = ("within", "initial") if within is None else ("initial", "within")
            raise InputError(f"{given} is given without {missing}: a prior is a pose and how far around it to look")
        found = cls()
        if rotation is not None:
            found = replace(found, rotation=rotation_of(rotation, "rotation"), turn=0.0)
        if initial is not None:
            found = found._around(initial, within)
        if rotation_axis is not None:
            found = found._about(rotation_axis, math.radians(min(tilt, 180.0)))
        if planar:
            found = replace(found, slide=slide)
        return found if found.confines else None

    @property
    def confines(self) -> bool:
        """Whether it leaves anything out."""
        return min(self.tilt, self.turn) < math.pi or min(self.distance, self.slide) < math.inf

    @property
    def upright(self) -> bool:
        """Whether only turns about one axis are left."""
        return self.tilt == 0.0 and not self.fixed

    @property
    def fixed(self) -> bool:
        """Whether only one rotation is left."""
        return self.turn == 0.0

    def _about(self, axis: Any, tilt: float) -> Prior:
        expected = "three numbers, or two rows of three: the direction in the source and in the target"
        vectors = numbers_of(axis, "rotation_axis", ((3,), (2, 3)), expected)
        source, target = (unit_vector(row, "rotation_axis") for row in np.broadcast_to(vectors, (2, 3)))
        if self.rotation is not None and min(self.turn, math.pi) < math.pi:
            off = angle_between(self.rotation @ source, target)
            if off > self.turn + tilt + ROUNDED:
                raise InputError(
                    f"initial turns the axis {math.degrees(off):.3g} degrees away from where rotation_axis says it "
                    "goes: no pose is within both"
                )
        return replace(self, axis=target, source_axis=source, tilt=tilt)

    def _around(self, initial: Any, within: Any) -> Prior:
        expected = "a 4×4 matrix with the last row 0 0 0 1, target ← source"
        matrix = numbers_of(initial, "initial", ((4, 4),), expected)
        if not np.array_equal(matrix[3], [0.0, 0.0, 0.0, 1.0]):
            raise InputError(f"initial has the last row {matrix[3].tolist()}: expected {expected}")
        if np.abs(matrix).max() > LARGEST:
            raise InputError(f"initial has entries beyond {LARGEST:g}: use a larger unit of length")
        if not isinstance(within, list | tuple | np.ndarray) or np.ndim(within) != 1 or len(within) != 2:
            raise InputError(f"within is {within!r}: expected (degrees, distance), either may be None")
        degrees, distance = (
            math.inf if value is None else amount_of(value, f"within[{k}]", what)
            for k, (value, what) in enumerate(zip(within, ("degrees", "a distance"), strict=True))
        )
        turn = math.radians(degrees) if degrees < 180.0 else math.inf
        return replace(
            self,
            rotation=rotation_of(matrix[:3, :3], "initial"),
            turn=turn,
            place=matrix[:3, 3].copy(),
            distance=distance,
        )

    def between(self, source: FloatArray, target: FloatArray, unit: float = 1.0) -> Prior:
        """The same in coordinates whose origins lie at `source` and `target`, and whose unit of length is another."""
        return replace(
            self,
            point=(self.point - source) / unit,
            place=(self.place - target) / unit,
            distance=self.distance / unit,
            slide=self.slide / unit,
        )

    def contains(self, pose: Pose, slack: float = ROUNDED) -> bool:
        """Whether a pose is allowed, up to rounding."""
        if self.axis is not None and angle_between(pose.rotation @ self.source_axis, self.axis) > self.tilt + slack:
            return False
        if self.rotation is not None and angle_of(pose.rotation @ self.rotation.T) > self.turn + slack:
            return False
        image = pose.rotation @ self.point
        away = image + pose.translation - self.place
        rounding = slack * (1.0 + float(np.linalg.norm(self.point) + np.linalg.norm(self.place)))
        if self.axis is not None and abs(float(self.axis @ away)) > self.slide + rounding:
            return False
        return bool(np.linalg.norm(away) <= self.distance * (1.0 + slack) + rounding)

    def at_edge(self, pose: Pose) -> bool:
        """Whether a pose lies where what is allowed ends: a better one may lie beyond."""
        away = pose.rotation @ self.point + pose.translation - self.place
        limits = [(float(np.linalg.norm(away)), self.distance)]
        if self.axis is not None:
            limits.append((angle_between(pose.rotation @ self.source_axis, self.axis), self.tilt))
            limits.append((abs(float(self.axis @ away)), self.slide))
        if self.rotation is not None:
            limits.append((angle_of(pose.rotation @ self.rotation.T), self.turn))
        return any(0.0 < limit < math.inf and value >= EDGE * limit for value, limit in limits)

    def nearest(self, pose: Pose, centre: FloatArray | None = None, radius: float = 0.0) -> Pose:
        """An allowed pose near another: the same if it is allowed.

        It is turned about where the centre of a cloud goes, the origin unless given, and shifted: for a cloud with a
        radius by whichever moves it less.
        """
        middle = np.zeros(3) if centre is None else centre
        rotation, at = pose.rotation, pose.rotation @ middle + pose.translation
        for step in range(STEPS if radius > 0.0 else 1):
            rotation = self._nearest_rotation(rotation)
            arm = rotation @ (self.point - middle)
            away = at + arm - self.place
            if self._inside(away):
                return Pose(rotation, at - rotation @ middle)
            ways = self.turns if radius > 0.0 else np.zeros((3, 0))
            reach = -cross_matrix(arm) @ ways / (radius or 1.0)
            change = brought_back(away, reach, self.distance, self.axis, self.slide)
            turn, share = turn_for(change, reach, ways, radius or 1.0)
            far = ways.size > 0 and float(np.linalg.norm(arm)) > FAR * radius
            at = at + (change - (turn @ arm - arm) if not far else share if step >= TURNS else 0.0)
            rotation = turn @ rotation
        rotation = self._nearest_rotation(rotation)
        away = at + rotation @ (self.point - middle) - self.place
        if not self._inside(away):
            at = at + brought_back(away, np.zeros((3, 0)), self.distance, self.axis, self.slide)
        return Pose(rotation, at - rotation @ middle)

    def _inside(self, away: FloatArray) -> bool:
        along = 0.0 if self.axis is None else abs(float(self.axis @ away))
        return along <= self.slide and float(np.linalg.norm(away)) <= self.distance

    @property
    def initial(self) -> Pose | None:
        """The pose around which it lies; None where it says nothing of rotations, or of places."""
        if self.rotation is None or self.distance == math.inf:
            return None
        return Pose(self.rotation, self.place - self.rotation @ self.point)

    @property
    def turns(self) -> FloatArray:
        """The axes about which allowed rotations can be turned, as columns, in the target."""
        if self.fixed:
            return np.zeros((3, 0))
        return self.axis[:, None] if self.axis is not None and self.tilt == 0.0 else np.eye(3)

    def _nearest_rotation(self, rotation: FloatArray) -> FloatArray:
        if self.fixed:
            assert self.rotation is not None
            return self.rotation.copy()
        if self.axis is not None and self.tilt == 0.0:
            return self._nearest_about_axis(bring_onto(rotation, self.source_axis, self.axis, 0.0))
        for _ in range(ROUNDS):
            before = rotation
            if self.axis is not None and self.tilt < math.pi:
                rotation = bring_onto(rotation, self.source_axis, self.axis, self.tilt)
            if self.rotation is None or angle_of(rotation @ self.rotation.T) <= self.turn:
                return rotation
            rotation = rotation_towards(self.rotation, rotation, self.turn)
            if self.axis is None or np.array_equal(before, rotation):
                return rotation
        assert self.rotation is not None
        assert self.axis is not None
        return bring_onto(self.rotation, self.source_axis, self.axis, self.tilt)

    def _nearest_about_axis(self, rotation: FloatArray) -> FloatArray:
        """Of a rotation that keeps the axis."""
        if self.rotation is None or angle_of(rotation @ self.rotation.T) <= self.turn:
            return rotation
        assert self.axis is not None
        first = bring_onto(self.rotation, self.source_axis, self.axis, 0.0)
        step = rotation @ first.T
        sine = np.array([step[2, 1] - step[1, 2], step[0, 2] - step[2, 0], step[1, 0] - step[0, 1]])
        angle = math.atan2(float(self.axis @ sine), float(np.trace(step)) - 1.0)
        # The half angle to the centre, by that of the lean and that of the turn: the cosines multiply.
        lean = math.cos(0.5 * angle_of(first @ self.rotation.T))
        most = 2.0 * math.acos(min(1.0, math.cos(0.5 * self.turn) / max(lean, 1e-300)))
        turned = turn_about(self.axis, math.copysign(min(abs(angle), most), angle)) @ first
        return bring_onto(turned, self.source_axis, self.axis, 0.0)

    def words(self) -> str:
        """The poses allowed, for a sentence that begins with "of the poses"."""
        parts = []
        if self.fixed:
            parts.append("with the given rotation")
        elif self.axis is not None and self.tilt < math.pi:
            about = f"that turn about the given axis ({_numbers(self.axis)})"
            if np.abs(self.source_axis - self.axis).max() > 1e-5:  # read the same
                about = f"that turn ({_numbers(self.source_axis)}) onto the given axis ({_numbers(self.axis)})"
            parts.append(about if self.tilt == 0.0 else f"{about}, give or take {math.degrees(self.tilt):{EXACT}}°,")
        near = [f"{math.degrees(self.turn):{EXACT}}°"] if not self.fixed and self.turn < math.pi else []
        near += [f"{self.distance:{EXACT}} in translation"] if self.distance < math.inf else []
        if near:
            parts.append(f"within {' and '.join(near)} of the initial one")
        if self.slide < math.inf:
            level = f" up to {self.slide:{EXACT}}" if self.slide > 0.0 else ""
            parts.append(f"that stay in the plane across the axis{level}")
        return " and ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Ready for strict JSON, as far as it is bounded."""
        out: dict[str, Any] = {}
        if self.axis is not None:
            out |= {"rotation_axis": [self.source_axis.tolist(), self.axis.tolist()]}
            out |= {"axis_tolerance": math.degrees(self.tilt)}
        if self.rotation is not None:
            out |= {"rotation": self.rotation.tolist(), "translation": self.place.tolist()}
            out |= {"degrees": math.degrees(self.turn) if self.turn < math.pi else None}
            out |= {"distance": self.distance if self.distance < math.inf else None}
        if self.slide < math.inf:
            out |= {"planar": True, "plane_tolerance": self.slide}
        return out


def _numbers(vector: FloatArray) -> str:
    return ", ".join(f"{value:.4g}" for value in vector + 0.0)
