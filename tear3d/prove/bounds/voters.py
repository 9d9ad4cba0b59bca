"""The pairs as voters: float32 by coordinate, so that the arithmetic of a block runs in vectors (mathematics.md, 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.prove.bounds.voxels import ORIGIN

BLOCK = 512
"""Pairs whose places are computed together; free choice."""
F = np.float32
ZERO, ONE = F(0.0), F(1.0)


class Voters(NamedTuple):
    """Pairs, some of them or all. `xi` and `ballots` have one entry for all pairs when they do not differ."""

    rows: NDArray[np.float32]
    """x (3) and y (3) as rows."""
    xi: NDArray[np.float32]
    """Rounded up."""
    ballots: NDArray[np.int32]
    """The most each saves, in units."""
    index: NDArray[np.int32]
    """Of which voters they are copies; empty when they are all."""


class Block(NamedTuple):
    """For each pair of a block: the middle of y − R x over a cell, less the corner of a grid, and how far it can be
    off."""

    middle: NDArray[np.float32]
    reach: NDArray[np.float32]
    ends: NDArray[np.int32]
    """The voxels of its box: first (3) and behind the last (3)."""
    chosen: NDArray[np.int32]


def make_block() -> Block:
    return Block(
        np.zeros((3, BLOCK), F), np.zeros((3, BLOCK), F), np.zeros((6, BLOCK), np.int32), np.zeros(BLOCK, np.int32)
    )


@njit(cache=True, nogil=True, error_model="numpy")
def places(voters, span, frame, centre, low, margin, block):
    """Middle and reach of y − R x + (R − R_c) c − low for the rotations of a cell, coordinate by coordinate, where c is
    a centre made of float32 numbers; ξ is not in the reach."""
    r00, r01, r02 = F(frame.rotation[0]), F(frame.rotation[1]), F(frame.rotation[2])
    r10, r11, r12 = F(frame.rotation[3]), F(frame.rotation[4]), F(frame.rotation[5])
    r20, r21, r22 = F(frame.rotation[6]), F(frame.rotation[7]), F(frame.rotation[8])
    # Axes times half sides, as far as they are stretched: column j of a and coordinate k give h_j u_jk.
    h0, h1, h2 = frame.half[0] * frame.stretch, frame.half[1] * frame.stretch, frame.half[2] * frame.stretch
    a00, a01, a02 = F(h0 * frame.axes[0]), F(h0 * frame.axes[1]), F(h0 * frame.axes[2])
    a10, a11, a12 = F(h1 * frame.axes[3]), F(h1 * frame.axes[4]), F(h1 * frame.axes[5])
    a20, a21, a22 = F(h2 * frame.axes[6]), F(h2 * frame.axes[7]), F(h2 * frame.axes[8])
    bend, pad = F(frame.bend), F(margin)
    o0, o1, o2 = F(centre[0]), F(centre[1]), F(centre[2])
    l0 = F(low[0] + frame.rotation[0] * centre[0] + frame.rotation[1] * centre[1] + frame.rotation[2] * centre[2])
    l1 = F(low[1] + frame.rotation[3] * centre[0] + frame.rotation[4] * centre[1] + frame.rotation[5] * centre[2])
    l2 = F(low[2] + frame.rotation[6] * centre[0] + frame.rotation[7] * centre[1] + frame.rotation[8] * centre[2])
    start, stop = span
    x0, x1, x2 = voters.rows[0, start:stop], voters.rows[1, start:stop], voters.rows[2, start:stop]
    y0, y1, y2 = voters.rows[3, start:stop], voters.rows[4, start:stop], voters.rows[5, start:stop]
    c0, c1, c2 = block.middle[0], block.middle[1], block.middle[2]
    e0, e1, e2 = block.reach[0], block.reach[1], block.reach[2]
    for i in range(stop - start):
        u, v, w = x0[i] - o0, x1[i] - o1, x2[i] - o2
        p = r00 * u + r01 * v + r02 * w
        q = r10 * u + r11 * v + r12 * w
        s = r20 * u + r21 * v + r22 * w
        rest = bend * np.sqrt(u * u + v * v + w * w) + pad
        # Coordinate 0 of u×p is u_1 p_2 − u_2 p_1, and so on in turn.
        e0[i] = rest + abs(a01 * s - a02 * q) + abs(a11 * s - a12 * q) + abs(a21 * s - a22 * q)
        e1[i] = rest + abs(a02 * p - a00 * s) + abs(a12 * p - a10 * s) + abs(a22 * p - a20 * s)
        e2[i] = rest + abs(a00 * q - a01 * p) + abs(a10 * q - a11 * p) + abs(a20 * q - a21 * p)
        c0[i] = y0[i] - p - l0
        c1[i] = y1[i] - q - l1
        c2[i] = y2[i] - s - l2


@njit(cache=True, nogil=True, error_model="numpy")
def _cap(rows, span, frame, centre, pad, block, c):
    """Intersect what coordinate c can be with that of the spherical cap around R_c (x − centre) (section 6.3)."""
    r0, r1, r2 = F(frame.rotation[3 * c]), F(frame.rotation[3 * c + 1]), F(frame.rotation[3 * c + 2])
    cosine, sine, inverse, pad = F(frame.cosine), F(frame.sine), F(1.0 / frame.inward), F(pad)
    half = F(0.5)
    o0, o1, o2 = F(centre[0]), F(centre[1]), F(centre[2])
    start, stop = span
    x0, x1, x2 = rows[0, start:stop], rows[1, start:stop], rows[2, start:stop]
    middle, reach = block.middle[c], block.reach[c]
    for i in range(stop - start):
        u, v, w = x0[i] - o0, x1[i] - o1, x2[i] - o2
        square = u * u + v * v + w * w
        length = np.sqrt(square)
        p = r0 * u + r1 * v + r2 * w
        full = p * inverse
        rest = square - full * full
        across = np.sqrt(rest if rest > ZERO else ZERO) * sine
        high = length if full >= length * cosine else full * cosine + across
        low = -length if full <= -length * cosine else full * cosine - across
        e = reach[i]
        # In terms of −R x: from p − high − pad to p − low + pad around the middle.
        down = p - high - pad
        up = p - low + pad
        down = down if down > -e else -e
        up = up if up < e else e
        middle[i] += half * (down + up)
        reach[i] = half * (up - down)


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def cap_places(voters, span, frame, centre, margin, block):
    """Make the places sharper, for wide cells."""
    for c in range(3):
        _cap(voters.rows, span, frame, centre, margin, block, c)


class Copies(NamedTuple):
    """Where copies of voters go."""

    arena: Voters
    place: int
    """Of the first, ..."""
    room: int
    """... and behind the last for which there is room."""
    ends: NDArray[np.int64]
    """Where those of each box end."""
    mask: NDArray[np.uint8]
    """Work space for a block, or, if there are several boxes, for all voters that are looked at."""
    block: Block


@njit(cache=True, nogil=True, error_model="numpy")
def touch(block, xi, count, low, high, bit, mask):
    """Set a bit of those voters of a block that can save anything in a box of t, given less the corner of the block."""
    l0, l1, l2 = F(low[0]), F(low[1]), F(low[2])
    h0, h1, h2 = F(high[0]), F(high[1]), F(high[2])
    shared = xi.size == 1
    common, bit, none = xi[0], np.uint8(bit), np.uint8(0)
    c0, c1, c2 = block.middle[0], block.middle[1], block.middle[2]
    e0, e1, e2 = block.reach[0], block.reach[1], block.reach[2]
    for i in range(count):
        own = common if shared else xi[i]
        a0, a1, a2 = e0[i] + own, e1[i] + own, e2[i] + own
        touches = (
            (c0[i] + a0 >= l0)
            & (c0[i] - a0 <= h0)
            & (c1[i] + a1 >= l1)
            & (c1[i] - a1 <= h1)
            & (c2[i] + a2 >= l2)
            & (c2[i] - a2 <= h2)
        )
        mask[i] |= bit if touches else none


@njit(cache=True, nogil=True)
def _append(voters, begin, end, mask, bit, arena, room, block):
    """Copy voters begin:end with a bit in their mask into the arena, from room[0] to room[1] at most.

    Returns where they end, or -1 when there is no room.
    """
    free, found = room[0], 0
    for i in range(end - begin):
        block.chosen[found] = begin + i
        found += (mask[i] >> bit) & 1
    if free + found > room[1]:
        return -1
    for row in range(6):
        for k in range(found):
            arena.rows[row, free + k] = voters.rows[row, block.chosen[k]]
    whole = voters.index.size == 0
    for k in range(found):
        arena.index[free + k] = block.chosen[k] if whole else voters.index[block.chosen[k]]
    if voters.xi.size > 1:
        for k in range(found):
            arena.xi[free + k] = voters.xi[block.chosen[k]]
    if voters.ballots.size > 1:
        for k in range(found):
            arena.ballots[free + k] = voters.ballots[block.chosen[k]]
    return free + found


@njit(cache=True, nogil=True, inline="always")
def copy_voters(voters, span, frame, boxes, count, margin, copies):
    """Copy the voters that can save anything in some boxes of t, those of one box after those of the other.

    Parameters
    ----------
    voters, span, frame
    boxes : (n, 6) array
        (low, high) as rows, ...
    count : int
        ... of which so many count.
    margin : float
    copies : Copies

    Returns
    -------
    bool
        Whether there was room.
    """
    arena, mask, block = copies.arena, copies.mask, copies.block
    corner = (boxes[0, 0], boxes[0, 1], boxes[0, 2])
    shared = voters.xi.size == 1
    free, first = copies.place, np.int64(0)  # a literal 0 would be a type of its own
    for begin in range(span[0], span[1], BLOCK):
        end = min(span[1], begin + BLOCK)
        places(voters, (begin, end), frame, ORIGIN, corner, margin, block)
        part = mask[begin - span[0] :] if count > 1 else mask
        for i in range(end - begin):
            part[i] = 0
        xi = voters.xi if shared else voters.xi[begin:end]
        for k in range(count):
            low = (boxes[k, 0] - corner[0], boxes[k, 1] - corner[1], boxes[k, 2] - corner[2])
            high = (boxes[k, 3] - corner[0], boxes[k, 4] - corner[1], boxes[k, 5] - corner[2])
            touch(block, xi, end - begin, low, high, 1 << k, part)
        if count == 1:
            free = _append(voters, begin, end, part, first, arena, (free, copies.room), block)
            if free < 0:
                return False
    copies.ends[0] = free
    if count == 1:
        return True
    for k in range(count):
        for begin in range(span[0], span[1], BLOCK):
            end = min(span[1], begin + BLOCK)
            free = _append(voters, begin, end, mask[begin - span[0] :], k, arena, (free, copies.room), block)
            if free < 0:
                return False
        copies.ends[k] = free
    return True
