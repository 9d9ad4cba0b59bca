"""HERE's first stage: the translation that keeps one pair, on the sphere of those that keep the sample's length.

Rotations do not change lengths: |y - t| = |x|. With the sample exact, t lies on the sphere around its y with radius
|x|; every other right pair asks t to lie in a shell. The height t₃ is searched by branch and bound; at one height the
sphere is a circle, a shell leaves at most two arcs of it, and stabbing these gives the best angle.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numba import njit

from benchmarks.peers.here_stab import inside, stab, wrapped

TURN = 2.0 * math.pi


@njit(cache=True, nogil=True)
def arcs(centre, radius, height, y, lengths, width):
    """The arcs that shells of the lengths ± width around the points y leave on the sphere's circle at a height.

    Two rows per point: starts and ends; unused rows are NaN.
    """
    starts, ends = np.full(2 * len(y), np.nan), np.full(2 * len(y), np.nan)
    own = max(radius * radius - (height - centre[2]) ** 2, 0.0)
    r = math.sqrt(own)
    for i in range(len(y)):
        a, b, h = y[i, 0] - centre[0], y[i, 1] - centre[1], y[i, 2] - height
        outer = (lengths[i] + width) ** 2 - h * h
        inner = max(lengths[i] - width, 0.0) ** 2 - h * h
        square = a * a + b * b
        # Squared distances from y to points of the circle: square + own - 2 r √square cos(φ - ω), in [inner, outer].
        low, high, scale = square + own - outer, square + own - inner, 2.0 * r * math.sqrt(square)
        if low > scale or high < -scale:
            continue
        towards = math.atan2(b, a)
        nearest = 0.0 if high >= scale else math.acos(high / scale)
        farthest = math.pi if low <= -scale else math.acos(low / scale)
        if nearest == 0.0 and farthest == math.pi:
            starts[2 * i], ends[2 * i] = 0.0, TURN
        elif nearest == 0.0:
            starts[2 * i], ends[2 * i] = wrapped(towards - farthest, TURN), wrapped(towards + farthest, TURN)
        elif farthest == math.pi:
            starts[2 * i], ends[2 * i] = wrapped(towards + nearest, TURN), wrapped(towards - nearest, TURN)
        else:
            starts[2 * i], ends[2 * i] = wrapped(towards + nearest, TURN), wrapped(towards + farthest, TURN)
            starts[2 * i + 1], ends[2 * i + 1] = wrapped(towards - farthest, TURN), wrapped(towards - nearest, TURN)
    return starts, ends


@njit(cache=True, nogil=True)
def best_angle(centre, radius, height, y, lengths, width):
    """The angle on the circle at a height that lies in most shells, and in how many."""
    starts, ends = arcs(centre, radius, height, y, lengths, width)
    used = ~np.isnan(starts)
    return stab(starts[used], ends[used])


@njit(cache=True, nogil=True)
def latitude(centre, radius, height):
    return math.asin(min(max((height - centre[2]) / radius, -1.0), 1.0))


@njit(cache=True, nogil=True)
def upper_bound(centre, radius, low, high, y, lengths, width):
    """No point of the sphere between two heights is in more shells: all are within a chord of the middle circle."""
    middle = latitude(centre, radius, 0.5 * (low + high))
    span = max(latitude(centre, radius, high) - middle, middle - latitude(centre, radius, low))
    chord = 2.0 * radius * math.sin(0.5 * span)
    return best_angle(centre, radius, 0.5 * (low + high), y, lengths, width + chord)[1]


@njit(cache=True, nogil=True)
def point(centre, radius, height, angle):
    """The point of the sphere at a height and an angle."""
    r = math.sqrt(max(radius * radius - (height - centre[2]) ** 2, 0.0))
    return np.array([centre[0] + r * math.cos(angle), centre[1] + r * math.sin(angle), height])


@njit(cache=True, nogil=True)
def search(centre, radius, y, lengths, width, accuracy):
    """Best-first search for the point of the sphere in most shells, heights halved down to ± accuracy.

    Returns the point and which shells contain it.
    """
    low, high = centre[2] - radius, centre[2] + radius
    best, best_height, best_phi = 0, centre[2], 0.0
    heap = [(-upper_bound(centre, radius, low, high, y, lengths, width), low, high)]
    while len(heap) > 0:
        bound, low, high = heapq.heappop(heap)
        if -bound <= best:
            break
        middle = 0.5 * (low + high)
        angle, count = best_angle(centre, radius, middle, y, lengths, width)
        if count > best:
            best, best_height, best_phi = count, middle, angle
        if 0.5 * (high - low) <= accuracy:
            continue
        for a, b in ((low, middle), (middle, high)):
            bound = upper_bound(centre, radius, a, b, y, lengths, width)
            if bound > best:
                heapq.heappush(heap, (-bound, a, b))
    starts, ends = arcs(centre, radius, best_height, y, lengths, width)
    kept = np.zeros(len(y), dtype=np.bool_)
    for i in range(len(y)):
        kept[i] = inside(starts[2 * i], ends[2 * i], best_phi) or inside(starts[2 * i + 1], ends[2 * i + 1], best_phi)
    return point(centre, radius, best_height, best_phi), kept
