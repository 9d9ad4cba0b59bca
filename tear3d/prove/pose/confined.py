"""A prior for packed pairs: the chart of their rotations, what the kernels have to know, and where cells begin."""

from __future__ import annotations

import math

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import across, angle_between, angle_of
from tear3d.prove.domains.allowed import Allowed
from tear3d.prove.domains.rotations import FACES
from tear3d.prove.pose.nodes import Sides

NARROW = math.radians(50.0)
"""Turns about an axis that is off by no more than this are on two of the faces, with |g₁|, |g₂| < 1: up to 60° would do
(section 12.2)."""
WIDER = 1.0 + 1e-9
AROUND = 1e-9
"""Cover the rounding of angles."""


def chart_of(prior: Prior | None) -> FloatArray | None:
    """A: its third column is the axis; the identity when there is none. None without a prior."""
    if prior is None:
        return None
    if prior.axis is None or prior.tilt >= math.pi:
        return np.eye(3)
    axis = prior.axis
    largest = int(np.argmax(np.abs(axis)))
    if abs(axis[largest]) == 1.0:  # a cyclic change of coordinates, and half a turn if it points backwards
        chart = np.roll(np.eye(3), largest - 2, axis=0)
        return chart if axis[largest] > 0.0 else np.ascontiguousarray(chart @ np.diag([1.0, -1.0, -1.0]))
    first = across(axis)
    return np.ascontiguousarray(np.column_stack([first, np.cross(axis, first), axis]))


def cells_are_few(prior: Prior | None) -> bool:
    """Whether the rotations that are allowed are so few that votes alone are quick: a circle, or one."""
    if prior is None:
        return False
    return prior.turn == 0.0 or (prior.axis is not None and prior.tilt == 0.0)


def allowed_for(
    prior: Prior | None, chart: FloatArray, frame: tuple[FloatArray, FloatArray, FloatArray], eps: float
) -> Allowed:
    """The prior for pairs packed by (rotation, mean, shift)."""
    assert prior is not None
    rotation, mean, shift = frame
    axis = np.zeros(3) if prior.axis is None else prior.axis
    tilted = prior.axis is not None and 0.0 < prior.tilt < math.pi
    turning = prior.rotation is not None and 0.0 < prior.turn < math.pi
    centre = prior.rotation @ rotation.T if prior.rotation is not None else np.eye(3)
    point, place = rotation @ (prior.point - mean), prior.place - shift
    size = float(np.abs([prior.point, prior.place, mean, shift, point, place]).max())
    return Allowed(
        chart=_nine(chart),
        axis=_three(axis),
        source_axis=_three(rotation @ prior.source_axis),
        tilt=prior.tilt if tilted else -1.0,
        centre=_nine(centre),
        turn=prior.turn if turning else -1.0,
        point=_three(point),
        place=_three(place),
        distance=float(prior.distance),
        slide=float(prior.slide),
        margin=eps + 64.0 * 2.0**-53 * size,
    )


def sides_within(prior: Prior | None, pose: Pose) -> Sides | None:
    """Where the cells of all allowed rotations begin, seen from an allowed pose; None for all."""
    if prior is None:
        return None
    reach = [1.0, 1.0, 1.0]
    faces = range(FACES)
    if prior.axis is not None and prior.tilt < math.pi:
        # Rotations from the pose turn the axis by no more than the pose does and the prior allows.
        off = prior.tilt + (0.0 if prior.tilt == 0.0 else angle_between(pose.rotation @ prior.source_axis, prior.axis))
        if off <= NARROW:
            across_axis = math.sqrt(2.0) * math.tan(0.5 * off) * WIDER
            reach, faces = [across_axis, across_axis, 1.0], (0, 3)
    if prior.rotation is not None and prior.turn < math.pi:
        away = 0.0 if prior.fixed else prior.turn + angle_of(pose.rotation @ prior.rotation.T) + AROUND
        if away < 0.5 * math.pi:
            reach, faces = [min(side, math.tan(0.5 * away) * WIDER) for side in reach], (0,)
    return dict.fromkeys(faces, (reach[0], reach[1], reach[2]))


def _nine(matrix: FloatArray) -> tuple[float, float, float, float, float, float, float, float, float]:
    return tuple(float(value) for value in matrix.ravel())  # type: ignore[return-value]


def _three(vector: FloatArray) -> tuple[float, float, float]:
    return float(vector[0]), float(vector[1]), float(vector[2])
