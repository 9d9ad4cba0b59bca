"""Arcs of the circle of unit vectors orthogonal to a given one: the second row of a rotation."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray
from tear3d.prove.domains.sphere import THETA_PAD, WIDTH_FACTOR, make_cell

ARC_PAD = 2e-15
"""What rounding may take from h1: the middle of an arc is off by 13·2⁻⁵³ at most (mathematics.md, section 2.4)."""


def orthogonal_basis(r: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal (u, v) spanning the plane orthogonal to r, with u × v along r."""
    r = np.asarray(r, np.float64) / np.linalg.norm(r)
    helper = np.zeros(3)
    helper[np.argmin(np.abs(r))] = 1.0
    u = np.cross(helper, r)
    u /= np.linalg.norm(u)
    return u, np.cross(r, u)


@njit(cache=True, nogil=True)
def arc_geometry(level, i, basis):
    """The `Cell` of arc i of the 2^level equal arcs of the circle spanned by basis[0] and basis[1]; h2 = 0."""
    half = np.pi / 2.0**level
    middle = (2 * i + 1) * half
    ca, sa = np.cos(middle), np.sin(middle)
    u0, u1, u2, v0, v1, v2 = basis[0, 0], basis[0, 1], basis[0, 2], basis[1, 0], basis[1, 1], basis[1, 2]
    c = (ca * u0 + sa * v0, ca * u1 + sa * v1, ca * u2 + sa * v2)
    e = (ca * v0 - sa * u0, ca * v1 - sa * u1, ca * v2 - sa * u2)
    width = np.sin(min(half, 0.5 * np.pi)) * (1.0 + WIDTH_FACTOR) + ARC_PAD
    theta = np.sqrt(half * half * (1.0 + WIDTH_FACTOR) + THETA_PAD)
    return make_cell(c, e, (0.0, 0.0, 0.0), width, 0.0, theta)


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

    @property
    def side(self) -> float:
        return self.a2 - self.a1

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
