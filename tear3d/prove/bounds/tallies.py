"""Votes of pairs that come in pieces: counts on the same grid add up (mathematics.md, section 7.7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.losses import TEAR, TLS
from tear3d.prove.bounds.voters import BLOCK, copy_voters, places, touch
from tear3d.prove.bounds.votes import COARSE, MARGIN, TYPICAL, plain_votes
from tear3d.prove.bounds.voxels import ORIGIN, VOXELS, left_of, make_grid, survivors
from tear3d.prove.domains.rotations import ALL_ROTATIONS, Triple, cell_frame

ROOM = VOXELS + MARGIN
"""Entries of a grid."""


class Count(NamedTuple):
    """What votes say about a cell."""

    bound: float
    """Of the saving in what is left of its box of t; 0 when nothing is left."""
    cut: float
    """Of the saving in what was cut off."""
    low: Triple
    high: Triple
    """What is left of the box, ..."""
    share: float
    """... and which share of it."""


@njit(cache=True, nogil=True, inline="always")
def _cell(node):
    """The rotations of a node (face, least g and t, largest g and t), all when there is no face; and its box of t."""
    frame, face = ALL_ROTATIONS, int(node[0])
    if face >= 0:
        frame = cell_frame(face, (node[1], node[2], node[3]), (node[7], node[8], node[9]))
    return frame, (node[4], node[5], node[6]), (node[10], node[11], node[12])


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _grid(frame, low, high, ballot):
    """The grid on which a cell is voted about."""
    turn = TYPICAL * max(frame.half[0], frame.half[1], frame.half[2]) * frame.pace
    return make_grid(low, high, COARSE * (ballot.xi + turn * ballot.radius), VOXELS)


@njit(cache=True, nogil=True, error_model="numpy")
def cast_votes(voters, span, node, sharp, ballot, booth):
    """The votes of voters start:stop about a cell, in `booth.grid`; returns how many entries it has.

    With `sharp` a part of each vote counts only where no coordinate of the residual need be more than ξ/2.
    """
    frame, low, high = _cell(node)
    grid = _grid(frame, low, high, ballot)
    quarters = (2 if ballot.loss == TEAR else 3 if ballot.loss == TLS else 4) if sharp else 4
    plain_votes(voters, span, frame, grid, ballot, quarters, booth)
    return (grid.shape[0] + 1) * (grid.shape[1] + 1) * (grid.shape[2] + 1)


@njit(cache=True, nogil=True, error_model="numpy")
def count_votes(node, threshold, ballot, votes):
    """What the votes of all voters say about a cell of which savings above a threshold are of interest."""
    frame, low, high = _cell(node)
    grid = _grid(frame, low, high, ballot)
    most_votes = int(np.floor(min(threshold / ballot.unit, 2.0**30)))
    hull = survivors(votes, grid.shape, grid.shape[2] + 1, most_votes)
    cut = hull.below * ballot.unit
    if hull.most == 0:
        return Count(0.0, cut, low, high, 0.0)
    least, largest = left_of(grid, high, hull)
    share = 1.0
    for j in range(3):
        share *= (hull.last[j] + 1 - hull.first[j]) / grid.shape[j]
    return Count(hull.most * ballot.unit, cut, least, largest, share)


@njit(cache=True, nogil=True, error_model="numpy")
def mark_voters(voters, span, node, margin, block, mask):
    """Of voters start:stop, mask[i] = 1 for those that can save anything in a cell, where i is what they are copies of
    if they are copies; others stay as they are."""
    frame, low, high = _cell(node)
    wide = (high[0] - low[0], high[1] - low[1], high[2] - low[2])
    shared, copied = voters.xi.size == 1, voters.index.size > 0
    touches = np.empty(BLOCK, np.uint8)
    for begin in range(span[0], span[1], BLOCK):
        end = min(span[1], begin + BLOCK)
        places(voters, (begin, end), frame, ORIGIN, low, margin, block)
        xi = voters.xi if shared else voters.xi[begin:end]
        for i in range(end - begin):
            touches[i] = 0
        touch(block, xi, end - begin, ORIGIN, wide, 1, touches)
        for i in range(end - begin):
            mask[voters.index[begin + i] if copied else begin + i] |= touches[i]


@njit(cache=True, nogil=True, error_model="numpy")
def pick_voters(voters, span, node, margin, copies):
    """Copy those of voters start:stop that can save anything in a cell; False when there is no room for them."""
    frame, low, high = _cell(node)
    boxes = np.empty((1, 6))
    for j in range(3):
        boxes[0, j], boxes[0, 3 + j] = low[j], high[j]
    return copy_voters(voters, span, frame, boxes, 1, margin, copies)
