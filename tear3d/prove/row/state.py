"""What the compiled search works on: its settings, the state of a subtree, and the work space of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.prove.bounds.first_order import BLOCK
from tear3d.prove.bounds.windows import FIELDS, LANES, MAX_LEVELS

MAX_NODES = 4096
MAX_GRID_NODES = 3072
STACK = 768
SEGMENTS = 64
MIN_WINDOW_POINTS = 4096
GRID_LIMIT = 10_000_000
"""Entries of a grid of groups, at most."""

# Indices into Task.state and Task.count.
SAVING, BOUND = 0, 1
TOP, CELLS, VISITS, UNRESOLVED, TRACED = 0, 1, 2, 3, 4


class Setting(NamedTuple):
    """What is the same for all cells of a search."""

    xi: float
    eps: float
    radius: float
    extent: float
    background: float
    """What the best shift saves for a typical wrong r: a guide for choosing bounds, not part of any."""
    slack: float
    """Cells whose bound is at most (1 + slack)·incumbent are pruned."""
    general: bool
    circle: bool
    basis: NDArray[np.float64]
    """With `circle`: cells are arcs of the circle spanned by these two vectors."""


class Task(NamedTuple):
    """The state of one subtree."""

    cells: NDArray[np.int64]
    """Stack of (face, level, i, j, segment)."""
    ranges: NDArray[np.float64]
    """Stack of (t0, t1, bound, bound by evaluation or infinity)."""
    state: NDArray[np.float64]
    count: NDArray[np.int64]
    best: NDArray[np.float64]
    """r and t of the best saving found inside."""
    trace: NDArray[np.float64]


class Scratch(NamedTuple):
    """Work space of one thread."""

    arena: NDArray[np.floating]
    """Copies of the points that still matter, one segment after the other."""
    segments: NDArray[np.int64]
    """(start, length, near) of each segment; segment 0 is all points."""
    widths: NDArray[np.float64]
    """The stretch of b that the points of each segment were chosen from."""
    buffers: NDArray[np.floating]
    second: NDArray[np.float64]
    steps: NDArray[np.float64]
    hist: NDArray[np.float32]
    sides: NDArray[np.float32]
    blunt: NDArray[np.float32]
    nodes: NDArray[np.float64]
    values: NDArray[np.float64]
    index: NDArray[np.uint32]
    groups: NDArray[np.float32]
    work: NDArray[np.float64]
    rows: NDArray[np.float32]


def make_scratch(points: NDArray[np.floating], near: int, arena_size: int) -> Scratch:
    """Work space for `points`; the grid of groups is only as large as so many points can use."""
    wide = 3 * MAX_NODES
    grid = min(GRID_LIMIT, 200 * near) if near >= MIN_WINDOW_POINTS else FIELDS
    segments = np.zeros((SEGMENTS, 3), np.int64)
    segments[0] = 0, points.shape[1], near
    return Scratch(
        arena=np.empty((len(points), arena_size), points.dtype),
        segments=segments,
        widths=np.full(SEGMENTS, np.inf),
        buffers=np.empty((5, BLOCK), points.dtype),
        second=np.empty(MAX_NODES + 2),
        steps=np.empty((MAX_NODES + 2, 4)),
        hist=np.empty((wide, 5), np.float32),
        sides=np.empty((wide, 2), np.float32),
        blunt=np.empty((wide, 4), np.float32),
        nodes=np.empty((wide, 3)),
        values=np.empty(MAX_NODES),
        index=np.empty(BLOCK, np.uint32),
        groups=np.zeros(grid, np.float32),
        work=np.empty((3, LANES * MAX_GRID_NODES)),
        rows=np.empty((MAX_LEVELS + 1, LANES * MAX_GRID_NODES), np.float32),
    )
