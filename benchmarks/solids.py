"""Surfaces as triangles, and random points on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Solid:
    """Corners of triangles, (N, 3, 3)."""

    corners: FloatArray

    def __add__(self, other: Solid) -> Solid:
        return Solid(np.concatenate((self.corners, other.corners)))

    def moved(self, shift: tuple[float, float, float] | FloatArray, turn: FloatArray | None = None) -> Solid:
        """Turned by a rotation vector, then shifted."""
        turned = self.corners if turn is None else self.corners @ Rotation.from_rotvec(turn).as_matrix().T
        return Solid(turned + np.asarray(shift))

    def scaled(self, *factors: float) -> Solid:
        return Solid(self.corners * np.asarray(factors))

    def sample(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Points, uniform by area."""
        a, b, c = (self.corners[:, k] for k in range(3))
        areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        row = rng.choice(len(areas), count, p=areas / areas.sum())
        u, v = rng.random((2, count, 1))
        fold = u + v > 1.0
        u, v = np.where(fold, 1.0 - u, u), np.where(fold, 1.0 - v, v)
        return np.asarray(a[row] + u * (b - a)[row] + v * (c - a)[row])


def grid(points: FloatArray) -> Solid:
    """The surface through a grid of points, (rows, columns, 3)."""
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    halves = (np.stack(half, axis=2).reshape(-1, 3, 3) for half in ((a, b, c), (a, c, d)))
    return Solid(np.concatenate(list(halves)))


def box(x: float, y: float, z: float) -> Solid:
    """Closed, centred at the origin."""
    return prism(np.array([[x, y], [-x, y], [-x, -y], [x, -y]]) / 2.0, z)


def prism(polygon: FloatArray, height: float, taper: float = 1.0) -> Solid:
    """A star-shaped polygon, (N, 2), extruded along z; its top is scaled by `taper`. Closed, centred at the origin."""
    ring = np.concatenate((polygon, polygon[:1]))
    low = np.column_stack((ring, np.full(len(ring), -height / 2.0)))
    high = np.column_stack((ring * taper, np.full(len(ring), height / 2.0)))
    ends = [end * [0.0, 0.0, 1.0] for end in (low, high)]
    return grid(np.stack((ends[0], low, high, ends[1])))


def revolve(profile: FloatArray, folds: int = 96) -> Solid:
    """A curve of (radius, height), (N, 2), turned about z."""
    angle = np.linspace(0.0, 2.0 * np.pi, folds + 1)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    radius, height = profile[:, :1, None], np.broadcast_to(profile[:, 1:, None], (len(profile), len(circle), 1))
    return grid(np.concatenate((radius * circle, height), axis=2))


def cylinder(radius: float, height: float, closed: bool = True) -> Solid:
    profile = [[0.0, -height / 2], [radius, -height / 2], [radius, height / 2], [0.0, height / 2]]
    return revolve(np.array(profile if closed else profile[1:3]))


def ball(radius: Callable[[FloatArray], FloatArray], cells: int = 90) -> Solid:
    """A star-shaped surface: how far it reaches along unit vectors, (..., 3)."""
    theta = np.linspace(0.0, np.pi, cells + 1)[:, None]
    phi = np.linspace(0.0, 2.0 * np.pi, 2 * cells + 1)
    unit = np.stack((np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta) + 0.0 * phi), axis=2)
    return grid(unit * radius(unit)[..., None])


def rectangle(x: float, y: float) -> Solid:
    """Flat, centred at the origin, across z."""
    return grid(np.array([[[sx * x, sy * y, 0.0] for sy in (-0.5, 0.5)] for sx in (-0.5, 0.5)]))


def tube(path: FloatArray, radius: float) -> Solid:
    """Round, around a curve in the plane y = 0, (N, 2) of x and z."""
    along = np.gradient(path, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    across = np.column_stack((-along[:, 1], np.zeros(len(path)), along[:, 0]))
    centre = np.column_stack((path[:, 0], np.zeros(len(path)), path[:, 1]))
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[None, :, None]
    ring = np.cos(angle) * across[:, None] + np.sin(angle) * np.array([0.0, 1.0, 0.0])
    return grid(centre[:, None] + radius * ring)
