"""A bound for the whole six-dimensional problem, and the best pose found while proving it.

First cells of rotations with all translations, the most promising first, bounded by votes; then what is left of them,
boxes of poses, by first-order bounds, depth first. Both go in batches of fixed size with a common incumbent, so that
the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tear3d.find.ascent import refine_pose
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits, relative_gap
from tear3d.problem.objective import full_saving
from tear3d.prove.bounds.votes import BOUND, NODE, VOXELS, vote
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.pose import subtree as kernel
from tear3d.prove.pose.frontier import describe, ready, roots, split
from tear3d.prove.pose.points import Packed, checked, pack_pairs

CHUNK_VISITS = 4_000_000
LARGEST_CHUNK = 512
PIECES = 8
"""A chunk of cells is handed to the threads in so many pieces."""
BATCH = 64
TURN = 4_000
"""Boxes after which a subtree is broken up, so that no thread is left alone with a large one."""
SLICE = 2_000_000
"""Point visits between two looks at the clock."""
MAX_VISITED = 4_000
MAX_HISTORY = 2_000
PRUNE = 0.999
"""Share of the allowed gap used for pruning; the rest covers the rounding of the comparison."""
STARTS = 32


@dataclass(frozen=True)
class FullSolution:
    """A pose and what is proven about its saving."""

    rotation: FloatArray
    translation: FloatArray
    saving: float
    saving_bound: float
    cells: int
    closed: bool
    ended_by: str
    total: float
    """Σ w ξ, the objective when every pair is an outlier."""
    history: FloatArray = field(repr=False)
    visited: FloatArray = field(repr=False)

    def certificate(self, name: str = "full problem") -> StageCertificate:
        return StageCertificate(
            name=name,
            objective=self.total - self.saving,
            lower_bound=self.total - self.saving_bound,
            saving=self.saving,
            saving_bound=self.saving_bound,
            cells=self.cells,
            closed=self.closed,
            ended_by=self.ended_by,
            history=self.history,
            visited=self.visited,
        )


@dataclass
class _Search:
    pairs: tuple[FloatArray, FloatArray, FloatArray, FloatArray]
    packed: Packed
    slack: float
    limits: Limits
    threads: int
    stage: str
    pose: tuple[FloatArray, FloatArray]
    saving: float
    open: FloatArray
    """Nodes to be bounded by votes."""
    waiting: FloatArray = field(default_factory=lambda: np.empty((0, NODE)))
    """Nodes to be searched by first-order bounds."""
    running: list[kernel.Task] = field(default_factory=list)
    closed_bound: float = 0.0
    history: list[tuple[float, float, float]] = field(default_factory=list)
    visited: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def threshold(self) -> float:
        return self.saving * (1.0 + self.slack)

    def bound(self) -> float:
        """No pose saves more: the largest bound of pruned, open and untouched nodes."""
        best = max(self.saving, self.closed_bound)
        for nodes in (self.open, self.waiting):
            if len(nodes):
                best = max(best, float(nodes[:, BOUND].max()))
        for task in self.running:
            best = max(best, task.state[kernel.CLOSED])
            top = task.count[kernel.TOP]
            if top > 0:
                best = max(best, float(task.nodes[:top, BOUND].max()))
        return best

    def report(self, done: float) -> None:
        bound = self.bound()
        if len(self.history) >= MAX_HISTORY:
            self.history = self.history[::2]
        self.history.append((self.limits.seconds, self.saving, bound))
        self.limits.report(self.stage, self.saving, bound, done)

    def run(
        self, pool: ThreadPoolExecutor, free: list[kernel.Scratch], step: Callable, items: list, done: float
    ) -> list:
        """[step(item, scratch) for all items] on the threads, with progress; an interrupt ends the search soon."""

        def work(item: Any) -> Any:
            scratch = free.pop()
            try:
                return step(item, scratch)
            finally:
                free.append(scratch)

        futures: list[Future] = [pool.submit(work, item) for item in items]
        pending = set(futures)
        try:
            while pending:
                _, pending = wait(pending, timeout=self.limits.interval)
                if pending and self.limits.progress is not None:
                    self.report(done)
        except KeyboardInterrupt:
            self.limits.cancel()
            wait(pending)
        return [future.result() for future in futures]

    def vote_all(self, pool: ThreadPoolExecutor, free: list[kernel.Scratch]) -> None:
        """Bound the open cells by votes and split them until they are pruned or waiting."""
        p = self.packed
        n = p.points.shape[1]
        size = int(min(LARGEST_CHUNK, max(PIECES, CHUNK_VISITS // n)))
        scale = np.array([p.xi, p.radius])

        def step(nodes: FloatArray, scratch: kernel.Scratch) -> float:
            if self.limits.exceeded() is not None:
                return 0.0
            boxes = scratch.arena[:8, :n]
            cut = vote(p.points, p.votes, p.unit, nodes, self.threshold, scale, p.eps, boxes, scratch.grid)[1]
            self.limits.cells += len(nodes)
            return float(cut)

        while len(self.open) and self.limits.exceeded() is None:
            self.open = self.open[np.argsort(-self.open[:, BOUND], kind="stable")]
            count = min(size, self.limits.cells_left())
            pieces = [part for part in np.array_split(self.open[:count], PIECES) if len(part)]
            cuts = self.run(pool, free, step, pieces, 0.0)  # the pieces are views: bounds and boxes change in place
            self.closed_bound = max(self.closed_bound, *cuts)
            if self.limits.exceeded() in ("interrupted", "time_limit"):
                break  # not all pieces may have been bounded, but what their nodes say holds
            nodes, self.open = self.open[:count], self.open[count:]
            if len(self.visited) < MAX_VISITED:
                self.visited += describe(nodes, p.rotation, self.threshold)
            alive = nodes[nodes[:, BOUND] > self.threshold]
            now = ready(alive, p.xi, p.radius)
            self.waiting = np.concatenate([self.waiting, alive[now]])
            self.open = np.concatenate([self.open, split(alive[~now], p.radius)])
            self.report(0.0)

    def search_all(self, pool: ThreadPoolExecutor, free: list[kernel.Scratch]) -> None:
        """Search the waiting nodes, batch by batch from a common incumbent."""
        p = self.packed
        setting = kernel.Setting(xi=p.xi, radius=p.radius, eps=p.eps, slack=self.slack)

        def step(task: kernel.Task, scratch: kernel.Scratch) -> None:
            while self.limits.exceeded() is None:
                before = int(task.count[kernel.CELLS])
                allowed = min(TURN - before, self.limits.cells_left())
                if task.count[kernel.TOP] == 0 or allowed <= 0:
                    break
                kernel.search_subtree(p.points, setting, task, scratch, SLICE, allowed)
                self.limits.cells += int(task.count[kernel.CELLS]) - before

        most = len(self.waiting)
        while len(self.waiting) and self.limits.exceeded() is None:
            self.waiting = self.waiting[np.argsort(-self.waiting[:, BOUND], kind="stable")]
            self.running = [kernel.make_task(node, self.saving) for node in self.waiting[:BATCH]]
            self.waiting = self.waiting[BATCH:]
            most = max(most, len(self.waiting) + len(self.running))
            self.run(pool, free, step, self.running, 1.0 - (len(self.waiting) + len(self.running)) / most)
            for task in self.running:
                self.closed_bound = max(self.closed_bound, float(task.state[kernel.CLOSED]))
                self.waiting = np.concatenate([self.waiting, task.nodes[: task.count[kernel.TOP]]])
                if task.state[kernel.SAVING] > self.saving:
                    self.offer(*p.pose(int(task.best[0]), task.best[1:4], task.best[4:7]))
            self.running = []
            self.report(1.0 - len(self.waiting) / most)

    def offer(self, rotation: FloatArray, t: FloatArray) -> None:
        """Take a pose, as it is or refined, if it saves more than the incumbent."""
        x, y, xi, w = self.pairs
        refined = refine_pose(x, y, xi, w, rotation, t)[:2]
        for pose in ((rotation, t), refined):
            saving = full_saving(x, y, *pose, xi, w)
            if saving > self.saving:
                self.pose, self.saving = pose, saving

    def solve(self) -> None:
        n = self.packed.points.shape[1]
        threads = 1 if self.limits.node_limit is not None else max(1, self.threads)
        free = [kernel.make_scratch(n, VOXELS) for _ in range(threads)]
        with ThreadPoolExecutor(threads) as pool:
            self.vote_all(pool, free)
            if self.limits.exceeded() is None:
                self.search_all(pool, free)


def solve_full(
    x: FloatArray,
    y: FloatArray,
    xi: float | FloatArray,
    w: float | FloatArray | None = None,
    *,
    incumbent: tuple[FloatArray, FloatArray],
    rel_gap: float = 1e-2,
    limits: Limits | None = None,
    threads: int = 1,
    stage: str = "full problem",
) -> FullSolution:
    """Maximise Σ w·max(0, ξ − ‖y − R x − t‖₁) over all rotations and translations, within a relative gap.

    Parameters
    ----------
    x, y : N×3 arrays
    xi, w : a number, or one per pair
    incumbent : a very good (rotation, translation). A poor one costs no correctness but all speed: cells are pruned
        against it, and it is improved only where the search gets down to single boxes
    rel_gap : end when (bound − saving) / saving is at most this
    limits : time, number of cells, progress and cancellation
    threads : the result is the same for any number (unless a time limit ends the search)

    Returns
    -------
    FullSolution
        The best pose known and a bound on the saving of every pose that holds however the search ended.
    """
    limits = Limits() if limits is None else limits
    rotation, t = np.asarray(incumbent[0], np.float64), np.asarray(incumbent[1], np.float64)
    pairs = checked(x, y, xi, w)
    if len(pairs[0]) == 0:
        empty = np.empty((0, 3)), np.empty((0, 6))
        return FullSolution(rotation, t, 0.0, 0.0, 0, True, "gap", 0.0, *empty)
    rotation, t = _start(pairs, rotation, t)
    packed = pack_pairs(*pairs, rotation, t)
    before = limits.cells
    search = _Search(
        pairs=pairs,
        packed=packed,
        slack=PRUNE * rel_gap,
        limits=limits,
        threads=threads,
        stage=stage,
        pose=(rotation, t),
        saving=full_saving(pairs[0], pairs[1], rotation, t, pairs[2], pairs[3]),
        open=roots(packed.low, packed.high, packed.total),
    )
    search.solve()
    bound = search.bound()
    closed = relative_gap(search.saving, bound) <= rel_gap
    return FullSolution(
        rotation=search.pose[0],
        translation=search.pose[1],
        saving=search.saving,
        saving_bound=bound,
        cells=limits.cells - before,
        closed=closed,
        ended_by="gap" if closed else limits.exceeded() or "resolution",
        total=packed.total,
        history=np.array(search.history).reshape(-1, 3),
        visited=np.array(search.visited[:MAX_VISITED]).reshape(-1, 6),
    )


def _start(pairs: tuple[FloatArray, ...], rotation: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The incumbent with an orthonormal rotation; a translation that fits some pair exactly if that saves more."""
    x, y, xi, w = pairs
    u, _, v = np.linalg.svd(rotation)
    rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
    some = np.linspace(0, len(x) - 1, min(len(x), STARTS)).astype(np.int64)
    shifts = [t, *(y[some] - x[some] @ rotation.T)]
    savings = [full_saving(x, y, rotation, shift, xi, w) for shift in shifts]
    return rotation, shifts[int(np.argmax(savings))]
