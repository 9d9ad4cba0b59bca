"""The three bounds of one cell: time per pair, tightness, and speed against the naive twins of `tests/naive.py`.

Part of `python -m benchmarks`. The cell lies far from the true row, so that a bound below the saving of the truth would
prune it; the t-range is everything.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tear3d.problem.losses import TEAR
from tear3d.prove.bounds.data import Axis, make_work
from tear3d.prove.bounds.ranges import cell_ranges
from tear3d.prove.bounds.sweep import max_saving
from tear3d.prove.domains.sphere import cell_geometry, cell_vertices
from tear3d.prove.row.points import RowPoints, pack_points
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.subtree import bound_cell
from tear3d.synthetic import make_problem
from tests import naive

BINS = 8
"""Nodes per ξ of the first-order and the window bound."""
MOST_NODES = 2_048
GRID = 4_000_000
"""Room for the groups of the window bound, enough for so many nodes."""
REPEATS = 5


@dataclass(frozen=True)
class CellBound:
    """One bound at one cell."""

    name: str
    seconds: float
    pairs: int
    bound: float
    """As a multiple of what the true row saves; below 1 the cell is pruned."""
    twin_seconds: float | None
    """The naive twin on the first `twin_pairs` pairs, for the same number of shifts."""
    fast_seconds: float | None
    """The fast bound on the same few pairs."""
    twin_pairs: int

    @property
    def speedup(self) -> float | None:
        if self.twin_seconds is None or self.fast_seconds is None:
            return None
        return self.twin_seconds / self.fast_seconds

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"speedup": self.speedup}


class _Row:
    """The first row of a synthetic problem and a cell of the sphere."""

    def __init__(self, n: int, outlier_ratio: float, level: int, seed: int) -> None:
        problem = make_problem(n, outlier_ratio, cloud="ellipsoid", translation=np.zeros(3), seed=seed)
        centre = problem.source.mean(axis=0)
        self.x, self.y = problem.source - centre, problem.target[:, 0].copy()
        self.xi, r = problem.noise_bound, problem.rotation[0]
        b = self.y - self.x @ r
        self.saving = float(np.maximum(0.0, self.xi - np.abs(b - r @ centre)).sum())
        # The face opposite to the largest part of the true row, in the middle of it.
        face = 2 * int(np.argmax(np.abs(r))) + int(r[np.argmax(np.abs(r))] > 0.0)
        self.address = (face, level, 2**level // 2, 2**level // 2)
        self.cell = cell_geometry(*self.address)

    def packed(self, n: int) -> RowPoints:
        target = np.zeros((n, 3))
        target[:, 0] = self.y[:n]
        axis, xi, one = np.array([1.0, 0.0, 0.0]), np.array([self.xi]), np.ones(1)
        return pack_points(RowProblem(self.x[:n], target, xi, one, np.zeros(3), axis, 0.0), double=n < 10_000)

    def sweep(self, n: int) -> Callable[[], float]:
        x, y = np.ascontiguousarray(self.x[:n]), self.y[:n]
        vertices, lo, hi = cell_vertices(*self.address), np.empty(n), np.empty(n)
        xi, w = np.full(n, self.xi), np.ones(n)

        def bound() -> float:
            cell_ranges(x, vertices, lo, hi)
            return max_saving(y - hi, y - lo, xi, w, TEAR)[0]

        return bound

    def sharp(self, n: int, levels: int) -> tuple[Callable[[], float], int, float]:
        """The bound by windows with 2^levels groups a side, or first order for 0; how many nodes, and the first."""
        row = self.packed(n)
        beta = self.xi / BINS
        reach = float(np.quantile(np.abs(self.y), 0.99)) + row.largest
        nodes = min(int(2 * reach / beta) + 1, MOST_NODES)
        first = -0.5 * (nodes - 1) * beta
        work = make_work(row.all.rows.dtype, 0)._replace(groups=np.zeros(GRID, np.float32))
        axis, values = Axis(first, beta, nodes), np.empty(nodes)

        def bound() -> float:
            bound_cell(row.all, self.cell, axis, levels, work, values)
            return float(values.max())

        return bound, nodes, first


def measure(
    n: int = 100_000, outlier_ratio: float = 0.99, level: int = 3, twin_pairs: int = 60, seed: int = 0
) -> list[CellBound]:
    """All bounds at one cell, those with a naive twin also against it."""
    row = _Row(n, outlier_ratio, level, seed)
    few = twin_pairs
    sweep = _timed(row.sweep(n))
    rows = [_cell("sweep (paper)", n, sweep, row, few, _twin_sweep(row, few), _timed(row.sweep(few))[0])]
    first = _timed(row.sharp(n, 0)[0])
    fast, nodes, start = row.sharp(few, 0)
    rows.append(_cell("first order", n, first, row, few, _twin_first(row, few, nodes, start), _timed(fast)[0]))
    for levels in (3, 4):
        windows = _timed(row.sharp(n, levels)[0])
        rows.append(_cell(f"windows, {2**levels}×{2**levels} groups", n, windows, row, few, None, None))
    return rows


def _cell(
    name: str, n: int, timed: tuple[float, float], row: _Row, few: int, twin: float | None, fast: float | None
) -> CellBound:
    return CellBound(name, timed[0], n, timed[1] / row.saving, twin, fast, few)


def _timed(bound: Callable[[], float]) -> tuple[float, float]:
    """Median seconds and the value; the first call, which may compile, is not counted."""
    value, times = bound(), []
    for _ in range(REPEATS):
        started = time.perf_counter()
        bound()
        times.append(time.perf_counter() - started)
    return statistics.median(times), value


def _twin_sweep(row: _Row, n: int) -> float:
    lo, hi = np.empty(n), np.empty(n)
    cell_ranges(np.ascontiguousarray(row.x[:n]), cell_vertices(*row.address), lo, hi)
    started = time.perf_counter()
    naive.max_saving(row.y[:n] - hi, row.y[:n] - lo, np.full(n, row.xi), np.ones(n), "tear")
    return time.perf_counter() - started


def _twin_first(row: _Row, n: int, nodes: int, first: float) -> float:
    beta = row.xi / BINS
    args = (row.x[:n], row.y[:n], np.full(n, row.xi), np.ones(n), row.cell)
    started = time.perf_counter()
    for k in range(nodes):
        naive.first_order_bound(*args, first + k * beta, 0.5 * beta)
    return time.perf_counter() - started
