"""One of many searches in a call: its limits, and a stage that ends when a limit is exceeded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tear3d.problem.limits import Limits, Stop
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.pose.stage import WholePose
from tear3d.prove.whole import SINGLE_GAP

TIGHT = 1e-5
"""The share of a limit on the saving within which a search ends: nothing is gained beyond it (free choice)."""


@dataclass
class Turn(Limits):
    """Ends when the limits of the call do, when it is cancelled itself, or after so many cells.

    Cells are looked at between two batches only, so that the search does the same for any number of threads.
    """

    whole: Limits = field(default_factory=Limits)
    budget: int = 2**62
    tell: Callable[[], object] = lambda: None

    @classmethod
    def of(cls, whole: Limits, budget: int, tell: Callable[[], object]) -> Turn:
        left = None if whole.node_limit is None else whole.cells_left()
        return cls(
            node_limit=left,
            progress=whole.progress,
            interval=whole.interval,
            started=whole.started,
            whole=whole,
            budget=budget,
            tell=tell,
        )

    def over(self) -> bool:
        return self.cancelled or self.whole.over()

    def exceeded(self) -> Stop | None:
        if self.cancelled or self.cells >= self.budget:
            return "interrupted"
        return self.whole.exceeded() or super().exceeded()

    def report(self, stage: str, saving: float, saving_bound: float, done: float = 0.0) -> None:
        """What the call has to say, whatever this search says of itself."""
        self.tell()


class Exceeding(WholePose):
    """All rigid motions, searched for one that saves more than a limit."""

    def __init__(self, pairs: Pairs, options: Options, pose: Pose, limit: float, turn: Turn) -> None:
        single = options.rel_gap >= SINGLE_GAP
        super().__init__(
            pairs, options.the_loss, pose, None, 1.0 + TIGHT, single=single, threads=options.threads, limits=turn
        )
        self.saving, self.turn = limit, turn
        self.better: Pose | None = None

    def improve(self, saving: float, solution: Any, limits: Limits) -> tuple[float, Any]:
        """That is enough to know."""
        self.better = solution
        self.turn.cancel()
        return saving, solution
