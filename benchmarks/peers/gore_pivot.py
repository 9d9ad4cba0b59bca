"""What GORE counts once two pairs are taken for right: an angle is left, and every other pair allows an arc of it.

With k right, u = x - x_k and v = y - y_k obey |R u - v| ≤ 2ξ: the angle between R u and v is at most φ, from the two
lengths. With j right as well, R = Q R(θ): R(θ) turns u_j onto v_j exactly, θ is free, and Q moves no direction by more
than φ_j. Pair i then needs the angle between R(θ) u_i and v_i to be at most φ_i + φ_j, which is an arc of θ.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BINS = 256
"""Parts of the circle for a first count, without sorting."""
TURN = 2.0 * np.pi


@njit(cache=True, nogil=True)
def widest(a, b, bound):
    """Cosine of the largest angle between vectors of lengths a and b whose ends are within the bound."""
    return max((a * a + b * b - bound * bound) / (2.0 * a * b), -1.0)


@njit(cache=True, nogil=True)
def frame(axis):
    """Two directions that make a right-handed frame with a unit vector: rows e, f, axis."""
    rows = np.empty((3, 3))
    rows[2] = axis
    least = 0
    for c in range(1, 3):
        if abs(axis[c]) < abs(axis[least]):
            least = c
    helper = np.zeros(3)
    helper[least] = 1.0
    rows[0] = helper - axis[least] * axis
    rows[0] /= np.sqrt((rows[0] ** 2).sum())
    rows[1] = np.cross(axis, rows[0])
    return rows


@njit(cache=True, nogil=True)
def turned(from_frame, to_frame, angle):
    """The rotation between two frames, turned by an angle about their common axis."""
    c, s = np.cos(angle), np.sin(angle)
    about = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return to_frame.T @ about @ from_frame


@njit(cache=True, nogil=True)
def arcs(u, v, limit, n, j, starts, ends, source_frame, target_frame):
    """The arcs of all pairs but j, from directions u, v and cosines of φ: how many, and how many full circles."""
    count, always = 0, 0
    limit_j = limit[j]
    sine_j = np.sqrt(max(1.0 - limit_j * limit_j, 0.0))
    e, f, p = source_frame[0], source_frame[1], source_frame[2]
    g, h, q = target_frame[0], target_frame[1], target_frame[2]
    for i in range(n):
        if i == j:
            continue
        across = u[i, 0] * p[0] + u[i, 1] * p[1] + u[i, 2] * p[2]
        along = v[i, 0] * q[0] + v[i, 1] * q[1] + v[i, 2] * q[2]
        # φ_i + φ_j beyond half a turn excludes nothing
        if limit[i] + limit_j <= 0.0:
            always += 1
            continue
        both = limit[i] * limit_j - np.sqrt(max(1.0 - limit[i] * limit[i], 0.0)) * sine_j
        lack = both - across * along
        room = np.sqrt(max((1.0 - across * across) * (1.0 - along * along), 0.0))
        if lack > room:
            continue
        if lack <= -room:
            always += 1
            continue
        a = u[i, 0] * e[0] + u[i, 1] * e[1] + u[i, 2] * e[2]
        b = u[i, 0] * f[0] + u[i, 1] * f[1] + u[i, 2] * f[2]
        c = v[i, 0] * g[0] + v[i, 1] * g[1] + v[i, 2] * g[2]
        d = v[i, 0] * h[0] + v[i, 1] * h[1] + v[i, 2] * h[2]
        starts[count] = np.arctan2(a * d - b * c, a * c + b * d)
        ends[count] = lack / room
        count += 1
    return count, always


@njit(cache=True, nogil=True)
def binned(starts, ends, count, bins):
    """At least the number of arcs that share an angle. Arcs begin in [0, 2π) and end before 4π."""
    bins[:] = 0
    scale = BINS / TURN
    for i in range(count):
        first, last = int(starts[i] * scale), int(ends[i] * scale)
        bins[min(first, BINS - 1)] += 1
        if last >= BINS:
            bins[0] += 1
            bins[min(last - BINS + 1, BINS)] -= 1
        else:
            bins[last + 1] -= 1
    most, now = 0, 0
    for b in range(BINS):
        now += bins[b]
        most = max(most, now)
    return most


@njit(cache=True, nogil=True)
def stabbed(starts, ends, count):
    """The most arcs that share an angle, and that angle: interval stabbing."""
    begin = np.sort(starts[:count])
    wraps = 0
    end = np.empty(count)
    for i in range(count):
        over = ends[i] >= TURN
        wraps += over
        end[i] = ends[i] - TURN if over else ends[i]
    end.sort()
    most, angle, now, e = wraps, 0.0, wraps, 0
    for s in range(count):
        while end[e] < begin[s] if e < count else False:
            e += 1
            now -= 1
        now += 1
        if now > most:
            most, angle = now, 0.5 * (begin[s] + (end[e] if e < count else TURN))
    return most, angle


@njit(cache=True, nogil=True)
def pivot(u, v, limit, n, j, wanted, starts, ends, bins):
    """With pair j right: at most how many of all are, and the best rotation; no rotation if fewer than wanted."""
    source_frame, target_frame = frame(u[j]), frame(v[j])
    count, always = arcs(u, v, limit, n, j, starts, ends, source_frame, target_frame)
    most = 1 + always + count
    nothing = np.empty((0, 3))
    if most < wanted:
        return most, nothing
    for i in range(count):
        half = np.arccos(min(max(ends[i], -1.0), 1.0))
        begin = (starts[i] - half) % TURN
        starts[i], ends[i] = begin, begin + 2.0 * half
    most = 1 + always + binned(starts, ends, count, bins)
    if most < wanted:
        return most, nothing
    shared, angle = stabbed(starts, ends, count)
    if 1 + always + shared < wanted:
        return 1 + always + shared, nothing
    return 1 + always + shared, turned(source_frame, target_frame, angle)
