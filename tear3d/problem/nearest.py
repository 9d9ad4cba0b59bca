"""The allowed pose nearest to another: rotations first, then the place where a point goes.

How near a pose is, is how far it moves a cloud: a point far from the cloud is brought back by a turn that the cloud
hardly feels, one in its middle by a shift.
"""

from __future__ import annotations

import math

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.turns import turn_about

HALVINGS = 80
"""Of an interval of λ, at most; then it does not change in float64."""


def brought_back(
    away: FloatArray, reach: FloatArray, distance: float, axis: FloatArray | None, slide: float
) -> FloatArray:
    """The change of a place, of least cost, after which it is within `distance` of 0, and within `slide` along an axis.

    Changes along `reach` (3×k), as far as they are large, cost less: the cost is Δᵀ (1 + reach·reachᵀ)⁻¹ Δ.
    """
    vectors, sizes, _ = np.linalg.svd(reach)
    values = np.ones(3)
    values[: len(sizes)] += sizes**2
    change = np.zeros(3)
    along = 0.0 if axis is None else float(axis @ away)
    if axis is not None and abs(along) > slide:
        cheap = (vectors * values) @ vectors.T @ axis
        change = cheap * ((math.copysign(slide, along) - along) / float(axis @ cheap))
    there = vectors.T @ (away + change)
    (e0, e1, e2), (v0, v1, v2) = there.tolist(), values.tolist()

    def left(by: float) -> float:
        """|e_i / (1 + λ v_i)| of the components of e, which falls with λ."""
        return math.hypot(e0 / (1.0 + by * v0), e1 / (1.0 + by * v1), e2 / (1.0 + by * v2))

    far = left(0.0)
    if far <= distance:
        return change
    low, high = 0.0, 1.0
    while left(high) > max(distance, 1e-18 * far):
        low, high = high, 4.0 * high
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if left(middle) > distance else (low, middle)
    return np.asarray(vectors @ (there / (1.0 + high * values)) - away)


def turn_for(change: FloatArray, reach: FloatArray, ways: FloatArray, radius: float) -> tuple[FloatArray, FloatArray]:
    """What does its share of a change of place at the end of an arm, for a cloud of some radius: the rotation, by turns
    about some axes (3×k) only, and the shift. `reach` is what a turn about each axis changes, times the radius."""
    # (1 + reach·reachᵀ)⁻¹ by singular values: a point very far away leaves its matrix no digits.
    u, sizes, vt = np.linalg.svd(reach)
    part, values = u.T @ change, np.zeros(3)
    values[: len(sizes)] = sizes
    share = np.asarray(u @ (part / (1.0 + values**2)))
    turn = ways @ (vt.T @ (part * values / (1.0 + values**2))[: len(vt)]) / radius
    angle = float(np.linalg.norm(turn))
    return np.eye(3) if angle < 1e-300 else turn_about(turn / angle, angle), share
