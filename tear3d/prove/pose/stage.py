"""The whole six-dimensional problem as one search: all rotations and all translations.

Cells of rotations with all translations are bounded by votes, depth first below each; what is left of them are boxes of
poses, searched by slopes. Largest bounds first; see `tear3d.prove.driver` for how they take turns.
"""

from __future__ import annotations

import numpy as np

from tear3d.find.ascent import climb
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.pose.cells import BEGINNING, make_cell_scratch, search_cells
from tear3d.prove.pose.confined import cells_are_few, sides_within
from tear3d.prove.pose.hubs import nodes_of
from tear3d.prove.pose.lists import Lists
from tear3d.prove.pose.nodes import BOXES, HIGH, LOW, NEAR, VOTES, describe, everywhere, no_nodes, roots
from tear3d.prove.pose.points import SINGLE, UNIT, Packed, pack
from tear3d.prove.pose.run import Run
from tear3d.prove.pose.sift import Sifted
from tear3d.prove.pose.workspace import Workspace
from tear3d.prove.pose.zones import Setting, Slacks, elsewhere_limit
from tear3d.prove.stage import BOUND, Batch, Outcome, Stage, Task

CELLS_TOGETHER, BOXES_TOGETHER, PIECES = 256, 64, 16
"""Nodes searched together, cells in so many pieces, boxes each in a piece of its own (free choices; the first made on
seven real pairs, where a quarter of it took a tenth longer)."""
FEW_PIECES, FEW_PAIRS = 3, 20_000
"""Cells of half a circle of rotations for so few pairs are searched in so many pieces, each of them at once (free
choices: of 1, 2, 3, 5 and 10 pieces the fastest on 10³ and 10⁴ pairs of `benchmarks.priors`, on two cores)."""
FINER, FEWER_PAIRS = 5, 400_000
"""First cells of half a circle of rotations, for up to so many pairs: three are too wide for most (free choices, made
on five synthetic problems; from 10⁶ pairs on, which vote in groups, three are faster)."""
FEW_VOTERS = 250
"""So few voters begin with a short range of rotations in two cells, more in eight: both threads have work, and less of
it is done twice where cells meet at the incumbent (free choice: faster on 10⁴ pairs of `benchmarks.priors`, with 103
voters or so, slower from 2·10⁴ on, with 750)."""
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
SURE = 300_000_000
LEFT = 55_000
"""Elsewhere, nodes are closed when their bound is at most this share of the saving, a little below what the verdict
calls close, whatever is rounded; but only as long as that should take no more than so many visits of pairs, about a
second, if every node that is left takes so many (free choices, part of no bound: made on the twenty real pairs at
hand with the most inliers, of which seven get that far). Otherwise the proof comes first: nodes are closed when their
bound is no more than near the incumbent, ..."""
FAR_SLACK = 0.02
"""... or when it is within so much of the best rival known."""


def usable(pairs: Pairs) -> Pairs:
    """Those that can save anything, with a pose that is allowed."""
    good = np.broadcast_to((pairs.xi > 0.0) & (pairs.w > 0.0), len(pairs))
    if pairs.possible is not None:
        good = good & pairs.possible
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
        The pairs (those with w ξ > 0) that matter for larger savings, and perhaps the cells.
    share : float
        Elsewhere, nodes are closed when their bound is at most this share of the saving.
    single : bool
        Boxes are bounded in single precision, which is faster and good for gaps from a few thousandths on.
    threads : int
        For packing; the result is the same for any number.
    limits : Limits, optional
        For packing, and for the first nodes.
    """

    name = "pose"
    prune = PRUNE
    best_first = True
    elsewhere = frozenset({VOTES, BOXES})
    together = False
    """Whether all cells of a piece are searched at once: where all are few and quick."""

    def __init__(
        self,
        pairs: Pairs,
        loss: Loss,
        pose: Pose,
        sifted: Sifted | None = None,
        share: float = SHARE,
        *,
        single: bool = True,
        threads: int = 1,
        limits: Limits | None = None,
    ) -> None:
        self.share, self.limits = share, limits or Limits()
        self.total = pairs.total(loss)
        self.pairs = usable(pairs)
        self.loss = loss
        self.pose = pose.orthonormal()
        self.saving = full_saving(self.pairs, self.pose, loss)
        core = self.pairs if sifted is None else self.pairs.take(sifted.index)
        self.floor = 0.0 if sifted is None else sifted.limit
        self.typical = self.pairs.typical_bound if len(core) else 0.0  # of all: near is not what those left say
        self.packed = self._pack(core, threads) if len(core) else None
        known = None if sifted is None else sifted.cells
        # Counted from another rotation, the cells would be other ones.
        same = known is not None and np.array_equal(known.pose.rotation, self.pose.rotation)
        self.known_cells = known if same else None
        self.dtype = np.float32 if single and SMALLEST_XI < self.typical < 1.0 / SMALLEST_XI else np.float64
        self.lists = Lists()
        self.together = cells_are_few(pairs.prior) and len(pairs) <= FEW_PAIRS

    def _pack(self, core: Pairs, threads: int) -> Packed | None:
        """The pairs for the search; None when the time is over, and then nothing is known but what all can save."""
        cloud = None if core is self.pairs else self.pairs
        packed = pack(core, self.loss, self.pose, cloud, threads, self.limits)
        if packed is None and not self.limits.over():  # what took so long was compiling
            packed = pack(core, self.loss, self.pose, cloud, threads)
        if packed is None:
            self.floor = self.total * (1.0 + 2.0 * UNIT * (len(self.pairs) + 2))
        return packed

    def start(self) -> tuple[float, Pose]:
        """The pose with an orthonormal rotation, and what it saves."""
        return self.saving, self.pose

    def roots(self) -> FloatArray:
        """All rotations, or the cells that are known to matter, with the translations at which more than a share of the
        saving can be saved at all."""
        p = self.packed
        if p is None:
            return no_nodes()
        node = everywhere(p.low, p.high, p.ceiling)
        if not self.together:  # else the few cells see to it sooner
            limit = max(self.floor, min(self.share, 1.0) * self.saving)
            scratch = make_cell_scratch(p.voters, 1, 1)
            scratch.nodes[0] = node
            state = search_cells(p.voters, p.groups, p.ballot, p.allowed, limit, BEGINNING, scratch, 1, 1)
            self.floor = max(self.floor, state.closed)
            if not state.top:
                return no_nodes()
            node = scratch.nodes[0]
        known = None if self.known_cells is None else nodes_of(p, self.known_cells, node, self.limits)
        if known is not None:
            return known
        low, high = node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6]
        few = cells_are_few(self.pairs.prior) and p.size <= FEWER_PAIRS
        sides, halves = sides_within(self.pairs.prior, self.pose), 1 if p.size <= FEW_VOTERS else 3
        return roots(low, high, node[BOUND], sides, FINER if few else 3, halves)

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        if self.together:
            return Batch(BOXES_TOGETHER, FEW_PIECES)
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
        return Run(self, task, work).below(nodes)

    def improve(self, saving: float, solution: Pose, limits: Limits) -> tuple[float, Pose]:
        """The pose climbed on all pairs; a climb never ends lower."""
        pose, reached = climb(self.pairs, solution, self.loss, limits=limits)
        return reached, pose

    def describe(self, nodes: FloatArray) -> FloatArray:
        return describe(nodes, chart=self._chart)

    def record(self, trace: FloatArray) -> FloatArray:
        return describe(trace, 0.0, chart=self._chart)

    @property
    def _chart(self) -> FloatArray | None:
        return None if self.packed is None or self.pairs.prior is None else self.packed.chart

    def setting(self, task: Task) -> Setting:
        """What a search of boxes has to know."""
        p = self.packed
        assert p is not None  # there are nodes
        b = p.ballot
        near, far = NEAR_ZONE * self.typical, ELSEWHERE * self.typical
        unit, eps = (SINGLE, p.single_eps) if self.dtype == np.float32 else (UNIT, p.eps)
        return Setting(b.xi, b.radius, eps, unit, self._slacks(task), b.loss, p.farthest, near, far, p.tips)

    def _slacks(self, task: Task) -> Slacks:
        share = max(self.share, self.floor / task.saving) if task.saving > 0.0 else self.share
        sure = Slacks(task.slack, share, FAR_SLACK)
        still = task.far_closed <= max(self.floor, elsewhere_limit(task.saving, task.far, sure))
        if still and task.work + LEFT * task.left < SURE:
            return sure
        return sure._replace(share=1.0 + task.slack)
