"""What a search has to know of what it searches: nodes, stages, and what a piece of work comes to."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits

BOUND, PHASE, CELL = 0, 1, 2
"""Columns of a node; those from CELL on belong to the stage."""
OPEN = 2.0
"""Fate of a cell of the record that is neither split (0) nor pruned (1)."""
NOTHING = np.empty((0, 6))


class Outcome(NamedTuple):
    """What a piece of work came to."""

    open: FloatArray
    """Nodes that are left, with bounds that hold."""
    closed: float = 0.0
    """The largest bound of what was closed for good."""
    cells: int = 0
    saving: float = -math.inf
    solution: Any = None
    """The best solution met, and what it saves."""
    trace: FloatArray = NOTHING
    """Some of the cells visited, in whatever form the stage likes (`Stage.record`)."""
    far_closed: float = 0.0
    far_saving: float = -math.inf
    far_solution: Any = None
    """`closed`, `saving` and `solution` for what is elsewhere."""
    work: int = 0
    """How much was done, in whatever the stage counts."""


class Batch(NamedTuple):
    """How many nodes are searched together, and in how many pieces."""

    nodes: int
    pieces: int


class Stage(Protocol):
    """A saving, its domain, and the bounds that search it."""

    name: str
    total: float
    """Σ w·cap, the objective when every pair is an outlier."""
    prune: float
    """Nodes are closed when their bound is at most (1 + prune·rel_gap)·incumbent; at most 1."""
    floor: float = 0.0
    """The bound of what is closed from the beginning, elsewhere too."""
    best_first: bool = False
    """Whether phases take turns by their bounds."""
    elsewhere: frozenset[int] = frozenset()
    """The phases whose nodes may hold solutions far from the incumbent, if anybody asks for them."""

    def roots(self) -> FloatArray:
        """Nodes that cover the domain."""

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        """The next batch out of `waiting` nodes of a phase, of which `turn` batches were done."""

    def of_interest(self, phase: int, task: Task) -> float:
        """Nodes of a phase whose bound is at most this may be closed."""
        return task.threshold

    def stayed(self, solution: Any) -> bool:
        """Whether all that is elsewhere from this solution was searched as elsewhere, though it may not be the
        start."""
        return True

    def workspace(self) -> Any:
        """Work space of a thread."""

    def search(self, nodes: FloatArray, task: Task, work: Any) -> Outcome:
        """Work on some nodes; stop soon when `task.stop()` says so. Runs in a thread and changes nothing but `work`."""

    def improve(self, saving: float, solution: Any, limits: Limits) -> tuple[float, Any]:
        """A new incumbent made better, wherever in the domain that leads; or as it is, when the limits are over."""

    def describe(self, nodes: FloatArray) -> FloatArray:
        """Rows of the record for nodes that stayed open: where (3), angular radius, depth, fate."""

    def record(self, trace: FloatArray) -> FloatArray:
        """Rows of the record for what `Outcome.trace` held."""
        return trace


class Task(NamedTuple):
    """What a piece of work has to know about the search."""

    saving: float
    """Of the incumbent."""
    slack: float
    """Nodes whose bound is at most (1 + slack)·saving may be closed."""
    cells: int
    """How many cells it may visit."""
    limits: Limits
    far: float = 0.0
    """The best saving known elsewhere, ..."""
    far_closed: float = 0.0
    """... and the largest bound of what was closed there."""
    work: int = 0
    """What was done until the batch began, ..."""
    left: int = 0
    """... and the nodes that were left then."""

    @property
    def threshold(self) -> float:
        return self.saving * (1.0 + self.slack)

    def stop(self) -> bool:
        return self.limits.over()
