"""The one search: branch and bound over the nodes of a stage. It maximises, and knows nothing about points.

A stage is a saving to be maximised over a domain of cells, with bounds for it (see `Stage`). Its nodes are rows of a
float64 array: an upper bound of the saving inside, a phase, then whatever the stage needs. They are worked on in
batches of one phase, those with the largest bounds first: of the lowest phase, or of the one whose largest bound is
farthest above what is of interest (`Stage.best_first`). A batch is searched in pieces from a common incumbent and
merged in order, so that the result is the same for any number of threads.

The bound of the search is the largest of the incumbent's saving, the bounds of all nodes that are open or being
worked on, and those of all that was closed. It holds at every moment, however the search ends. A stage may also ask
what can be saved elsewhere, far from the incumbent: that is the same without the phases whose nodes are near it.
"""

from __future__ import annotations

import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits, relative_gap
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.stage import BOUND, NOTHING, PHASE, Outcome, Stage, Task

MAX_HISTORY = 4_000
MAX_VISITED = 20_000
"""Rows kept for reports; free choices, part of no bound."""


class Found(NamedTuple):
    """The best solution and what is proven about it."""

    solution: Any
    certificate: StageCertificate
    far_solution: Any = None
    """The best known elsewhere."""


def maximise(stage: Stage, start: tuple[float, Any], *, rel_gap: float, limits: Limits, threads: int = 1) -> Found:
    """Find the largest saving of a stage, within a relative gap.

    Parameters
    ----------
    stage : Stage
    start : (saving, solution)
        A known solution. A poor one costs no correctness but all speed.
    rel_gap : float
        End when (bound − saving) / saving is at most this.
    limits : Limits
        Time, number of cells and cancellation; cells are counted there.
    threads : int
        The result is the same for any number, unless a time limit ends the search. With a limit on the cells one
        thread does the work, so that the cells visited are always the same.
    """
    search = _Search(stage, start, rel_gap, limits)
    count = 1 if limits.node_limit is not None else threads
    with Crew(count, limits, stage.workspace) as crew:
        ended_by = search.run(crew)
    return search.found(ended_by)


class _Search:
    def __init__(self, stage: Stage, start: tuple[float, Any], rel_gap: float, limits: Limits) -> None:
        self.stage, self.rel_gap, self.limits = stage, rel_gap, limits
        self.slack = stage.prune * rel_gap
        self.saving, self.solution = start
        roots = stage.roots()
        self.closed = stage.floor
        self.cells = self.work = 0
        self.turns: dict[int, int] = {}
        self.open: dict[int, list[tuple[float, int, FloatArray]]] = {}
        self.age = 0
        self.running: list[float] = []
        self.far, self.far_solution, self.far_closed = 0.0, None, stage.floor
        self.far_running = 0.0
        self.history: list[tuple[float, float, float]] = []
        self.stride = self.skipped = 1
        self.visited: list[FloatArray] = []
        self.noted = 0
        self.push(roots)

    @property
    def task(self) -> Task:
        left = sum(len(heap) for heap in self.open.values())
        far = self.far, self.far_closed
        return Task(self.saving, self.slack, self.limits.cells_left(), self.limits, *far, self.work, left)

    def bound(self) -> float:
        """No solution saves more."""
        waiting = (-heap[0][0] for heap in self.open.values() if heap)
        return max(self.saving, self.closed, *waiting, *self.running)

    def far_bound(self) -> float:
        """No solution elsewhere saves more."""
        waiting = (-heap[0][0] for phase, heap in self.open.items() if phase in self.stage.elsewhere)
        return max(self.far, self.far_closed, self.far_running, *waiting, 0.0)

    def far_bound_of_solution(self, bound: float) -> float:
        """No solution far from the incumbent saves more, which may have left the start around which was searched."""
        return self.far_bound() if self.stage.stayed(self.solution) else bound

    def unsure_elsewhere(self) -> bool:
        """Whether something elsewhere is left that is of interest."""
        task = self.task
        phases = (phase for phase in self.open if phase in self.stage.elsewhere)
        return any(-self.open[phase][0][0] > self.stage.of_interest(phase, task) for phase in phases)

    def push(self, nodes: FloatArray) -> None:
        for bound, phase, node in zip((-nodes[:, BOUND]).tolist(), nodes[:, PHASE].tolist(), nodes, strict=True):
            self.age += 1
            heapq.heappush(self.open.setdefault(int(phase), []), (bound, self.age, node))

    def pop(self, phase: int, count: int) -> list[FloatArray]:
        """The `count` nodes with the largest bounds; what is below the threshold by now is closed."""
        heap, threshold = self.open[phase], self.stage.of_interest(phase, self.task)
        nodes: list[FloatArray] = []
        while heap and len(nodes) < count:
            if -heap[0][0] <= threshold:
                self.closed = max(self.closed, -heap[0][0])
                if phase in self.stage.elsewhere:
                    self.far_closed = max(self.far_closed, -heap[0][0])
                heap.clear()
                break
            nodes.append(heapq.heappop(heap)[2])
        if not heap:
            del self.open[phase]
        return nodes

    def run(self, crew: Crew[Any]) -> str:
        """Search until something ends it, and say what."""
        while True:
            self.report()
            if relative_gap(self.saving, self.bound()) <= self.rel_gap and not self.unsure_elsewhere():
                return "gap"
            reason = self.limits.exceeded()
            if reason is not None:
                return reason
            if not self.open:
                return "resolution"
            self.step(crew)

    def step(self, crew: Crew[Any]) -> None:
        """Search one batch of nodes."""
        phase = self.next_phase()
        turn = self.turns.get(phase, 0)
        self.turns[phase] = turn + 1
        count, parts = self.stage.batch(phase, len(self.open[phase]), turn)
        nodes = self.pop(phase, min(count, self.limits.cells_left()))
        if not nodes:
            return
        pieces = [np.array(part) for part in np.array_split(np.array(nodes), min(parts, len(nodes)))]
        self.running = [float(piece[:, BOUND].max()) for piece in pieces]
        self.far_running = max(self.running) if phase in self.stage.elsewhere else 0.0
        limited = self.limits.node_limit is not None
        task = self.task

        def work(item: tuple[int, FloatArray], space: Any) -> Outcome:
            number, piece = item
            if self.limits.exceeded() is not None:
                return Outcome(piece)
            left = self.limits.cells_left()
            outcome = self.stage.search(piece, task._replace(cells=left), space)
            if limited:  # one thread only
                self.limits.cells += outcome.cells
            still = outcome.open[:, BOUND].max() if len(outcome.open) else 0.0
            self.running[number] = max(outcome.closed, float(still))
            return outcome

        outcomes = crew.map(work, enumerate(pieces), self.report)
        for outcome in outcomes:
            self.merge(outcome, counted=limited)
        self.running, self.far_running = [], 0.0

    def next_phase(self) -> int:
        if not self.stage.best_first:
            return min(self.open)
        task = self.task

        def excess(phase: int) -> float:
            wanted = self.stage.of_interest(phase, task)
            return -self.open[phase][0][0] / wanted if wanted > 0.0 else math.inf

        return max(sorted(self.open), key=excess)

    def merge(self, outcome: Outcome, *, counted: bool) -> None:
        self.cells += outcome.cells
        self.work += outcome.work
        if not counted:
            self.limits.cells += outcome.cells
        self.closed = max(self.closed, outcome.closed)
        self.far_closed = max(self.far_closed, outcome.far_closed)
        if outcome.far_solution is not None and outcome.far_saving > self.far:
            self.far, self.far_solution = outcome.far_saving, outcome.far_solution
        if outcome.solution is not None and outcome.saving > self.saving:
            better, solution = self.stage.improve(outcome.saving, outcome.solution, self.limits)
            found = (better, solution) if better > outcome.saving else (outcome.saving, outcome.solution)
            self.saving, self.solution = found
        self.push(outcome.open)
        self.note(outcome.trace)

    def note(self, rows: FloatArray) -> None:
        rows = rows[: MAX_VISITED - self.noted]
        if len(rows):
            self.visited.append(rows)
            self.noted += len(rows)

    def report(self, *, last: bool = False) -> None:
        """Tell the world, and add to the history; when that is full, keep every other row and be half as frequent."""
        bound = self.bound()
        done = 0.0
        if self.running:
            done = sum(value <= self.task.threshold for value in self.running) / len(self.running)
        self.limits.report(self.stage.name, self.saving, bound, done)
        self.skipped += 1
        if not last and self.skipped < self.stride:
            return
        self.skipped = 0
        self.history.append((self.limits.seconds, self.saving, bound))
        if len(self.history) >= MAX_HISTORY:
            self.history = self.history[::2]
            self.stride *= 2

    def found(self, ended_by: str) -> Found:
        bound = self.bound()
        closed = relative_gap(self.saving, bound) <= self.rel_gap
        self.report(last=True)
        room = 0 if closed else MAX_VISITED - self.noted
        left = [node for heap in self.open.values() for _, _, node in heap[:room]][:room]  # there may be millions
        visited = [self.stage.record(np.concatenate(self.visited))] if self.visited else []
        visited += [self.stage.describe(np.array(left))] if left else []
        return Found(
            self.solution,
            StageCertificate(
                name=self.stage.name,
                objective=self.stage.total - self.saving,
                lower_bound=self.stage.total - bound,
                saving=self.saving,
                saving_bound=bound,
                cells=self.cells,
                closed=closed,
                ended_by="gap" if closed else ended_by,
                history=np.array(self.history).reshape(-1, 3),
                visited=np.concatenate(visited) if visited else NOTHING,
                elsewhere=self.far_bound_of_solution(bound) if self.stage.elsewhere else None,
            ),
            self.far_solution,
        )
