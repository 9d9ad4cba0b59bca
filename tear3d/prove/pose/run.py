"""The search below one node of the whole pose, in one thread: cells by votes, what is left of them by corners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.objective import full_saving
from tear3d.problem.pose import Pose
from tear3d.prove.pose.cells import BEGINNING, search_cells
from tear3d.prove.pose.nodes import BOXES, LIST, VOTES, no_nodes
from tear3d.prove.pose.ready import ALL, Walk, beginning, search_ready
from tear3d.prove.pose.workspace import Workspace
from tear3d.prove.pose.zones import elsewhere_limit
from tear3d.prove.stage import BOUND, PHASE, Outcome, Task

if TYPE_CHECKING:
    from tear3d.prove.pose.stage import WholePose

RUN = 400_000
FEWEST = 24
"""A search below a cell ends after so many visits of voters, but not before so many cells, ..."""
CLOSE = 4.0
FIRST = 50_000
"""... and sooner, after so many visits, when the bound is more than so many times what is of interest: largest bounds
first, ..."""
DEEP = 1_000
"""... and later, after so many cells, when there are so many voters that all that counts is to copy few of them, ..."""
TURN = 1_000
"""... one below a box after so many boxes, so that no thread is left alone with a large one. All free choices, part of
no bound, as are ..."""
CELL_SLICE, BOX_SLICE = 2_000_000, 2_000_000
"""... how many visits there are between two looks at the clock, some 10 ns each."""
NO_WEIGHTS = np.ones(1)
"""Of boxes whose points are there."""


class Run:
    """The search below one node, in one thread."""

    def __init__(self, stage: WholePose, task: Task, work: Workspace) -> None:
        assert stage.packed is not None  # there are nodes
        self.stage, self.task, self.work, self.packed = stage, task, work, stage.packed
        self.setting = stage.setting(task)
        self.saving, self.far = task.saving, task.far
        self.closed = self.far_closed = 0.0
        self.cells = self.work_done = 0
        self.found: FloatArray | None = None
        self.far_found: FloatArray | None = None
        self.open: list[FloatArray] = []

    def below(self, nodes: FloatArray) -> Outcome:
        if nodes[0, PHASE] != VOTES:  # all have one phase
            for node in nodes:
                self._resume(node)
        elif self.stage.together:
            self._vote(nodes[::-1])
        else:
            for k in range(len(nodes)):
                self._vote(nodes[k : k + 1])
        best, far = self._saved(self.found), self._saved(self.far_found)
        return Outcome(
            np.concatenate(self.open) if self.open else no_nodes(),
            self.closed,
            self.cells,
            *best,
            nodes,
            self.far_closed,
            *far,
            self.work_done,
        )

    def _vote(self, nodes: FloatArray) -> None:
        """Bound cells by votes, depth first from the last on, and search what is small enough by slopes."""
        p, work, count = self.packed, self.work, len(nodes)
        scratch = work.cells
        scratch.nodes[:count], scratch.segment[:count], scratch.grids[:count] = nodes, 0, 0
        state = BEGINNING._replace(top=count)
        most = max(FEWEST, RUN // p.size) if nodes[-1, BOUND] <= CLOSE * self._limit() else max(1, FIRST // p.size)
        most *= count
        most = DEEP if p.size > p.ballot.many else most
        ended = False
        while state.top > 0 and not ended:
            most = min(most, state.cells + self.task.cells - self.cells)  # boxes count, too
            if state.cells >= most or self.task.stop():
                break
            before = state
            state = search_cells(
                p.voters, p.groups, p.ballot, p.allowed, self._limit(), state, scratch, CELL_SLICE, most
            )
            self.cells += state.cells - before.cells
            ended = state[:3] == before[:3]  # no room left
            if state.ready:
                self._descend(state.ready)
                state = state._replace(ready=0)
        self.work_done += state.visits
        self.closed, self.far_closed = max(self.closed, state.closed), max(self.far_closed, state.closed)
        if state.top:
            self.open.append(scratch.nodes[: state.top].copy())

    def _limit(self) -> float:
        """The bound up to which cells are closed."""
        return elsewhere_limit(self.saving, self.far, self.setting.slacks)

    def _descend(self, count: int) -> None:
        """Search the boxes that wait by their corners."""
        p, ready = self.packed, self.work.cells.ready
        starts, stops = ready.spans[:count].T
        self.work.boxes(int(np.max(stops - np.maximum(0, starts))))  # room for the points of any
        walk = beginning(self.saving, self.far, self.closed)
        if self.work.dtype == np.float32:
            walk = self._search(walk, count, self._weights(count))
        else:
            for k in range(count):
                if self.task.stop() or walk.boxes >= self.task.cells - self.cells:
                    break
                scratch = self.work.boxes(0)
                scratch.nodes[0], scratch.segment[0] = ready.nodes[k], 0
                scratch.nodes[0, PHASE] = BOXES
                scratch.segments[0] = 0, p.gather(self._numbers(k), ready.nodes[k], scratch.home, scratch.points)
                state = walk.state._replace(top=1, cells=0, visits=0)
                walk = self._search(walk._replace(next=k + 1, state=state), k + 1, NO_WEIGHTS)
        self._conclude(walk)
        if walk.next < count:
            self.open.append(ready.nodes[walk.next : count].copy())

    def _numbers(self, k: int) -> NDArray[np.int32]:
        """The pairs that matter in a box that waits."""
        p, scratch = self.packed, self.work.cells
        start, stop = scratch.ready.spans[k].tolist()
        return p.numbers(p.voters, (0, stop)) if start == ALL else p.numbers(scratch.arena, (start, stop))

    def _weights(self, count: int) -> FloatArray:
        """Of the pairs that matter in boxes that wait, one box after the other."""
        w = self.packed.pairs.w
        return w.copy() if len(w) == 1 else w[np.concatenate([self._numbers(k) for k in range(count)])]

    def _resume(self, node: FloatArray) -> None:
        """Go on with a box that was kept."""
        lists, number = self.stage.lists, int(node[LIST])
        index = lists.take(number, self.packed.size)
        scratch = self.work.boxes(len(index))
        scratch.nodes[0], scratch.segment[0] = node, 0
        scratch.segments[0] = 0, self.packed.gather(index, node, scratch.home, scratch.points)
        walk = beginning(self.saving, self.far, self.closed, gathered=True)
        self._conclude(self._search(walk, 0, NO_WEIGHTS, index))
        lists.done(number)

    def _search(self, walk: Walk, last: int, weights: FloatArray, index: NDArray[np.int32] | None = None) -> Walk:
        """Search boxes that wait, up to number `last`, or the one whose points are there and whose pairs `index` are;
        each depth first, for one turn."""
        p, cells, scratch = self.packed, self.work.cells, self.work.boxes(0)
        most = self.task.cells - self.cells
        given = p.allowed, p.voters, cells.arena, weights, cells.ready
        while True:
            state, over = walk.state, self.task.stop() or walk.boxes >= most
            if state.top and (over or state.cells >= TURN):
                self._keep(scratch.nodes[: state.top].copy(), self._numbers(walk.next - 1) if index is None else index)
                walk = walk._replace(state=state._replace(top=0))
            if over or (walk.state.top == 0 and walk.next >= last):
                return walk
            walk = search_ready(self.setting, *given, walk, last, scratch, BOX_SLICE, TURN, most)

    def _keep(self, left: FloatArray, index: NDArray[np.int32]) -> None:
        """Keep the boxes that are left, and the pairs that matter in them."""
        left[:, LIST] = self.stage.lists.keep(index, len(left))
        self.open.append(left)

    def _conclude(self, walk: Walk) -> None:
        """Take over what a walk came to."""
        state, best = walk.state, self.work.boxes(0).best
        self.saving, self.far, self.closed = state.saving, state.far, state.closed
        self.far_closed = max(self.far_closed, state.far_closed)
        self.cells += walk.boxes
        self.work_done += walk.work
        if state.found:
            self.found = best[0].copy()
        if state.far_found:
            self.far_found = best[1].copy()

    def _saved(self, best: FloatArray | None) -> tuple[float, Pose | None]:
        """What the pose of a face, g and t saves, and the pose, which may be off by a rounding from what is allowed."""
        if best is None:
            return -np.inf, None
        stage = self.stage
        pose = stage.pairs.allow(self.packed.pose(int(best[0]), best[1:4], best[4:7]))
        return full_saving(stage.pairs, pose, stage.loss), pose
