"""Algorithm 1: best-first branch and bound. It maximises, and knows nothing about points."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits, relative_gap

BATCH = 8
"""Cells split together. Fixed, so that the search does not depend on the number of threads."""

MAX_VISITED = 20_000
MAX_HISTORY = 4_000

_SPLIT, _PRUNED, _OPEN = 0.0, 1.0, 2.0


@dataclass(frozen=True)
class SearchResult:
    """The best solution found and a bound that holds for the whole domain, however the search ended."""

    solution: Any
    value: float
    bound: float
    cells: int
    ended_by: str
    closed: bool
    """Whether the relative gap between value and bound is within what was asked for."""
    history: FloatArray = field(repr=False)
    visited: FloatArray = field(repr=False)


@dataclass(frozen=True)
class Problem:
    """What the search needs to know.

    `bound(cell)` is an upper bound of the value anywhere in the cell, `evaluate(cell)` a value and the
    solution in the cell that has it, `split(cell)` cells that cover it (none when it cannot be split).
    Values are not negative.
    """

    roots: Sequence[Any]
    split: Callable[[Any], Sequence[Any]]
    bound: Callable[[Any], float]
    evaluate: Callable[[Any], tuple[float, Any]]
    size: Callable[[Any], float] | None = None
    polish: Callable[[float, Any], tuple[float, Any]] | None = None
    """Improves a new incumbent (value, solution), wherever in the domain that leads."""
    describe: Callable[[Any], tuple[float, float, float, float]] | None = None
    """Centre x, y, z and angular radius of a cell, for the record."""
    ceiling: float = math.inf
    """A bound for the whole domain known beforehand."""


class _Open(NamedTuple):
    """A cell waiting to be split, ordered by bound (largest first), then by age."""

    negative_bound: float
    age: int
    depth: int
    cell: Any


class _Search:
    def __init__(self, problem: Problem, rel_gap: float, limits: Limits, resolution: float | None, stage: str):
        self.problem, self.rel_gap, self.limits, self.stage = problem, rel_gap, limits, stage
        self.resolution = resolution if problem.size is not None else None
        self.incumbent: tuple[float, Any] = (0.0, None)
        self.bound = problem.ceiling
        # The whole domain is the first open cell; it is split into the roots.
        self.queue = [_Open(-problem.ceiling, 0, -1, None)]
        self.age = 0
        self.pruned_bound = -math.inf
        self.unsplit_bound = -math.inf
        self.cells = 0
        self.history: list[tuple[float, float, float]] = []
        self.stride = self.skipped = 1
        self.visited: list[tuple[float, ...]] = []

    def closes(self, bound: float) -> bool:
        return relative_gap(self.incumbent[0], bound) <= self.rel_gap

    def run(self, workers: Callable) -> str:
        """Search until something ends it, and say what. `self.bound` is valid at every moment."""
        while True:
            self.update_bound()
            if self.closes(self.bound):
                return "gap"
            reason = self.limits.exceeded()
            if reason is not None:
                return reason
            children = self.next_children()
            if children:
                self.merge(children, list(workers(self.visit, children)))
            elif self.queue and not self.closes(-self.queue[0].negative_bound):
                return "node_limit"
            else:
                return "resolution"

    def update_bound(self) -> None:
        top = -self.queue[0].negative_bound if self.queue else -math.inf
        self.bound = max(self.incumbent[0], self.pruned_bound, self.unsplit_bound, top)
        self.record(False)
        self.limits.report(self.stage, self.incumbent[0], self.bound)

    def next_children(self) -> list[_Open]:
        """Split the most promising cells of the queue; children inherit the parent's bound."""
        children: list[_Open] = []
        room = self.limits.cells_left()
        for _ in range(BATCH):
            while self.queue:
                parent = self.queue[0]
                if self.closes(-parent.negative_bound):
                    return children
                parts = self.problem.roots if parent.cell is None else self.problem.split(parent.cell)
                if parts:
                    break
                heapq.heappop(self.queue)
                self.leave_unsplit(parent)
            if not self.queue or len(children) + len(parts) > room:
                return children
            heapq.heappop(self.queue)
            self.note(parent, _SPLIT)
            for cell in parts:
                self.age += 1
                children.append(_Open(parent.negative_bound, self.age, parent.depth + 1, cell))
        return children

    def visit(self, child: _Open) -> tuple[float | None, float, Any]:
        """Bound and value of one cell; runs in a thread and changes nothing."""
        if self.limits.exceeded() is not None:
            return None, 0.0, None
        bound = min(self.problem.bound(child.cell), -child.negative_bound)
        if self.closes(bound):
            return bound, 0.0, None
        return bound, *self.problem.evaluate(child.cell)

    def merge(self, children: list[_Open], outcomes: list[tuple[float | None, float, Any]]) -> None:
        for _, value, solution in outcomes:
            if value > self.incumbent[0]:
                self.incumbent = (value, solution)
                if self.problem.polish is not None:
                    self.incumbent = max(self.incumbent, self.problem.polish(value, solution), key=lambda p: p[0])
        for child, (bound, _, _) in zip(children, outcomes, strict=True):
            if bound is None:  # not visited any more: keeps the bound of its parent
                heapq.heappush(self.queue, child)
                continue
            self.cells += 1
            self.limits.cells += 1
            child = child._replace(negative_bound=-bound)
            if self.closes(bound):
                self.pruned_bound = max(self.pruned_bound, bound)
                self.note(child, _PRUNED)
            elif self.too_small(child.cell):
                self.leave_unsplit(child)
            else:
                heapq.heappush(self.queue, child)

    def too_small(self, cell: Any) -> bool:
        if self.resolution is None or self.problem.size is None:
            return False
        return self.problem.size(cell) <= self.resolution

    def leave_unsplit(self, item: _Open) -> None:
        self.unsplit_bound = max(self.unsplit_bound, -item.negative_bound)
        self.note(item, _OPEN)

    def note(self, item: _Open, fate: float) -> None:
        describe = self.problem.describe
        if describe is not None and item.cell is not None and len(self.visited) < MAX_VISITED:
            self.visited.append((*describe(item.cell), float(item.depth), fate))

    def record(self, last: bool) -> None:
        """Add to the history; when it is full, keep every other row and be half as frequent from then on."""
        self.skipped += 1
        if not last and self.skipped < self.stride:
            return
        self.skipped = 0
        self.history.append((self.limits.seconds, self.incumbent[0], self.bound))
        if len(self.history) >= MAX_HISTORY:
            self.history = self.history[::2]
            self.stride *= 2


def maximise(
    problem: Problem,
    *,
    rel_gap: float,
    limits: Limits,
    incumbent: tuple[float, Any] | None = None,
    resolution: float | None = None,
    threads: int = 1,
    stage: str = "",
) -> SearchResult:
    """Find the largest value over all cells, within a relative gap.

    Parameters
    ----------
    problem
        Cells, bounds and values.
    rel_gap
        End when (bound − value) / value is at most this.
    limits
        Time, number of cells and cancellation; cells are counted there.
    incumbent
        A known (value, solution).
    resolution
        Cells of at most this size are not split. Their bounds stay in the final bound, so a search that
        ends for lack of larger cells reports the gap that is left, and `ended_by` is "resolution".
    threads
        Threads that compute bounds and values; the result is the same for any number.

    Notes
    -----
    The bound is the largest of the incumbent's value and the bounds of all cells that are not split: queued,
    pruned (within `rel_gap` of the incumbent of that time), too small, or not visited because a limit was
    reached. An interrupt (Ctrl-C) returns the bound as of the last completed round, which still holds.
    """
    search = _Search(problem, rel_gap, limits, resolution, stage)
    if incumbent is not None and incumbent[0] >= search.incumbent[0]:
        search.incumbent = incumbent
    pool = ThreadPoolExecutor(threads) if threads > 1 else None
    try:
        ended_by = search.run(map if pool is None else pool.map)
    except KeyboardInterrupt:
        limits.cancel()
        ended_by = "interrupted"
    finally:
        if pool is not None:
            pool.shutdown(cancel_futures=True)
    value, solution = search.incumbent
    search.bound = max(search.bound, value)
    search.record(True)
    for item in sorted(search.queue)[: MAX_VISITED - len(search.visited)]:
        search.note(item, _PRUNED if search.closes(-item.negative_bound) else _OPEN)
    return SearchResult(
        solution=solution,
        value=value,
        bound=search.bound,
        cells=search.cells,
        ended_by=ended_by,
        closed=search.closes(search.bound),
        history=np.array(search.history, np.float64).reshape(-1, 3),
        visited=np.array(search.visited, np.float64).reshape(-1, 6),
    )
