"""The rotation search of one of GORE's subproblems: outliers are removed by pivots, then branch and bound decides."""

from __future__ import annotations

import numpy as np
from numba import njit

from benchmarks.peers.gore_pivot import BINS, pivot, widest

MOST_CUBES = 4_000
"""Cubes of rotations looked at before a subproblem is left undecided, which keeps its pair."""


@njit(cache=True, nogil=True)
def around(x, y, alive, k, bound):
    """Differences to pair k of the pairs that may be right if it is, and how many others are too near to tell."""
    n, near = len(x), 0
    u, v = np.empty((n, 3)), np.empty((n, 3))
    m = 0
    for i in range(n):
        if not alive[i] or i == k:
            continue
        a = b = 0.0
        for c in range(3):
            u[m, c], v[m, c] = x[i, c] - x[k, c], y[i, c] - y[k, c]
            a += u[m, c] ** 2
            b += v[m, c] ** 2
        a, b = np.sqrt(a), np.sqrt(b)
        if a + b <= bound:
            near += 1
        elif abs(a - b) <= bound:
            m += 1
    return u[:m], v[:m], near


@njit(cache=True, nogil=True)
def directions(u, v, bound):
    """Unit vectors, and the cosine of how far from each other they may be."""
    m = len(u)
    p, q, limit = np.empty((m, 3)), np.empty((m, 3)), np.empty(m)
    for i in range(m):
        a, b = np.sqrt((u[i] ** 2).sum()), np.sqrt((v[i] ** 2).sum())
        p[i], q[i] = u[i] / a, v[i] / b
        limit[i] = min(widest(a, b, bound), 1.0)
    return p, q, limit


@njit(cache=True, nogil=True)
def off(rotation, u, v):
    """Square of what is left between a difference that is turned and its match."""
    square = 0.0
    for c in range(3):
        square += (rotation[c, 0] * u[0] + rotation[c, 1] * u[1] + rotation[c, 2] * u[2] - v[c]) ** 2
    return square


@njit(cache=True, nogil=True)
def agreeing(rotation, u, v, m, bound):
    """How many of the first m differences a rotation brings within a bound."""
    count = 0
    for i in range(m):
        count += off(rotation, u[i], v[i]) <= bound * bound
    return count


@njit(cache=True, nogil=True)
def removal(u, v, near, wanted, bound, enough):
    """GORE for rotations: at most how many pairs agree with pair k, itself counted; stops once fewer than wanted.

    Also stops once a rotation brings `enough` within the bound. Returns the upper bound, the differences left, the
    rotation that brings most of them within the bound, how many that are, and the number of arcs that were made.
    """
    u, v = u.copy(), v.copy()
    m, fixed = len(u), 1 + near
    p, q, limit = directions(u, v, bound)
    starts, ends, bins = np.empty(m), np.empty(m), np.empty(BINS + 1, np.int64)
    tested = np.zeros(m, np.bool_)
    best, within, made = np.eye(3), 0, 0
    changed = True
    while changed and fixed + m >= wanted:
        changed = False
        tested[:m] = False
        most, j = 0, 0
        while j < m and fixed + m >= wanted and fixed + within < enough:
            if tested[j]:
                j += 1
                continue
            top, rotation = pivot(p, q, limit, m, j, wanted - fixed, starts, ends, bins)
            made += m
            if fixed + top < wanted:
                m -= 1
                u[j], v[j], p[j], q[j], limit[j], tested[j] = u[m], v[m], p[m], q[m], limit[m], tested[m]
                changed = True
                continue
            if top > most:
                most = top
                count = agreeing(rotation, u, v, m, bound)
                if count > within:
                    best, within = rotation, count
                    for i in range(j + 1, m):
                        # What a rotation as good as that explains is not going to be removed.
                        tested[i] = tested[i] or off(rotation, u[i], v[i]) <= bound * bound
            j += 1
        changed = changed and fixed + within < enough
    return fixed + m, u[:m], v[:m], best, fixed + within, made


@njit(cache=True, nogil=True)
def from_axis_angle(r):
    angle = np.sqrt((r**2).sum())
    if angle < 1e-12:
        return np.eye(3)
    a = r / angle
    skew = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * (skew @ skew)


@njit(cache=True, nogil=True)
def reachable(u, v, near, wanted, bound):
    """Whether some rotation may bring as many as wanted within the bound: branch and bound over axis times angle.

    Within a cube of half side h no rotation is further than √3 h from that of the centre (Hartley and Kahl, IJCV 2009).
    Returns the number of cubes as well.
    """
    m, need = len(u), wanted - 1 - near
    if need <= 0:
        return True, 0
    lengths = np.sqrt((u**2).sum(axis=1))
    stack = np.zeros((7 * 64 + 8, 4))
    stack[0, 3] = np.pi
    top, cubes = 1, 0
    while top > 0:
        top -= 1
        centre, half = stack[top, :3].copy(), stack[top, 3]
        if np.sqrt((np.maximum(np.abs(centre) - half, 0.0) ** 2).sum()) > np.pi:
            continue
        cubes += 1
        if cubes > MOST_CUBES:
            return True, cubes
        rotation = from_axis_angle(centre)
        reach = 2.0 * np.sin(0.5 * min(np.sqrt(3.0) * half, np.pi))
        certain, possible = 0, 0
        for i in range(m):
            if possible + m - i < need:
                break
            square = off(rotation, u[i], v[i])
            certain += square <= bound * bound
            possible += square <= (bound + reach * lengths[i]) ** 2
        if certain >= need:
            return True, cubes
        if possible < need:
            continue
        for corner in range(8):
            for c in range(3):
                stack[top, c] = centre[c] + (half if corner >> c & 1 else -half) * 0.5
            stack[top, 3] = 0.5 * half
            top += 1
    return False, cubes
