"""The search below one node of the whole pose, in one thread: cells by votes, what is left of them by corners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.objective import full_saving
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.pose.boxes import BOX_COST, State, search_boxes
from tear3d.prove.pose.cells import BEGINNING, search_cells
from tear3d.prove.pose.nodes import BOXES, LIST, VOTES, no_nodes
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
            if state.stop != 0:
                ready = scratch.nodes[state.top - 1].copy()
                ready[PHASE] = BOXES
                span = (p.voters, 0, p.size) if state.stop < 0 else (scratch.arena, state.start, state.stop)
                self._descend(ready, *span)
                state = state._replace(top=state.top - 1, start=0, stop=0)
        self.work_done += state.visits
        self.closed, self.far_closed = max(self.closed, state.closed), max(self.far_closed, state.closed)
        if state.top:
            self.open.append(scratch.nodes[: state.top].copy())

    def _limit(self) -> float:
        """The bound up to which cells are closed."""
        return elsewhere_limit(self.saving, self.far, self.setting.slacks)

    def _descend(self, node: FloatArray, voters: Voters, start: int, stop: int) -> None:
        """Search a box by its corners; the voters start:stop are the pairs that matter in it."""
        p, n = self.packed, stop - start
        scratch = self.work.boxes(n)
        if self.work.dtype == np.float32:
            end = p.gather_voters(voters, (start, stop), node, scratch.home, scratch.points)
        else:
            end = p.gather(p.numbers(voters, (start, stop)), node, scratch.home, scratch.points)
        if self._search(node, n, end):
            self._keep(p.numbers(voters, (start, stop)))

    def _resume(self, node: FloatArray) -> None:
        """Go on with a box that was kept."""
        lists, number = self.stage.lists, int(node[LIST])
        index = lists.take(number, self.packed.size)
        scratch = self.work.boxes(len(index))
        end = self.packed.gather(index, node, scratch.home, scratch.points)
        if self._search(node, len(index), end):
            self._keep(index)
        lists.done(number)

    def _keep(self, index: NDArray[np.int32]) -> None:
        """Keep the boxes that are left, and the pairs that matter in them."""
        left = self.open[-1]
        left[:, LIST] = self.stage.lists.keep(index, len(left))

    def _saved(self, best: FloatArray | None) -> tuple[float, Pose | None]:
        """What the pose of a face, g and t saves, and the pose, which may be off by a rounding from what is allowed."""
        if best is None:
            return -np.inf, None
        stage = self.stage
        pose = stage.pairs.allow(self.packed.pose(int(best[0]), best[1:4], best[4:7]))
        return full_saving(stage.pairs, pose, stage.loss), pose

    def _search(self, node: FloatArray, count: int, end: int) -> bool:
        """Search a box depth first, for one turn, with points[:end]; whether something is left of it."""
        scratch = self.work.boxes(count)
        scratch.nodes[0], scratch.segment[0] = node, 0
        scratch.segments[0] = 0, end
        state = State(1, 0, self.saving, self.far, self.closed, 0.0, False, False)
        most = min(TURN, self.task.cells - self.cells)
        while state.top > 0 and state.cells < most and not self.task.stop():
            state = search_boxes(self.setting, self.packed.allowed, state, scratch, BOX_SLICE, most)
        self.saving, self.far = state.saving, state.far
        self.closed = state.closed
        self.cells += state.cells
        self.work_done += count * (1 + state.cells // 4) + BOX_COST * state.cells  # most boxes have few of the points
        if state.found:
            self.found = scratch.best[0].copy()
        if state.far_found:
            self.far_found = scratch.best[1].copy()
        self.far_closed = max(self.far_closed, state.far_closed)
        if state.top:
            self.open.append(scratch.nodes[: state.top].copy())
        return state.top > 0
