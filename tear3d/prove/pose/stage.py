"""The whole six-dimensional problem as one search: all rotations and all translations.

First cells of rotations with all translations, bounded by votes; then what is left of them, boxes of poses, by slopes,
depth first. See `tear3d.prove.driver` for how they take turns.
"""

from __future__ import annotations

import numpy as np

from tear3d.find.ascent import climb
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import TEAR, Loss
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.driver import BOUND, PHASE, Batch, Outcome, Task
from tear3d.prove.pose.nodes import BOXES, VOTES, bound_by_votes, describe, no_nodes, ready, roots, split
from tear3d.prove.pose.points import Packed, pack
from tear3d.prove.pose.subtree import Scratch, Setting, State, make_scratch, search_boxes

CHUNK_VISITS = 4_000_000
LARGEST_CHUNK = 512
PIECES = 8
"""Nodes bounded by votes together: about so many visits of pairs, at most so many nodes, in so many pieces."""
BATCH = 64
TURN = 4_000
"""Boxes searched together, and after how many visits a subtree is broken up, so that no thread is left alone with a
large one. All free choices, part of no bound, as are ..."""
VOTE_SLICE = 100_000
GRID_COST = 4_000
"""... how many visits of pairs there are between two looks at the clock: 0.1 to 0.8 µs each in votes, whose grids cost
as much as so many pairs, ..."""
BOX_SLICE = 1_000_000
"""... and 15 to 30 ns each in boxes."""
PRUNE = 0.999
"""Share of the allowed gap used for pruning; the rest covers the rounding of comparisons and of savings, which is below
10⁻³ of the gap for gaps above N·10⁻¹²."""
STARTS = 32
SAMPLE = 200_000
"""Pairs whose exact fit is tried as a translation of the incumbent, on at most so many pairs (free choices)."""


class WholePose:
    """Σ w·max(0, ξ − ‖y − R x − t‖₁) over all rotations and translations: a stage of the driver.

    Parameters
    ----------
    pairs : Pairs
    loss : Loss
        "tear": slopes are known for no other.
    pose : Pose
        A very good one, for `pairs`. A poor one costs no correctness but all speed: cells are pruned against it, and it
        is improved only where the search gets down to single boxes.
    """

    name = "full problem"
    prune = PRUNE

    def __init__(self, pairs: Pairs, loss: Loss, pose: Pose) -> None:
        if loss.code != TEAR:
            raise ValueError(f"loss is {loss.name}: the whole pose can be searched for tear only")
        self.total = pairs.total(loss)
        usable = np.broadcast_to((pairs.xi > 0.0) & (pairs.w > 0.0), len(pairs))
        self.pairs = pairs if usable.all() else pairs.take(np.flatnonzero(usable))
        """Those that can save anything."""
        self.loss = loss
        self._first = pose, self._start(pose)
        self.packed: Packed | None = pack(self.pairs, self._first[1][1]) if len(self.pairs) else None

    def start(self, pose: Pose) -> tuple[float, Pose]:
        """The pose with an orthonormal rotation, its translation one that fits some pair if that saves more."""
        return self._first[1] if pose is self._first[0] else self._start(pose)

    def _start(self, pose: Pose) -> tuple[float, Pose]:
        pose = pose.orthonormal()
        step = -(-len(self.pairs) // SAMPLE)
        pairs = self.pairs if step <= 1 else self.pairs.take(np.arange(0, len(self.pairs), step))
        some = np.linspace(0, len(pairs) - 1, min(len(pairs), STARTS)).astype(np.int64)
        fits = [Pose(pose.rotation, t) for t in pairs.y[some] - pairs.x[some] @ pose.rotation.T]
        best = max([pose, *fits], key=lambda fit: full_saving(pairs, fit, self.loss))
        found = [(full_saving(self.pairs, choice, self.loss), choice) for choice in (pose, best)]
        return max(found, key=lambda item: item[0])

    def roots(self) -> FloatArray:
        p = self.packed
        return no_nodes() if p is None else roots(p.low, p.high, p.ceiling)

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        if phase == VOTES:
            return Batch(min(LARGEST_CHUNK, max(PIECES, CHUNK_VISITS // self._packed.size)), PIECES)
        return Batch(BATCH, BATCH)

    def workspace(self) -> Scratch:
        return make_scratch(0 if self.packed is None else self.packed.size)

    def search(self, nodes: FloatArray, task: Task, work: Scratch) -> Outcome:
        return (self._vote if nodes[0, PHASE] == VOTES else self._descend)(nodes, task, work)

    def improve(self, saving: float, solution: Pose, limits: Limits) -> tuple[float, Pose]:
        """The pose climbed on all pairs; a climb never ends lower."""
        pose, reached = climb(self.pairs, solution, self.loss, limits=limits)
        return reached, pose

    def describe(self, nodes: FloatArray) -> FloatArray:
        return describe(nodes, self._packed.rotation[:, 0])

    @property
    def _packed(self) -> Packed:
        assert self.packed is not None  # there are nodes
        return self.packed

    def _vote(self, nodes: FloatArray, task: Task, work: Scratch) -> Outcome:
        """Bound cells of rotations by votes; what is left of them is split, or becomes boxes."""
        p, nodes = self._packed, nodes.copy()
        most = max(1, VOTE_SLICE // (p.size + GRID_COST))
        seen, closed = 0, 0.0
        while seen < min(len(nodes), task.cells) and not task.stop():
            part = nodes[seen : min(seen + most, task.cells)]
            closed = max(closed, bound_by_votes(p.points, p.votes, part, task.threshold, p.eps, work.booth))
            seen += len(part)
        bounded, rest = nodes[:seen], nodes[seen:]
        pruned = bounded[:, BOUND] <= task.threshold
        alive = bounded[~pruned]
        small = ready(alive, p.votes.xi, p.votes.radius)
        boxes = alive[small]
        boxes[:, PHASE] = BOXES
        left = np.concatenate([boxes, split(alive[~small], p.votes.radius), rest])
        return Outcome(left, closed, seen, trace=describe(bounded, p.rotation[:, 0], pruned.astype(np.float64)))

    def _descend(self, nodes: FloatArray, task: Task, work: Scratch) -> Outcome:
        """Search boxes by slopes, depth first, for one turn."""
        p = self._packed
        setting = Setting(p.votes.xi, p.votes.radius, p.eps, task.slack)
        work.nodes[: len(nodes)] = nodes[::-1]
        work.segment[: len(nodes)] = 0
        state = State(len(nodes), 0, task.saving, 0.0, False)
        cells = min(TURN, task.cells)
        while state.top > 0 and state.cells < cells and not task.stop():
            state = search_boxes(p.points, setting, state, work, BOX_SLICE, cells)
        left = work.nodes[: state.top].copy()
        if not state.found:
            return Outcome(left, state.closed, state.cells)
        best = work.best
        pose = p.pose(int(best[0]), best[1:4], best[4:7])
        return Outcome(left, state.closed, state.cells, full_saving(self.pairs, pose, self.loss), pose)
