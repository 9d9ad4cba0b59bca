"""Which pairs can be together in a pose that saves much, by the lengths that a pose keeps (mathematics.md, section 9).

Two pairs that both save something agree in length: ‖x_i − x_j‖ and ‖y_i − y_j‖ differ by at most s_ij ≤ ρ_i + ρ_j, the
lengths of their residuals. In a pose with the least residual at pair i every other one has ρ_k ≥ s_ik / 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import point_saving

LEVELS = 4
"""Savings are rounded up to so many steps of the largest one (free choice)."""
WORD = 64
MANY_STAY = 0.97
"""The company of a pivot is looked through again when fewer than this share of it have stayed (free choice, made on
three real pairs, where it halved the time and left as many)."""
BLOCK = 1024
"""Pairs looked at together; free choice."""
UP = 1.0 + 1e-9
"""Covers the roundings of a saving in units."""
ONE_BIT = np.uint64(1)


class Lot(NamedTuple):
    """Some pairs."""

    rows: NDArray[np.float32]
    """x (3) and y (3) as rows, about some origins."""
    xi: NDArray[np.float32]
    """Rounded up."""
    w: FloatArray
    slop: float
    """Rounding of a difference of lengths, from the pairs given on."""
    unit: float
    """What one step of a saving is worth."""
    loss: int
    turn: float | None
    """Where x is turned as a prior's centre turns it: 2 sin(angle / 2) of how far rotations may be from that; else
    negative, as is ..."""
    lean: float | None
    """... the same for an axis, where that is the third coordinate of both. Without a prior, None."""


@njit(cache=True, nogil=True)
def _ones(x):
    """How many bits of a word are set; compilers know this pattern."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit(cache=True, nogil=True)
def _common(a, b):
    total = np.uint64(0)
    for k in range(a.size):
        total += _ones(a[k] & b[k])
    return np.int64(total)


@njit(cache=True, nogil=True)
def _differences(rows, turn, lean, start, stop, point, out):
    """How much the lengths from a pair, given as (x, y), to pairs start:stop differ at least, however they are turned
    by what is allowed (section 12.4)."""
    x0, x1, x2 = rows[0, start:stop], rows[1, start:stop], rows[2, start:stop]
    y0, y1, y2 = rows[3, start:stop], rows[4, start:stop], rows[5, start:stop]
    a0, a1, a2, b0, b1, b2 = point
    if turn is None or turn < 0.0:
        for k in range(stop - start):
            u0, u1, u2 = x0[k] - a0, x1[k] - a1, x2[k] - a2
            v0, v1, v2 = y0[k] - b0, y1[k] - b1, y2[k] - b2
            out[k] = abs(np.sqrt(u0 * u0 + u1 * u1 + u2 * u2) - np.sqrt(v0 * v0 + v1 * v1 + v2 * v2))
    if turn is None:
        return
    turn, lean = np.float32(turn), np.float32(lean)
    if turn >= 0.0:
        for k in range(stop - start):
            u0, u1, u2 = x0[k] - a0, x1[k] - a1, x2[k] - a2
            v0, v1, v2 = y0[k] - b0, y1[k] - b1, y2[k] - b2
            d0, d1, d2 = v0 - u0, v1 - u1, v2 - u2
            length = np.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
            differ = abs(length - np.sqrt(v0 * v0 + v1 * v1 + v2 * v2))
            apart = np.sqrt(d0 * d0 + d1 * d1 + d2 * d2) - turn * length
            out[k] = apart if apart > differ else differ
    if lean >= 0.0:
        for k in range(stop - start):
            u0, u1, u2 = x0[k] - a0, x1[k] - a1, x2[k] - a2
            most = lean * np.sqrt(u0 * u0 + u1 * u1 + u2 * u2)
            apart = abs(y2[k] - b2 - u2) - most
            out[k] = apart if apart > out[k] else out[k]


@njit(cache=True, nogil=True)
def _point(rows, i):
    return rows[0, i], rows[1, i], rows[2, i], rows[3, i], rows[4, i], rows[5, i]


@njit(cache=True, nogil=True)
def _known(turn, lean):
    """Whether more than lengths tells pairs apart."""
    if turn is None:
        return False
    return turn >= 0.0 or lean >= 0.0


@njit(cache=True, nogil=True)
def find_friends(lot, start, stop, friends):
    """Set bit j of friends[i], for i from start to stop, where pairs i and j ≠ i agree in length."""
    n = lot.xi.size
    difference = np.empty(BLOCK, np.float32)
    agree = np.empty(BLOCK, np.uint8)
    eights = agree.view(np.uint64)
    slop = np.float32(lot.slop)
    for i in range(start, stop):
        point, most = _point(lot.rows, i), lot.xi[i] + slop
        for begin in range(0, n, BLOCK):
            end = min(n, begin + BLOCK)
            _differences(lot.rows, lot.turn, lot.lean, begin, end, point, difference)
            xi = lot.xi[begin:end]
            for k in range(end - begin):
                agree[k] = difference[k] - xi[k] <= most
            for k in range(end - begin, BLOCK):  # zeros of NumPy, or for a slice, would take long to compile
                agree[k] = 0
            for first in range(0, end - begin, WORD):
                word = np.uint64(0)
                for byte in range(8):  # eight bytes of 0 or 1 times this constant have their bits in the last byte
                    bits = (eights[first // 8 + byte] * np.uint64(0x0102040810204080)) >> np.uint64(56)
                    word |= bits << np.uint64(8 * byte)
                friends[i, (begin + first) // WORD] = word
        friends[i, i // WORD] &= ~(ONE_BIT << np.uint64(i % WORD))


@njit(cache=True, nogil=True)
def _steps(lot, k, half):
    """What pair k saves at most, in units, with a residual of at least half."""
    xi = np.float64(lot.xi[k])
    if half > xi:
        return 0
    saving = lot.w[k] * point_saving(lot.loss, xi, half, half * half)
    return max(1, min(LEVELS, int(np.ceil(saving / lot.unit * UP))))  # one at least, should it underflow


@njit(cache=True, nogil=True)
def find_company(lot, friends, pivots, most, left):
    """Mark the pairs that can be in a pose which saves more than `most` units and is best at one of the pivots.

    Around pivot i: its friends, each with the most it can save there; pair j is out when what it and its friends among
    them can save is not more than `most`. Repeated until hardly anybody leaves.

    Parameters
    ----------
    lot : Lot
    friends : (n, words) uint64 array
    pivots : int64 array
    most : int
    left : (n,) uint8 array
        Set to 1 for the pairs that remain.

    Returns
    -------
    alive, visits : int
        Pivots with company, and words looked at.
    """
    words = friends.shape[1]
    planes = np.empty((LEVELS, words), np.uint64)  # of the friends that can save more than so many units
    members = np.empty(lot.xi.size, np.int64)
    steps = np.empty(lot.xi.size, np.int64)
    apart, known = np.empty(1, np.float32), _known(lot.turn, lot.lean)
    alive = visits = 0
    for i in pivots:
        for level in range(LEVELS):
            for word in range(words):
                planes[level, word] = 0
        own = _steps(lot, i, 0.0)
        total, count = own, 0
        point = _point(lot.rows, i)
        a0, a1, a2, b0, b1, b2 = point
        for word in range(words):
            bits = friends[i, word]
            while bits:
                lowest = bits & (~bits + ONE_BIT)
                bits ^= lowest
                j = WORD * word + np.int64(_ones(lowest - ONE_BIT))
                u0, u1, u2 = lot.rows[0, j] - a0, lot.rows[1, j] - a1, lot.rows[2, j] - a2
                v0, v1, v2 = lot.rows[3, j] - b0, lot.rows[4, j] - b1, lot.rows[5, j] - b2
                apart[0] = abs(np.sqrt(u0 * u0 + u1 * u1 + u2 * u2) - np.sqrt(v0 * v0 + v1 * v1 + v2 * v2))
                if known:  # which takes a fifth longer
                    _differences(lot.rows, lot.turn, lot.lean, j, j + 1, point, apart)
                steps[j] = _steps(lot, j, max(0.0, 0.5 * (np.float64(apart[0]) - lot.slop)))
                if steps[j] == 0:
                    continue
                members[count] = j
                count += 1
                total += steps[j]
                for level in range(steps[j]):
                    planes[level, word] |= lowest
        changed = True
        while total > most and changed:
            stay = 0
            for m in range(count):
                j = members[m]
                company = own + steps[j]
                for level in range(LEVELS):  # each plane is part of the one before
                    more = _common(planes[level], friends[j])
                    visits += words
                    company += more
                    if company > most or company + (LEVELS - 1 - level) * more <= most:
                        break
                if company + (LEVELS - 1 - level) * more > most:
                    members[stay] = j
                    stay += 1
                    continue
                total -= steps[j]
                if total <= most:
                    break
                for level in range(steps[j]):
                    planes[level, j // WORD] &= ~(ONE_BIT << np.uint64(j % WORD))
            changed, count = stay < MANY_STAY * count, stay
        if total > most:
            alive += 1
            left[i] = 1
            for m in range(count):
                left[members[m]] = 1
    return alive, visits


@njit(cache=True, nogil=True)
def find_followers(lot, start, stop, core, ends, most, left):
    """Mark the pairs from start to stop that agree in length with more than `most` units of one part of a core.

    `core` are the pairs left of some parts, a lot of its own; part p ends at ends[p]. Everybody agrees with himself.
    """
    difference = np.empty(BLOCK, np.float32)
    units = np.empty(BLOCK, np.int32)
    slop = np.float32(lot.slop)
    for begin in range(start, stop, BLOCK):
        end = min(stop, begin + BLOCK)
        xi = lot.xi[begin:end]
        first = 0
        for part in range(ends.size):
            for j in range(BLOCK):
                units[j] = 0
            for k in range(first, ends[part]):
                _differences(lot.rows, lot.turn, lot.lean, begin, end, _point(core.rows, k), difference)
                worth, limit = np.int32(_steps(core, k, 0.0)), core.xi[k] + slop
                for j in range(end - begin):
                    units[j] += worth if difference[j] - xi[j] <= limit else np.int32(0)
            first = ends[part]
            for j in range(end - begin):
                if units[j] > most:
                    left[begin + j] = 1
