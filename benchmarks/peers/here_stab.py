"""Interval stabbing on a circle: the angle that lies in most of the given arcs, by one sweep over their sorted ends."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def wrapped(angle, period):
    """The angle in [0, period)."""
    angle -= period * math.floor(angle / period)
    return angle if angle < period else 0.0


@njit(cache=True, nogil=True)
def inside(start, end, angle):
    """Whether a closed arc, which passes 0 if it ends before it starts, contains the angle."""
    if start <= end:
        return start <= angle <= end
    return angle >= start or angle <= end


@njit(cache=True, nogil=True)
def stab(starts, ends):
    """An angle in most arcs, and in how many it lies.

    Both ends of an arc are in [0, period]; one that ends before it starts passes 0.
    """
    count = 0
    for k in range(len(starts)):
        count += inside(starts[k], ends[k], 0.0)
    best, angle = count, 0.0
    opening, closing = np.sort(starts), np.sort(ends)
    j = 0
    # Arcs that start at 0, or pass it, are already counted.
    for k in range(len(opening)):
        if opening[k] <= 0.0:
            continue
        while j < len(closing) and closing[j] < opening[k]:
            count -= 1
            j += 1
        count += 1
        if count > best:
            best, angle = count, opening[k]
    return angle, best
