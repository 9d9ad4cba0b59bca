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


def free_ways(prior: Prior, arm: FloatArray) -> FloatArray:
    """The motions (ω, τ) that lead from an allowed pose to others, as a 6×6 projection; those that are led on up to
    some limit count.

    Where the prior's point goes, at the end of an arm from what is turned about, moves by ω × arm + τ.
    """
    return _free_of(_never_free(prior, arm))


def ways_to_try(prior: Prior, pose: Pose, arm: FloatArray) -> list[FloatArray]:
    """The same; and, where the pose is at some limit, those that stay there."""
    never, held = _never_free(prior, arm), _held(prior, pose, arm)
    return [_free_of(rows) for rows in ([never, never + held] if held else [never])]


def _free_of(rows: list[FloatArray]) -> FloatArray:
    """The motions orthogonal to some."""
    if not rows:
        return EVERY_WAY
    _, sizes, vt = np.linalg.svd(np.array(rows))
    held = vt[: int(np.count_nonzero(sizes > 1e-9 * sizes[0]))]
    return np.asarray(EVERY_WAY - held.T @ held)


def _place(direction: FloatArray, arm: FloatArray) -> FloatArray:
    return np.concatenate([cross(arm, direction), direction])


def _turn(direction: FloatArray) -> FloatArray:
    return np.concatenate([direction, np.zeros(3)])


def _never_free(prior: Prior, arm: FloatArray) -> list[FloatArray]:
    rows: list[FloatArray] = []
    axis = prior.axis
    if prior.fixed:
        rows += [_turn(direction) for direction in np.eye(3)]
    elif axis is not None and prior.tilt == 0.0:
        first = across(axis)
        rows += [_turn(first), _turn(cross(axis, first))]
    if axis is not None and prior.slide == 0.0:
        rows.append(_place(axis, arm))
    if prior.distance == 0.0:
        rows += [_place(direction, arm) for direction in np.eye(3)]
    return rows


def _held(prior: Prior, pose: Pose, arm: FloatArray) -> list[FloatArray]:
    """What leads across a limit that is reached."""
    rows: list[FloatArray] = []
    away = pose.rotation @ prior.point + pose.translation - prior.place
    length = float(np.linalg.norm(away))
    if 0.0 < prior.distance <= length / AT_LIMIT:
        rows.append(_place(away / length, arm))
    if prior.axis is not None:
        if 0.0 < prior.slide <= abs(float(prior.axis @ away)) / AT_LIMIT:
            rows.append(_place(prior.axis, arm))
        normal = cross(pose.rotation @ prior.source_axis, prior.axis)
        sine = float(np.linalg.norm(normal))
        if 0.0 < prior.tilt < math.pi and math.asin(min(1.0, sine)) >= AT_LIMIT * prior.tilt:
            rows.append(_turn(normal / sine))
    if prior.rotation is not None and 0.0 < prior.turn < math.pi:
        step = pose.rotation @ prior.rotation.T
        if np.trace(step) <= 1.0 + 2.0 * math.cos(AT_LIMIT * prior.turn):
            rows.append(_turn(axis_of(step)))
    return rows
