"""What the compiled search of a row works on: its settings, the state of a subtree, and the work space of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.prove.bounds.data import BLOCK, MAX_NODES, Points, Work, make_work
from tear3d.prove.stage import BOUND, CELL, PHASE

FACE, LEVEL, CELL_I, CELL_J, LOW, HIGH, ABOVE = range(CELL, CELL + 7)
"""Columns of a node after BOUND and PHASE: the cell (for arcs, LEVEL and CELL_I), the range of t, and the bound that an
evaluation gave to it or to a cell around it (infinity before the first)."""
COLUMNS = CELL + 7
SEGMENT = COLUMNS
"""On the stack of a subtree a node also says which segment holds the points that matter to it."""
UNBOUNDED, BOUNDED = 0.0, 1.0
"""Phases: cells that are bounded alone, and cells whose subtrees are searched."""
STACK = 768
"""Nodes of a subtree at a time, at most: three a level, and one each time a range is halved. One that finds no room is
closed with the bound it has."""
SEGMENTS = 64
"""Copies of points inside each other, at most. Free choice, part of no bound."""
TRACE = 256
"""Cells of a subtree that are recorded. Free choice, part of no bound."""
SAVING, SLACK, CLOSED, HULL_LOW, HULL_HIGH, HULL_BOUND = range(6)
"""Entries of `Subtree.state`."""
TOP, CELLS, TRACED = range(3)
"""Entries of `Subtree.count`."""
START, COUNT, NEAR = range(3)
"""Columns of `Space.segments`."""
SMALL, MEDIUM = 200_000, 4_000_000
"""Points up to which copies may take three times, or as much, room as the points. Free choices, part of no bound."""

__all__ = ["BOUND", "PHASE", "Setting", "Space", "Subtree", "make_space", "make_subtree"]


class Setting(NamedTuple):
    """What is the same for all cells of a search."""

    radius: float
    """Root mean square of a tangent coordinate of x."""
    background: float
    """What the best shift saves for a typical wrong r: a guide for choosing bounds, not part of any."""
    circle: bool
    basis: NDArray[np.float64]
    """With `circle`: cells are arcs of the circle spanned by these two vectors."""


class Subtree(NamedTuple):
    """The state of one subtree."""

    stack: NDArray[np.float64]
    """Nodes, the next one last."""
    state: NDArray[np.float64]
    """The best saving found, the slack for pruning, the largest bound of what was closed; of a cell that is bounded
    alone, the hull of the t that survive, and the largest bound there."""
    count: NDArray[np.int64]
    """Nodes on the stack, cells visited, cells recorded."""
    best: NDArray[np.float64]
    """r and t of the best saving found inside."""
    trace: NDArray[np.float64]
    """Rows: centre, angular radius, depth, fate."""


class Space(NamedTuple):
    """Work space of one thread."""

    arena: NDArray[np.floating]
    """Copies of the points that still matter, one segment after the other."""
    segments: NDArray[np.int64]
    """Start, length and number of near points of each segment; segment 0 is in the points themselves."""
    widths: NDArray[np.float64]
    """The stretch of b that the points of each segment were chosen from."""
    values: NDArray[np.float64]
    """Bounds at the nodes of a cell."""
    work: Work


def make_subtree() -> Subtree:
    """Room for one subtree, used for one after the other."""
    return Subtree(
        stack=np.zeros((STACK + 1, COLUMNS + 1)),
        state=np.zeros(6),
        count=np.zeros(3, np.int64),
        best=np.zeros(4),
        trace=np.zeros((TRACE, 6)),
    )


def make_space(points: Points) -> Space:
    """Work space for `points`; pages of the arena are only touched when used."""
    size = points.count
    arena = 3 * size + BLOCK if size < SMALL else size if size < MEDIUM else size // 8
    return Space(
        arena=np.empty((len(points.rows), arena), points.rows.dtype),
        segments=np.zeros((SEGMENTS, 3), np.int64),
        widths=np.full(SEGMENTS, np.inf),
        values=np.empty(MAX_NODES),
        work=make_work(points.rows.dtype, points.near),
    )
