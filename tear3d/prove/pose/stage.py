"""The whole six-dimensional problem as one search: all rotations and all translations.

Cells of rotations with all translations are bounded by votes, depth first below each; what is left of them are boxes of
poses, searched by slopes. Largest bounds first; see `tear3d.prove.driver` for how they take turns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import climb
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.pose.boxes import State, search_boxes
from tear3d.prove.pose.cells import BEGINNING, make_cell_scratch, search_cells
from tear3d.prove.pose.lists import Lists
from tear3d.prove.pose.nodes import BOXES, HIGH, LIST, LOW, NEAR, VOTES, describe, everywhere, no_nodes, roots
from tear3d.prove.pose.points import SINGLE, UNIT, Packed, pack
from tear3d.prove.pose.sift import Sifted
from tear3d.prove.pose.workspace import Workspace
from tear3d.prove.pose.zones import Setting, Slacks, elsewhere_limit
from tear3d.prove.stage import BOUND, PHASE, Batch, Outcome, Stage, Task

CELLS_TOGETHER, BOXES_TOGETHER, PIECES = 64, 64, 16
"""Nodes searched together, cells in so many pieces, boxes each in a piece of its own."""
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
SMALLEST_XI = 1e-10
"""Boxes are bounded in single precision when noise bounds lie between this and its inverse: it holds their squares."""
PRUNE = 0.999
"""Share of the allowed gap used for pruning; the rest covers the rounding of comparisons and of savings, which is below
10⁻³ of the gap for gaps above N·10⁻¹²."""
ELSEWHERE = 3.0
"""A pose is elsewhere when it moves some point by more than this many noise bounds from where the pose found puts it,
..."""
NEAR_ZONE = 2.9
"""... and surely not while it moves none by this many from the start of the search (which may be improved by the
rest)."""
SHARE = 0.799
SURE = 20_000_000
"""Elsewhere, nodes are closed when their bound is at most this share of the saving, as long as no more than so many
visits of pairs were spent (later, when it is no more than near the incumbent: the proof first): a little below what the
verdict calls close, whatever is rounded, ..."""
FAR_SLACK = 0.02
"""... or when it is within so much of the best rival known."""


def usable(pairs: Pairs) -> Pairs:
    """Those that can save anything."""
    good = np.broadcast_to((pairs.xi > 0.0) & (pairs.w > 0.0), len(pairs))
    return pairs if good.all() else pairs.take(np.flatnonzero(good))


class WholePose(Stage):
    """Σ w·max(0, cap − loss) over all rotations and translations: a stage of the driver.

    Parameters
    ----------
    pairs : Pairs
    loss : Loss
    pose : Pose
        A very good one, for `pairs`. A poor one costs no correctness but all speed: cells are pruned against it, and it
        is improved only where the search gets down to single boxes.
    sifted : Sifted, optional
        The pairs (those with w ξ > 0) that matter for larger savings.
    share : float
        Elsewhere, nodes are closed when their bound is at most this share of the saving.
    single : bool
        Boxes are bounded in single precision, which is faster and good for gaps from a few thousandths on.
    """

    name = "pose"
    prune = PRUNE
    best_first = True
    elsewhere = frozenset({VOTES, BOXES})

    def __init__(
        self,
        pairs: Pairs,
        loss: Loss,
        pose: Pose,
        sifted: Sifted | None = None,
        share: float = SHARE,
        *,
        single: bool = True,
    ) -> None:
        self.share = share
        self.total = pairs.total(loss)
        self.pairs = usable(pairs)
        self.loss = loss
        self.pose = pose.orthonormal()
        self.saving = full_saving(self.pairs, self.pose, loss)
        core = self.pairs if sifted is None else self.pairs.take(sifted.index)
        self.floor = 0.0 if sifted is None else sifted.limit
        self.packed: Packed | None = pack(core, loss, self.pose, self.pairs) if len(core) else None
        self.typical = self.pairs.typical_bound if len(core) else 0.0  # of all: near is not what those left say
        self.dtype = np.float32 if single and SMALLEST_XI < self.typical < 1.0 / SMALLEST_XI else np.float64
        self.lists = Lists()

    def start(self) -> tuple[float, Pose]:
        """The pose with an orthonormal rotation, and what it saves."""
        return self.saving, self.pose

    def roots(self) -> FloatArray:
        """All rotations, with the translations at which more than a share of the saving can be saved at all."""
        p = self.packed
        if p is None:
            return no_nodes()
        limit = max(self.floor, min(self.share, 1.0) * self.saving)
        scratch = make_cell_scratch(p.voters, 1, 1)
        scratch.nodes[0] = everywhere(p.low, p.high, p.ceiling)
        state = search_cells(p.voters, p.groups, p.ballot, limit, BEGINNING, scratch, 1, 1)
        self.floor = max(self.floor, state.closed)
        node = scratch.nodes[0]
        return roots(node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6], node[BOUND]) if state.top else no_nodes()

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        return Batch(CELLS_TOGETHER, PIECES) if phase == VOTES else Batch(BOXES_TOGETHER, BOXES_TOGETHER)

    def of_interest(self, phase: int, task: Task) -> float:
        return task.threshold if phase == NEAR else elsewhere_limit(task.saving, task.far, self._slacks(task))

    def stayed(self, solution: Pose) -> bool:
        p = self.packed
        if p is None:
            return True
        turn = float(np.linalg.norm(solution.rotation - self.pose.rotation))
        at_mean = solution.apply(p.mean) - self.pose.apply(p.mean)
        moved = turn * p.farthest + float(np.linalg.norm(at_mean))
        return moved * (1.0 + 1e-9) <= (ELSEWHERE - NEAR_ZONE) * self.typical

    def workspace(self) -> Workspace:
        return Workspace(self.packed, self.dtype)

    def search(self, nodes: FloatArray, task: Task, work: Workspace) -> Outcome:
        return _Run(self, task, work).below(nodes)

    def improve(self, saving: float, solution: Pose, limits: Limits) -> tuple[float, Pose]:
        """The pose climbed on all pairs; a climb never ends lower."""
        pose, reached = climb(self.pairs, solution, self.loss, limits=limits)
        return reached, pose

    def describe(self, nodes: FloatArray) -> FloatArray:
        return describe(nodes)

    def record(self, trace: FloatArray) -> FloatArray:
        return describe(trace, 0.0)

    def _setting(self, task: Task) -> Setting:
        p = self.packed
        assert p is not None  # there are nodes
        b = p.ballot
        near, far = NEAR_ZONE * self.typical, ELSEWHERE * self.typical
        unit, eps = (SINGLE, p.single_eps) if self.dtype == np.float32 else (UNIT, p.eps)
        return Setting(b.xi, b.radius, eps, unit, self._slacks(task), b.loss, p.farthest, near, far, p.tips)

    def _slacks(self, task: Task) -> Slacks:
        share = max(self.share, self.floor / task.saving) if task.saving > 0.0 else self.share
        return Slacks(task.slack, share if task.work < SURE else 1.0 + task.slack, FAR_SLACK)


class _Run:
    """The search below one node, in one thread."""

    def __init__(self, stage: WholePose, task: Task, work: Workspace) -> None:
        assert stage.packed is not None  # there are nodes
        self.stage, self.task, self.work, self.packed = stage, task, work, stage.packed
        self.setting = stage._setting(task)
        self.saving, self.far = task.saving, task.far
        self.closed = self.far_closed = 0.0
        self.cells = self.work_done = 0
        self.found: Pose | None = None
        self.far_found: Pose | None = None
        self.open: list[FloatArray] = []

    def below(self, nodes: FloatArray) -> Outcome:
        for node in nodes:
            if node[PHASE] == VOTES:
                self._vote(node)
            else:
                self._resume(node)
        stage = self.stage
        best = None if self.found is None else full_saving(stage.pairs, self.found, stage.loss)
        far = None if self.far_found is None else full_saving(stage.pairs, self.far_found, stage.loss)
        return Outcome(
            np.concatenate(self.open) if self.open else no_nodes(),
            self.closed,
            self.cells,
            -np.inf if best is None else best,
            self.found,
            nodes,
            self.far_closed,
            -np.inf if far is None else far,
            self.far_found,
            self.work_done,
        )

    def _vote(self, node: FloatArray) -> None:
        """Bound cells by votes, depth first, and search what is small enough by slopes."""
        p, work = self.packed, self.work
        scratch = work.cells
        scratch.nodes[0], scratch.segment[0], scratch.grids[0] = node, 0, 0
        state = BEGINNING
        most = max(FEWEST, RUN // p.size) if node[BOUND] <= CLOSE * self._limit() else max(1, FIRST // p.size)
        most = DEEP if p.size > p.ballot.many else most
        ended = False
        while state.top > 0 and not ended:
            most = min(most, state.cells + self.task.cells - self.cells)  # boxes count, too
            if state.cells >= most or self.task.stop():
                break
            before = state
            state = search_cells(p.voters, p.groups, p.ballot, self._limit(), state, scratch, CELL_SLICE, most)
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
            end = p.gather(_numbers(voters, start, stop), node, scratch.home, scratch.points)
        if self._search(node, n, end):
            self._keep(_numbers(voters, start, stop))

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

    def _search(self, node: FloatArray, count: int, end: int) -> bool:
        """Search a box depth first, for one turn, with points[:end]; whether something is left of it."""
        p, scratch = self.packed, self.work.boxes(count)
        scratch.nodes[0], scratch.segment[0] = node, 0
        scratch.segments[0] = 0, end
        state = State(1, 0, self.saving, self.far, self.closed, 0.0, False, False)
        most = min(TURN, self.task.cells - self.cells)
        while state.top > 0 and state.cells < most and not self.task.stop():
            state = search_boxes(self.setting, state, scratch, BOX_SLICE, most)
        self.saving, self.far = state.saving, state.far
        self.closed = state.closed
        self.cells += state.cells
        self.work_done += count * (1 + state.cells // 4)  # most boxes have few of them
        if state.found:
            self.found = p.pose(int(scratch.best[0, 0]), scratch.best[0, 1:4], scratch.best[0, 4:7])
        if state.far_found:
            self.far_found = p.pose(int(scratch.best[1, 0]), scratch.best[1, 1:4], scratch.best[1, 4:7])
        self.far_closed = max(self.far_closed, state.far_closed)
        if state.top:
            self.open.append(scratch.nodes[: state.top].copy())
        return state.top > 0


def _numbers(voters: Voters, start: int, stop: int) -> NDArray[np.int32]:
    """Which pairs some voters are."""
    return voters.index[start:stop].copy() if voters.index.size else np.arange(start, stop, dtype=np.int32)
