"""Random shapes that can be laid onto themselves in another way, and random shapes that cannot.

A mirror image is no rigid motion: a chair or a teapot has one pose only, for all its left and right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.solids import FloatArray, Solid, ball, box, cylinder, grid, prism, rectangle, revolve, tube
from tear3d.shapes import teapot

Sampler = Callable[[int, np.random.Generator], FloatArray]
Family = Callable[[np.random.Generator], Solid | Sampler]

_X, _Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


def sampler(shape: Solid | Sampler) -> Sampler:
    return shape.sample if isinstance(shape, Solid) else shape


def _star(rng: np.random.Generator, folds: int) -> FloatArray:
    """A random polygon around the origin, the same in every `folds`-th part of a turn."""
    count = int(rng.integers(2, 5)) if folds > 1 else int(rng.integers(7, 11))
    radius = np.tile(rng.uniform(0.6, 1.4, count), folds)
    angle = 2.0 * np.pi * (np.arange(count * folds) + np.tile(rng.uniform(-0.3, 0.3, count), folds)) / (count * folds)
    return radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))


def _regular(folds: int, radius: float = 1.0) -> FloatArray:
    angle = 2.0 * np.pi * np.arange(folds) / folds
    return radius * np.column_stack((np.cos(angle), np.sin(angle)))


def _bumps(rng: np.random.Generator, group: list[Rotation], count: int) -> Callable[[FloatArray], FloatArray]:
    """The radius of a ball with random bumps, the same under every rotation of a group."""
    centres = rng.normal(size=(count, 3))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    heights, widths = rng.uniform(0.15, 0.5, count) * rng.choice([-0.6, 1.0], count), rng.uniform(4.0, 25.0, count)

    def radius(unit: FloatArray) -> FloatArray:
        total = np.ones(unit.shape[:-1])
        for turn in group:
            cosine = unit @ turn.apply(centres).T
            total = total + np.exp(widths * (cosine - 1.0)) @ heights / np.sqrt(len(group))
        return np.maximum(total, 0.3)

    return radius


def _cyclic(folds: int) -> list[Rotation]:
    return [Rotation.from_rotvec(2.0 * np.pi * k / folds * _Z) for k in range(folds)]


def _dihedral(folds: int) -> list[Rotation]:
    return _cyclic(folds) + [turn * Rotation.from_rotvec(np.pi * _X) for turn in _cyclic(folds)]


def _profile(rng: np.random.Generator) -> FloatArray:
    height = np.linspace(-1.2, 1.2, 40)
    radius = 0.8 + sum(rng.normal(0.0, 0.15) * np.sin(k * height + rng.uniform(0, 6)) for k in range(1, 6))
    inner = np.column_stack((np.maximum(radius, 0.2), height))
    return np.concatenate(([[0.0, -1.2]], inner, [[0.0, 1.2]]))


def _arc(radius: float, start: float, stop: float, x: float = 0.0, y: float = 0.0) -> FloatArray:
    angle = np.linspace(start, stop, 40)
    return np.column_stack((x + radius * np.cos(angle), y + radius * np.sin(angle)))


def _gear(rng: np.random.Generator) -> Solid:
    teeth = int(rng.integers(5, 13))
    radius = np.tile([1.0, 1.0, 1.3, 1.3], teeth)
    angle = 2.0 * np.pi * (np.arange(4 * teeth) + np.tile([0.0, 0.5, 0.0, 0.5], teeth)) / (4 * teeth)
    return prism(radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle))), rng.uniform(0.4, 0.9))


def _columns(rng: np.random.Generator) -> Solid:
    x, y = rng.uniform(1.0, 2.0, 2)
    shape = rectangle(2.0 * x + 1.5, 2.0 * y + 1.5)
    for sx, sy in ((-x, -y), (-x, y), (x, -y), (x, y)):
        shape = shape + cylinder(0.35, 2.0, closed=False).moved((sx, sy, 1.0))
    return shape


def _windows(rng: np.random.Generator) -> Solid:
    shape = rectangle(6.0, 2.5)
    for k in range(4):
        shape = shape + box(0.7, 1.1, 0.5).moved((1.4 * (k - 1.5), 0.0, 0.0))
    return shape


def _table(rng: np.random.Generator) -> Solid:
    x, y = rng.uniform(0.8, 1.6, 2)
    shape = box(2 * x, 2 * y, 0.2)
    for sx, sy in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        shape = shape + box(0.25, 0.25, 1.5).moved((sx * (x - 0.2), sy * (y - 0.2), -0.85))
    return shape


def _walls(rng: np.random.Generator) -> Solid:
    gap = rng.uniform(1.0, 3.0)
    upright = np.array([np.pi / 2, 0.0, 0.0])
    shape = rectangle(5.0, 2.0).moved((0.0, gap / 2, 0.0), upright) + rectangle(5.0, 2.0).moved(
        (0.0, -gap / 2, 0.0), upright
    )
    return shape + rectangle(5.0, gap).moved((0.0, 0.0, -1.0)) if rng.random() < 0.5 else shape


def _tetrahedron(rng: np.random.Generator) -> Solid:
    a, b, c, d = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)
    return Solid(np.array([[a, b, c], [a, b, d], [a, c, d], [b, c, d]]))


def _ell(arm: float, other: float, height: float) -> Solid:
    low, wide = box(arm, 0.6, height).moved((arm / 2 - 0.3, 0, 0)), box(0.6, other, height)
    return low + wide.moved((0.0, other / 2 - 0.3, 0.0))


SYMMETRIC: dict[str, Family] = {
    "prism": lambda rng: prism(_star(rng, int(rng.integers(2, 13))), rng.uniform(0.6, 2.0)),
    "frustum": lambda rng: prism(_star(rng, int(rng.integers(2, 9))), rng.uniform(0.8, 2.0), rng.uniform(0.4, 0.8)),
    "regular prism": lambda rng: prism(_regular(int(rng.integers(3, 13))), rng.uniform(0.6, 2.5)),
    "box": lambda rng: box(*rng.uniform(0.6, 2.0, 3)),
    "cube": lambda rng: box(1.0, 1.0, 1.0),
    "cylinder": lambda rng: cylinder(rng.uniform(0.3, 1.0), rng.uniform(0.8, 3.0), closed=bool(rng.random() < 0.7)),
    "cone": lambda rng: revolve(np.array([[0.0, 0.0], [rng.uniform(0.5, 1.2), 0.0], [0.0, rng.uniform(0.8, 2.5)]])),
    "sphere": lambda rng: ball(lambda unit: np.ones(unit.shape[:-1])),
    "torus": lambda rng: revolve(_arc(rng.uniform(0.2, 0.5), 0.0, 2.0 * np.pi, x=1.0)),
    "ellipsoid": lambda rng: ball(lambda unit: np.ones(unit.shape[:-1])).scaled(*rng.uniform(0.5, 1.5, 3)),
    "capsule": lambda rng: revolve(
        np.concatenate((_arc(0.5, -np.pi / 2, 0.0, y=-0.6), _arc(0.5, 0.0, np.pi / 2, y=0.6)))
    ),
    "revolution": lambda rng: revolve(_profile(rng)),
    "plane": lambda rng: rectangle(*rng.uniform(1.0, 2.0, 2)),
    "parallel walls": _walls,
    "columns": _columns,
    "windows": _windows,
    "table": _table,
    "gear": _gear,
    "tetrahedron": _tetrahedron,
    "equal L": lambda rng: (lambda arm: _ell(arm, arm, rng.uniform(0.5, 1.5)))(rng.uniform(1.2, 2.5)),
    "bumpy, cyclic": lambda rng: ball(_bumps(rng, _cyclic(int(rng.integers(2, 8))), 8)),
    "bumpy, half turn": lambda rng: ball(_bumps(rng, _cyclic(2), 12)),
    "bumpy, dihedral": lambda rng: ball(_bumps(rng, _dihedral(int(rng.integers(2, 5))), 5)),
    "bumpy, cubic": lambda rng: ball(_bumps(rng, list(Rotation.create_group("O")), 3)),
}


def _blobs(rng: np.random.Generator) -> Solid:
    shape = ball(lambda unit: np.ones(unit.shape[:-1]), 40).scaled(*rng.uniform(0.5, 1.2, 3))
    for _ in range(int(rng.integers(3, 6))):
        part = ball(lambda unit: np.ones(unit.shape[:-1]), 30).scaled(*rng.uniform(0.3, 0.8, 3))
        shape = shape + part.moved(rng.uniform(-0.9, 0.9, 3), rng.normal(size=3))
    return shape


def _boxes(rng: np.random.Generator) -> Solid:
    parts = [
        box(*rng.uniform(0.3, 1.2, 3)).moved(rng.uniform(-1, 1, 3), rng.normal(size=3))
        for _ in range(rng.integers(4, 8))
    ]
    return Solid(np.concatenate([part.corners for part in parts]))


def _terrain(rng: np.random.Generator) -> Solid:
    x, y = np.meshgrid(np.linspace(-2, 2, 81), np.linspace(-1.5, 1.5, 61), indexing="ij")
    z = np.zeros_like(x)
    for _ in range(12):
        wave = rng.normal(0.0, 2.0, 2)
        z += rng.normal(0.0, 0.12) * np.sin(wave[0] * x + wave[1] * y + rng.uniform(0.0, 6.3))
    return grid(np.stack((x, y, z), axis=2))


def _room(rng: np.random.Generator) -> Solid:
    x, y = rng.uniform(3.0, 6.0, 2)
    shape = rectangle(x, y)
    shape = shape + rectangle(2.4, y).moved((-x / 2, 0, 1.2), np.array([0.0, np.pi / 2, 0.0]))
    shape = shape + rectangle(x, 2.4).moved((0, -y / 2, 1.2), np.array([np.pi / 2, 0.0, 0.0]))
    for _ in range(int(rng.integers(3, 7))):
        size = rng.uniform(0.3, 1.2, 3)
        place = rng.uniform(-0.4, 0.4, 2) * (x, y)
        shape = shape + box(*size).moved((place[0], place[1], size[2] / 2), np.array([0, 0, rng.uniform(0, 3)]))
    return shape


def _mug(rng: np.random.Generator) -> Solid:
    height = rng.uniform(1.6, 2.6)
    body = revolve(np.array([[0.0, 0.0], [0.8, 0.0], [0.8, height]]))
    return body + tube(_arc(rng.uniform(0.3, 0.5), -np.pi / 2, np.pi / 2, 0.8, 0.6 * height), 0.1)


def _animal(rng: np.random.Generator) -> Solid:
    """Left and right are mirror images: body, head, two ears, a tail, four feet."""

    def blob(*size: float) -> Solid:
        return ball(lambda unit: np.ones(unit.shape[:-1]), 30).scaled(*size)

    shape = blob(rng.uniform(0.9, 1.3), 0.6, rng.uniform(0.6, 0.8)) + blob(0.45, 0.4, 0.4).moved((1.1, 0.0, 0.7))
    shape = shape + blob(0.2, 0.2, 0.2).moved((-1.1, 0, 0.3))
    for side in (-1.0, 1.0):
        shape = shape + blob(0.12, 0.1, 0.5).moved((1.0, side * 0.2, 1.3), np.array([side * 0.3, -0.3, 0.0]))
        for x in (-0.7, 0.6):
            shape = shape + blob(0.3, 0.15, 0.2).moved((x, side * 0.4, -0.6))
    return shape


def _chair(rng: np.random.Generator) -> Solid:
    shape = box(1.0, 1.0, 0.12) + box(0.1, 1.0, rng.uniform(0.8, 1.4)).moved((-0.45, 0.0, 0.6))
    for sx, sy in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        shape = shape + box(0.12, 0.12, 0.9).moved((0.4 * sx, 0.4 * sy, -0.5))
    return shape


def _keyed(rng: np.random.Generator) -> Solid:
    """A cylinder with three unequal knobs, which leave it no turn."""
    shape = cylinder(1.0, 1.8)
    angles = rng.uniform(0.0, 1.8, 3) + np.arange(0.0, 6.0, 2.0)
    for angle, height in zip(angles, rng.permutation([-0.5, 0.1, 0.45]), strict=True):
        knob = box(*rng.uniform(0.25, 0.5, 3))
        shape = shape + knob.moved((np.cos(angle), np.sin(angle), height), np.array([0, 0, angle]))
    return shape


SMALL_KEYS = ("mug", "teapot", "keyed cylinder")
"""Asymmetric by small parts at the sides: without these they are round."""

ASYMMETRIC: dict[str, Family] = {
    "bumpy": lambda rng: ball(_bumps(rng, [Rotation.identity()], int(rng.integers(6, 25)))),
    "blobs": _blobs,
    "boxes": _boxes,
    "terrain": _terrain,
    "room": _room,
    "teapot": lambda rng: lambda count, other: teapot(count, other),
    "mug": _mug,
    "unequal L": lambda rng: _ell(rng.uniform(1.2, 1.7), rng.uniform(2.1, 3.0), rng.uniform(0.5, 1.2)),
    "animal": _animal,
    "chair": _chair,
    "keyed cylinder": _keyed,
    "odd prism": lambda rng: prism(_star(rng, 1), rng.uniform(0.6, 2.0)),
    "odd frustum": lambda rng: prism(_star(rng, 1), rng.uniform(0.8, 2.0), rng.uniform(0.4, 0.8)),
}
