"""Machine parts made in code: boxes, rods and pipe bends put together and cut out, with points on their surfaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_ON = 1e-6
"""So near to a surface counts as on it, in the unit of the parts."""


@dataclass(frozen=True)
class Form:
    """A simple body: how far points lie outside of it (negative inside), and random points on its surface."""

    distance: Callable[[FloatArray], FloatArray]
    sample: Callable[[int, np.random.Generator], FloatArray]
    area: float


class Part(NamedTuple):
    """Forms put together, less others that are cut out of them."""

    forms: tuple[Form, ...]
    cuts: tuple[Form, ...] = ()

    def distance(self, points: FloatArray) -> FloatArray:
        """How far points lie outside at least; negative inside."""
        out = np.min([form.distance(points) for form in self.forms], axis=0)
        for cut in self.cuts:
            out = np.maximum(out, -cut.distance(points))
        return np.asarray(out)

    def sample(self, count: int, rng: np.random.Generator) -> FloatArray:
        """So many points on the surface, uniform by area."""
        areas = np.array([form.area for form in (*self.forms, *self.cuts)])
        kept: list[FloatArray] = []
        while sum(map(len, kept)) < count:
            numbers = rng.multinomial(2 * count, areas / areas.sum())
            for k, number in enumerate(numbers):
                form = (*self.forms, *self.cuts)[k]
                points = form.sample(int(number), rng)
                rest = [other.distance(points) for other in self.forms[: min(k, len(self.forms))]]
                shown = np.abs(self.distance(points)) <= _ON
                # Where surfaces lie on each other, the first of the forms has it.
                shown &= np.min(rest, axis=0, initial=np.inf) > _ON if k < len(self.forms) else True
                kept.append(points[shown])
        points = np.concatenate(kept)
        return np.asarray(points[rng.permutation(len(points))[:count]])


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> Form:
    """With faces along the axes."""
    middle, half = 0.5 * (np.array(low) + high), 0.5 * (np.array(high) - low)
    faces = 4.0 * np.array([half[1] * half[2], half[0] * half[2], half[0] * half[1]])

    def distance(points: FloatArray) -> FloatArray:
        away = np.abs(points - middle) - half
        return np.asarray(np.linalg.norm(np.maximum(away, 0.0), axis=1) + np.minimum(away.max(axis=1), 0.0))

    def sample(count: int, rng: np.random.Generator) -> FloatArray:
        points = rng.uniform(-half, half, (count, 3))
        axis = rng.choice(3, count, p=faces / faces.sum())
        points[np.arange(count), axis] = rng.choice([-1.0, 1.0], count) * half[axis]
        return np.asarray(points + middle)

    return Form(distance, sample, float(2.0 * faces.sum()))


def rod(start: tuple[float, float, float], axis: int, length: float, radius: float) -> Form:
    """A cylinder from `start` along a positive axis."""
    order = np.roll([0, 1, 2], -axis)  # the axis itself, then the two across
    side, end = 2.0 * np.pi * radius * length, np.pi * radius**2

    def distance(points: FloatArray) -> FloatArray:
        local = (points - np.array(start))[:, order]
        along = np.abs(local[:, 0] - 0.5 * length) - 0.5 * length
        across = np.hypot(local[:, 1], local[:, 2]) - radius
        outside = np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0))
        return np.asarray(outside + np.minimum(np.maximum(along, across), 0.0))

    def sample(count: int, rng: np.random.Generator) -> FloatArray:
        angle = rng.uniform(0.0, 2.0 * np.pi, count)
        on_side = rng.random(count) < side / (side + 2.0 * end)
        away = np.where(on_side, radius, radius * np.sqrt(rng.random(count)))
        along = np.where(on_side, length * rng.random(count), length * rng.integers(0, 2, count))
        local = np.column_stack((along, away * np.cos(angle), away * np.sin(angle)))
        return np.asarray(local[:, np.argsort(order)] + np.array(start))

    return Form(distance, sample, side + 2.0 * end)


def bend(radius: float, width: float) -> Form:
    """A quarter of a ring around the z axis, from the x axis to the y axis, as thick as `width` around its middle."""

    def distance(points: FloatArray) -> FloatArray:
        flat = np.hypot(points[:, 0], points[:, 1])
        across = np.hypot(flat - radius, points[:, 2]) - width
        past = np.maximum(-points[:, 0], -points[:, 1])
        return np.asarray(np.maximum(across, past))

    def sample(count: int, rng: np.random.Generator) -> FloatArray:
        on_tube = rng.random(count) < tube / (tube + 2.0 * end)
        around = rng.uniform(0.0, 2.0 * np.pi, 4 * count)
        # The outside of a bend has more area than the inside.
        around = around[rng.random(4 * count) < (radius + width * np.cos(around)) / (radius + width)][:count]
        around = np.resize(around, count)
        turn = np.where(on_tube, rng.uniform(0.0, 0.5 * np.pi, count), 0.5 * np.pi * rng.integers(0, 2, count))
        flat_angle = np.where(on_tube, around, rng.uniform(0.0, 2.0 * np.pi, count))
        away = np.where(on_tube, width, width * np.sqrt(rng.random(count)))
        flat = radius + away * np.cos(flat_angle)
        return np.column_stack((flat * np.cos(turn), flat * np.sin(turn), away * np.sin(flat_angle)))

    tube, end = np.pi**2 * radius * width, np.pi * width**2
    return Form(distance, sample, tube + 2.0 * end)


def bracket(hole: bool = True) -> Part:
    """Two legs of 100 mm at a right angle, 40 wide and 8 thick; a hole in one of them, without which they are alike."""
    legs = box((0.0, 0.0, 0.0), (100.0, 8.0, 40.0)), box((0.0, 0.0, 0.0), (8.0, 100.0, 40.0))
    return Part(legs, (rod((75.0, -1.0, 15.0), 1, 10.0, 7.0),) if hole else ())


def block() -> Part:
    """80 by 60 by 30 mm, with three holes of different sizes."""
    holes = rod((15, 15, -1), 2, 32, 6), rod((60, 20, -1), 2, 32, 10), rod((30, 42, 10), 2, 32, 8)
    return Part((box((0, 0, 0), (80, 60, 30)),), holes)


def elbow() -> Part:
    """A pipe around a corner, 36 mm wide with walls of 4 mm, a flange with a flat at one end."""
    forms = bend(50.0, 18.0), rod((50.0, -30.0, 0.0), 1, 31.0, 18.0), rod((-20.0, 50.0, 0.0), 0, 21.0, 18.0)
    flange = box((22.0, -36.0, -28.0), (78.0, -28.0, 34.0))
    bores = bend(50.0, 14.0), rod((50.0, -40.0, 0.0), 1, 41.0, 14.0), rod((-24.0, 50.0, 0.0), 0, 25.0, 14.0)
    return Part((*forms, flange), bores)


def shaft(key: bool = True) -> Part:
    """Four steps, 140 mm long; a flat of the thickest step tells how it is turned, without it nothing does."""
    steps = (
        rod((0, 0, 0), 0, 40, 10),
        rod((39, 0, 0), 0, 31, 16),
        rod((69, 0, 0), 0, 41, 22),
        rod((109, 0, 0), 0, 31, 13),
    )
    return Part(steps, (box((68.0, -30.0, 14.0), (111.0, 30.0, 30.0)),) if key else ())


def channel() -> Part:
    """A thin U of sheet, 120 mm long and 2 thick, with one side lower than the other and a slot."""
    sheets = box((0, 0, 0), (120, 50, 2)), box((0, 0, 0), (120, 2, 40)), box((0, 48, 0), (120, 50, 24))
    return Part(sheets, (box((20.0, -1.0, 20.0), (50.0, 3.0, 30.0)),))


def tee() -> Part:
    """A plate of 10 mm on edge upon another, off its middle."""
    return Part((box((0, 0, 0), (90, 70, 10)), box((0, 20, 0), (60, 30, 60))))


PARTS = {
    "bracket": bracket, "plain bracket": lambda: bracket(hole=False), "block": block, "elbow": elbow, "shaft": shaft,
    "plain shaft": lambda: shaft(key=False), "channel": channel, "tee": tee,
}  # fmt: skip
