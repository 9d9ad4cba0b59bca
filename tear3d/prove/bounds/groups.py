"""Pairs that lie close together in the source move together (mathematics.md, section 7.5).

While R runs through a cell, R (x − c) is known better than R x when c is near x, and R c is the same for all pairs
around c. So each group of pairs votes on a grid of its own, for z = t + R c − R_c c with small boxes, and what it can
save at a translation t is the largest count at any z that belongs to t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

MANY = 150_000
"""From so many pairs on they are sorted into groups, ..."""
PER_GROUP, MOST_DEPTH = 20_000, 6
"""... halved until there are fewer than this in one, but not more often than that (free choices, part of no bound)."""
SAMPLE = 20_000
"""The tree is made of about so many."""
NUDGE = 1e-6
"""Covers the rounding of a quotient that is rounded up, in voxels; what a group moves by is rounded itself, which the
margin of a place covers (section 7.5)."""
TOO_FAR = 1e5
"""No grid has so many voxels; more are not counted, so that integers hold them."""


class Groups(NamedTuple):
    """Group k are the voters from starts[k] to starts[k + 1]."""

    starts: NDArray[np.int64]
    centres: FloatArray
    """float32 numbers, as rows."""
    radius: float
    """Typical |x − c|: part of no bound."""


def no_groups(n: int) -> Groups:
    """All pairs in one group, which is about the origin."""
    return Groups(np.array([0, n]), np.zeros((1, 3)), 0.0)


def depth_for(n: int) -> int:
    """How often so many pairs are halved."""
    return 0 if n < MANY else min(MOST_DEPTH, max(1, int(np.log2(n / PER_GROUP))))


def tree_of(points: FloatArray, depth: int) -> FloatArray:
    """(axis, place) of every cut of a k-d tree that halves points (N×3) where they are longest; the children of node k
    are 2k + 1 and 2k + 2."""
    tree = np.zeros((2**depth - 1, 2))
    inside = [points]
    for node in range(len(tree)):
        part = inside[node]
        axis = int(np.argmax(part.std(axis=0))) if len(part) else 0
        place = float(np.median(part[:, axis])) if len(part) else 0.0
        tree[node] = axis, place
        below = part[:, axis] < place
        inside += [part[below], part[~below]]
    return tree


@njit(cache=True, nogil=True)
def find_leaves(points, tree, leaves, counts):
    """The leaf of a k-d tree in which each point (N×3) lies, and how many each has."""
    for i in range(points.shape[0]):
        node = 0
        while node < tree.shape[0]:
            below = points[i, int(tree[node, 0])] < tree[node, 1]
            node = 2 * node + (1 if below else 2)
        leaves[i] = node - tree.shape[0]
        counts[node - tree.shape[0]] += 1


@njit(cache=True, nogil=True, inline="always")
def moves(frame, centre):
    """What R c less its middle can be over a cell, coordinate by coordinate: least (3) and largest (3)."""
    c0, c1, c2 = centre
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = frame.rotation
    q0, q1, q2 = (
        r00 * c0 + r01 * c1 + r02 * c2,
        r10 * c0 + r11 * c1 + r12 * c2,
        r20 * c0 + r21 * c1 + r22 * c2,
    )
    length = np.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    e0 = e1 = e2 = frame.bend * length
    for j in range(3):
        h = frame.half[j] * frame.stretch
        u0, u1, u2 = frame.axes[3 * j], frame.axes[3 * j + 1], frame.axes[3 * j + 2]
        e0 += h * abs(u1 * q2 - u2 * q1)
        e1 += h * abs(u2 * q0 - u0 * q2)
        e2 += h * abs(u0 * q1 - u1 * q0)
    return (
        (max(-e0, -length - q0), max(-e1, -length - q1), max(-e2, -length - q2)),
        (min(e0, length - q0), min(e1, length - q1), min(e2, length - q2)),
    )


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _voxels(length, size):
    return int(np.ceil(min(TOO_FAR, max(0.0, length) / size + NUDGE)))


@njit(cache=True, nogil=True, inline="always")
def margins(least, largest, size):
    """How many voxels before and behind that of t the z of a group can lie in."""
    before = _voxels(-least[0], size[0]), _voxels(-least[1], size[1]), _voxels(-least[2], size[2])
    behind = _voxels(largest[0], size[0]), _voxels(largest[1], size[1]), _voxels(largest[2], size[2])
    return before, behind


@njit(cache=True, nogil=True, inline="always")
def _wider(source, target, count, offset):
    """target[k] = max(source[k], source[k + offset])."""
    ahead = source[offset:count]
    for k in range(count - offset):
        target[k] = source[k] if source[k] > ahead[k] else ahead[k]
    for k in range(count - offset, count):  # the copy of a slice would take seconds to compile
        target[k] = source[k]


@njit(cache=True, nogil=True)
def largest_around(values, spare, count, stride, window):
    """The largest of every value and the window − 1 that follow it at a stride; returns the array that holds it, and
    the other one."""
    reached = 1
    while reached < window:
        step = min(reached, window - reached)
        _wider(values, spare, count, step * stride)
        values, spare = spare, values
        reached += step
    return values, spare


@njit(cache=True, nogil=True)
def add_to(total, shape, row, values, wide_shape, wide_row):
    """Add the corner of a wider grid to a grid, both with a margin of one."""
    for i in range(shape[0]):
        for j in range(shape[1]):
            a = (i * (shape[1] + 1) + j) * row
            b = (i * (wide_shape[1] + 1) + j) * wide_row
            into, more = total[a : a + shape[2]], values[b : b + shape[2]]
            for k in range(shape[2]):
                into[k] += more[k]
