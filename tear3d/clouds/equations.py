"""The normal equations of ICP: pair every point with the nearest one, and linearise the distances around a pose.

A pair counts as ½ rᵀ M r with r = y − R x − t. M is the identity for points (Besl, McKay 1992), n nᵀ with the normal n
of y for planes (Chen, Medioni 1991), and the inverse of C_y + R C_x Rᵀ for GICP (Segal, Haehnel, Thrun 2009), where C
is 1 within a point's surface and 10⁻³ across it. The pose is varied as R ← exp(ω) R, t ← t + v.

A pair must be able to be the same surface: see `Pairing`.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.features.steps import Tick
from tear3d.features.tree import Tree
from tear3d.features.work import aside, in_chunks
from tear3d.problem.arrays import FloatArray

Method = Literal["gicp", "icp", "plane"]
METHODS: tuple[Method, ...] = ("gicp", "icp", "plane")

_POINTS, _PLANES, _SURFACES = 0, 1, 2
_KINDS = {"icp": _POINTS, "plane": _PLANES, "gicp": _SURFACES}
# Some hundredths of a second.
_ROWS = 4096
_ACROSS = 1e-3
_APART, _APART_POINTS = 0.5, 1.0
"""How much farther a point may lie from its partner than the partner's own nearest point, in voxels: along the normal,
along which two samples of one surface differ by noise and bends alone; and in all, where no normals are known, by which
they differ for lying between each other's points. Free choices; the larger is what lies between two voxels."""


class Surface(NamedTuple):
    """Points and their normals; zero normals where none are known or needed."""

    points: FloatArray
    normals: FloatArray


@dataclass(frozen=True)
class Equations:
    """H δ = −b for δ = (ω, v), linearised at a pose, and what was measured there."""

    H: FloatArray
    b: FloatArray
    error: float
    near: int
    """How many points have a partner within reach."""
    squares: float
    """Sum of the squared distances of those pairs."""
    used: int
    """How many of those pairs can be the same surface, which alone are in H, b and the error."""


class Pairing:
    """Two surfaces in voxels, whose points are paired anew at every linearisation.

    A point and the nearest one may belong to two sides of a thin wall, or to a part and the table below it. Then the
    partner's own nearest point is much nearer to it than the first point is, and the pair is left out. Surfaces that
    are displaced against each other are as far apart one way as the other way round, so their pairs stay. With
    `any_surface` all pairs stay.
    """

    def __init__(
        self,
        moving: Surface,
        fixed: Surface,
        method: Method,
        reach: float,
        threads: int | None,
        tick: Tick | None = None,
        trees: tuple[Tree | None, Tree | None] = (None, None),
        any_surface: bool = False,
    ) -> None:
        # In one layout: each would have the kernels compiled anew.
        self._moving, self._fixed = (Surface(*map(np.ascontiguousarray, surface)) for surface in (moving, fixed))
        self._kind, self._reach, self._threads = _KINDS[method], reach, threads
        self._any_surface = any_surface
        # Of the moving surface all points, also where only some of them move.
        self._back = aside(lambda: Tree(moving.points), tick) if trees[0] is None else trees[0]
        self._tree = aside(lambda: Tree(fixed.points), tick) if trees[1] is None else trees[1]
        self._partner: NDArray[np.int32] = np.full(len(moving.points), -1, dtype=np.int32)
        self._weights = np.zeros((len(moving.points), 6))

    def __len__(self) -> int:
        return len(self._partner)

    def part(self, each: int) -> Pairing:
        """Of every so manieth of the moving points, with the same surface."""
        part = copy(self)
        part._moving = Surface(*(np.ascontiguousarray(rows[::each]) for rows in self._moving))
        part._partner, part._weights = self._partner[::each].copy(), self._weights[::each].copy()
        return part

    def within(self, reach: float) -> Pairing:
        """The same with another reach."""
        other = copy(self)
        other._reach = reach
        other._partner, other._weights = self._partner.copy(), self._weights.copy()
        return other

    def linearise(self, pose: FloatArray, tick: Tick | None = None) -> Equations:
        """Same bits for any number of threads: the sums of the chunks are added in order."""
        rotation, translation = np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3])
        count = len(self)
        sums = np.zeros((-(-count // _ROWS), 46))

        def work(start: int, stop: int) -> None:
            moved = self._moving.points[start:stop] @ rotation.T + translation
            self._partner[start:stop], near = self._partners(moved, rotation, translation)
            sums[start // _ROWS, 44:] = near
            rows = Surface(self._moving.points[start:stop], self._moving.normals[start:stop])
            _sums(
                rows, self._fixed, self._partner[start:stop], rotation, translation,
                self._kind, self._weights[start:stop], sums[start // _ROWS],
            )  # fmt: skip

        in_chunks(work, count, self._threads, chunk=_ROWS, tick=tick)
        total = sums.sum(axis=0)
        return Equations(
            H=total[:36].reshape(6, 6),
            b=total[36:42],
            error=float(total[42]),
            near=int(total[44]),
            squares=float(total[45]),
            used=int(total[43]),
        )

    def _partners(
        self, moved: FloatArray, rotation: FloatArray, translation: FloatArray
    ) -> tuple[NDArray[np.int32], tuple[float, float]]:
        """The nearest point of each, -1 where it cannot be the same surface; how many are in reach, and how far."""
        distances, partner = self._tree.nearest(moved, self._reach)
        rows = np.flatnonzero(partner >= 0)
        near = float(len(rows)), float(np.sum(distances[rows] ** 2))
        limit = _APART_POINTS if self._kind == _POINTS else _APART
        rows = rows[distances[rows] > (np.inf if self._any_surface else limit)]
        fixed, normals = self._fixed.points[partner[rows]], self._fixed.normals[partner[rows]]
        apart = self._across(fixed - moved[rows], normals)
        far = apart > limit
        rows, fixed, normals, apart = rows[far], fixed[far], normals[far], apart[far]
        own = self._back.nearest((fixed - translation) @ rotation)[1]
        back = self._across(fixed - self._back.data[own] @ rotation.T - translation, normals)
        partner[rows[apart > back + limit]] = -1
        return partner, near

    def _across(self, away: FloatArray, normals: FloatArray) -> FloatArray:
        if self._kind == _POINTS:
            return np.asarray(np.linalg.norm(away, axis=1))
        return np.abs(np.einsum("ij,ij->i", away, normals))

    def error(self, pose: FloatArray) -> float:
        """Of the pairs and weights of the last linearisation."""
        rotation, translation = np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3])
        return _error(self._moving.points, self._fixed.points, self._partner, rotation, translation, self._weights)

    @property
    def radius(self) -> float:
        """Root mean square distance of the moving points from their origin."""
        return float(np.sqrt(np.mean(np.sum(self._moving.points**2, axis=1))))

    def scores(self, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where the pairs of the last linearisation, at this pose, lie, and what each contributes to b."""
        rows = np.flatnonzero(self._partner >= 0)
        u, w = self._moving.points[rows] @ pose[:3, :3].T, self._weights[rows]
        r = self._fixed.points[self._partner[rows]] - u - pose[:3, 3]
        force = np.einsum("iab,ib->ia", w[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3), r)
        return u + pose[:3, 3], np.column_stack([np.cross(force, u), -force])


@njit(cache=True, nogil=True)
def _sums(moving, fixed, partner, rotation, translation, kind, weights, out):
    """H (all 36 entries), b, the error and the number of pairs, in `out`."""
    slope = np.zeros((3, 6))
    slope[0, 3] = slope[1, 4] = slope[2, 5] = -1.0
    u, r, n, m = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    weighted = np.empty(3)
    for i in range(len(partner)):
        j = partner[i]
        if j < 0:
            continue
        for d in range(3):
            u[d] = m[d] = 0.0
            for e in range(3):
                u[d] += rotation[d, e] * moving.points[i, e]
                m[d] += rotation[d, e] * moving.normals[i, e]
            r[d] = fixed.points[j, d] - u[d] - translation[d]
            n[d] = fixed.normals[j, d]
        _weigh(kind, n, m, weights[i])
        xx, xy, xz, yy, yz, zz = weights[i]
        # r changes by u × ω − v.
        slope[0, 1], slope[0, 2], slope[1, 2] = -u[2], u[1], -u[0]
        slope[1, 0], slope[2, 0], slope[2, 1] = u[2], -u[1], u[0]
        for a in range(6):
            p, q, s = slope[0, a], slope[1, a], slope[2, a]
            weighted[0] = xx * p + xy * q + xz * s
            weighted[1] = xy * p + yy * q + yz * s
            weighted[2] = xz * p + yz * q + zz * s
            out[36 + a] += weighted[0] * r[0] + weighted[1] * r[1] + weighted[2] * r[2]
            for c in range(6):
                out[6 * a + c] += weighted[0] * slope[0, c] + weighted[1] * slope[1, c] + weighted[2] * slope[2, c]
        out[42] += _cost(r[0], r[1], r[2], weights[i])
        out[43] += 1.0


@njit(cache=True, nogil=True)
def _weigh(kind, n, m, out):
    """The matrix M of a pair with the normals n and m, as xx, xy, xz, yy, yz, zz."""
    if kind == _POINTS:
        out[0] = out[3] = out[5] = 1.0
        return
    if kind == _PLANES:
        out[0], out[1], out[2], out[3], out[4], out[5] = (
            n[0] * n[0], n[0] * n[1], n[0] * n[2], n[1] * n[1], n[1] * n[2], n[2] * n[2],
        )  # fmt: skip
        return
    flat = 1.0 - _ACROSS
    xx = 2.0 - flat * (n[0] * n[0] + m[0] * m[0])
    yy = 2.0 - flat * (n[1] * n[1] + m[1] * m[1])
    zz = 2.0 - flat * (n[2] * n[2] + m[2] * m[2])
    xy = -flat * (n[0] * n[1] + m[0] * m[1])
    xz = -flat * (n[0] * n[2] + m[0] * m[2])
    yz = -flat * (n[1] * n[2] + m[1] * m[2])
    # Inverse by cofactors; the determinant is at least (2 · 10⁻³)(1)(1).
    out[0], out[1], out[2] = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    out[3], out[4], out[5] = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    determinant = xx * out[0] + xy * out[1] + xz * out[2]
    for d in range(6):
        out[d] /= determinant


@njit(cache=True, nogil=True)
def _cost(x, y, z, w):
    return 0.5 * (w[0] * x * x + w[3] * y * y + w[5] * z * z) + w[1] * x * y + w[2] * x * z + w[4] * y * z


@njit(cache=True, nogil=True)
def _error(points, fixed, partner, rotation, translation, weights):
    total = 0.0
    for i in range(len(partner)):
        j = partner[i]
        if j < 0:
            continue
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        total += _cost(
            fixed[j, 0] - rotation[0, 0] * x - rotation[0, 1] * y - rotation[0, 2] * z - translation[0],
            fixed[j, 1] - rotation[1, 0] * x - rotation[1, 1] * y - rotation[1, 2] * z - translation[1],
            fixed[j, 2] - rotation[2, 0] * x - rotation[2, 1] * y - rotation[2, 2] * z - translation[2],
            weights[i],
        )
    return total
