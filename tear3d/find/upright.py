"""Poses around pivots when the vertical is known: two pairs give the angle, the others vote for it.

A pivot and another pair agree when they are as far apart in the target as in the source, and as much higher. The turn
about the vertical is then the angle between their horizontal differences, known up to what the noise bounds leave; it
is voted for on a circle of bins. Where the rotation is known altogether, pairs agree when they are shifted alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.find.pivots import MAX_NEIGHBOURS, _fit, _mark

BINS = 256
"""Of the circle (free choice: 1.4 degrees)."""
FITS = 3
"""Fits to what agrees, each to what agreed with the one before (free choice)."""
WIDEST = 2.0
"""Pairs within so many noise bounds of a first pose are fitted to again, then within less (free choice)."""


class UprightAim(NamedTuple):
    """What the poses around pivots are sought for."""

    loss: int
    tolerance: float
    """Lengths and heights agree when they differ by at most tolerance·(ξ_i + ξ_j), heights ..."""
    lean: float
    """... and by so much of their distance: the vertical may be off."""
    prune: float
    """The floor rises to prune·(inliers of the best pose found)."""
    shifts: bool
    """Nothing is turned at all."""


@njit(cache=True, nogil=True, error_model="numpy")
def _agreeing(points, p, aim, flags):
    """flags[j] = 1 where pair j agrees with pivot p."""
    x0, x1, x2, y0, y1, y2 = points[0], points[1], points[2], points[3], points[4], points[5]
    xi = points[6]
    f = points.dtype.type
    tolerance, lean, two = f(aim.tolerance), f(aim.lean), f(2.0)
    px0, px1, px2, py0, py1, py2, own = x0[p], x1[p], x2[p], y0[p], y1[p], y2[p], xi[p]
    shifts = aim.shifts
    for j in range(points.shape[1]):
        u, v, w = x0[j] - px0, x1[j] - px1, x2[j] - px2
        q, r, s = y0[j] - py0, y1[j] - py1, y2[j] - py2
        c = tolerance * (xi[j] + own)
        a = u * u + v * v + w * w
        b = q * q + r * r + s * s
        if shifts:
            d0, d1, d2 = u - q, v - r, w - s
            flags[j] = d0 * d0 + d1 * d1 + d2 * d2 <= two * two * c * c
        else:
            high = s - w
            room = c + lean * np.sqrt(a)
            d = a - b
            c2 = c * c
            # As `_consistent` of pivots.py, and as much higher.
            flags[j] = (d * d <= c2 * (a + b + a + b - c2)) & (a > c2) & (high * high <= room * room)


@njit(cache=True, nogil=True, error_model="numpy")
def _collect(points, p, flags, near):
    """Copy the pairs that agree with pivot p, and p behind them; how many agree."""
    m = 0
    for j in range(points.shape[1]):
        if flags[j] and j != p and m < MAX_NEIGHBOURS:
            for k in range(7):
                near[k, m] = points[k, j]
            m += 1
    for k in range(7):
        near[k, m] = points[k, p]
    return m


@njit(cache=True, nogil=True, error_model="numpy")
def _vote(near, m, aim, circle, angles, widths):
    """The angle that most of the first m pairs allow; how many do."""
    for k in range(BINS + 1):
        circle[k] = 0
    scale = BINS / (2.0 * np.pi)
    for j in range(m):
        u, v = near[0, j] - near[0, m], near[1, j] - near[1, m]
        q, r = near[3, j] - near[3, m], near[4, j] - near[4, m]
        length = np.sqrt(u * u + v * v)
        c = 2.0 * aim.tolerance * (near[6, j] + near[6, m]) + aim.lean * length
        angles[j] = np.arctan2(u * r - v * q, u * q + v * r)
        widths[j] = np.arcsin(c / length) if length > c else -1.0  # too near to tell an angle
        if widths[j] < 0.0:
            continue
        first = int(np.floor((angles[j] - widths[j] + 3.0 * np.pi) * scale))
        last = int(np.floor((angles[j] + widths[j] + 3.0 * np.pi) * scale))
        for k in range(first, last + 1):
            circle[k % BINS] += 1
    best = 0
    for k in range(1, BINS):
        if circle[k] > circle[best]:
            best = k
    return (best + 0.5) / scale - 3.0 * np.pi, circle[best]


@njit(cache=True, nogil=True, error_model="numpy")
def _fit_upright(near, use, m, turns, pose):
    """Least-squares pose of the marked ones of m points that turns about the vertical, or not at all; False when there
    are none."""
    mean = np.empty(6)
    for k in range(6):
        mean[k] = 0.0
    count = 0
    for j in range(m):
        if use[j]:
            count += 1
            for k in range(6):
                mean[k] += near[k, j]
    if count == 0:
        return False
    for k in range(6):
        mean[k] /= count
    cosine, sine = 0.0, 0.0
    for j in range(m):
        if use[j]:
            u, v = near[0, j] - mean[0], near[1, j] - mean[1]
            q, r = near[3, j] - mean[3], near[4, j] - mean[4]
            cosine += u * q + v * r
            sine += u * r - v * q
    length = np.sqrt(cosine * cosine + sine * sine)
    if not turns or not length > 0.0:
        cosine, sine, length = 1.0, 0.0, 1.0
    c, s = cosine / length, sine / length
    for k in range(9):
        pose[k] = 0.0
    pose[0], pose[1], pose[3], pose[4], pose[8] = c, -s, s, c, 1.0
    for k in range(3):
        pose[9 + k] = mean[3 + k] - (pose[3 * k] * mean[0] + pose[3 * k + 1] * mean[1] + pose[3 * k + 2] * mean[2])
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def search_upright(points, aim, first, last, floor, poses, scores):
    """Best pose around each pivot first..last−1 of a sample in random order, whose third coordinates are heights.

    Parameters
    ----------
    points : 7×n float32 or float64, rows x, y, z of the source, x, y, z of the target, noise bound
    aim : UprightAim
    first, last : range of pivots
    floor : support a pose needs to be looked at
    poses : (last − first)×12 float64, rotation and translation per pivot, written
    scores : last − first float64, written; 0 where nothing reached the floor

    Returns
    -------
    floor : as it rose
    """
    near = np.empty((7, MAX_NEIGHBOURS + 1), dtype=points.dtype)
    flags = np.empty(points.shape[1], dtype=np.uint8)
    use = np.empty(MAX_NEIGHBOURS + 1, dtype=np.uint8)
    circle = np.empty(BINS + 1, dtype=np.int64)
    angles, widths = np.empty(MAX_NEIGHBOURS), np.empty(MAX_NEIGHBOURS)
    pose = np.empty(12)
    for p in range(first, last):
        scores[p - first] = 0.0
        _agreeing(points, p, aim, flags)
        m = _collect(points, p, flags, near)
        if m + 1 < floor:
            continue
        for j in range(m + 1):
            use[j] = 1
        if not aim.shifts:
            angle, support = _vote(near, m, aim, circle, angles, widths)
            if support + 1 < floor:
                continue
            for j in range(m):
                off = abs((angles[j] - angle + 5.0 * np.pi) % (2.0 * np.pi) - np.pi)
                use[j] = widths[j] < 0.0 or off <= widths[j] + 2.0 * np.pi / BINS
        for step in range(FITS):
            if aim.lean > 0.0 and not aim.shifts:
                if not _fit(near, use, m + 1, pose):
                    break
            elif not _fit_upright(near, use, m + 1, not aim.shifts, pose):
                break
            score, count = _mark(near, m + 1, pose, aim.loss, WIDEST - 0.5 * step, use)
            if score > scores[p - first]:
                scores[p - first] = score
                for k in range(12):
                    poses[p - first, k] = pose[k]
                floor = max(floor, aim.prune * count)
    return floor
