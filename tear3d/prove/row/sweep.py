"""One row of the rotation and its shift by the paper's bounds: TEAR-1 and TEAR-2, and their CM and TLS twins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import TEAR, Loss, row_saving
from tear3d.prove.bounds.sweep import best_shift, max_saving
from tear3d.prove.row.cells import Domain
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.stage import BOUND, CELL, NOTHING, OPEN, Batch, Outcome, Stage, Task

UNBOUNDED, SPLIT = 0, 1
"""Phases of a node: its own bound is not known yet; it is to be split and its parts bounded."""
BATCH = 8
"""Cells split together."""
POLISHES = 8
"""Rounds of reweighted least squares on a new incumbent; a free choice, as BATCH is."""
_KEPT, _PRUNED = 0.0, 1.0


class SweepRow(Stage):
    """The stage: every point may choose the r of a cell that suits it, and one shift t must suit all."""

    prune = 1.0 - 1e-9  # of the allowed gap; the rest is for the rounding of the comparison

    def __init__(self, problem: RowProblem, domain: Domain, loss: Loss, name: str) -> None:
        self.name, self.domain, self.loss = name, domain, loss
        n = len(problem.source)
        self.x, self.y = np.ascontiguousarray(problem.x), np.ascontiguousarray(problem.y)
        self.y_rounding = problem.y_rounding
        # Copies: the kernels would be compiled once more for arrays that are read-only.
        self.xi, self.w = (np.broadcast_to(v, n).copy() for v in (problem.xi, problem.w))
        self.total = float(np.sum(self.w * loss.caps(self.xi)))

    def start(self, r: FloatArray, t: float) -> tuple[float, FloatArray]:
        """What a row saves, or with another shift if that saves more; the row as r and t."""
        saving, solution = self._with_best_shift(r)
        there = float(row_saving(self.y - self.x @ r, t, self.xi, self.w, self.loss.code))
        return (there, np.array([*r, t])) if there > saving else (saving, solution)

    def roots(self) -> FloatArray:
        ceiling = self.total * (1.0 + 2.0**-44)  # covers the rounding of the pairwise sum
        return np.array([[ceiling, UNBOUNDED, *cell] for cell in self.domain.roots], np.float64)

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        return Batch(waiting, waiting) if phase == UNBOUNDED else Batch(BATCH, BATCH)

    def workspace(self) -> None:
        return None

    def parts(self, cell: Any) -> Sequence[Any]:
        """What a cell is split into; nothing when it is too small."""
        return cell.split()  # type: ignore[no-any-return]

    def search(self, nodes: FloatArray, task: Task, work: Any) -> Outcome:
        """Bound the parts of the nodes."""
        node = nodes[0]
        cell = self.domain.cell(node[CELL:])
        parts = self.parts(cell) if node[1] == SPLIT else [cell]
        if not parts:
            return Outcome(nodes[:0], closed=float(node[BOUND]), trace=np.array([self._row(cell, OPEN)]))
        left, trace = [], []
        closed, best, solution = 0.0, -np.inf, None
        cells = 0
        for part in parts:
            if task.stop() or cells >= task.cells:
                left.append([node[BOUND], UNBOUNDED, *part])
                continue
            cells += 1
            bound = min(self._bound(part), float(node[BOUND]))
            pruned = bound <= task.threshold
            trace.append(self._row(part, _PRUNED if pruned else _KEPT))
            if pruned:
                closed = max(closed, bound)
                continue
            left.append([bound, SPLIT, *part])
            value, there = self._with_best_shift(self.domain.centre(part))
            if value > best:
                best, solution = value, there
        open_nodes = np.array(left, np.float64).reshape(-1, len(node))
        return Outcome(open_nodes, closed, cells, best, solution, trace=np.array(trace) if trace else NOTHING)

    def improve(self, saving: float, solution: FloatArray, limits: Limits) -> tuple[float, FloatArray]:
        """Reweighted least squares on the pairs in the band; keeps the best row met on the way."""
        best = saving, solution
        r, t = solution[:3], float(solution[3])
        for _ in range(POLISHES):
            if limits.over():
                break
            z = self.y - self.x @ r - t
            band = np.abs(z) < self.xi
            frame = self.domain.tangents(r)
            if np.count_nonzero(band) <= len(frame) + 1:
                break
            design = np.column_stack([self.x[band] @ frame.T, np.ones(np.count_nonzero(band))])
            weight = self.w[band]
            if self.loss.code == TEAR:
                weight = weight / np.maximum(np.abs(z[band]), 0.05 * self.xi[band])
            root = np.sqrt(weight)
            step = np.linalg.lstsq(design * root[:, None], z[band] * root, rcond=None)[0]
            r = r + step[:-1] @ frame
            r = r / np.linalg.norm(r)
            value, there = self._with_best_shift(r)
            if value <= best[0]:
                break
            best, t = (value, there), float(there[3])
        return best

    def describe(self, nodes: FloatArray) -> FloatArray:
        return np.array([self._row(self.domain.cell(node[CELL:]), OPEN) for node in nodes])

    def _row(self, cell: Any, fate: float) -> tuple[float, ...]:
        depth = round(-np.log2(max(cell.radius, 1e-300)))
        return (*self.domain.centre(cell).tolist(), float(cell.radius), float(depth), fate)

    def _bound(self, cell: Any) -> float:
        """Most that any (r, t) with r in the cell can save, each point on its own."""
        lo, hi = np.empty(len(self.y)), np.empty(len(self.y))
        self.domain.ranges(self.x, cell, lo, hi)
        # mathematics.md, section 3.2
        rounding = 2.0**-51 * (np.abs(self.y) + np.maximum(np.abs(lo), np.abs(hi))) + self.y_rounding
        return float(max_saving(self.y - hi - rounding, self.y - lo + rounding, self.xi, self.w, self.loss.code)[0])

    def _with_best_shift(self, r: FloatArray) -> tuple[float, FloatArray]:
        saving, t = best_shift(self.y - self.x @ r, self.xi, self.w, self.loss.code)
        return float(saving), np.array([*r, t])
