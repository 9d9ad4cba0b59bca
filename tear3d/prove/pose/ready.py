"""Cells that votes have made small enough for slopes: kept in order with their voters, and searched one after the
other, without the interpreter lock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.prove.pose.boxes import BOX_COST, State, search_boxes
from tear3d.prove.pose.home import gather_voters, settle
from tear3d.prove.pose.nodes import BOXES, NODE
from tear3d.prove.stage import PHASE

MOST = 64
"""Cells that wait together, of one thread (free choice)."""
ALL = -1
"""Where the voters of a cell begin when they are all."""


class Ready(NamedTuple):
    """Cells that wait."""

    nodes: FloatArray
    spans: NDArray[np.int64]
    """The (start, stop) of the copies of the voters that matter in each; (ALL, n) for all."""


def make_ready() -> Ready:
    return Ready(np.empty((MOST, NODE)), np.zeros((MOST, 2), np.int64))


class Walk(NamedTuple):
    """How far the search below cells that wait has got."""

    next: int
    """The cell to begin with when nothing is left of the one before, ..."""
    weight: int
    """... and the place of the first weight of its voters."""
    boxes: int
    """Boxes visited in all, ..."""
    work: int
    """... and about what was done below cells that were searched, in visits of points."""
    state: State


def beginning(saving: float, far: float, closed: float, *, gathered: bool = False) -> Walk:
    """Of a walk from the first cell on, or from one whose points are there."""
    return Walk(0, 0, 0, 0, State(int(gathered), 0, 0, saving, far, closed, 0.0, False, False))


@njit(cache=True, nogil=True, inline="always")
def _begun(state):
    return State(1, 0, 0, state.saving, state.far, state.closed, state.far_closed, state.found, state.far_found)


@njit(cache=True, nogil=True, error_model="numpy")
def search_ready(setting, allowed, voters, arena, weights, ready, walk, last, scratch, budget, turn, cells):
    """Search the cells that wait, up to number `last`, each depth first for one turn of so many boxes.

    Parameters
    ----------
    setting, allowed
    voters, arena : Voters
        All, and copies.
    weights : array
        One for all, or those of the voters of the cells, one cell after the other.
    ready : Ready
    walk : Walk
    last : int
    scratch : Scratch
    budget, turn, cells : int
        End after about so many visits, or so many boxes in all.

    Returns
    -------
    Walk
        Boxes on the stack are what is left of the cell before the next when its turn is over; otherwise there is more
        to be done of it, or of those behind it.
    """
    following, weight, boxes, work, state = walk
    spent = 0
    while True:
        if state.top == 0:
            if following >= last or boxes >= cells or spent >= budget:
                break
            node, start, stop = ready.nodes[following], ready.spans[following, 0], ready.spans[following, 1]
            settle(node, scratch.home, allowed)
            count = stop if start == ALL else stop - start
            own = weights if weights.size == 1 else weights[weight : weight + count]
            source, first = (voters, np.int64(0)) if start == ALL else (arena, start)
            end = gather_voters(source, first, first + count, own, scratch.home, scratch.points)
            for c in range(node.size):
                scratch.nodes[0, c] = node[c]
            scratch.nodes[0, PHASE] = BOXES
            scratch.segment[0], scratch.segments[0, 0], scratch.segments[0, 1] = 0, 0, end
            state = _begun(state)
            following, weight, spent = following + 1, weight + count, spent + count
        before = state
        state = search_boxes(setting, allowed, state, scratch, budget - spent, min(turn, state.cells + cells - boxes))
        boxes += state.cells - before.cells
        spent += state.visits - before.visits
        if state.top == 0 or state.cells >= turn:  # most boxes have few of the points
            work += scratch.segments[0, 1] * (1 + state.cells // 4) + BOX_COST * state.cells
        if state.top > 0:
            break
    return Walk(following, weight, boxes, work, state)
