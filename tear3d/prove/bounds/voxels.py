"""A box of translations cut into voxels, and what lies in them (mathematics.md, section 7).

Boxes are added up by differences: eight deposits a box, then running sums along the three axes. Everything is in
integers, so that nothing is lost to rounding and the order of the deposits does not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.prove.domains.rotations import Triple

MAX_SIDE = 96
VOXELS = 1 << 16
"""Voxels a side, and in all with a margin of one: 256 kB, which a second level cache holds. Free choices, as is ..."""
COARSER = 1.26
"""... by how much their sides grow when there are too many: ∛2. Part of no bound."""
EDGE = 2.0**-50
"""Rounding of the edge of a voxel, at most 4 units of 2⁻⁵³ of |low| + |high|; twice that (section 7.4)."""
TINY = 1e-300
"""Keeps divisions by the sides of an empty box finite."""
ORIGIN = (0.0, 0.0, 0.0)


class Grid(NamedTuple):
    """A box of t, or of the z of a group of pairs, cut into voxels."""

    low: Triple
    size: Triple
    """Of a voxel."""
    shape: tuple[int, int, int]
    centre: Triple
    """Of the group; the origin, for which z is t, when there are none."""


class Hull(NamedTuple):
    """The most votes of a voxel that beats the threshold, the most of the others, and where the former are."""

    most: int
    below: int
    first: tuple[int, int, int]
    last: tuple[int, int, int]


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def make_grid(low, high, side, voxels):
    """Voxels of at least `side`, but not more than `voxels` in all, margins included."""
    d0, d1, d2 = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    side = max(side, TINY)
    while True:
        n0, n1, n2 = (
            int(min(MAX_SIDE, d0 / side + 1.0)),
            int(min(MAX_SIDE, d1 / side + 1.0)),
            int(min(MAX_SIDE, d2 / side + 1.0)),
        )
        if (n0 + 1) * (n1 + 1) * (n2 + 1) <= voxels or n0 * n1 * n2 == 1:
            return Grid(low, (d0 / n0 + TINY, d1 / n1 + TINY, d2 / n2 + TINY), (n0, n1, n2), ORIGIN)
        side *= COARSER


@njit(cache=True, nogil=True)
def _add(values, others):
    for i in range(values.size):
        values[i] += others[i]


@njit(cache=True, nogil=True)
def sum_up(voxels, shape, row):
    """Running sums along the three axes, in place; rows are `row` apart."""
    plane = (shape[1] + 1) * row
    for i in range(shape[0]):
        if i:
            _add(voxels[i * plane : (i + 1) * plane], voxels[(i - 1) * plane : i * plane])
    for i in range(shape[0]):
        value = np.int32(0)
        for j in range(shape[1]):
            at = i * plane + j * row
            if j:
                _add(voxels[at : at + row], voxels[at - row : at])
    for i in range(shape[0]):
        for j in range(shape[1]):
            line = voxels[i * plane + j * row : i * plane + j * row + shape[2]]
            value = np.int32(0)
            for k in range(line.size):
                value += line[k]
                line[k] = value


@njit(cache=True, nogil=True)
def top_of(line):
    top = np.int32(0)
    for k in range(line.size):
        top = line[k] if line[k] > top else top
    return top


@njit(cache=True, nogil=True)
def survivors(voxels, shape, row, threshold):
    """Where the voxels are that beat `threshold`."""
    a0, a1, a2 = shape
    b0, b1, b2 = -1, -1, -1
    most, below = np.int32(0), np.int32(0)
    for i in range(shape[0]):
        for j in range(shape[1]):
            at = (i * (shape[1] + 1) + j) * row
            line = voxels[at : at + shape[2]]
            top = top_of(line)
            if top <= threshold:
                below = top if top > below else below
                continue
            most = top if top > most else most
            a0, b0, a1, b1 = min(a0, i), max(b0, i), min(a1, j), max(b1, j)
            for k in range(line.size):
                if line[k] > threshold:
                    a2, b2 = min(a2, k), max(b2, k)
                elif line[k] > below:
                    below = line[k]
    return Hull(int(most), int(below), (a0, a1, a2), (b0, b1, b2))


@njit(cache=True, nogil=True, inline="always")
def left_of_axis(low, high, size, first, last):
    """What is left of one side of a box."""
    slack = EDGE * (abs(low) + abs(high))
    return max(low, low + first * size - slack), min(high, low + (last + 1) * size + slack)


@njit(cache=True, nogil=True, inline="always")
def left_of(grid, high, hull):
    """What is left of the box when only the voxels of a hull are."""
    a0, b0 = left_of_axis(grid.low[0], high[0], grid.size[0], hull.first[0], hull.last[0])
    a1, b1 = left_of_axis(grid.low[1], high[1], grid.size[1], hull.first[1], hull.last[1])
    a2, b2 = left_of_axis(grid.low[2], high[2], grid.size[2], hull.first[2], hull.last[2])
    return (a0, a1, a2), (b0, b1, b2)
