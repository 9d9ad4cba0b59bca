"""Rotations by angle and axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, is_masked

NEARLY = 1e-3
"""A matrix that is no rotation by more than this is taken for a mistake; one within it, for rounding."""
ROUNDED = 1e-8
"""From a matrix whose Gram matrix is off by no more, one step of Newton's leads to the nearest rotation."""
PLAIN = np.eye(3)


def numbers_of(values: Any, name: str, shapes: tuple[tuple[int, ...], ...], expected: str) -> FloatArray:
    """Finite real numbers in an array of one of some shapes, or an InputError."""
    try:
        array = np.asarray(values)
        plain = array.dtype.kind in "fiu" and not is_masked(values) and array.shape in shapes
    except (TypeError, ValueError):
        plain = False
    if not plain:
        raise InputError(f"{name} is {_short(values)}: expected {expected}")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise InputError(f"{name} has NaN or infinite entries: expected {expected}, finite")
    return numbers


def _short(values: Any) -> str:
    text = " ".join(repr(values).split())
    return text if len(text) <= 60 else text[:57] + "..."


def amount_of(value: Any, name: str, what: str) -> float:
    """A number that is not negative, or an InputError."""
    if isinstance(value, str | bytes | bool | np.bool_ | complex | np.complexfloating):
        raise InputError(f"{name} is {value!r}: expected {what}, 0 or more")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {value!r}: expected {what}, 0 or more") from None
    if not number >= 0.0:
        raise InputError(f"{name} is {value!r}: expected {what}, 0 or more")
    return number


def unit_vector(values: FloatArray, name: str) -> FloatArray:
    """A direction, or an InputError."""
    largest = float(np.abs(values).max()) if np.isfinite(values).all() else 0.0
    if not largest > 0.0:
        raise InputError(f"{name} is {values.tolist()}: expected a direction, finite and not zero")
    scaled = values / largest
    return np.asarray(scaled / np.linalg.norm(scaled))


def rotation_of(values: Any, name: str) -> FloatArray:
    """The rotation nearest to a 3×3 matrix that is one up to rounding, or an InputError."""
    matrix = numbers_of(values, name, ((3, 3),), "a 3×3 rotation")
    u, sizes, vt = np.linalg.svd(matrix)
    if np.abs(sizes - 1.0).max() > NEARLY or np.linalg.det(u @ vt) <= 0.0:
        told = ", ".join(f"{size:.4g}" for size in sizes)
        raise InputError(f"{name} is no rotation (singular values {told}, or a reflection)")
    return np.asarray(u @ vt)


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """a × b of two vectors: NumPy's own is made for many."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def cross_matrix(a: FloatArray) -> FloatArray:
    """The matrix of b ↦ a × b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def turn_about(axis: FloatArray, angle: float) -> FloatArray:
    """The rotation about a unit vector."""
    k = cross_matrix(axis)
    return np.asarray(np.eye(3) + math.sin(angle) * k + (1.0 - math.cos(angle)) * k @ k)


def turns_by(vectors: FloatArray) -> FloatArray:
    """The rotations (..., 3, 3) by vectors (..., 3) along their axes, as long as their angles in radians."""
    angles = np.linalg.norm(vectors, axis=-1)[..., None, None]
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    k = np.stack((zero, -z, y, z, zero, -x, -y, x, zero), axis=-1).reshape(*vectors.shape, 3)
    # sin θ / θ and (1 − cos θ) / θ², also where θ is zero.
    first, second = np.sinc(angles / np.pi), 0.5 * np.sinc(0.5 * angles / np.pi) ** 2
    return np.asarray(np.eye(3) + first * k + second * (k @ k))


def angle_of(rotation: FloatArray) -> float:
    """Of a rotation, 0 to π, accurate also where it is small."""
    sine = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    return math.atan2(float(np.linalg.norm(sine)), float(np.trace(rotation)) - 1.0)


def axis_of(rotation: FloatArray) -> FloatArray:
    """Of a rotation that is not the identity, a unit vector."""
    # R + Rᵀ = 2 cos θ + 2 (1 − cos θ) a aᵀ: its largest column is along the axis, and good where the sine is not.
    square = rotation + rotation.T + (1.0 - float(np.trace(rotation))) * np.eye(3)
    column = square[:, int(np.argmax(np.diag(square)))]
    sine = np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    long = float(np.linalg.norm(sine))
    axis = sine if long > 0.5 or float(np.trace(rotation)) > 1.0 else math.copysign(1.0, float(column @ sine)) * column
    return np.asarray(axis / np.linalg.norm(axis))


def angle_between(a: FloatArray, b: FloatArray) -> float:
    """Of two vectors, 0 to π."""
    return math.atan2(float(np.linalg.norm(cross(a, b))), float(a @ b))


def across(vector: FloatArray) -> FloatArray:
    """A unit vector orthogonal to another."""
    other = np.eye(3)[int(np.argmin(np.abs(vector)))]
    found = cross(vector, other)
    return np.asarray(found / np.linalg.norm(found))


def shortest_turn(a: FloatArray, b: FloatArray, left: float = 0.0) -> FloatArray:
    """The smallest rotation that brings unit vector a to within an angle of unit vector b."""
    cosine = float(a @ b)
    if left == 0.0 and cosine > 0.0:
        k = cross_matrix(cross(a, b))
        return np.asarray(PLAIN + k + k @ k / (1.0 + cosine))
    angle = angle_between(a, b)
    if angle <= left:
        return np.eye(3)
    normal = cross(a, b)
    length = float(np.linalg.norm(normal))
    axis = normal / length if length > 1e-12 else across(a)
    return turn_about(axis, angle - left)


def bring_onto(rotation: FloatArray, a: FloatArray, b: FloatArray, left: float) -> FloatArray:
    """A rotation turned as little as it takes to bring a to within an angle of b; exactly onto it when that is 0."""
    out = shortest_turn(rotation @ a, b, left) @ rotation
    if left == 0.0:  # once more, for the rounding of the first
        out = shortest_turn(out @ a / np.linalg.norm(out @ a), b) @ out
    return nearest_rotation(out)


def nearest_rotation(matrix: FloatArray) -> FloatArray:
    """The rotation nearest to a matrix that is one up to rounding."""
    gram = matrix.T @ matrix
    if np.abs(gram - PLAIN).max() <= ROUNDED:
        return np.asarray(matrix @ (1.5 * PLAIN - 0.5 * gram))
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ vt)


def rotation_towards(start: FloatArray, end: FloatArray, most: float) -> FloatArray:
    """On the way from one rotation to another, `most` radians from the first at most."""
    step = end @ start.T
    if angle_of(step) <= most:
        return end
    return turn_about(axis_of(step), most) @ start
