"""What a cell of rotations can save at most, by votes on a grid of translations (mathematics.md, section 7).

While R runs through the cell, coordinate k of R x stays in an interval. The pair can save only if t lies in y − R x ±
ξ, a box, and then at most its cap; where some coordinate of the residual exceeds ξ/2, at most a half of it (TEAR) or
three quarters (TLS). So a pair deposits a part of its cap in the box and the rest in the box made smaller by ξ/2 on all
sides. The boxes are added up on a grid over the translations, in integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import TEAR, TLS
from tear3d.prove.bounds.groups import add_to, largest_around, margins, moves
from tear3d.prove.bounds.parts import COLUMNS, MOST_PARTS, boxes_of, find_parts
from tear3d.prove.bounds.voters import BLOCK, ONE, ZERO, Block, F, cap_places, make_block, places
from tear3d.prove.bounds.voxels import MAX_SIDE, ORIGIN, TINY, VOXELS, Grid, left_of, make_grid, sum_up, survivors
from tear3d.prove.domains.rotations import Triple

COARSE = 0.3
"""Side of a voxel of the first grid, as a share of half the side of a typical box; halved from grid to grid."""
TYPICAL = 1.3
"""Half the side of a typical box: ξ and so many times what the longest side of the cell moves a typical point."""
PER_PAIR = 4
FEWEST = 2048
"""Voxels of a grid: so many a pair, and at least so many."""
ROUNDS = 3
"""The number of grids, unless there are many voters, ..."""
SHRUNK = 0.5
"""... and when a finer one is tried: the last one cut the box of t to less than this share, ..."""
PROMISING = 0.6
"""... or this share of the bound would not beat the threshold."""
APART = 0.5
"""What is left of a box is taken apart when its parts have together less than this share of its volume."""
CAPPED = 0.1
"""Half sides of cells above which the spherical cap is worth its square roots."""
FINE = 1.0
"""Groups vote apart on grids whose voxels are at most so large, in halves of the side of a typical box (section 7.5
relies on that), ..."""
WIDER = 3
"""... and unless one of their own would have more than so many times the voxels. All free choices, part of no bound."""
MARGIN = 64
"""Room behind the last row of a grid."""


class Ballot(NamedTuple):
    """What is the same for all cells of a search."""

    unit: float
    """What one vote is worth."""
    margin: float
    """Rounding of a place, in float32, from the pairs given on (section 7.4)."""
    xi: float
    radius: float
    """Typical ξ and |x|: part of no bound."""
    loss: int
    many: int
    """More voters than this vote on one grid at a time: there are better things to do in between."""


class Booth(NamedTuple):
    """Work space of a thread."""

    grid: NDArray[np.int32]
    part: NDArray[np.int32]
    spare: NDArray[np.int32]
    """A grid of all voters, and wider ones of a group."""
    block: Block
    parts: NDArray[np.int64]
    boxes: FloatArray
    filled: NDArray[np.uint8]
    """Where the survivors of a grid lie: see `find_parts` and `boxes_of`."""


class Tally(NamedTuple):
    """What votes say about a box of t."""

    bound: float
    """Of the saving in what is left of the box; 0 when nothing is left."""
    cut: float
    """Of the saving in what was cut off."""
    low: Triple
    high: Triple
    """What is left of the box, ..."""
    parts: int
    """... all of it in the first so many of `Booth.boxes`, if they are two or more."""
    grids: int
    """The number of the grid that would come next."""


def make_booth(*, groups: bool = False) -> Booth:
    wide = WIDER * VOXELS if groups else 1
    return Booth(
        np.zeros(VOXELS + MARGIN, np.int32),
        np.zeros(wide, np.int32),
        np.zeros(wide, np.int32),
        make_block(),
        np.zeros((MOST_PARTS, COLUMNS), np.int64),
        np.zeros((MOST_PARTS, 6)),
        np.zeros((3, MAX_SIDE), np.uint8),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _ends(middle, reach, xi, count, axis, first, behind):
    """The voxels that the boxes middle ± (reach + part·ξ) meet along one axis: none when first = behind.

    `axis` is (voxels a unit of length, number of voxels, part, stride); numbers of voxels are times the stride.
    """
    inverse, n, part, stride = axis
    stride = np.int32(stride)
    shared = xi.size == 1
    common = xi[0]
    most = F(n)
    f, part = F(inverse), F(part)
    for i in range(count):
        e = reach[i] + part * (common if shared else xi[i])
        a, b = (middle[i] - e) * f, (middle[i] + e) * f + ONE
        a = a if a > ZERO else ZERO
        a = a if a < most else most
        b = b if b > ZERO else ZERO
        b = b if b < most else most
        first[i] = np.int32(a) * stride
        behind[i] = np.int32(b) * stride


@njit(cache=True, nogil=True, inline="always")
def _part(ballots, quarters):
    part = (ballots * abs(quarters) + 3) // 4
    return np.int32(part if quarters > 0 else ballots - part)


@njit(cache=True, nogil=True)
def _deposit(ends, chosen, count, ballots, quarters, voxels):
    """Add the boxes to the grid of differences: so many quarters of the ballots, rounded up, or what is left of them
    when that is negative."""
    a0, a1, a2, b0, b1, b2 = ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]
    found = 0
    for i in range(count):
        chosen[found] = i
        found += (a0[i] < b0[i]) & (a1[i] < b1[i]) & (a2[i] < b2[i])
    equal = ballots.size == 1
    c = _part(ballots[0], quarters)
    for j in range(found):
        i = np.uint32(chosen[j])
        if not equal:
            c = _part(ballots[i], quarters)
        p, q, k, n = a0[i] + a1[i], a0[i] + b1[i], a2[i], b2[i]
        voxels[np.uint32(p + k)] += c
        voxels[np.uint32(p + n)] -= c
        voxels[np.uint32(q + k)] -= c
        voxels[np.uint32(q + n)] += c
        p, q = b0[i] + a1[i], b0[i] + b1[i]
        voxels[np.uint32(p + k)] -= c
        voxels[np.uint32(p + n)] += c
        voxels[np.uint32(q + k)] += c
        voxels[np.uint32(q + n)] -= c


@njit(cache=True, nogil=True, error_model="numpy")
def _cast(voters, span, frame, grid, ballot, quarters, block, voxels):
    """Every voter votes for all voxels that its box meets: with all it has, or with so many quarters of it, and with
    the rest for those only where no coordinate of the residual need be more than ξ/2."""
    n0, n1, n2 = grid.shape
    row = n2 + 1
    strides = ((n1 + 1) * row, row, 1)
    for k in range((n0 + 1) * strides[0]):
        voxels[k] = 0
    wide = max(frame.half[0], frame.half[1], frame.half[2]) * frame.pace > CAPPED and grid.centre == ORIGIN
    shared, equal = voters.xi.size == 1, voters.ballots.size == 1
    for begin in range(span[0], span[1], BLOCK):
        end = min(span[1], begin + BLOCK)
        places(voters, (begin, end), frame, grid.centre, grid.low, ballot.margin, block)
        if wide:
            cap_places(voters, (begin, end), frame, grid.centre, ballot.margin, block)
        xi = voters.xi if shared else voters.xi[begin:end]
        ballots = voters.ballots if equal else voters.ballots[begin:end]
        for inner in range(1 if quarters == 4 else 2):
            for c in range(3):
                axis = (1.0 / grid.size[c], grid.shape[c], 0.5 if inner else 1.0, strides[c])
                _ends(block.middle[c], block.reach[c], xi, end - begin, axis, block.ends[c], block.ends[3 + c])
            part = -quarters if inner else quarters
            _deposit(block.ends, block.chosen, end - begin, ballots, part, voxels)
    sum_up(voxels, grid.shape, row)


@njit(cache=True, nogil=True, inline="always")
def plain_votes(voters, span, frame, grid, ballot, quarters, booth):
    """The votes of all voters together."""
    _cast(voters, span, frame, grid, ballot, quarters, booth.block, booth.grid)


@njit(cache=True, nogil=True, inline="always")
def grouped_votes(voters, groups, frame, grid, ballot, quarters, booth):
    """The votes of one group of voters after the other, added up; False when some grid would be too large."""
    n0, n1, n2 = grid.shape
    row = n2 + 1
    for k in range((n0 + 1) * (n1 + 1) * row):
        booth.grid[k] = 0
    for group in range(groups.centres.shape[0]):
        span = (groups.starts[group], groups.starts[group + 1])
        if span[0] == span[1]:
            continue
        centre = (groups.centres[group, 0], groups.centres[group, 1], groups.centres[group, 2])
        least, largest = moves(frame, centre)
        before, behind = margins(least, largest, grid.size)
        shape = (n0 + before[0] + behind[0], n1 + before[1] + behind[1], n2 + before[2] + behind[2])
        count = (shape[0] + 1) * (shape[1] + 1) * (shape[2] + 1)
        if count > booth.part.size:
            return False
        low = (
            grid.low[0] - before[0] * grid.size[0],
            grid.low[1] - before[1] * grid.size[1],
            grid.low[2] - before[2] * grid.size[2],
        )
        wide = Grid(low, grid.size, shape, centre)
        _cast(voters, span, frame, wide, ballot, quarters, booth.block, booth.part)
        values, spare, stride = booth.part, booth.spare, np.int64(1)  # a literal 1 would be a type of its own
        for c in (2, 1, 0):
            values, spare = largest_around(values, spare, count, stride, before[c] + behind[c] + 1)
            stride *= shape[c] + 1
        add_to(booth.grid, grid.shape, row, values, shape, shape[2] + 1)
    return True


@njit(cache=True, nogil=True, inline="always")
def _volume(low, high):
    return (high[0] - low[0] + TINY) * (high[1] - low[1] + TINY) * (high[2] - low[2] + TINY)


@njit(cache=True, nogil=True, error_model="numpy")
def vote(voters, groups, span, frame, box, first, threshold, ballot, booth):
    """Bound the saving of all poses with rotations of a cell and t from low to high, and shrink that box.

    Parameters
    ----------
    voters : Voters
    groups : Groups
        Groups of them, of use when all are looked at.
    span : (start, stop)
        Which of them; the others can save nothing here.
    frame : CellFrame
    box : (low, high)
    first : int
        The number of the first grid: each has voxels half as large as the one before.
    threshold : float
        Savings up to this are of no interest: the box is cut to where it can be beaten.
    ballot : Ballot
    booth : Booth

    Returns
    -------
    Tally
    """
    low, high = box
    turn = TYPICAL * max(frame.half[0], frame.half[1], frame.half[2]) * frame.pace
    in_groups = booth.part.size > 1 and span[0] == 0 and span[1] == groups.starts[-1]
    side = COARSE * (ballot.xi + turn * (groups.radius if in_groups else ballot.radius))
    usual = ballot.xi + turn * ballot.radius
    room = min(VOXELS, max(FEWEST, PER_PAIR * (span[1] - span[0])))
    most_votes = int(np.floor(min(threshold / ballot.unit, 2.0**30)))
    bound, cut = np.inf, 0.0
    side *= 0.5**first
    many = span[1] - span[0] > ballot.many
    outer = 2 if ballot.loss == TEAR else 3 if ballot.loss == TLS else 4
    for number in range(first, first + 1 if many else max(first + 1, ROUNDS)):
        before = _volume(low, high)
        grid = make_grid(low, high, side, room)
        row = grid.shape[2] + 1
        fine = in_groups and max(grid.size[0], grid.size[1], grid.size[2]) < FINE * usual
        quarters = 4 if many and number == 0 else outer
        if not (fine and grouped_votes(voters, groups, frame, grid, ballot, quarters, booth)):
            plain_votes(voters, span, frame, grid, ballot, quarters, booth)
        hull = survivors(booth.grid, grid.shape, row, most_votes)
        cut = max(cut, min(bound, hull.below * ballot.unit))
        if hull.most == 0:
            return Tally(0.0, cut, low, high, 1, number + 1)
        bound = min(bound, hull.most * ballot.unit)
        end = high
        low, high = left_of(grid, high, hull)
        if not many:
            parts = find_parts(booth.grid, grid.shape, row, most_votes, hull, booth.parts, booth.filled)
            if parts > 1 and boxes_of(grid, end, booth.parts, parts, booth.boxes) < APART * _volume(low, high):
                return Tally(bound, cut, low, high, parts, number + 1)
        side *= 0.5
        if _volume(low, high) > SHRUNK * before and PROMISING * bound > threshold:
            break
    return Tally(bound, cut, low, high, 1, number + 1)
