"""What the bounds of a row work on: points, nodes along t, and work space, as named tuples for compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 1024
"""Points that are projected together: their numbers stay in the first cache. Free choice, part of no bound."""
MAX_NODES = 4096
"""Nodes of one evaluation, at most. A longer range of t is halved. Free choice, part of no bound."""
MAX_GRID_NODES = 3072
"""Bins of one group, at most: rows of 16 groups then stay in the second cache. Free choice, part of no bound."""
MAX_LEVELS = 6
"""2⁶ groups a side, at most; one row of work space a level. Free choice, but see mathematics.md, section 5.4."""
MIN_WINDOW_POINTS = 4096
"""Fewer points are not worth a grid of groups. Free choice, part of no bound."""
GRID_LIMIT = 10_000_000
"""Entries of a grid of groups, at most (40 MB a thread). Free choice, part of no bound."""
FIELDS = 5
"""Of a bin: points, sum of their offsets in it, sums of p1, p2 (less the group's) and q."""
LANES = 16
"""The 4×4 groups below one grandparent lie side by side in every bin, so that running sums over bins vectorise."""
X1, X2, X3, Y, XI, W = range(6)
"""Rows of packed points; the last two only where thresholds or weights differ."""
COUNT, OFFSET, P1, P2, Q = (np.uint64(k) for k in range(5))
"""Columns of `Work.hist`; `Work.sides` has the first two."""
LEFT, LEFT_OFFSET, RIGHT, RIGHT_OFFSET = (np.uint64(k) for k in range(4))
"""Columns of `Work.blunt`."""
G0, G1, G2, G3 = range(4)
"""Columns of `Work.steps`: changes of the sums of sign·(1, p1, p2, q)."""


class Points(NamedTuple):
    """Some columns of packed points."""

    rows: NDArray[np.floating]
    start: int
    count: int
    near: int
    """The first so many are within `extent` of the origin."""
    extent: float
    xi: float
    """The common ξ, or a typical one."""
    eps: float
    """Bound of the rounding error of b and of E together, per point (mathematics.md, section 4.4)."""
    general: bool
    """Whether each point has its own ξ and weight."""


class Axis(NamedTuple):
    """The nodes t0 + kβ, 0 ≤ k < count, each of which stands for all t within β/2."""

    t0: float
    beta: float
    count: int


class Block(NamedTuple):
    """Numbers of up to BLOCK points at a cell, in the points' own precision."""

    b: NDArray[np.floating]
    reach: NDArray[np.floating]
    p1: NDArray[np.floating]
    p2: NDArray[np.floating]
    q: NDArray[np.floating]
    index: NDArray[np.uint32]


class Work(NamedTuple):
    """Work space of the bounds, one for each thread."""

    block: Block
    second: NDArray[np.float64]
    """Narrow: second differences at the nodes."""
    steps: NDArray[np.float64]
    hist: NDArray[np.float32]
    """Wide: bins of b."""
    sides: NDArray[np.float32]
    """Wide: bins of b − E and b + E."""
    blunt: NDArray[np.float32]
    """Wide: bins of b − E and b + E of points with E ≥ ξ."""
    shifted: NDArray[np.float64]
    """Wide: second differences wanted ξ further left, ξ further right, and in place."""
    groups: NDArray[np.float32]
    """Windows: [block][field][bin][lane], zero between two calls."""
    sums: NDArray[np.float64]
    """Windows: node weights, slopes and values of 16 groups."""
    levels: NDArray[np.float32]
    """Windows: one row of nodes per level, the last one with 16 lanes."""


def make_work(dtype: np.dtype[np.floating], near: int) -> Work:
    """Work space for points of a precision; the grid of groups is only as large as `near` points can use."""
    wide = 3 * MAX_NODES
    grid = min(GRID_LIMIT, 200 * near) if near >= MIN_WINDOW_POINTS else FIELDS
    b, reach, p1, p2, q = (np.empty(BLOCK, dtype) for _ in range(5))
    return Work(
        block=Block(b, reach, p1, p2, q, np.empty(BLOCK, np.uint32)),
        second=np.empty(MAX_NODES + 2),
        steps=np.empty((MAX_NODES + 2, 4)),
        hist=np.empty((wide, 5), np.float32),
        sides=np.empty((wide, 2), np.float32),
        blunt=np.empty((wide, 4), np.float32),
        shifted=np.empty((wide, 3)),
        groups=np.zeros(grid, np.float32),
        sums=np.empty((3, LANES * MAX_GRID_NODES)),
        levels=np.empty((MAX_LEVELS + 1, LANES * MAX_GRID_NODES), np.float32),
    )
