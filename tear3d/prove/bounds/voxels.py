"""Boxes added up on a grid of voxels: eight deposits of differences a box, then running sums (mathematics.md, 7).

A voxel counts every box that meets it. Coordinates are rounded: a box counts for sure in all voxels that the box made
smaller by a few units of 2⁻⁵³ of its coordinates meets, which is why those who deposit make theirs larger.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
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


class Booth(NamedTuple):
    """Work space: boxes of t with the ξ and the ballots of their pairs, and the voxels."""

    low: FloatArray
    high: FloatArray
    xi: FloatArray
    ballots: FloatArray
    grid: NDArray[np.int32]


class Grid(NamedTuple):
    """A box of t cut into voxels."""

    low: Triple
    size: Triple
    """Of a voxel."""
    shape: tuple[int, int, int]


class Hull(NamedTuple):
    """The most votes of a voxel that beats the threshold, the most of the others, and where the former are."""

    most: int
    below: int
    first: tuple[int, int, int]
    last: tuple[int, int, int]


@njit(cache=True, nogil=True, error_model="numpy")
def deposit(boxes, count, grid, inset):
    """Add the boxes, made smaller by inset·ξ on all sides, to the grid of differences."""
    voxels = boxes.grid
    low0, low1, low2 = grid.low
    n0, n1, n2 = grid.shape
    s1 = n2 + 1
    s0 = s1 * (n1 + 1)
    f0, f1, f2 = 1.0 / grid.size[0], 1.0 / grid.size[1], 1.0 / grid.size[2]
    for i in range(count):
        cut = inset * boxes.xi[i]
        u0, v0 = (boxes.low[0, i] + cut - low0) * f0, (boxes.high[0, i] - cut - low0) * f0
        u1, v1 = (boxes.low[1, i] + cut - low1) * f1, (boxes.high[1, i] - cut - low1) * f1
        u2, v2 = (boxes.low[2, i] + cut - low2) * f2, (boxes.high[2, i] - cut - low2) * f2
        if v0 < 0.0 or v1 < 0.0 or v2 < 0.0 or u0 > n0 or u1 > n1 or u2 > n2:
            continue
        a0, a1, a2 = min(int(max(u0, 0.0)), n0 - 1), min(int(max(u1, 0.0)), n1 - 1), min(int(max(u2, 0.0)), n2 - 1)
        b0, b1, b2 = int(min(v0 + 1.0, n0)), int(min(v1 + 1.0, n1)), int(min(v2 + 1.0, n2))
        c = np.int32(boxes.ballots[i])
        a = a0 * s0 + a1 * s1
        b = a0 * s0 + b1 * s1
        voxels[a + a2] += c
        voxels[a + b2] -= c
        voxels[b + a2] -= c
        voxels[b + b2] += c
        a = b0 * s0 + a1 * s1
        b = b0 * s0 + b1 * s1
        voxels[a + a2] -= c
        voxels[a + b2] += c
        voxels[b + a2] += c
        voxels[b + b2] -= c


@njit(cache=True, nogil=True)
def sum_up(voxels, shape):
    """Running sums along the three axes, in place."""
    n1, n2 = shape[1] + 1, shape[2] + 1
    plane = n1 * n2
    for i in range(shape[0]):
        base = i * plane
        if i:
            for m in range(base, base + plane):
                voxels[m] += voxels[m - plane]
    for i in range(shape[0]):
        for j in range(1, shape[1]):
            row = i * plane + j * n2
            for m in range(row, row + n2):
                voxels[m] += voxels[m - n2]
    for i in range(shape[0]):
        for j in range(shape[1]):
            row = i * plane + j * n2
            value = voxels[row]
            for m in range(row + 1, row + shape[2]):
                value += voxels[m]
                voxels[m] = value


@njit(cache=True, nogil=True)
def survivors(voxels, shape, threshold):
    """Where the voxels are that beat `threshold`."""
    n1, n2 = shape[1] + 1, shape[2] + 1
    a0, a1, a2 = shape
    b0, b1, b2 = -1, -1, -1
    most, below = 0, 0
    for i in range(shape[0]):
        for j in range(shape[1]):
            row = (i * n1 + j) * n2
            for k in range(shape[2]):
                value = voxels[row + k]
                if value > threshold:
                    most = max(most, value)
                    a0, b0 = min(a0, i), max(b0, i)
                    a1, b1 = min(a1, j), max(b1, j)
                    a2, b2 = min(a2, k), max(b2, k)
                else:
                    below = max(below, value)
    return Hull(most, below, (a0, a1, a2), (b0, b1, b2))


@njit(cache=True, nogil=True, error_model="numpy")
def make_grid(low, high, side):
    """Voxels of at least `side`, but not too many in all."""
    d0, d1, d2 = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    while True:
        n0, n1, n2 = (
            min(MAX_SIDE, int(d0 / side) + 1),
            min(MAX_SIDE, int(d1 / side) + 1),
            min(MAX_SIDE, int(d2 / side) + 1),
        )
        if (n0 + 1) * (n1 + 1) * (n2 + 1) <= VOXELS:
            return Grid(low, (d0 / n0 + TINY, d1 / n1 + TINY, d2 / n2 + TINY), (n0, n1, n2))
        side *= COARSER


@njit(cache=True, nogil=True)
def left_of(low, high, size, first, last):
    """What is left of a side of the box when only voxels from first to last are."""
    slack = EDGE * (abs(low) + abs(high))
    return max(low, low + first * size - slack), min(high, low + (last + 1) * size + slack)
