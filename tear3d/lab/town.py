"""A made-up town on rolling ground, as a map and as scans taken in it: for finding a scan in a map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_WAVES = 40
_EYE = 1.8
"""Height of the scanner above the ground, in metres as all lengths here."""
_CELL = np.radians(0.7)
"""Width of a direction in which only the nearest surface is seen."""


@dataclass(frozen=True)
class Town:
    """Houses with roofs, cars and trees at random places, on a square of `size` metres around the origin, z up.

    With `repeats` a quarter is built that many times over, with the same ground, one copy beside the other.
    """

    size: float = 160.0
    seed: int = 0
    repeats: int = 1

    @cached_property
    def _plan(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of each thing x, y, heading, length, width, height and kind; then the waves and phases of the ground."""
        rng = np.random.default_rng((self.seed, 1))
        count = int(self._width * self.size / 55.0)
        kind = rng.choice(3, count, p=[0.35, 0.25, 0.4])
        low = np.array([[4.0, 4.0, 2.5], [3.5, 1.6, 1.4], [0.2, 1.0, 1.5]])[kind]
        high = np.array([[11.0, 8.0, 7.0], [5.0, 2.1, 2.2], [0.5, 2.5, 4.0]])[kind]
        place = rng.uniform(-0.5, 0.5, (count, 2)) * [self._width, self.size]
        heading = rng.uniform(0.0, np.pi, count)
        things: FloatArray = np.column_stack((place, heading, rng.uniform(low, high), kind)).astype(np.float64)
        length, angle = rng.uniform(8.0, 45.0, _WAVES), rng.uniform(0.0, 2.0 * np.pi, _WAVES)
        waves = 2.0 * np.pi / length * np.stack((np.cos(angle), np.sin(angle)))
        return things, waves, rng.uniform(0.0, 2.0 * np.pi, _WAVES)

    @property
    def _width(self) -> float:
        """Of the quarter that may be repeated."""
        return self.size / self.repeats

    def height(self, places: FloatArray) -> FloatArray:
        """Of the ground."""
        _, waves, phases = self._plan
        return np.asarray(0.08 * np.cos(self._home(places) @ waves + phases).sum(axis=1))

    def _home(self, places: FloatArray) -> FloatArray:
        """The same place in the first quarter, whose middle is the origin."""
        across = (places[:, 0] + 0.5 * self.size) % self._width - 0.5 * self._width
        return np.column_stack((across, places[:, 1]))

    def sample(self, density: float, seed: int = 0) -> FloatArray:
        """About `density` points a square metre of every surface, at random; same seed, same points."""
        rng = np.random.default_rng((self.seed, 2, seed))
        ground = rng.uniform(-0.5, 0.5, (int(density * self.size**2), 2)) * self.size
        clouds = [np.column_stack((ground, self.height(ground)))]
        for shift in (np.arange(self.repeats) + 0.5) * self._width - 0.5 * self.size:
            for thing in self._plan[0]:
                points = _thing(thing, density, rng)
                base = self.height(thing[None, :2] + [shift, 0.0])[0]
                clouds.append(points + np.array([thing[0] + shift, thing[1], base]))
        return np.concatenate(clouds)

    def eye(self, seed: int, margin: float) -> FloatArray:
        """A place to stand, on open ground and `margin` from the border."""
        rng = np.random.default_rng((self.seed, 3, seed))
        things = self._plan[0]
        while True:
            place = rng.uniform(-0.5, 0.5, (1, 2)) * (self.size - 2.0 * margin)
            away = np.linalg.norm(things[:, :2] - self._home(place), axis=1)
            if np.all(away > 0.5 * np.hypot(things[:, 3], things[:, 4]) + 1.0):
                return np.append(place[0], self.height(place)[0] + _EYE)


def scan(points: FloatArray, eye: FloatArray, reach: float, noise: float, seed: int = 0) -> FloatArray:
    """What a scanner at `eye` sees of a cloud, within `reach` and with normal noise, relative to the eye."""
    near = points - eye
    near = near[np.linalg.norm(near, axis=1) <= reach]
    depth = np.linalg.norm(near, axis=1)
    angles = np.column_stack((np.arctan2(near[:, 1], near[:, 0]), np.arcsin(near[:, 2] / depth)))
    cells = np.unique(np.floor(angles / _CELL).astype(np.int64), axis=0, return_inverse=True)[1].ravel()
    nearest = np.full(cells.max(initial=-1) + 1, np.inf)
    np.minimum.at(nearest, cells, depth)
    seen = near[depth <= 1.03 * nearest[cells] + 0.1]
    return np.asarray(seen + np.random.default_rng((seed, 4)).normal(0.0, noise, seen.shape))


def _thing(thing: FloatArray, density: float, rng: np.random.Generator) -> FloatArray:
    """Points of a house, a car or a tree that stands at the origin."""
    _, _, heading, length, width, height, kind = thing
    points = _tree(length, width, height, density, rng) if kind == 2 else _house(thing[3:6], kind == 0, density, rng)
    turn = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    points[:, :2] = points[:, :2] @ turn.T
    return points


def _house(size: FloatArray, roofed: bool, density: float, rng: np.random.Generator) -> FloatArray:
    """Four walls and a flat top, or a roof whose ridge runs along it."""
    length, width, height = size
    along = rng.uniform(-0.5, 0.5, (rng.poisson(density * 2.0 * (length + width) * height), 3))
    along[:, 2] += 0.5
    ends = rng.random(len(along)) < width / (length + width)
    sides = np.where(rng.random(len(along)) < 0.5, -0.5, 0.5)
    along[ends, 0], along[~ends, 1] = sides[ends], sides[~ends]
    top = rng.uniform(-0.5, 0.5, (rng.poisson(density * length * width), 3)) * [1.0, 1.0, 0.0] + [0.0, 0.0, 1.0]
    if roofed:
        top[:, 2] += 0.5 * (0.5 - np.abs(top[:, 1])) * width / height
    return np.concatenate((along, top)) * size


def _tree(trunk: float, crown: float, height: float, density: float, rng: np.random.Generator) -> FloatArray:
    """A trunk and a round crown."""
    angle = rng.uniform(0.0, 2.0 * np.pi, rng.poisson(density * 2.0 * np.pi * trunk * height))
    stem = np.column_stack((trunk * np.cos(angle), trunk * np.sin(angle), rng.uniform(0.0, height, len(angle))))
    ball = rng.normal(size=(rng.poisson(density * 4.0 * np.pi * crown**2), 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    return np.concatenate((stem, crown * ball + [0.0, 0.0, height]))
