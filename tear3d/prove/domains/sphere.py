"""Cells of the unit sphere: a cube map of equal-angle squares."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray

DEEPEST_LEVEL = 40
"""Sides of about 10⁻¹² rad: below this, neighbouring vertices are no longer told apart reliably."""
Vector = tuple[float, float, float]
WIDTH_FACTOR, WIDTH_PAD, THETA_PAD = 1e-14, 1e-15, 4e-15
"""What rounding may take from h1, h2 and θ (mathematics.md, section 2.3)."""


@njit(cache=True, nogil=True)
def _edge(level, i):
    if i == 0:
        return -1.0
    n = 1 << level
    return 1.0 if i == n else math.tan(0.25 * math.pi * (2.0 * i / n - 1.0))


@njit(cache=True, nogil=True)
def cell_vertices(face, level, i, j):
    """Unit vertices (4×3, in cyclic order) of cell (i, j) among the 2^level × 2^level of a face (0 to 5)."""
    axis = face // 2
    out = np.empty((4, 3))
    for k in range(4):
        a = _edge(level, i + (1 if k == 1 or k == 2 else 0))
        b = _edge(level, j + (1 if k >= 2 else 0))
        scale = 1.0 / math.sqrt(1.0 + (a * a + b * b))  # in this order faces agree on common vertices
        out[k, axis] = scale if face % 2 == 0 else -scale
        out[k, (axis + 1) % 3] = a * scale
        out[k, (axis + 2) % 3] = b * scale
    return out


class Cell(NamedTuple):
    """A cell as the kernels see it: every unit r of it is κc + d with |d·e1| ≤ h1, |d·e2| ≤ h2, |κ − κ0| ≤ η."""

    c: Vector
    """The centre, a unit vector; e1 and e2 are tangents there, and the three are orthonormal."""
    e1: Vector
    e2: Vector
    h1: float
    h2: float
    theta: float
    """Angular radius."""
    kappa0: float
    """(1 + cos θ)/2, the middle of what κ can be."""
    eta: float
    """(1 − cos θ)/2."""


@njit(cache=True, nogil=True)
def make_cell(c, e1, e2, h1, h2, theta):
    """A `Cell` with this frame, these half widths and this radius, rounded up before (mathematics.md, section 2.3)."""
    cos_theta = np.cos(theta)
    return Cell(c, e1, e2, h1, h2, theta, 0.5 * (1.0 + cos_theta), 0.5 * (1.0 - cos_theta))


@njit(cache=True, nogil=True)
def cell_frame(vertices):
    """The `Cell` of a spherical quadrilateral with unit vertices (4×3, in cyclic order)."""
    a, b, c, e = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for m in range(3):
        v0, v1, v2, v3 = vertices[0, m], vertices[1, m], vertices[2, m], vertices[3, m]
        a[m], b[m] = (v1 - v0) + (v2 - v3), (v3 - v0) + (v2 - v1)
        c[m] = v0 + v1 + v2 + v3
    length = math.sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2])
    na = math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    nb = math.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
    # Near a cube's corner the edge directions are not orthogonal; e1 leans half of that towards either of them.
    lean = 0.5 * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (na * nb)
    along = 0.0
    for m in range(3):
        c[m] /= length
        a[m] = a[m] / na - lean * b[m] / nb
        along += a[m] * c[m]
    size = 0.0
    for m in range(3):
        a[m] -= along * c[m]
        size += a[m] * a[m]
    for m in range(3):
        a[m] = a[m] / math.sqrt(size)
    e[0] = c[1] * a[2] - c[2] * a[1]
    e[1] = c[2] * a[0] - c[0] * a[2]
    e[2] = c[0] * a[1] - c[1] * a[0]
    # A cell is the convex hull of its vertices on the plane tangent at c (gnomonic projection), and κ ≤ 1.
    h1, h2, chord = 0.0, 0.0, 0.0
    for k in range(4):
        height, d1, d2, square = 0.0, 0.0, 0.0, 0.0
        for m in range(3):
            v = vertices[k, m]
            height += v * c[m]
            d1 += v * a[m]
            d2 += v * e[m]
            square += (v - c[m]) * (v - c[m])
        h1, h2, chord = max(h1, abs(d1) / height), max(h2, abs(d2) / height), max(chord, square)
    theta = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(chord)))
    h1, h2 = h1 * (1.0 + WIDTH_FACTOR) + WIDTH_PAD, h2 * (1.0 + WIDTH_FACTOR) + WIDTH_PAD
    theta = math.sqrt(theta * theta + THETA_PAD)
    return make_cell((c[0], c[1], c[2]), (a[0], a[1], a[2]), (e[0], e[1], e[2]), h1, h2, theta)


@njit(cache=True, nogil=True)
def cell_geometry(face, level, i, j):
    """The `Cell` of cube-map cell (i, j) among the 2^level × 2^level of a face."""
    return cell_frame(cell_vertices(face, level, i, j))


def cell_centre(face: int, level: int, i: int, j: int) -> FloatArray:
    """The unit vector in the middle of a cell's vertices."""
    middle = cell_vertices(face, level, i, j).sum(axis=0)
    return middle / np.linalg.norm(middle)


class CubeCell(NamedTuple):
    """Cell (i, j) of the 2^level × 2^level equal-angle squares of a cube's face."""

    face: int
    level: int
    i: int
    j: int

    @property
    def vertices(self) -> FloatArray:
        return cell_vertices(*self)

    @property
    def centre(self) -> FloatArray:
        return cell_centre(*self)

    @property
    def radius(self) -> float:
        """Angular radius θ around the centre."""
        return float(cell_frame(self.vertices).theta)

    def split(self) -> list[CubeCell]:
        """The four quarters; none at the deepest level."""
        if self.level >= DEEPEST_LEVEL:
            return []
        i, j = 2 * self.i, 2 * self.j
        return [CubeCell(self.face, self.level + 1, i + a, j + b) for a in (0, 1) for b in (0, 1)]


def top_cells(level: int) -> list[CubeCell]:
    """All 6·4^level cells of a level: together they cover the sphere."""
    side = range(2**level)
    return [CubeCell(face, level, i, j) for face in range(6) for i in side for j in side]
