"""Arcs of the circle of unit vectors orthogonal to a given one: the second row of a rotation."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray


def orthogonal_basis(r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal (u, v) spanning the plane orthogonal to r, with u × v along r."""
    r = np.asarray(r, np.float64) / np.linalg.norm(r)
    helper = np.zeros(3)
    helper[np.argmin(np.abs(r))] = 1.0
    u = np.cross(helper, r)
    u /= np.linalg.norm(u)
    return u, np.cross(r, u)


class Arc(NamedTuple):
    """The vectors cos a·u + sin a·v with a in [a1, a2]."""

    a1: float
    a2: float

    @property
    def middle(self) -> float:
        return 0.5 * (self.a1 + self.a2)

    @property
    def radius(self) -> float:
        return 0.5 * (self.a2 - self.a1)

    def split(self) -> list[Arc]:
        """The two halves; none when they cannot be told apart in floating point."""
        if not self.a1 < self.middle < self.a2:
            return []
        return [Arc(self.a1, self.middle), Arc(self.middle, self.a2)]


def on_circle(u: FloatArray, v: FloatArray, a: float) -> FloatArray:
    """cos a·u + sin a·v."""
    return math.cos(a) * u + math.sin(a) * v


def top_arcs(count: int) -> list[Arc]:
    """Equal arcs that cover the circle."""
    ends = [2.0 * math.pi * k / count for k in range(count + 1)]
    return [Arc(a, b) for a, b in pairwise(ends)]
