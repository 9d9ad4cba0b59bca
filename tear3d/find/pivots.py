"""Poses that keep lengths: search around pivot pairs.

If pair p is an inlier, every other inlier j preserves its distance to p up to ξ_p + ξ_j. Those that
do are few (p's *neighbours*), and among them the inliers are again consistent with each other. So
for each pivot: its neighbours, the neighbours' consistency with one another as bit rows, seeds of
high degree, for each seed the partner with most common neighbours, and a pose from what the three
have in common. Cost per pivot: n + m², m the number of neighbours, a few per cent of n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.find.procrustes import rotation_from_covariance
from tear3d.problem.losses import TEAR

SEEDS = 8
"""Seeds of high degree per pivot, ..."""
POSES = 3
"""... and how many of them become poses."""
MAX_NEIGHBOURS = 1024
"""A pivot uses the first so many neighbours (the sample is in random order)."""


@njit(cache=True, nogil=True, error_model="numpy")
def _consistent(points, p_points, p, n, tolerance, reach, flags):
    """flags[j] = 1 where the distances to a point p agree and are long enough to mean something.

    |a − b| ≤ c for lengths a, b ≥ c is (a² − b²)² ≤ c²·(2(a² + b²) − c²): no square roots.
    `reach` limits a² + b².
    """
    x0, x1, x2, y0, y1, y2, xi = points
    px0, px1, px2 = p_points[0, p], p_points[1, p], p_points[2, p]
    py0, py1, py2, xi_p = p_points[3, p], p_points[4, p], p_points[5, p], p_points[6, p]
    for j in range(n):
        u, v, w = x0[j] - px0, x1[j] - px1, x2[j] - px2
        a = u * u + v * v + w * w
        u, v, w = y0[j] - py0, y1[j] - py1, y2[j] - py2
        b = u * u + v * v + w * w
        c = tolerance * (xi[j] + xi_p)
        c *= c
        d = a - b
        flags[j] = (d * d <= c * (a + b + a + b - c)) & (a > c) & (b > c) & (a + b < reach)


@njit(cache=True, nogil=True, error_model="numpy")
def _neighbours(points, p, tolerance, reach, flags, octets, near):
    """Copy the neighbours of pivot p to the columns of `near`, p itself behind them; how many."""
    rows = (points[0], points[1], points[2], points[3], points[4], points[5], points[6])
    _consistent(rows, points, p, points.shape[1], tolerance, reach, flags)
    m = 0
    for group in range(octets.shape[0]):
        if octets[group] != 0:
            for j in range(8 * group, 8 * group + 8):
                if flags[j] and m < MAX_NEIGHBOURS:
                    for k in range(7):
                        near[k, m] = points[k, j]
                    m += 1
    for k in range(7):
        near[k, m] = points[k, p]
    return m


@njit(cache=True, nogil=True, error_model="numpy")
def _count_common(rows, a, b, words):
    """Number of bits that two rows share."""
    total = np.uint64(0)
    for k in range(words):
        v = rows[a, k] & rows[b, k]
        v = v - ((v >> np.uint64(1)) & np.uint64(0x5555555555555555))
        v = (v & np.uint64(0x3333333333333333)) + ((v >> np.uint64(2)) & np.uint64(0x3333333333333333))
        v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += (v * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int64(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _adjacency(near, m, tolerance, flags, octets, bits, degree):
    """Bit rows of the neighbours' consistency with one another, and their degrees."""
    rows = (near[0], near[1], near[2], near[3], near[4], near[5], near[6])
    words = (m + 63) // 64
    for j in range(m):
        # With whatever lies behind them: loops over whole words have no remainder.
        _consistent(rows, near, j, words * 64, tolerance, near.dtype.type(np.inf), flags)
        for k in range(m, words * 64):
            flags[k] = 0
        for k in range(words):
            word = np.uint64(0)
            for b in range(8):  # eight 0/1 bytes to eight bits by one multiplication
                part = (octets[8 * k + b] * np.uint64(0x0102040810204080)) >> np.uint64(56)
                word |= part << np.uint64(8 * b)
            bits[j, k] = word
        degree[j] = _count_common(bits, j, j, words)


@njit(cache=True, nogil=True, error_model="numpy")
def _choose_seeds(bits, degree, m, floor, seeds):
    """Write (seed, partner, common neighbours) for the neighbours of highest degree; how many."""
    words = (m + 63) // 64
    found = 0
    for _ in range(SEEDS):
        seed = m - 1  # from a literal 0 all it is passed to would be compiled twice
        for j in range(m - 2, -1, -1):
            if degree[j] >= degree[seed]:
                seed = j
        if degree[seed] < 1 or degree[seed] + 2 < floor:
            break
        degree[seed] = -1
        partner, support = -1, -1
        for j in range(m):
            if (bits[seed, j >> 6] >> np.uint64(j & 63)) & np.uint64(1):
                common = _count_common(bits, seed, j, words)
                if common > support:
                    partner, support = j, common
        seeds[found, 0], seeds[found, 1], seeds[found, 2] = seed, partner, support
        found += 1
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _fit(near, use, m, pose):
    """Least-squares pose of the marked points; False when there are fewer than three."""
    mean = np.empty(6)
    for k in range(6):  # zeros of NumPy would take long to compile, here and below
        mean[k] = 0.0
    count = 0
    for j in range(m):
        if use[j]:
            count += 1
            for k in range(6):
                mean[k] += near[k, j]
    if count < 3:
        return False
    for k in range(6):
        mean[k] /= count
    c = np.empty((3, 3))
    for k in range(9):
        c[k // 3, k % 3] = 0.0
    for j in range(m):
        if use[j]:
            for k in range(9):
                c[k // 3, k % 3] += (near[3 + k // 3, j] - mean[3 + k // 3]) * (near[k % 3, j] - mean[k % 3])
    rotation_from_covariance(c, pose)
    for k in range(3):
        pose[9 + k] = mean[3 + k] - (pose[3 * k] * mean[0] + pose[3 * k + 1] * mean[1] + pose[3 * k + 2] * mean[2])
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _mark(near, m, pose, loss, factor, use):
    """Mark the points within factor·ξ of the pose; return what it saves, in caps, and on how many."""
    score = 0.0
    count = 0
    for j in range(m):
        square = 0.0
        absolute = 0.0
        for k in range(3):
            e = near[3 + k, j] - (
                pose[3 * k] * near[0, j] + pose[3 * k + 1] * near[1, j] + pose[3 * k + 2] * near[2, j] + pose[9 + k]
            )
            square += e * e
            absolute += abs(e)
        bound = near[6, j]
        use[j] = square <= factor * factor * bound * bound
        gain = 1.0 - (absolute / bound if loss == TEAR else square / (bound * bound))
        if gain > 0.0:
            score += gain
            count += 1
    return score, count


@njit(cache=True, nogil=True, error_model="numpy")
def _best_pose(near, m, bits, seeds, found, loss, floor, use, pose, best_pose):
    """Poses from the best-supported seeds; the best one's score and count (0, 0 if none)."""
    best_score, best_count = 0.0, 0
    for _ in range(min(found, POSES)):
        best = 0
        for k in range(1, found):
            if seeds[k, 2] > seeds[best, 2]:
                best = k
        seed, partner = seeds[best, 0], seeds[best, 1]
        if seeds[best, 2] < 0 or seeds[best, 2] + 3 < floor:
            break
        seeds[best, 2] = -1
        for j in range(m):
            word = bits[seed, j >> 6] & bits[partner, j >> 6]
            use[j] = (word >> np.uint64(j & 63)) & np.uint64(1)
        use[seed], use[partner], use[m] = 1, 1, 1
        for step in range(4):
            if not _fit(near, use, m + 1, pose):
                break
            score, count = _mark(near, m + 1, pose, loss, 2.5 - 0.5 * step, use)
            if step > 0 and count < 0.5 * floor:
                break
            if score > best_score:
                best_score, best_count = score, count
                for k in range(12):
                    best_pose[k] = pose[k]
    return best_score, best_count


class Aim(NamedTuple):
    """What the poses around pivots are sought for."""

    loss: int
    """Scores are savings of this loss in units of its cap (least squares for cm)."""
    tolerance: float
    """Lengths agree when they differ by at most tolerance·(ξ_i + ξ_j)."""
    reach: float
    """Neighbours farther than this from the pivot are left out."""
    prune: float
    """The floor rises to prune·(inliers of the best pose found)."""


@njit(cache=True, nogil=True, error_model="numpy")
def search_pivots(points, aim, first, last, floor, poses, scores):
    """Best pose around each pivot first..last−1 of a sample in random order.

    Parameters
    ----------
    points : 7×n float32 or float64, rows x, y, z of the source, x, y, z of the target, noise bound; 8 divides n
    aim : Aim
    first, last : range of pivots
    floor : support a pose needs to be looked at
    poses : (last − first)×12 float64, rotation and translation per pivot, written
    scores : last − first float64, written; 0 where nothing reached the floor

    Returns
    -------
    floor : as it rose
    """
    f = points.dtype.type
    size = MAX_NEIGHBOURS + 64
    near = np.empty((7, size), dtype=points.dtype)
    flags = np.empty(max(size, points.shape[1]), dtype=np.uint8)
    octets = flags.view(np.uint64)
    bits = np.empty((MAX_NEIGHBOURS, MAX_NEIGHBOURS // 64), dtype=np.uint64)
    degree = np.empty(MAX_NEIGHBOURS, dtype=np.int64)
    use = np.empty(size, dtype=np.uint8)
    seeds = np.empty((SEEDS, 3), dtype=np.int64)
    pose = np.empty(12)
    tolerance, two_squares = f(aim.tolerance), f(2.0 * aim.reach * aim.reach)
    for p in range(first, last):
        scores[p - first] = 0.0
        m = _neighbours(points, p, tolerance, two_squares, flags, octets[: points.shape[1] // 8], near)
        if m < 2 or m + 1 < floor:
            continue
        _adjacency(near, m, tolerance, flags, octets, bits, degree)
        found = _choose_seeds(bits, degree, m, floor, seeds)
        score, count = _best_pose(near, m, bits, seeds, found, aim.loss, floor, use, pose, poses[p - first])
        scores[p - first] = score
        floor = max(floor, aim.prune * count)
    return floor
