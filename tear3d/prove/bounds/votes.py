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
from tear3d.prove.bounds.voxels import TINY, deposit, left_of, make_grid, sum_up, survivors
from tear3d.prove.domains.rotations import Triple

COARSE = 0.5
"""Side of a voxel of the first grid, as a share of half the side of a typical box; halved from grid to grid."""
ROUNDS = 4
"""The number of grids, ..."""
SHRUNK = 0.5
"""... and when a finer one is tried: the last one cut the box of t to less than this share, ..."""
PROMISING = 0.8
"""... or this share of the bound would not beat the threshold. All free choices, part of no bound."""


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


class Tally(NamedTuple):
    """What votes say about a box of t."""

    bound: float
    """Of the saving in what is left of the box; 0 when nothing is left."""
    cut: float
    """Of the saving in what was cut off."""
    low: Triple
    high: Triple
    """What is left of the box."""


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
        grid = make_grid(low, high, side)
        side *= 0.5
        n0, n1, n2 = grid.shape
        booth.grid[: (n0 + 1) * (n1 + 1) * (n2 + 1)] = 0
        deposit(booth, count, grid, 0.0)
        deposit(booth, count, grid, 0.5)
        sum_up(booth.grid, grid.shape)
        hull = survivors(booth.grid, grid.shape, most_votes)
        cut = max(cut, min(bound, hull.below * votes.unit))
        if hull.most == 0:
            return Tally(0.0, cut, low, high)
        bound = min(bound, hull.most * votes.unit)
        a0, b0 = left_of(low[0], high[0], grid.size[0], hull.first[0], hull.last[0])
        a1, b1 = left_of(low[1], high[1], grid.size[1], hull.first[1], hull.last[1])
        a2, b2 = left_of(low[2], high[2], grid.size[2], hull.first[2], hull.last[2])
        low, high = (a0, a1, a2), (b0, b1, b2)
        if _volume(low, high) > SHRUNK * before and PROMISING * hull.most * votes.unit > threshold:
            break
    return Tally(bound, cut, low, high)
