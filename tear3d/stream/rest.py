"""What passes over all pairs have left of a proof: cells, and the pairs that matter in them, in memory."""

from __future__ import annotations

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.pose.lists import Lists
from tear3d.prove.pose.points import pack
from tear3d.prove.pose.stage import SMALLEST_XI, WholePose
from tear3d.prove.whole import SINGLE_GAP
from tear3d.stream.scene import Scene


class Rest(WholePose):
    """A stage that begins with some cells instead of all rotations.

    Parameters
    ----------
    scene : Scene
    pairs : Pairs
        All that can save anything in the cells, at least one.
    best : Scored
        The best pose known, and what it saves over all pairs.
    cells : array
        Nodes.
    options : Options
    """

    def __init__(self, scene: Scene, pairs: Pairs, best: Scored, cells: FloatArray, options: Options) -> None:
        everybody = scene.everybody
        self.best, self.cells = best, cells
        self.share = 1.0 + self.prune * options.rel_gap
        self.loss = LOSSES[scene.loss]
        self.total = everybody.savings.total
        self.pose, self.saving = scene.pose, best.saving
        self.typical = everybody.typical
        self.pairs = pairs
        self.packed = pack(pairs, self.loss, self.pose, everybody, options.threads)
        single = options.rel_gap >= SINGLE_GAP and SMALLEST_XI < self.typical < 1.0 / SMALLEST_XI
        self.dtype = np.float32 if single else np.float64
        self.lists = Lists()

    def start(self) -> tuple[float, Pose]:
        """The best pose known."""
        return self.best.saving, self.best.pose

    def roots(self) -> FloatArray:
        """The cells."""
        return self.cells
