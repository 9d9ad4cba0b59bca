"""What a cell of rotations can save at most, by votes on a grid of translations (mathematics.md, section 7).

While R runs through the cell, coordinate k of R x stays in an interval, the intersection of two: the linear motion of
the cell plus its remainder, and the coordinates of the spherical cap around R_c x. The point can save only if t lies in
y − R x ± ξ, a box, and then at most w ξ; where some coordinate of the residual exceeds ξ/2, at most w ξ / 2. So a pair
deposits half of w ξ in the box and half in the box made smaller by ξ/2 on all sides. The boxes are added up on a grid
over the translations: eight deposits of differences a box, then a running sum along each axis, in integers, so that
nothing is lost to rounding.
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
"""Voxels a side, and in all with a margin of one: 256 kB, which a second level cache holds. Free choices, as are ..."""
COARSE = 0.5
"""... the side of a voxel of the first grid, as a share of half the side of a typical box, halved from grid to grid, ..."""
ROUNDS = 4
"""... the number of grids, ..."""
SHRUNK = 0.5
"""... and when a finer one is tried: the last one cut the box of t to less than this share, ..."""
PROMISING = 0.8
"""... or this share of the bound would not beat the threshold. They are part of no bound."""
FINER = 1.26
"""When there are too many voxels, their sides grow by ∛2 (free choice)."""
EDGE = 2.0**-50
"""Rounding of the edge of a voxel, at most 4 units of 2⁻⁵³ of |low| + |high|; twice that (section 7.4)."""
TINY = 1e-300
"""Keeps divisions by the sides of an empty box finite."""


class Points(NamedTuple):
    """Pairs as the kernels want them: x and y as 3×N, the others with N entries."""

    x: FloatArray
    y: FloatArray
    norm: FloatArray
    """|x|."""
    xi: FloatArray
    w: FloatArray


class Votes(NamedTuple):
    """How the pairs vote, and the sizes that choose the grid."""

    ballots: NDArray[np.int32]
    unit: float
    """ballots·unit ≥ w ξ / 2."""
    xi: float
    radius: float
    """Typical ξ and |x|: part of no bound."""


class Booth(NamedTuple):
    """Work space: boxes of t with the ξ and the ballots of their pairs, and the voxels."""

    low: FloatArray
    high: FloatArray
    xi: FloatArray
    ballots: FloatArray
    grid: NDArray[np.int32]


class Tally(NamedTuple):
    """What votes say about a box of t."""

    bound: float
    """Of the saving in what is left of the box; 0 when nothing is left."""
    cut: float
    """Of the saving in what was cut off."""
    low: Triple
    high: Triple
    """What is left of the box."""


class _Grid(NamedTuple):
    low: Triple
    size: Triple
    """Of a voxel."""
    shape: tuple[int, int, int]


class _Hull(NamedTuple):
    """The most votes of a voxel that beats the threshold, the most of the others, and where the former are."""

    most: int
    below: int
    first: tuple[int, int, int]
    last: tuple[int, int, int]


@njit(cache=True, nogil=True, error_model="numpy")
def _interval(p, e, length, frame):
    """The range of a coordinate of R x, from that of (1 − μ) R_c x and its linear motion e, remainder included."""
    full = p / frame.inward
    across = np.sqrt(max(0.0, length * length - full * full)) * frame.sine
    high = length if full >= length * frame.cosine else full * frame.cosine + across
    low = -length if full <= -length * frame.cosine else full * frame.cosine - across
    return max(low, p - e), min(high, p + e)


@njit(cache=True, nogil=True, error_model="numpy")
def _boxes(points, ballots, frame, low, high, eps, out):
    """Write the boxes of t in which points can save and that meet the box low to high; returns how many."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = frame.rotation
    u00, u01, u02, u10, u11, u12, u20, u21, u22 = frame.axes
    h0, h1, h2 = frame.half
    count = 0
    for i in range(points.norm.size):
        x0, x1, x2 = points.x[0, i], points.x[1, i], points.x[2, i]
        length = points.norm[i]
        rest = frame.remainder * length
        reach = points.xi[i] + eps
        p0 = r00 * x0 + r01 * x1 + r02 * x2
        p1 = r10 * x0 + r11 * x1 + r12 * x2
        p2 = r20 * x0 + r21 * x1 + r22 * x2
        # Coordinate 0 of u×p is u_1 p_2 − u_2 p_1, and so on in turn.
        e = rest + h0 * abs(u01 * p2 - u02 * p1)
        e += h1 * abs(u11 * p2 - u12 * p1)
        e += h2 * abs(u21 * p2 - u22 * p1)
        least, most = _interval(p0, e, length, frame)
        y = points.y[0, i]
        a0, b0 = y - most - reach, y - least + reach
        if b0 < low[0] or a0 > high[0]:
            continue
        e = rest + h0 * abs(u02 * p0 - u00 * p2)
        e += h1 * abs(u12 * p0 - u10 * p2)
        e += h2 * abs(u22 * p0 - u20 * p2)
        least, most = _interval(p1, e, length, frame)
        y = points.y[1, i]
        a1, b1 = y - most - reach, y - least + reach
        if b1 < low[1] or a1 > high[1]:
            continue
        e = rest + h0 * abs(u00 * p1 - u01 * p0)
        e += h1 * abs(u10 * p1 - u11 * p0)
        e += h2 * abs(u20 * p1 - u21 * p0)
        least, most = _interval(p2, e, length, frame)
        y = points.y[2, i]
        a2, b2 = y - most - reach, y - least + reach
        if b2 < low[2] or a2 > high[2]:
            continue
        out.low[0, count], out.low[1, count], out.low[2, count] = a0, a1, a2
        out.high[0, count], out.high[1, count], out.high[2, count] = b0, b1, b2
        out.xi[count], out.ballots[count] = points.xi[i], ballots[i]
        count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _deposit(boxes, count, grid, inset):
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
def _sum_up(voxels, shape):
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
def _survivors(voxels, shape, threshold):
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
    return _Hull(most, below, (a0, a1, a2), (b0, b1, b2))


@njit(cache=True, nogil=True, error_model="numpy")
def _grid(low, high, side):
    """Voxels of at least `side`, but not too many in all."""
    d0, d1, d2 = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    while True:
        n0, n1, n2 = (
            min(MAX_SIDE, int(d0 / side) + 1),
            min(MAX_SIDE, int(d1 / side) + 1),
            min(MAX_SIDE, int(d2 / side) + 1),
        )
        if (n0 + 1) * (n1 + 1) * (n2 + 1) <= VOXELS:
            return _Grid(low, (d0 / n0 + TINY, d1 / n1 + TINY, d2 / n2 + TINY), (n0, n1, n2))
        side *= FINER


@njit(cache=True, nogil=True)
def _left(low, high, size, first, last):
    """What is left of a side of the box when only voxels from first to last are."""
    slack = EDGE * (abs(low) + abs(high))
    return max(low, low + first * size - slack), min(high, low + (last + 1) * size + slack)


@njit(cache=True, nogil=True)
def _volume(low, high):
    return (high[0] - low[0] + TINY) * (high[1] - low[1] + TINY) * (high[2] - low[2] + TINY)


@njit(cache=True, nogil=True, error_model="numpy")
def vote(points, votes, frame, low, high, threshold, eps, booth):
    """Bound the saving of all poses with rotations of a cell and t from low to high, and shrink that box.

    Parameters
    ----------
    points : Points
    votes : Votes
    frame : CellFrame
    low, high : triples
    threshold : float
        Savings up to this are of no interest: the box is cut to where it can be beaten.
    eps : float
        Bound of the length of the rounding error of a residual.
    booth : Booth

    Returns
    -------
    Tally
    """
    h = max(frame.half[0], frame.half[1], frame.half[2]) * frame.axes[0]
    side = COARSE * (votes.xi + 1.3 * h * votes.radius)
    count = _boxes(points, votes.ballots, frame, low, high, eps, booth)
    most_votes = int(np.floor(threshold / votes.unit))
    bound, cut = np.inf, 0.0
    for _ in range(ROUNDS):
        before = _volume(low, high)
        grid = _grid(low, high, side)
        side *= 0.5
        n0, n1, n2 = grid.shape
        booth.grid[: (n0 + 1) * (n1 + 1) * (n2 + 1)] = 0
        _deposit(booth, count, grid, 0.0)
        _deposit(booth, count, grid, 0.5)
        _sum_up(booth.grid, grid.shape)
        hull = _survivors(booth.grid, grid.shape, most_votes)
        cut = max(cut, min(bound, hull.below * votes.unit))
        if hull.most == 0:
            return Tally(0.0, cut, low, high)
        bound = min(bound, hull.most * votes.unit)
        a0, b0 = _left(low[0], high[0], grid.size[0], hull.first[0], hull.last[0])
        a1, b1 = _left(low[1], high[1], grid.size[1], hull.first[1], hull.last[1])
        a2, b2 = _left(low[2], high[2], grid.size[2], hull.first[2], hull.last[2])
        low, high = (a0, a1, a2), (b0, b1, b2)
        if _volume(low, high) > SHRUNK * before and PROMISING * hull.most * votes.unit > threshold:
            break
    return Tally(bound, cut, low, high)
