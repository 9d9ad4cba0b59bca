"""Row problems and cells for the tests of the bounds."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tear3d.problem.losses import TEAR
from tear3d.prove.bounds.data import Axis, make_work
from tear3d.prove.bounds.ranges import arc_ranges, cell_ranges
from tear3d.prove.bounds.sweep import max_saving
from tear3d.prove.domains.circle import arc_geometry
from tear3d.prove.domains.sphere import cell_geometry, cell_vertices
from tear3d.prove.row.points import pack_points
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.subtree import bound_cell

CLOUDS = ("gaussian", "surface", "line", "clusters", "far", "duplicates", "rim", "few")
GROUPS = 5_000_000
ONE = np.ones(1)


def cloud(kind, n, rng):
    """n×3 points about the origin, of size about 1."""
    x = rng.normal(size=(n, 3))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    if kind == "surface":
        return unit * [0.5, 0.35, 0.2]
    if kind == "line":
        return x * [1.0, 1e-3, 1e-9]
    if kind == "clusters":
        return 0.05 * x + np.where(rng.random((n, 1)) < 0.5, 1.0, -1.0) * [0.6, -0.3, 0.4]
    if kind == "far":
        return x * np.where(rng.random((n, 1)) < 0.03, 40.0, 1.0)
    if kind == "duplicates":
        return x[rng.integers(0, 3, n)]
    return 0.9 * unit if kind == "rim" else x


class CellCase:
    """A cell of the sphere, or an arc, with its directions addressed by (a, b) in the unit square."""

    def __init__(self, rng, level, circle, basis=None):
        self.circle, self.basis = circle, np.zeros((2, 3))
        self.address: Any
        if circle:
            self.basis[:] = np.linalg.qr(rng.normal(size=(3, 2)))[0].T if basis is None else basis
            self.address = (level, int(rng.integers(2**level)))
            self.cell = arc_geometry(*self.address, self.basis)
        else:
            face, (i, j) = int(rng.integers(6)), rng.integers(0, 2**level, 2).tolist()
            self.address = (face, level, i, j)
            self.cell = cell_geometry(*self.address)

    @property
    def centre(self):
        return np.array(self.cell.c)

    def directions(self, ab):
        if self.circle:
            level, i = self.address
            angle = 2.0 * np.pi * (i + ab[:, 0]) / 2**level
            return np.cos(angle)[:, None] * self.basis[0] + np.sin(angle)[:, None] * self.basis[1]
        face, level, i, j = self.address
        tangents = np.tan(np.pi / 4 * (2.0 * (ab + np.array([i, j])) / 2**level - 1.0))
        out = np.empty((len(ab), 3))
        out[:, face // 2] = 1 - 2 * (face % 2)
        out[:, (face // 2 + 1) % 3], out[:, (face // 2 + 2) % 3] = tangents.T
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def sweep(self, problem):
        """The bound of every point alone."""
        x, y = problem.x, problem.y
        lo, hi = np.empty(len(y)), np.empty(len(y))
        if self.circle:
            level, i = self.address
            width = 2.0 * np.pi / 2**level
            arc_ranges(x, *self.basis, i * width, (i + 1) * width, lo, hi)
        else:
            cell_ranges(x, cell_vertices(*self.address), lo, hi)
        rounding = problem.y_rounding + 2.0**-51 * (np.abs(y) + np.maximum(np.abs(lo), np.abs(hi)))
        xi, w = each(problem.xi, len(y)), each(problem.w, len(y))
        return max_saving(y - hi - rounding, y - lo + rounding, xi, w, TEAR)[0]


def each(values, n):
    return np.ascontiguousarray(np.broadcast_to(values, n))


def row_problem(x, y, xi, w):
    """y as the first target coordinate; ξ and w of length 1 when all pairs share them."""
    target = np.column_stack([y, np.zeros_like(y), np.zeros_like(y)])
    return RowProblem(x, target, xi, w, np.zeros(3), np.array([1.0, 0.0, 0.0]), 0.0)


def pack(x, y, xi, w, double):
    return pack_points(row_problem(x, y, xi, w), double=double)


@functools.cache
def work_space(dtype):
    """One work space for all problems of a precision, with a grid of groups large enough for every test."""
    return make_work(dtype, 0)._replace(groups=np.zeros(GROUPS, np.float32))


def is_clean(row):
    return not work_space(row.all.rows.dtype).groups.any()


def bounds_at(row, case, t0, beta, nodes, levels):
    """The bound at the nodes t0 + kβ, by windows with 2^levels groups a side or, for 0, by first order."""
    values = np.empty(nodes)
    axis = Axis(float(t0), float(beta), int(nodes))
    bound_cell(row.all, case.cell, axis, levels, work_space(row.all.rows.dtype), values)
    return values


def savings_at(x, y, xi, w, directions, shifts):
    """Σ w·max(0, ξ − |y − r·x − t|) for all r and t: len(directions)×len(shifts)."""
    b = y - directions @ x.T
    z = np.abs(b[:, None, :] - shifts[None, :, None])
    return np.maximum(0.0, xi - z) @ np.broadcast_to(w, len(y))


def random_case(rng, kind, level, circle, general):
    """Pairs some of which agree with a direction of the cell, and nodes around that agreement."""
    case = CellCase(rng, level, circle)
    n = int(rng.integers(1, 5)) if kind == "few" else int(rng.integers(5, 160))
    scale = 10.0 ** rng.choice([0.0, 0.0, -3.0, 6.0])
    threshold = rng.choice([0.02, 0.1, 0.4])
    x = cloud(kind, n, rng)
    r = case.directions(rng.integers(0, 2, (1, 2)) if rng.random() < 0.7 else rng.random((1, 2)))[0]
    # Residuals of one sign are the hard ones: the linear terms do not cancel.
    spread = rng.uniform(0.0, 1.0, n) if rng.random() < 0.5 else rng.normal(size=n)
    y = x @ r + rng.normal() + threshold * spread
    wrong = rng.random(n) < rng.choice([0.0, 0.6])
    y[wrong] = rng.normal(0.0, 1.67, np.count_nonzero(wrong))
    xi, w = np.array([threshold]), ONE
    if general and n > 1:
        xi = threshold * np.exp(rng.normal(0.0, 0.7, n)) * (rng.random(n) > 0.1)
        w = rng.uniform(0.0, 3.0, n) * (rng.random(n) > 0.1)
        if not np.any(xi * w > 0.0):
            xi[0] = w[0] = threshold
    bins = int(rng.integers(4, 20))
    nodes = int(rng.integers(1, 40))
    beta = float(np.median(xi[xi > 0.0])) / bins
    centre = float(np.median(y - x @ case.centre))
    low = centre + threshold * rng.normal() - rng.random() * nodes * beta
    return case, x * scale, y * scale, xi * scale, w, low * scale, beta * scale, nodes
