"""What a cell of rotations can save at most, by votes on a grid of translations.

While R runs through the cell, coordinate k of R x stays in an interval, the intersection of two: the linear motion of
the cell plus its remainder, and the coordinates of the spherical cap around R_c x. The point can save only if t lies in
y − R x ± ξ, a box, and then at most w ξ. The boxes are added up on a grid over the translations: eight deposits of
second differences a point, then a running sum along each axis, in integers, so that nothing is lost to rounding.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.domains.rotations import AXES, COSINE, FRAME, HALF, INWARD, REMAINDER, SINE, cell_frame

# Rows of the packed points: x, y, |x|, ξ, w.
X, Y, NORM, XI, WEIGHT, ROWS = 0, 3, 6, 7, 8, 9
# Columns of a node: the box of g (low, high), the box of t (low, high), bound, face.
G, T, BOUND, FACE, NODE = 0, 6, 12, 13, 14
MAX_SIDE = 96
VOXELS = 1 << 16
COARSE = 0.5
"""Side of a voxel of the first grid, as a share of half the side of a typical box; halved from grid to grid."""
ROUNDS = 4
SHRUNK = 0.5
"""A finer grid is tried when the last one cut the box of t to less than this share, ..."""
PROMISING = 0.8
"""... or when this share of the bound would not beat the threshold."""


@njit(cache=True, nogil=True, error_model="numpy")
def _interval(p, a, b, ka, kb, frame, length):
    """The range of coordinate k of R x, given coordinates k, k + 1, k + 2 of (1 − μ) R_c x."""
    # Coordinate k of u×p is u_a p_b − u_b p_a.
    e = frame[REMAINDER] * length
    e += frame[HALF] * abs(frame[AXES + ka] * b - frame[AXES + kb] * a)
    e += frame[HALF + 1] * abs(frame[AXES + 3 + ka] * b - frame[AXES + 3 + kb] * a)
    e += frame[HALF + 2] * abs(frame[AXES + 6 + ka] * b - frame[AXES + 6 + kb] * a)
    full = p / frame[INWARD]
    across = np.sqrt(max(0.0, length * length - full * full)) * frame[SINE]
    high = length if full >= length * frame[COSINE] else full * frame[COSINE] + across
    low = -length if full <= -length * frame[COSINE] else full * frame[COSINE] - across
    return max(low, p - e), min(high, p + e)


@njit(cache=True, nogil=True, error_model="numpy")
def _boxes(points, votes, frame, node, eps, out):
    """The boxes of t in which points can save and that meet the node's: rows low, high, ξ, votes; returns how many."""
    count = 0
    for i in range(points.shape[1]):
        x0, x1, x2 = points[0, i], points[1, i], points[2, i]
        length = points[NORM, i]
        reach = points[XI, i] + eps
        p0 = frame[0] * x0 + frame[1] * x1 + frame[2] * x2
        p1 = frame[3] * x0 + frame[4] * x1 + frame[5] * x2
        p2 = frame[6] * x0 + frame[7] * x1 + frame[8] * x2
        low, high = _interval(p0, p1, p2, 1, 2, frame, length)
        y = points[3, i]
        a0, b0 = y - high - reach, y - low + reach
        if b0 < node[T] or a0 > node[T + 3]:
            continue
        low, high = _interval(p1, p2, p0, 2, 0, frame, length)
        y = points[4, i]
        a1, b1 = y - high - reach, y - low + reach
        if b1 < node[T + 1] or a1 > node[T + 4]:
            continue
        low, high = _interval(p2, p0, p1, 0, 1, frame, length)
        y = points[5, i]
        a2, b2 = y - high - reach, y - low + reach
        if b2 < node[T + 2] or a2 > node[T + 5]:
            continue
        out[0, count], out[1, count], out[2, count] = a0, a1, a2
        out[3, count], out[4, count], out[5, count] = b0, b1, b2
        out[6, count], out[7, count] = points[XI, i], votes[i]
        count += 1
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _deposit(boxes, count, low, size, shape, inset, grid):
    """Add the boxes, made smaller by inset·ξ on all sides, to the grid of second differences."""
    s1 = shape[2] + 1
    s0 = s1 * (shape[1] + 1)
    f0, f1, f2 = 1.0 / size[0], 1.0 / size[1], 1.0 / size[2]
    n0, n1, n2 = shape[0], shape[1], shape[2]
    for i in range(count):
        cut = inset * boxes[6, i]
        u0, v0 = (boxes[0, i] + cut - low[0]) * f0, (boxes[3, i] - cut - low[0]) * f0
        u1, v1 = (boxes[1, i] + cut - low[1]) * f1, (boxes[4, i] - cut - low[1]) * f1
        u2, v2 = (boxes[2, i] + cut - low[2]) * f2, (boxes[5, i] - cut - low[2]) * f2
        if v0 < 0.0 or v1 < 0.0 or v2 < 0.0 or u0 > n0 or u1 > n1 or u2 > n2:
            continue
        a0, a1, a2 = min(int(max(u0, 0.0)), n0 - 1), min(int(max(u1, 0.0)), n1 - 1), min(int(max(u2, 0.0)), n2 - 1)
        b0, b1, b2 = int(min(v0 + 1.0, n0)), int(min(v1 + 1.0, n1)), int(min(v2 + 1.0, n2))
        c = np.int32(boxes[7, i])
        a = a0 * s0 + a1 * s1
        b = a0 * s0 + b1 * s1
        grid[a + a2] += c
        grid[a + b2] -= c
        grid[b + a2] -= c
        grid[b + b2] += c
        a = b0 * s0 + a1 * s1
        b = b0 * s0 + b1 * s1
        grid[a + a2] -= c
        grid[a + b2] += c
        grid[b + a2] += c
        grid[b + b2] -= c


@njit(cache=True, nogil=True)
def _sum_up(grid, shape):
    """Running sums along the three axes, in place."""
    n1, n2 = shape[1] + 1, shape[2] + 1
    plane = n1 * n2
    for i in range(shape[0]):
        base = i * plane
        if i:
            for m in range(base, base + plane):
                grid[m] += grid[m - plane]
    for i in range(shape[0]):
        for j in range(1, shape[1]):
            row = i * plane + j * n2
            for m in range(row, row + n2):
                grid[m] += grid[m - n2]
    for i in range(shape[0]):
        for j in range(shape[1]):
            row = i * plane + j * n2
            value = grid[row]
            for m in range(row + 1, row + shape[2]):
                value += grid[m]
                grid[m] = value


@njit(cache=True, nogil=True)
def _survivors(grid, shape, threshold, hull):
    """The most votes of a voxel, the most of one that does not beat `threshold`; hull = ranges of those that do."""
    n1, n2 = shape[1] + 1, shape[2] + 1
    for k in range(3):
        hull[k], hull[3 + k] = shape[k], -1
    most, below = 0, 0
    for i in range(shape[0]):
        for j in range(shape[1]):
            row = (i * n1 + j) * n2
            for k in range(shape[2]):
                value = grid[row + k]
                if value > threshold:
                    most = max(most, value)
                    hull[0], hull[3] = min(hull[0], i), max(hull[3], i)
                    hull[1], hull[4] = min(hull[1], j), max(hull[4], j)
                    hull[2], hull[5] = min(hull[2], k), max(hull[5], k)
                else:
                    below = max(below, value)
    return most, below


@njit(cache=True, nogil=True)
def _shape(width, side, shape):
    """Voxels a side, of at least `side`, but not too many in all."""
    while True:
        product = 1
        for k in range(3):
            shape[k] = min(MAX_SIDE, int(width[k] / side) + 1)
            product *= shape[k] + 1
        if product <= VOXELS:
            return
        side *= 1.26


@njit(cache=True, nogil=True, error_model="numpy")
def vote(points, votes, unit, nodes, threshold, scale, eps, boxes, grid):
    """Bound each node and shrink its box of t to where `threshold` can be beaten, in place.

    Parameters
    ----------
    points : packed points, ROWS×N
    votes : integers with votes·unit ≥ w ξ / 2: a box is deposited twice, once smaller by ξ/2 on all sides, since beyond
        that ‖r‖₁ ≥ ξ/2
    nodes : array of nodes, changed in place: `BOUND`, and the box of t (left as it is when nothing survives)
    scale : (typical ξ, typical |x|), which choose the grid and are part of no bound
    boxes, grid : work space, 8×N and VOXELS integers

    Returns the number of point visits and the largest bound of what was cut off.
    """
    frame = np.empty(FRAME)
    low, size, width = np.empty(3), np.empty(3), np.empty(3)
    shape, hull = np.empty(3, np.int64), np.empty(6, np.int64)
    most_votes = int(np.floor(threshold / unit))
    visits, cut = 0, 0.0
    for m in range(nodes.shape[0]):
        node = nodes[m]
        if not cell_frame(int(node[FACE]), node, frame):
            continue
        h = max(frame[HALF], frame[HALF + 1], frame[HALF + 2]) * frame[AXES]
        side = COARSE * (scale[0] + 1.3 * h * scale[1])
        count = _boxes(points, votes, frame, node, eps, boxes)
        visits += points.shape[1]
        for _ in range(ROUNDS):
            volume = 1.0
            for k in range(3):
                low[k] = node[T + k]
                width[k] = node[T + 3 + k] - low[k]
                volume *= width[k] + 1e-300
            _shape(width, side, shape)
            side *= 0.5
            grid[: (shape[0] + 1) * (shape[1] + 1) * (shape[2] + 1)] = 0
            for k in range(3):
                size[k] = width[k] / shape[k] + 1e-300
            _deposit(boxes, count, low, size, shape, 0.0, grid)
            _deposit(boxes, count, low, size, shape, 0.5, grid)
            visits += count
            _sum_up(grid, shape)
            most, below = _survivors(grid, shape, most_votes, hull)
            if below > 0:
                cut = max(cut, min(node[BOUND], below * unit))
            if most == 0:
                node[BOUND] = 0.0
                break
            node[BOUND] = min(node[BOUND], most * unit)
            left = 1.0
            for k in range(3):
                slack = 1e-12 * (abs(low[k]) + width[k])
                node[T + k] = max(low[k], low[k] + hull[k] * size[k] - slack)
                node[T + 3 + k] = min(low[k] + width[k], low[k] + (hull[3 + k] + 1) * size[k] + slack)
                left *= node[T + 3 + k] - node[T + k] + 1e-300
            if left > SHRUNK * volume and PROMISING * most * unit > threshold:
                break
    return visits, cut
