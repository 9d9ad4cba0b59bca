"""One row of the rotation and its shift by the sharp bounds (first order and windows): a stage of the driver.

The top-level cells are bounded first, which gives an honest bound early; then the subtrees of the survivors are
searched, the most promising few from the given incumbent, the others from the best that those found.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.kernels import DOUBLE_LIMIT
from tear3d.problem.limits import Limits
from tear3d.prove.bounds.data import X1, X2, X3, XI, W, Y
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.domains.sphere import Cell, top_cells
from tear3d.prove.row.points import RowPoints, pack_points
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.state import (
    ABOVE,
    BOUND,
    BOUNDED,
    CELL_I,
    CELL_J,
    CELLS,
    CLOSED,
    COLUMNS,
    FACE,
    HIGH,
    HULL_BOUND,
    HULL_HIGH,
    HULL_LOW,
    LEVEL,
    LOW,
    PHASE,
    SAVING,
    SEGMENT,
    TOP,
    TRACED,
    UNBOUNDED,
    Setting,
    Space,
    Subtree,
    make_space,
    make_subtree,
)
from tear3d.prove.row.subtree import (
    band_weight,
    copy_active,
    node_geometry,
    push_children,
    saving_at,
    search_subtree,
    segment_points,
)
from tear3d.prove.stage import OPEN, Batch, Outcome, Stage, Task

TOP_LEVEL, TOP_ARCS = 2, 5
"""6·4² cells of the sphere, or 2⁵ arcs of the circle, to start with. Free choices, part of no bound."""
FIRST_BATCH = 16
"""Subtrees searched from the first incumbent; all others start from what these found. Free choice, part of no bound."""
SLICE = 3e7
"""Rough nanoseconds between two looks at the clock. Measured on a busy machine, 4 to 10⁶ pairs: 0.02 to 0.13 s, once
0.23 s. Part of no bound."""
PRUNE = 0.98
"""Share of the allowed gap used for pruning; the rest covers the final evaluation in float64."""
ACTIVE_SAMPLE = 2_000
BACKGROUND_SAMPLE = 100_000
BACKGROUND_DIRECTIONS = np.array([(1, 2, 2), (-2, 1, 2), (2, -2, 1), (-1, -2, 2), (2, 1, -2), (-2, 2, 1)]) / 3.0
"""Samples for guesses, part of no bound."""


class _Workspace(NamedTuple):
    subtree: Subtree
    space: Space


class SharpRow(Stage):
    """Maximise Σ w·max(0, ξ − |y − r·x − t|) over all unit r (orthogonal to `problem.across`) and all t.

    Solutions are arrays (r, t) in the coordinates of the search. `incumbent` is a good (r, t) there, which says whether
    single precision will do at this `rel_gap`; savings are as evaluated on the packed points. `limits` are for packing,
    which raises TooLate when they are over.
    """

    prune = PRUNE

    def __init__(
        self,
        problem: RowProblem,
        incumbent: tuple[FloatArray, float],
        *,
        rel_gap: float,
        name: str = "first row",
        double: bool | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        # A weight that all share is put back at the end.
        self.factor = float(problem.w[0]) if problem.w.size == 1 else 1.0
        if problem.w.size == 1:
            problem = problem._replace(w=np.ones(1))
        few = len(problem.source) <= DOUBLE_LIMIT
        self.row = pack_points(problem, double=few if double is None else double, limits=limits)
        if double is None and needs_double(self.row, incumbent, rel_gap):
            del self.row  # before the points are packed once more
            self.row = pack_points(problem, double=True, limits=limits)
        self.points = self.row.all
        self.total = self.factor * self.row.total
        basis = np.zeros((2, 3))
        if problem.across is not None:
            basis[0], basis[1] = orthogonal_basis(problem.across)
        self.setting = Setting(
            radius=self.row.radius,
            background=_background(self.row),
            circle=problem.across is not None,
            basis=basis,
        )

    def start(self, r: FloatArray, t: float) -> tuple[float, FloatArray]:
        """A first incumbent: r moved into the domain, and what it saves with t."""
        r = np.asarray(r, np.float64)
        if self.setting.circle:
            basis = self.setting.basis
            r = basis.T @ (basis @ r)
        r = r / np.linalg.norm(r)
        return self.factor * float(saving_at(self.points, tuple(r.tolist()), float(t))), np.array([*r, t])

    def roots(self) -> FloatArray:
        """Nodes that cover the domain; none when there is nothing to save."""
        row, beyond = self.row, max(self.points.xi, 2.0 * self.points.eps)
        if not self.points.count or not self.factor > 0.0:
            return np.empty((0, COLUMNS))
        cells = top_cells(TOP_LEVEL) if not self.setting.circle else [(0, TOP_ARCS, i, 0) for i in range(2**TOP_ARCS)]
        nodes = np.zeros((len(cells), COLUMNS))
        nodes[:, BOUND] = self._scaled(np.array(row.total * (1.0 + 1e-9)))
        nodes[:, PHASE] = UNBOUNDED
        nodes[:, [FACE, LEVEL, CELL_I, CELL_J]] = cells
        nodes[:, LOW] = row.lowest - row.largest - beyond
        nodes[:, HIGH] = row.highest + row.largest + beyond
        nodes[:, ABOVE] = np.inf
        return nodes

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        if phase == BOUNDED and turn == 0:
            return Batch(FIRST_BATCH, FIRST_BATCH)
        return Batch(waiting, waiting)

    def workspace(self) -> _Workspace:
        return _Workspace(make_subtree(), make_space(self.points))

    def search(self, nodes: FloatArray, task: Task, work: _Workspace) -> Outcome:
        """Bound one cell, or search below one that was bounded before."""
        (node,) = nodes
        subtree, space = work
        deep = bool(node[PHASE] == BOUNDED)
        saving = task.saving if self.factor == 1.0 else task.saving / self.factor
        subtree.state[:] = saving, task.slack, 0.0, np.inf, -np.inf, 0.0
        subtree.count[:] = 1, 0, 0
        subtree.stack[0, :COLUMNS], subtree.stack[0, SEGMENT] = node, 0.0
        subtree.stack[0, BOUND] /= self.factor
        space.segments[0] = 0, self.points.count, self.points.near
        if deep:
            self._gather(subtree, space)
        while subtree.count[TOP] > 0 and subtree.count[CELLS] < task.cells:
            left = task.cells - subtree.count[CELLS]
            search_subtree(self.points, self.setting, subtree, space, deep, SLICE, left)
            if task.stop():
                break
        better = subtree.state[SAVING] > saving
        return Outcome(
            open=self._left(node, subtree),
            closed=float(self._scaled(subtree.state[CLOSED])),
            cells=int(subtree.count[CELLS]),
            saving=self.factor * float(subtree.state[SAVING]),
            solution=subtree.best.copy() if better else None,
            trace=subtree.trace[: subtree.count[TRACED]].copy(),
        )

    def _left(self, node: FloatArray, subtree: Subtree) -> FloatArray:
        """What is open after work on `node`: the stack, and the node itself with the t that survived."""
        top, bound = int(subtree.count[TOP]), float(subtree.state[HULL_BOUND])
        left = subtree.stack[: top + (bound > 0.0), :COLUMNS].copy()
        left[:top, PHASE] = UNBOUNDED
        if bound > 0.0:
            own = left[top]
            own[:] = node
            own[BOUND], own[ABOVE], own[PHASE] = bound, bound, BOUNDED
            own[LOW], own[HIGH] = subtree.state[HULL_LOW], subtree.state[HULL_HIGH]
        left[:, BOUND] = self._scaled(left[:, BOUND])
        return left

    def improve(self, saving: float, solution: FloatArray, limits: Limits) -> tuple[float, FloatArray]:
        return saving, solution

    def describe(self, nodes: FloatArray) -> FloatArray:
        rows = []
        for node in nodes:
            cell = node_geometry(node, self.setting)
            rows.append((*cell.c, cell.theta, node[LEVEL], OPEN))
        return np.array(rows).reshape(-1, 6)

    def _scaled(self, bound: FloatArray) -> FloatArray:
        """Bounds for the packed points as bounds for the pairs, rounded up."""
        return bound if self.factor == 1.0 else np.nextafter(self.factor * bound, np.inf)

    def _gather(self, subtree: Subtree, space: Space) -> None:
        """Replace a node by its children, and copy the points that matter to them if that pays."""
        node = subtree.stack[0]
        cell = node_geometry(node, self.setting)
        t0, t1 = float(node[LOW]), float(node[HIGH])
        start, length = self.row.stretch(t0, t1)
        space.segments[0] = start, length, min(length, self.points.near)
        few = min(0.9 * space.arena.shape[1], 0.5 * length)
        part = segment_points(self.points, space, 0)
        if self._active(cell, t0, t1) < few and copy_active(part, 0, cell, t0, t1, space):
            node[SEGMENT] = 1.0
            reach = self.row.radius * max(cell.h1, cell.h2)
            space.widths[1] = t1 - t0 + 2.0 * (self.points.xi + reach)
        subtree.count[TOP] = push_children(subtree.stack, 0, self.setting.circle)

    def _active(self, cell: Cell, t0: float, t1: float) -> float:
        """About how many points matter for t in [t0, t1]: is copying them worth a pass?"""
        points = self.points.rows
        sample = points[:4, :: max(1, points.shape[1] // ACTIVE_SAMPLE)]
        x, y = sample[:3], sample[Y]
        b = y - np.array(cell.c) @ x
        reach = cell.h1 * np.abs(np.array(cell.e1) @ x) + cell.h2 * np.abs(np.array(cell.e2) @ x) + self.points.xi
        return float(np.mean((b > t0 - reach) & (b < t1 + reach))) * points.shape[1]


def _background(row: RowPoints) -> float:
    """The mean over some directions of about the most that a shift saves, from a sample of the points."""
    size, xi = row.all.count, row.all.xi
    if not size:
        return 0.0
    points = row.all.rows[:, :: max(1, size // BACKGROUND_SAMPLE)].astype(np.float64)
    weights = points[XI] * points[W] / xi if row.all.general else None
    tent = xi * (1.0 - np.abs(np.arange(-3, 4)) / 4.0)
    savings = []
    for r in BACKGROUND_DIRECTIONS:
        b = points[Y] - r @ points[[X1, X2, X3]]
        low, high = np.quantile(b, (0.02, 0.98))
        bins = int(min(20_000, max(1.0, 4.0 * (high - low) / xi)))
        counts = np.histogram(b, bins, (low, high + 1e-9), weights=weights)[0]
        savings.append(np.convolve(counts, tent).max())
    return float(np.mean(savings)) * size / max(1, points.shape[1])


def needs_double(row: RowPoints, start: tuple[FloatArray, float], rel_gap: float) -> bool:
    """Whether float32 rounding of the points in the incumbent's band would keep the gap from closing."""
    points = row.all
    if points.rows.dtype != np.float32 or points.count == 0:
        return False
    r, t = tuple(np.asarray(start[0], np.float64).tolist()), float(start[1])
    saving = saving_at(points, r, t)
    band = band_weight(points, r, t)
    return bool(2.0 * band * points.eps > 0.2 * rel_gap * saving)
