"""Cells of the unit sphere: a cube map of equal-angle squares, and the paper's (α, β) rectangles."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.bounds.ranges import cell_ranges
from tear3d.result import FloatArray

DEEPEST_LEVEL = 40
"""Sides of about 10⁻¹² rad: below this, neighbouring vertices are no longer told apart reliably."""


@njit(cache=True, nogil=True)
def _edge(level, i):  # pragma: no cover - compiled
    if i == 0:
        return -1.0
    n = 1 << level
    return 1.0 if i == n else math.tan(0.25 * math.pi * (2.0 * i / n - 1.0))


@njit(cache=True, nogil=True)
def cell_vertices(face, level, i, j):  # pragma: no cover - compiled
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


@njit(cache=True, nogil=True)
def _normalise(v, c, amount):  # pragma: no cover - compiled
    """Make v a unit vector, after taking `amount` (0 or 1) of its part along c away."""
    along = amount * (v[0] * c[0] + v[1] * c[1] + v[2] * c[2])
    for m in range(3):
        v[m] -= along * c[m]
    length = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    for m in range(3):
        v[m] /= length


@njit(cache=True, nogil=True)
def _frame(vertices, out):  # pragma: no cover - compiled
    c, e1, e2 = out[0:3], out[3:6], out[6:9]
    d = np.empty((4, 3))
    for m in range(3):
        v0, v1, v2, v3 = vertices[0, m], vertices[1, m], vertices[2, m], vertices[3, m]
        c[m] = v0 + v1 + v2 + v3
        d[0, m], d[1, m] = (v1 - v0) + (v2 - v3), (v3 - v0) + (v2 - v1)
    _normalise(c, c, 0.0)
    _normalise(d[0], c, 1.0)
    _normalise(d[1], c, 1.0)
    # Near a cube's corner the edge directions d0, d1 are not orthogonal. Their bisectors d2, d3 are, and
    # those turned by 45° are the orthonormal pair nearest to both edges.
    for m in range(3):
        d[2, m], d[3, m] = d[0, m] + d[1, m], d[0, m] - d[1, m]
    _normalise(d[2], c, 1.0)
    _normalise(d[3], c, 1.0)
    axes = np.empty((2, 3))
    for m in range(3):
        axes[0, m], axes[1, m] = d[2, m] + d[3, m], d[2, m] - d[3, m]
    _normalise(axes[0], c, 1.0)
    _normalise(axes[1], axes[0], 1.0)
    _normalise(axes[1], c, 1.0)
    lo, hi = np.empty(2), np.empty(2)
    cell_ranges(axes, vertices, lo, hi)
    chord = 0.0
    for k in range(4):
        g0, g1, g2 = vertices[k, 0] - c[0], vertices[k, 1] - c[1], vertices[k, 2] - c[2]
        chord = max(chord, g0 * g0 + g1 * g1 + g2 * g2)
    theta = 2.0 * math.asin(min(1.0, 0.5 * math.sqrt(chord)))
    for m in range(3):
        e1[m], e2[m] = axes[0, m], axes[1, m]
    out[9] = max(-lo[0], hi[0])
    out[10] = max(-lo[1], hi[1])
    out[11] = math.sqrt(theta * theta + 4e-15)  # lowers cos θ by about 2e-15, more than its rounding


@njit(cache=True, nogil=True)
def cell_geometry(face, level, i, j, out):  # pragma: no cover - compiled
    """Write centre c, tangent frame e1, e2, half widths h1, h2 and angular radius θ into out[0:12].

    For every unit r of the cell, r = κc + d: |d·e_j| ≤ h_j (the exact maximum) and κ ≥ cos θ.
    """
    _frame(cell_vertices(face, level, i, j), out)


def cell_frame(vertices: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, float, float, float]:
    """(c, e1, e2, h1, h2, θ) of a cell given by its vertices; see `cell_geometry`."""
    out = np.empty(12)
    _frame(vertices, out)
    return out[0:3], out[3:6], out[6:9], float(out[9]), float(out[10]), float(out[11])


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
        return cell_frame(self.vertices)[5]

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


class AngleRectangle(NamedTuple):
    """The paper's cell: α in [a1, a2] (longitude), β in [b1, b2] ⊂ [0, π] (from the pole)."""

    a1: float
    a2: float
    b1: float
    b2: float

    @property
    def centre(self) -> FloatArray:
        return direction(0.5 * (self.a1 + self.a2), 0.5 * (self.b1 + self.b2))

    @property
    def radius(self) -> float:
        """Half the diagonal of the rectangle in the (α, β) plane, which bounds the angular radius."""
        return 0.5 * math.hypot(self.a2 - self.a1, self.b2 - self.b1)

    def split(self) -> list[AngleRectangle]:
        a, b = 0.5 * (self.a1 + self.a2), 0.5 * (self.b1 + self.b2)
        if not (self.a1 < a < self.a2 and self.b1 < b < self.b2):
            return []
        alphas, betas = ((self.a1, a), (a, self.a2)), ((self.b1, b), (b, self.b2))
        return [AngleRectangle(*alpha, *beta) for alpha in alphas for beta in betas]


def direction(alpha: float, beta: float) -> FloatArray:
    """(sin β cos α, sin β sin α, cos β)."""
    return np.array(
        [math.sin(beta) * math.cos(alpha), math.sin(beta) * math.sin(alpha), math.cos(beta)], dtype=np.float64
    )


WHOLE_SPHERE = AngleRectangle(0.0, 2.0 * math.pi, 0.0, math.pi)
