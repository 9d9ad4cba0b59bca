"""Pairs written as voters: in float32, sorted by groups, in threads that look at the clock."""

from __future__ import annotations

from collections.abc import Callable
from mmap import mmap
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew
from tear3d.problem.frame import Block
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.groups import SAMPLE, depth_for, find_leaves, tree_of
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.pose.order import LARGEST_BLOCK, Order

BLOCK = LARGEST_BLOCK
"""Pairs between two looks at the clock (free choice, but see `Order`), and ..."""
TOGETHER = 16
"""... blocks one after the other, whose squares are added up in a row."""
LOWEST, HIGHEST, LARGEST_X = 0, 3, 6
"""Columns of the extent of some pairs: of a box of t, then the largest |x − m|² and |y − s|, the largest number given,
and Σ|x − m|²."""

Frame = tuple[FloatArray, FloatArray, FloatArray]
"""Rotation, mean, shift."""


def no_extent() -> FloatArray:
    return np.array([np.inf] * 3 + [-np.inf] * 3 + [0.0] * 4)


@njit(cache=True, nogil=True)
def mean_of(points):
    """The mean of points as rows, added up in order."""
    a = b = c = 0.0
    for i in range(points.shape[0]):
        a += points[i, 0]
        b += points[i, 1]
        c += points[i, 2]
    return np.array([a, b, c]) / points.shape[0]


@njit(cache=True, nogil=True)
def _fill(x, y, xi, first, groups, frame, own, voters, within, extent):
    """Write pairs, the first of which has number `first`, as R0 (x − m) and y − s, sorted by leaves if there are any:
    groups are (leaf of each, where the next of each leaf goes). So are their own ξ and ballots, where voters have more
    than one for all. The extent grows."""
    rotation, mean, shift = frame
    leaves, following = groups
    rows, shared, apart = voters.rows, xi.size == 1, leaves.size > 0
    bounds, ballots = voters.xi.size > 1, voters.ballots.size > 1
    largest_x, largest_y, largest = extent[LARGEST_X], extent[LARGEST_X + 1], extent[LARGEST_X + 2]
    squares = extent[LARGEST_X + 3]
    for i in range(x.shape[0]):
        k = first + i
        if apart:
            k = following[leaves[i]]
            following[leaves[i]] += 1
            within[k] = i
        if bounds:
            voters.xi[k] = own[0][i]
        if ballots:
            voters.ballots[k] = own[1][i]
        a, b, c = x[i, 0] - mean[0], x[i, 1] - mean[1], x[i, 2] - mean[2]
        square = 0.0
        for row in range(3):
            turned = rotation[row, 0] * a + rotation[row, 1] * b + rotation[row, 2] * c
            rows[row, k] = turned
            square += turned * turned
        reach = np.sqrt(square) + xi[0 if shared else i]
        for row in range(3):
            placed = y[i, row] - shift[row]
            rows[3 + row, k] = placed
            largest_y = max(largest_y, abs(placed))
            largest = max(largest, abs(x[i, row]), abs(y[i, row]))
            extent[LOWEST + row] = min(extent[LOWEST + row], placed - reach)
            extent[HIGHEST + row] = max(extent[HIGHEST + row], placed + reach)
        largest_x = max(largest_x, square)
        squares += square
    # One by one: a slice would take seconds to compile.
    extent[LARGEST_X], extent[LARGEST_X + 1], extent[LARGEST_X + 2] = largest_x, largest_y, largest
    extent[LARGEST_X + 3] = squares


class Filled(NamedTuple):
    """All voters, which pair each is, where groups begin, and the extent of all."""

    voters: Voters
    order: Order
    starts: NDArray[np.int64]
    extent: FloatArray


Own = Callable[[FloatArray, FloatArray], tuple[NDArray[np.float32], NDArray[np.int32]]]
"""ξ and ballots of voters from ξ and w of pairs."""


def fill(pairs: Pairs, frame: Frame, own: Own, crew: Crew[None], grouped: bool = True) -> Filled | None:
    """Voters of pairs in a frame; None when the time is over."""
    blocks = list(pairs.blocks(BLOCK))
    sorting = find_groups(pairs, blocks, crew, depth_for(len(pairs)) if grouped else 0)
    if sorting is None:
        return None
    leaves, places = sorting
    n, within = len(pairs), np.empty(len(leaves), np.uint16)
    xi, ballots = own(pairs.xi[:1], pairs.w[:1])
    voters = Voters(
        np.empty((6, n), np.float32),
        xi if len(pairs.xi) == 1 else np.empty(n, np.float32),
        ballots if len(pairs.xi) == len(pairs.w) == 1 else np.empty(n, np.int32),
        np.empty(0, np.int32),
    )
    order = Order(places.T.flatten(), len(blocks), BLOCK, within)
    starts = np.append(places[0], n)

    def fill_some(first: int, _: None) -> FloatArray | None:
        extent = no_extent()
        for block, following in zip(blocks[first : first + TOGETHER], places[first : first + TOGETHER], strict=True):
            if crew.limits.over():
                return None
            groups = leaves[block.rows], following
            theirs = own(block.xi, block.w)
            _fill(block.x, block.y, block.xi, block.rows.start, groups, frame, theirs, voters, within, extent)
        return extent

    found = crew.map(fill_some, range(0, len(blocks), TOGETHER))
    extents = np.array([extent for extent in found if extent is not None])
    if len(extents) < len(found):
        return None
    lowest, highest = extents[:, LOWEST : LOWEST + 3].min(axis=0), extents[:, HIGHEST:-1].max(axis=0)
    return Filled(voters, order, starts, np.concatenate([lowest, highest, [extents[:, -1].sum()]]))


def find_groups(
    pairs: Pairs, blocks: list[Block], crew: Crew[None], depth: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]] | None:
    """Groups of pairs that are close together in the source, none when they are too few; and where the first of each
    block of pairs and each group goes when they are sorted by groups. None when the time is over."""
    n = len(pairs)
    counts, leaves = np.zeros((len(blocks), 2**depth), np.int64), np.empty(0, np.uint8)
    if depth:
        leaves = np.frombuffer(mmap(-1, n), np.uint8)  # goes back to the system when it goes; a heap might keep it
        tree = tree_of(pairs.x[:: max(1, n // SAMPLE)], depth)

        def find(number: int, _: None) -> bool:
            if crew.limits.over():
                return False
            block = blocks[number]
            find_leaves(block.x, tree, leaves[block.rows], counts[number])
            return True

        if not all(crew.map(find, range(len(blocks)))):
            return None
    else:
        counts[:, 0] = [len(block.x) for block in blocks]
    before = np.cumsum(counts.T).reshape(2**depth, len(blocks)).T - counts
    return leaves, before
