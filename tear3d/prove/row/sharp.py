"""One row of the rotation and its shift by the sharp bounds (first order and windows) in compiled subtrees.

The top-level cells are bounded first, which gives an honest bound early; then the subtrees of the survivors are
searched, the most promising few from the given incumbent, the others from the best that those found. So the result is
the same for any number of threads.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits, relative_gap
from tear3d.prove.bounds.first_order import BLOCK
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.domains.sphere import cell_geometry
from tear3d.prove.row.points import RowPoints
from tear3d.prove.row.state import BOUND, CELLS, SAVING, STACK, TOP, TRACED, Scratch, Setting, Task, make_scratch
from tear3d.prove.row.subtree import arc_geometry, band_weight, copy_active, saving_at, search_subtree
from tear3d.prove.row.sweep import RowSolution

TOP_LEVEL = 2
"""6·4² cells of the sphere to start with."""
TOP_ARCS = 5
"""2⁵ arcs of the circle to start with."""
FIRST_BATCH = 16
"""Subtrees searched from the first incumbent; all others start from what these found."""
SLICE = 8_000_000
"""Point visits between two looks at the clock."""
TRACE = 256
BACKGROUND_SAMPLE = 100_000
BACKGROUND_DIRECTIONS = np.array([(1, 2, 2), (-2, 1, 2), (2, -2, 1), (-1, -2, 2), (2, 1, -2), (-2, 2, 1)]) / 3.0
PRUNE = 0.98
"""Share of the allowed gap used for pruning; the rest covers the final evaluation in float64."""


def _task_bound(task: Task) -> float:
    """The largest bound of the pruned and the open cells of a subtree."""
    top = task.count[TOP]
    return float(max(task.state[BOUND], task.ranges[:top, 2].max() if top else 0.0))


@dataclass
class _Search:
    row: RowPoints
    setting: Setting
    limits: Limits
    threads: int
    stage: str
    incumbent: FloatArray
    """r and t."""
    saving: float
    cells_before: int
    tasks: list[Task] = field(default_factory=list)
    held: dict[int, float] = field(default_factory=dict)
    history: list[tuple[float, float, float]] = field(default_factory=list)
    ended_by: str = "gap"

    def add_roots(self, cells: list[tuple[int, int, int, int]]) -> None:
        row = self.row
        low = row.lowest - row.largest - row.xi
        high = row.highest + row.largest + row.xi
        for cell in cells:
            task = Task(
                cells=np.zeros((STACK, 5), np.int64),
                ranges=np.zeros((STACK, 4)),
                state=np.array([self.saving, 0.0]),
                count=np.zeros(5, np.int64),
                best=self.incumbent.copy(),
                trace=np.zeros((TRACE, 6)),
            )
            task.cells[0, :4] = cell
            task.ranges[0] = low, high, row.total * (1.0 + 1e-9), np.inf
            task.count[TOP] = 1
            self.tasks.append(task)

    def bound(self) -> float:
        """No solution saves more: the largest bound of pruned, open and untouched cells."""
        bounds = [self.held.get(id(task), 0.0) or _task_bound(task) for task in self.tasks]
        return max(self.saving, *bounds) if bounds else self.saving

    def report(self, done: float) -> None:
        bound = self.bound()
        self.history.append((self.limits.seconds, self.saving, bound))
        self.limits.report(self.stage, self.saving, bound, done)

    def merge(self, batch: list[Task]) -> None:
        for task in batch:
            if task.state[SAVING] > self.saving:
                self.saving = float(task.state[SAVING])
                self.incumbent = task.best.copy()

    def slice(self, task: Task, scratch: Scratch, cells: int) -> None:
        """One task until it is done, `cells` are spent or a limit says stop."""
        copying = cells > 1
        while task.count[TOP] > 0 and cells > 0 and self.limits.exceeded() is None:
            before = int(task.count[CELLS])
            allowed = min(cells, self.limits.cells_left())
            self.held[id(task)] = _task_bound(task)  # what others may read while the kernel works on the task
            search_subtree(self.row.points, self.setting, task, scratch, copying, SLICE, allowed)
            del self.held[id(task)]
            cells -= int(task.count[CELLS]) - before
            self.limits.cells = self.cells_before + sum(int(task.count[CELLS]) for task in self.tasks)

    def resume(self, task: Task, scratch: Scratch) -> None:
        """Search a subtree whose root was bounded before: gather the points that matter, then go down."""
        geo = np.empty(12)
        face, level, i, j, _ = task.cells[0].tolist()
        if self.setting.circle:
            arc_geometry(level - 1, i // 2, self.setting.basis, geo)
        else:
            cell_geometry(face, level - 1, i // 2, j // 2, geo)
        top = task.count[TOP]
        t0, t1 = float(task.ranges[:top, 0].min()), float(task.ranges[:top, 1].max())
        start, length = self.row.stretch(t0, t1)
        scratch.segments[0] = start, length, min(length, self.row.near)
        few = min(0.9 * scratch.arena.shape[1], 0.5 * length)
        if self._active(geo, t0, t1) < few and copy_active(self.row.points, 0, geo, t0, t1, self.setting, scratch):
            task.cells[:top, 4] = 1
            reach = self.row.radius * max(geo[9], geo[10])
            scratch.widths[1] = t1 - t0 + 2.0 * (self.row.xi + reach)
        self.slice(task, scratch, 2**62)

    def _active(self, geo: FloatArray, t0: float, t1: float) -> float:
        """About how many points matter for t in [t0, t1]: is copying them worth a pass?"""
        points = self.row.points
        sample = points[:4, :: max(1, points.shape[1] // 2000)]
        b = sample[3] - geo[:3] @ sample[:3]
        tangents = np.abs(geo[3:9].reshape(2, 3) @ sample[:3])
        reach = geo[9] * tangents[0] + geo[10] * tangents[1] + self.row.xi
        return float(np.mean((b > t0 - reach) & (b < t1 + reach))) * points.shape[1]

    def run(self, pool: ThreadPoolExecutor, scratches: list[Scratch], step, tasks: list[Task], first: int) -> None:
        """`step(task, scratch)` for all tasks: the `first` ones, then the others from the best incumbent of those."""
        free = list(scratches)
        finished = 0
        for batch in (tasks[:first], tasks[first:]):
            if not batch or self.limits.exceeded() is not None:
                continue
            for task in batch:
                task.state[SAVING] = max(task.state[SAVING], self.saving)

            def work(task: Task) -> None:
                scratch = free.pop()
                try:
                    step(task, scratch)
                finally:
                    free.append(scratch)

            pending: set[Future[None]] = {pool.submit(work, task) for task in batch}
            try:
                while pending:
                    done, pending = wait(pending, timeout=self.limits.interval)
                    for future in done:
                        future.result()
                    finished += len(done)
                    if self.limits.progress is not None:
                        self.report(finished / len(tasks))
                self.merge(batch)
                self.report(finished / len(tasks))
            except KeyboardInterrupt:
                self.limits.cancel()
                wait(pending)
                self.merge(batch)

    def solve(self, roots: list[tuple[int, int, int, int]]) -> None:
        self.add_roots(roots)
        size = self.row.points.shape[1]
        threads = 1 if size < 512 or self.limits.node_limit is not None else self.threads
        # Room for copies of active points; pages are only touched when used.
        arena = 3 * size + BLOCK if size < 200_000 else size if size < 4_000_000 else size // 8
        scratches = [make_scratch(self.row.points, self.row.near, arena) for _ in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            self.run(pool, scratches, lambda task, scratch: self.slice(task, scratch, 1), self.tasks, 0)
            alive = [task for task in self.tasks if task.count[TOP] > 0]
            alive.sort(key=lambda task: -task.ranges[0, 2])
            if self.limits.exceeded() is None:
                self.run(pool, scratches, self.resume, alive, FIRST_BATCH)
        if any(task.count[TOP] > 0 for task in self.tasks):
            self.ended_by = self.limits.exceeded() or "interrupted"


def solve_sharp(
    row: RowPoints,
    *,
    rel_gap: float,
    limits: Limits,
    threads: int,
    incumbent: tuple[FloatArray, float],
    orthogonal_to: FloatArray | None = None,
    stage: str = "first row",
) -> RowSolution:
    """Maximise Σ w·max(0, ξ − |y − r·x − t|) over all unit r (orthogonal to a given one) and all t.

    `incumbent` is a good (r, t) to start from; the saving is as evaluated on the packed points.
    """
    r, t = np.asarray(incumbent[0], np.float64), float(incumbent[1])
    basis = np.zeros((2, 3))
    if orthogonal_to is not None:
        basis[0], basis[1] = orthogonal_basis(orthogonal_to)
        r = basis.T @ (basis @ r)
    r = r / np.linalg.norm(r)
    start = np.array([*r, t])
    n = row.points.shape[1]
    saving = float(saving_at(row.points, 0, n, row.general, row.xi, r, t)) if n else 0.0
    search = _Search(
        row=row,
        setting=Setting(
            xi=row.xi,
            eps=row.eps,
            radius=row.radius,
            extent=row.extent,
            background=_background(row),
            slack=PRUNE * rel_gap,
            general=row.general,
            circle=orthogonal_to is not None,
            basis=basis,
        ),
        limits=limits,
        threads=threads,
        stage=stage,
        incumbent=start,
        saving=saving,
        cells_before=limits.cells,
    )
    if n:
        if orthogonal_to is not None:
            search.solve([(0, TOP_ARCS, i, 0) for i in range(2**TOP_ARCS)])
        else:
            side = range(2**TOP_LEVEL)
            search.solve([(face, TOP_LEVEL, i, j) for face in range(6) for i in side for j in side])
    bound = float(search.bound())
    closed = relative_gap(search.saving, bound) <= rel_gap
    ended_by = search.ended_by
    if ended_by == "gap" and not closed:
        ended_by = "resolution"
    visited = [task.trace[: task.count[TRACED]] for task in search.tasks]
    return RowSolution(
        r=search.incumbent[:3],
        t=float(search.incumbent[3]),
        saving=search.saving,
        saving_bound=bound,
        cells=limits.cells - search.cells_before,
        closed=closed,
        ended_by="gap" if closed else ended_by,
        total=row.total,
        history=np.array(search.history).reshape(-1, 3),
        visited=np.concatenate(visited) if visited else np.empty((0, 6)),
    )


def _background(row: RowPoints) -> float:
    """The mean over some directions of about the most that a shift saves, from a sample of the points."""
    points = row.points[:, :: max(1, row.points.shape[1] // BACKGROUND_SAMPLE)].astype(np.float64)
    weights = points[4] * points[5] / row.xi if row.general else None
    tent = row.xi * (1.0 - np.abs(np.arange(-3, 4)) / 4.0)
    savings = []
    for r in BACKGROUND_DIRECTIONS:
        b = points[3] - r @ points[:3]
        low, high = np.quantile(b, (0.02, 0.98))
        bins = int(min(20_000, max(1.0, 4.0 * (high - low) / row.xi)))
        counts = np.histogram(b, bins, (low, high + 1e-9), weights=weights)[0]
        savings.append(np.convolve(counts, tent).max())
    return float(np.mean(savings)) * row.points.shape[1] / max(1, points.shape[1])


def needs_double(row: RowPoints, start: tuple[FloatArray, float], rel_gap: float) -> bool:
    """Whether float32 rounding of the points in the incumbent's band would keep the gap from closing."""
    if row.points.dtype != np.float32 or row.points.shape[1] == 0:
        return False
    r, t = np.asarray(start[0], np.float64), float(start[1])
    n = row.points.shape[1]
    saving = saving_at(row.points, 0, n, row.general, row.xi, r, t)
    band = band_weight(row.points, row.general, row.xi, r, t)
    return 2.0 * band * row.eps > 0.2 * rel_gap * saving
