"""Graded votes: every voxel of t gets what a pair can save in it, not the most it could (mathematics.md, section 7.5).

For t in a voxel and R in a cell, coordinate k of the residual is at least d_k = |c_k − v_k| − s_k/2 − e_k away from
zero, v the middle of the voxel, s its sides, c and e middle and reach of y − R x. So the pair saves at most ξ − d_0 −
d_1 − d_2 (TEAR), ξ² − d_0² − d_1² − d_2² (TLS), or nothing when that is negative (CM).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.losses import CM, TEAR
from tear3d.prove.bounds.voters import BLOCK, ONE, ZERO, F, places
from tear3d.prove.bounds.voxels import VOXELS, make_grid

LANES = 8
"""Voxels of a row are worked on in so many together."""
FAR = F(1e30)
"""Distance of voxels that are no part of the grid."""
SAFE = F(1.0 + 2.0**-20)
"""Covers the roundings of what is saved: 8 units of 2⁻²⁴, twice (section 7.5)."""


@njit(cache=True, nogil=True, error_model="numpy")
def _distances(middle, reach, size, squared, first, stop, out):
    """d_k of the voxels first … stop of an axis (its square, if asked for), into `out`."""
    half = F(0.5)
    for j in range(first, stop):
        away = abs(middle - (F(j) + half) * size) - half * size - reach
        away = away if away > ZERO else ZERO
        out[j - first] = away * away if squared else away


@njit(cache=True, nogil=True, error_model="numpy")
def _splat(place, cap, votes, counts, ranges, far, strides, voxels):
    """Add what a pair saves in each voxel of its box to the grid."""
    d0, d1, d2 = far
    (a0, b0), (a1, b1), a2, chunks = ranges
    for i in range(b0 - a0):
        left = cap - d0[i]
        if left <= ZERO:
            continue
        for j in range(b1 - a1):
            rest = left - d1[j]
            if rest <= ZERO:
                continue
            at = (a0 + i) * strides[0] + (a1 + j) * strides[1] + a2
            for chunk in range(chunks):
                line = voxels[at + LANES * chunk : at + LANES * (chunk + 1)]
                away = d2[LANES * chunk : LANES * (chunk + 1)]
                if counts:
                    for k in range(LANES):
                        line[k] += votes if rest >= away[k] else np.int32(0)
                else:
                    for k in range(LANES):
                        value = (rest - away[k]) * place
                        line[k] += np.int32(value + ONE if value > ZERO else ZERO)


@njit(cache=True, nogil=True, error_model="numpy")
def graded_votes(voters, span, frame, box, side, ballot, booth):
    """Cast graded votes of voters[span] on a grid over a box of t; returns the grid, and how far its rows are apart."""
    low, high = box
    grid = make_grid(low, high, side, VOXELS // 2)
    n0, n1, n2 = grid.shape
    row = (n2 // LANES + 2) * LANES
    while n0 * (n1 + 1) * row > VOXELS:
        grid = make_grid(low, high, 1.3 * max(grid.size[0], grid.size[1], grid.size[2]), VOXELS // 2)
        n0, n1, n2 = grid.shape
        row = (n2 // LANES + 2) * LANES
    strides = (row * (n1 + 1), row)
    voxels, block = booth.grid, booth.block
    voxels[: n0 * strides[0]] = 0
    s0, s1, s2 = F(grid.size[0]), F(grid.size[1]), F(grid.size[2])
    f0, f1, f2 = ONE / s0, ONE / s1, ONE / s2
    shared, equal = voters.xi.size == 1, voters.ballots.size == 1
    xi, votes = voters.xi[0], voters.ballots[0]
    squared, counts = ballot.loss != TEAR, ballot.loss == CM
    d0, d1 = np.empty(n0 + 1, F), np.empty(n1 + 1, F)
    d2 = np.empty(row + LANES, F)
    c0, c1, c2 = block.middle[0], block.middle[1], block.middle[2]
    e0, e1, e2 = block.reach[0], block.reach[1], block.reach[2]
    for begin in range(span[0], span[1], BLOCK):
        end = min(span[1], begin + BLOCK)
        places(voters, begin, end, frame, low, ballot.margin, block)
        for i in range(end - begin):
            if not shared:
                xi = voters.xi[begin + i]
            if not equal:
                votes = voters.ballots[begin + i]
            r0, r1, r2 = e0[i] + xi, e1[i] + xi, e2[i] + xi
            a0, b0 = (c0[i] - r0) * f0, (c0[i] + r0) * f0 + ONE
            a1, b1 = (c1[i] - r1) * f1, (c1[i] + r1) * f1 + ONE
            a2, b2 = (c2[i] - r2) * f2, (c2[i] + r2) * f2 + ONE
            if b0 < ONE or b1 < ONE or b2 < ONE or a0 > n0 or a1 > n1 or a2 > n2:
                continue
            i0, j0 = int(max(a0, ZERO)), int(min(b0, F(n0)))
            i1, j1 = int(max(a1, ZERO)), int(min(b1, F(n1)))
            i2, j2 = int(max(a2, ZERO)), int(min(b2, F(n2)))
            if i0 >= j0 or i1 >= j1 or i2 >= j2:
                continue
            chunks = (j2 - i2 + LANES - 1) // LANES
            _distances(c0[i], e0[i], s0, squared, i0, j0, d0)
            _distances(c1[i], e1[i], s1, squared, i1, j1, d1)
            _distances(c2[i], e2[i], s2, squared, i2, j2, d2)
            for k in range(j2 - i2, chunks * LANES):
                d2[k] = FAR
            cap = xi * xi if squared else xi
            scale = F(votes) / cap * SAFE
            _splat(scale, cap, votes, counts, ((i0, j0), (i1, j1), i2, chunks), (d0, d1, d2), strides, voxels)
    return grid, row
