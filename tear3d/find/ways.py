"""Where small motions may lead from an allowed pose."""

from __future__ import annotations

import math

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import across, axis_of, cross

AT_LIMIT = 1.0 - 1e-6
"""A limit of a prior counts as reached beyond this share of it (free choice)."""
EVERY_WAY = np.eye(6)


def free_ways(prior: Prior, pose: Pose, arm: FloatArray, *, inward: bool = True) -> FloatArray:
    """The motions (ω, τ) that lead from an allowed pose to others, as a 6×6 projection.

    Where the prior's point goes, at the end of an arm from what is turned about, moves by ω × arm + τ.

    Those that are led on up to some limit are free; unless `inward` is False, and the limit is reached.
    """
    rows: list[FloatArray] = []

    def place(direction: FloatArray) -> None:
        rows.append(np.concatenate([cross(arm, direction), direction]))

    def turn(direction: FloatArray) -> None:
        rows.append(np.concatenate([direction, np.zeros(3)]))

    axis = prior.axis
    if prior.fixed:
        for direction in np.eye(3):
            turn(direction)
    elif axis is not None and prior.tilt == 0.0:
        first = across(axis)
        turn(first)
        turn(cross(axis, first))
    if axis is not None and prior.slide == 0.0:
        place(axis)
    if prior.distance == 0.0:
        for direction in np.eye(3):
            place(direction)
    if not inward:
        _held(prior, pose, place, turn)
    if not rows:
        return EVERY_WAY
    _, sizes, vt = np.linalg.svd(np.array(rows))
    held = vt[: int(np.count_nonzero(sizes > 1e-9 * sizes[0]))]
    return np.asarray(EVERY_WAY - held.T @ held)


def _held(prior: Prior, pose: Pose, place: object, turn: object) -> None:
    """What leads across a limit that is reached."""
    assert callable(place)
    assert callable(turn)
    away = pose.rotation @ prior.point + pose.translation - prior.place
    length = float(np.linalg.norm(away))
    if 0.0 < prior.distance <= length / AT_LIMIT:
        place(away / length)
    if prior.axis is not None:
        if 0.0 < prior.slide <= abs(float(prior.axis @ away)) / AT_LIMIT:
            place(prior.axis)
        normal = cross(pose.rotation @ prior.source_axis, prior.axis)
        sine = float(np.linalg.norm(normal))
        if 0.0 < prior.tilt < math.pi and math.asin(min(1.0, sine)) >= AT_LIMIT * prior.tilt:
            turn(normal / sine)
    if prior.rotation is not None and 0.0 < prior.turn < math.pi:
        step = pose.rotation @ prior.rotation.T
        if np.trace(step) <= 1.0 + 2.0 * math.cos(AT_LIMIT * prior.turn):
            turn(axis_of(step))
