"""The compiled search below a cell of rotations: votes, depth first, in slices, without the interpreter lock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.prove.bounds.parts import MOST, MOST_PARTS
from tear3d.prove.bounds.voters import BLOCK, Copies, Voters, copy_voters
from tear3d.prove.bounds.votes import Booth, make_booth, vote
from tear3d.prove.domains.allowed import charted, confine
from tear3d.prove.domains.rotations import ALL_ROTATIONS, cell_frame
from tear3d.prove.pose.nodes import EVERYWHERE, FACE, HIGH, LOW, NODE, is_ready, place_to_cut, sides_to_halve
from tear3d.prove.pose.ready import ALL, Ready, make_ready
from tear3d.prove.stage import BOUND

STACK = 512
"""Cells of a stack, eight of which are taken at a split: deeper than any search goes (a cell is given back as it is
when the stack is full)."""
SEGMENTS = 128
KEEP_ALL = 0.85
"""The voters that still matter are copied out when they are fewer than this share of those looked at (free choice)."""
AGAIN = 0.5
"""A cell with many voters is looked at on one grid at a time, and again when less than this share of them, or of its
box of t, is left (free choice)."""
CELL_COST = 6_000
"""What the grid of a cell costs, in visits of voters (free choice, part of no bound)."""


class CellState(NamedTuple):
    """How far the search below a cell has got."""

    top: int
    """Cells on the stack."""
    cells: int
    """Cells visited, ..."""
    visits: int
    """... and voters."""
    closed: float
    """The largest bound of what was closed."""
    ready: int
    """Cells that are small enough for slopes wait in `CellScratch.ready`: so many."""


BEGINNING = CellState(1, 0, 0, 0.0, 0)
"""Of a search below one cell."""


class CellScratch(NamedTuple):
    """Work space of one thread."""

    nodes: FloatArray
    segment: NDArray[np.int64]
    """The stack: cells, the segments of the voters that matter in them, ..."""
    grids: NDArray[np.int64]
    """... and the numbers of the grids they are looked at on first."""
    arena: Voters
    """Copies of the voters that still matter, one segment after the other."""
    segments: NDArray[np.int64]
    """(start, stop) of each segment; segment 0 is all voters."""
    mask: NDArray[np.uint8]
    ends: NDArray[np.int64]
    """For copies, see `copy_voters`."""
    booth: Booth
    ready: Ready


def make_cell_scratch(voters: Voters, room: int, many: int, *, groups: bool = False) -> CellScratch:
    """Work space with room for so many copies; no more than `many` voters are taken apart."""
    segments = np.zeros((SEGMENTS, 2), np.int64)
    segments[0, 1] = voters.rows.shape[1]
    arena = Voters(
        np.empty((6, room), np.float32),
        voters.xi if voters.xi.size == 1 else np.empty(room, np.float32),
        voters.ballots if voters.ballots.size == 1 else np.empty(room, np.int32),
        np.empty(room, np.int32),
    )
    most = max(BLOCK, min(many, voters.rows.shape[1]))
    mask, ends = np.empty(most, np.uint8), np.empty(MOST_PARTS, np.int64)
    return CellScratch(
        np.empty((STACK, NODE)),
        np.zeros(STACK, np.int64),
        np.zeros(STACK, np.int64),
        arena,
        segments,
        mask,
        ends,
        make_booth(groups=groups),
        make_ready(),
    )


@njit(cache=True, nogil=True, inline="always")
def _split(nodes, scratch, top, halve, own):
    """Replace the top of the stack by cells half as large, or nearly so; returns the new top."""
    first = top - 1
    scratch.segment[first], scratch.grids[first] = own, 0
    for j in range(3):
        if not halve[j]:
            continue
        count = top - first
        for k in range(count):
            for c in range(nodes.shape[1]):  # the copy of a row would take seconds to compile
                nodes[top + k, c] = nodes[first + k, c]
            scratch.segment[top + k], scratch.grids[top + k] = own, 0
            cut = place_to_cut(nodes[first + k], j)
            nodes[first + k, HIGH + j] = cut
            nodes[top + k, LOW + j] = cut
        top += count
    return top


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _shrunk(low, high, tally):
    """The share of a box of t that is left."""
    left = 1.0
    for j in range(3):
        if high[j] > low[j]:
            left *= (tally.high[j] - tally.low[j]) / (high[j] - low[j])
    return left


@njit(cache=True, nogil=True, inline="always")
def _take_apart(scratch, tally, unit, top, own, copied):
    """Replace the top of the stack by a node for each part of its box of t, with the voters that were copied for it;
    returns the new top."""
    nodes, booth = scratch.nodes, scratch.booth
    for k in range(tally.parts - 1, -1, -1):  # the first takes the place of all
        at = top - 1 + k
        for c in range(nodes.shape[1]):
            nodes[at, c] = nodes[top - 1, c]
        for c in range(3):
            nodes[at, LOW + 3 + c], nodes[at, HIGH + 3 + c] = booth.boxes[k, c], booth.boxes[k, 3 + c]
        nodes[at, BOUND] = min(nodes[at, BOUND], booth.parts[k, MOST] * unit)
        scratch.segment[at], scratch.grids[at] = own + 1 + k if copied else own, tally.grids
    return top + tally.parts - 1


@njit(cache=True, nogil=True)
def _move_back(arena, start, stop, back):
    """Move voters of the arena to its end, where they end at `back`; returns where they begin there."""
    shift = back - stop
    for row in range(6):
        for k in range(stop - 1, start - 1, -1):  # from the last on: they may overlap
            arena.rows[row, k + shift] = arena.rows[row, k]
    for k in range(stop - 1, start - 1, -1):
        arena.index[k + shift] = arena.index[k]
        if arena.xi.size > 1:
            arena.xi[k + shift] = arena.xi[k]
        if arena.ballots.size > 1:
            arena.ballots[k + shift] = arena.ballots[k]
    return start + shift


@njit(cache=True, nogil=True, error_model="numpy")
def search_cells(voters, groups, ballot, allowed, threshold, state, scratch, budget, cells):
    """Work off the stack until it is empty, about `budget` visits are spent, or no more cells can wait.

    The voters of cells that wait lie at the end of the arena, but for those of the last, for which there may be no
    room, or which may be all: the former are overwritten when the search goes on.
    """
    nodes, segments, arena, booth = scratch.nodes, scratch.segments, scratch.arena, scratch.booth
    top, seen, spent, closed, _ = state
    visits = waiting = 0
    back = arena.index.size
    ready = scratch.ready
    while top > 0 and visits < budget and seen < cells and waiting < ready.nodes.shape[0]:
        node = nodes[top - 1]
        if node[BOUND] <= threshold:
            closed = max(closed, node[BOUND])
            top -= 1
            continue
        if top + 8 > nodes.shape[0]:
            break
        frame, face = ALL_ROTATIONS, int(node[FACE])
        if face != EVERYWHERE:
            least, largest = (node[LOW], node[LOW + 1], node[LOW + 2]), (node[HIGH], node[HIGH + 1], node[HIGH + 2])
            frame = cell_frame(face, least, largest)
            if allowed is not None:
                frame = charted(frame, allowed.chart)
        low = (node[LOW + 3], node[LOW + 4], node[LOW + 5])
        high = (node[HIGH + 3], node[HIGH + 4], node[HIGH + 5])
        if allowed is not None and face != EVERYWHERE:
            inside, low, high = confine(allowed, frame, low, high)
            if not inside:
                seen += 1
                visits += CELL_COST
                top -= 1
                continue
        own = scratch.segment[top - 1]
        start, stop = segments[own, 0], segments[own, 1]
        source = voters if own == 0 else arena
        span = (start, stop)
        many = stop - start > ballot.many
        grid = scratch.grids[top - 1]
        tally = vote(source, groups, span, frame, (low, high), grid, threshold, ballot, booth)
        seen += 1
        visits += stop - start + CELL_COST
        closed = max(closed, min(node[BOUND], tally.cut))
        node[BOUND] = min(node[BOUND], tally.bound)
        if node[BOUND] <= threshold:
            closed = max(closed, node[BOUND])
            top -= 1
            continue
        free, parts = stop if own > 0 else 0, tally.parts
        if parts == 1 or face == EVERYWHERE:
            for c in range(3):
                booth.boxes[0, c], booth.boxes[0, 3 + c] = tally.low[c], tally.high[c]
                node[LOW + 3 + c], node[HIGH + 3 + c] = tally.low[c], tally.high[c]
        if face == EVERYWHERE:
            break
        copies = Copies(arena, free, back, scratch.ends, scratch.mask, booth.block)
        copied = own + parts < segments.shape[0] and copy_voters(
            source, span, frame, booth.boxes, parts, ballot.margin, copies
        )
        if parts > 1:
            visits += stop - start
            for k in range(parts):
                if copied:
                    segments[own + 1 + k, 0], segments[own + 1 + k, 1] = free, scratch.ends[k]
                    free = scratch.ends[k]
            top = _take_apart(scratch, tally, ballot.unit, top, own, copied)
            continue
        end = scratch.ends[0] if copied else -1
        if is_ready(node, ballot.xi + ballot.margin, ballot.radius):
            first, behind = (free, end) if end >= 0 else (ALL if own == 0 else start, stop)
            room = first != ALL and back - behind >= (0 if end >= 0 else behind - first)
            if room:
                back = _move_back(arena, first, behind, back)
                first, behind = back, back + behind - first
            for c in range(nodes.shape[1]):
                ready.nodes[waiting, c] = node[c]
            ready.spans[waiting, 0], ready.spans[waiting, 1] = first, behind
            waiting += 1
            top -= 1
            if not room:
                break
            continue
        if end >= 0 and end - free < KEEP_ALL * (stop - start):
            own += 1
            segments[own, 0], segments[own, 1] = free, end
        if many and (segments[own, 1] - segments[own, 0] < AGAIN * (stop - start) or _shrunk(low, high, tally) < AGAIN):
            scratch.segment[top - 1] = own
            continue
        halve = sides_to_halve(node, ballot.xi + ballot.margin, ballot.radius, threshold)
        top = _split(nodes, scratch, top, halve, own)
    return CellState(top, seen, spent + visits, closed, waiting)
