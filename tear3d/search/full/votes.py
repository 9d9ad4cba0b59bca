"""What a cell of rotations can save at most, by votes on a grid of translations (full-problem.md, "Rotation cells and votes").

While R runs through the cell, coordinate k of R x stays in an interval, the intersection of two: the linear motion of the
cell plus its remainder, and the coordinates of the spherical cap around R_c x. The point can save only if t lies in
y − R x ± ξ, a box, and then at most w ξ. The boxes are added up on a grid over the translations: eight deposits of second
differences a point, then a running sum along each axis, in integers, so that nothing is lost to rounding.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.search.full.chart import AXES, COSINE, FRAME, HALF, INWARD, REMAINDER, SINE, cell_frame

# Rows of the packed points: x, y, |x|, ξ, w.
X, Y, NORM, XI, WEIGHT, ROWS = 0, 3, 6, 7, 8, 9
# Columns of a node: the box of g (low, high), the box of t (low, high), bound, face.
G, T, BOUND, FACE, NODE = 0, 6, 12, 13, 14
MAX_SIDE = 64
VOXELS = 1 << 15
FINENESS = 0.5
"""Side of a voxel as a share of half the side of a typical box."""
ROUNDS = 3
SHRUNK = 0.5


@njit(nogil=True, error_model="numpy")
def _deposit(points, votes, frame, low, size, shape, eps, grid):
    """Add the boxes of all points to the grid of second differences; returns the mean half side of those that touch it."""
    r = frame
    n = points.shape[1]
    s1 = shape[2] + 1
    s0 = s1 * (shape[1] + 1)
    cosine, sine, remainder = frame[COSINE], frame[SINE], frame[REMAINDER]
    outward = 1.0 / frame[INWARD]
    first = np.empty(3, np.int64)
    last = np.empty(3, np.int64)
    total, touched = 0.0, 0
    for i in range(n):
        x0, x1, x2 = points[0, i], points[1, i], points[2, i]
        length = points[NORM, i]
        reach = points[XI, i] + eps
        inside = True
        side = 0.0
        p0 = r[0] * x0 + r[1] * x1 + r[2] * x2
        p1 = r[3] * x0 + r[4] * x1 + r[5] * x2
        p2 = r[6] * x0 + r[7] * x1 + r[8] * x2
        for k in range(3):
            p, a, b = (p0, p1, p2) if k == 0 else ((p1, p2, p0) if k == 1 else (p2, p0, p1))
            ka, kb = (k + 1) % 3, (k + 2) % 3
            # Coordinate k of u×p is u_a p_b − u_b p_a.
            e = remainder * length
            e += r[HALF] * abs(r[AXES + ka] * b - r[AXES + kb] * a)
            e += r[HALF + 1] * abs(r[AXES + 3 + ka] * b - r[AXES + 3 + kb] * a)
            e += r[HALF + 2] * abs(r[AXES + 6 + ka] * b - r[AXES + 6 + kb] * a)
            full = p * outward
            across = np.sqrt(max(0.0, length * length - full * full)) * sine
            highest = length if full >= length * cosine else full * cosine + across
            lowest = -length if full <= -length * cosine else full * cosine - across
            highest = min(highest, p + e)
            lowest = max(lowest, p - e)
            y = points[Y + k, i] - low[k]
            u = (y - highest - reach) / size[k]
            v = (y - lowest + reach) / size[k]
            if v < 0.0 or u >= shape[k]:
                inside = False
                break
            first[k] = int(u) if u > 0.0 else 0
            last[k] = int(v) + 1 if v < shape[k] else shape[k]
            side += v - u
        if not inside:
            continue
        touched += 1
        total += side
        c = votes[i]
        a = first[0] * s0 + first[1] * s1
        b = first[0] * s0 + last[1] * s1
        grid[a + first[2]] += c
        grid[a + last[2]] -= c
        grid[b + first[2]] -= c
        grid[b + last[2]] += c
        a = last[0] * s0 + first[1] * s1
        b = last[0] * s0 + last[1] * s1
        grid[a + first[2]] -= c
        grid[a + last[2]] += c
        grid[b + first[2]] += c
        grid[b + last[2]] -= c
    return touched


@njit(nogil=True)
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


@njit(nogil=True)
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


@njit(nogil=True)
def _shape(width, typical, shape):
    """Voxels a side: fine enough for boxes of half side `typical`, but not too many in all."""
    fine = FINENESS
    while True:
        product = 1
        for k in range(3):
            shape[k] = min(MAX_SIDE, int(width[k] / (fine * typical)) + 1)
            product *= shape[k] + 1
        if product <= VOXELS:
            return
        fine *= 1.26


@njit(nogil=True, error_model="numpy")
def vote(points, votes, unit, nodes, threshold, scale, eps, grid):
    """Bound each node and shrink its box of t to where `threshold` can be beaten, in place.

    Parameters
    ----------
    points : packed points, ROWS×N
    votes : integers with votes·unit ≥ w ξ
    nodes : array of nodes, changed in place: `BOUND`, and the box of t (left as it is when nothing survives)
    scale : (typical ξ, typical |x|), which choose the grid and are part of no bound
    grid : integers, at least (VOXELS)

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
        typical = scale[0] + 1.3 * h * scale[1]
        for _ in range(ROUNDS):
            volume = 1.0
            for k in range(3):
                low[k] = node[T + k]
                width[k] = node[T + 3 + k] - low[k]
                volume *= width[k] + 1e-300
            _shape(width, typical, shape)
            count = (shape[0] + 1) * (shape[1] + 1) * (shape[2] + 1)
            grid[:count] = 0
            for k in range(3):
                size[k] = width[k] / shape[k] + 1e-300
            _deposit(points, votes, frame, low, size, shape, eps, grid)
            visits += points.shape[1]
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
            if left > SHRUNK * volume:
                break
    return visits, cut
