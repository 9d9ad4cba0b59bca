"""The compiled search below one box of poses: depth first, in slices, without the interpreter lock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.prove.bounds.slopes import Points, Shifts, slope_bound
from tear3d.prove.domains.rotations import UP, cell_frame
from tear3d.prove.pose.nodes import BOXES, FACE, HIGH, LOW, NEAR, NODE
from tear3d.prove.pose.zones import is_elsewhere, is_near, saving_at, thresholds
from tear3d.prove.stage import BOUND, PHASE

STACK = 512
"""Boxes of a stack, two of which are taken at a split: deeper than any search goes (a box is given up as it is
when the stack is full)."""
SEGMENTS = 48
COPY_BELOW = 0.7
"""The points that still matter are copied out when they are fewer than this share of those looked at, so many times at
most (0.7⁴⁸ is 4·10⁻⁸). Free choices, part of no bound, as are ..."""
AGAIN = 0.5
"""... the share of a box that must be cut off for it to be bounded again before it is split, ..."""
KEEP_WHOLE = 0.17
"""... how far from the incumbent, in widths, a box that holds it is cut, ..."""
BASE = 0.1
"""... and how much the plain size of a side counts, against what it costs the bound now, when one is halved."""
SMALLEST = 1e-9
"""Boxes whose largest side moves points by less than this share of the noise bound are not split: what they can save
differs by less than the gap anyone asks for, and float64 has digits left (free choice, their bounds are kept)."""
BOX_COST = 100
"""What a box costs however few its points are, in visits of points: some 1.5 µs where a visit takes 15 ns."""
WIDER = 1.0 + 2.0**-48
"""Covers four relative roundings of the width that is left of a box, and ..."""
EDGE = 2.0**-50
"""... its edges, at most 4 units of 2⁻⁵³ of their size; twice that (mathematics.md, section 8.6)."""
TINY = 1e-300
"""Keeps divisions by the sides of an empty box finite."""


class State(NamedTuple):
    """How far a subtree has got."""

    top: int
    """Boxes on the stack."""
    cells: int
    """Boxes visited."""
    saving: float
    """The best known."""
    far: float
    """The best known elsewhere."""
    closed: float
    """The largest bound of what was closed."""
    far_closed: float
    """The same without the boxes near the incumbent."""
    found: bool
    far_found: bool
    """Whether the best known were met here; they are in `Scratch.best` then."""


class Scratch(NamedTuple):
    """Work space of one thread."""

    nodes: FloatArray
    segment: NDArray[np.int64]
    """The stack: boxes, and the segments of the points that matter in them."""
    best: FloatArray
    """(face, g, t) of the best saving found, and of the best elsewhere."""
    points: Points
    arena: Points
    """The points of the subtree, and copies of those that still matter, one segment after the other."""
    segments: NDArray[np.int64]
    """(start, stop) of each segment; segment 0 is `points`."""
    matters: NDArray[np.uint8]


def _points(room: int) -> Points:
    return Points(np.empty((3, room)), np.empty((3, room)), np.empty(room), np.empty(room), np.empty(room))


def _marks(n: int) -> NDArray[np.uint8]:
    """A byte a point, with nothing near it: the compiled sums of `slope_bound` run in another order, and end in other
    last digits, when what they write may overlap what they read, which is tested as if bytes took eight each."""
    apart = 8 * n + 4096
    return np.zeros(n + 2 * apart, np.uint8)[apart : apart + n]


def make_scratch(n: int) -> Scratch:
    """Work space for n points, with room for copies of half as many again and a few (free choice)."""
    return Scratch(
        np.empty((STACK, NODE)),
        np.zeros(STACK, np.int64),
        np.zeros((2, 7)),
        _points(n),
        _points(n + n // 2 + 1024),
        np.zeros((SEGMENTS, 2), np.int64),
        _marks(n),
    )


@njit(cache=True, nogil=True)
def _copy(points, span, segment, found, scratch):
    """Copy the points that matter behind the segment; False when there is no room."""
    arena, matters = scratch.arena, scratch.matters
    target = scratch.segments[segment, 1] if segment > 0 else 0
    if target + found > arena.norm.size:
        return False
    k = target
    for i in range(span[0], span[1]):
        if matters[i - span[0]]:
            for row in range(3):
                arena.x[row, k] = points.x[row, i]
                arena.y[row, k] = points.y[row, i]
            arena.norm[k] = points.norm[i]
            arena.xi[k] = points.xi[i]
            arena.w[k] = points.w[i]
            k += 1
    scratch.segments[segment + 1, 0] = target
    scratch.segments[segment + 1, 1] = target + found
    return True


@njit(cache=True, nogil=True)
def shrink(node, half, slopes, bound, threshold):
    """Cut off the sides of the box where the affine bound does not beat `threshold`; returns the share that is left."""
    left = 1.0
    for j in range(6):
        slope = slopes[j]
        if abs(slope) * 2.0 * half[j] <= bound - threshold:
            continue
        low, high = node[LOW + j], node[HIGH + j]
        width = (bound - threshold) / abs(slope) * WIDER + EDGE * (abs(low) + abs(high))
        # r = z − a·(u×p) − b: a positive sum means that the saving grows with a (and b).
        if slope > 0.0:
            node[LOW + j] = max(low, high - width)
        else:
            node[HIGH + j] = min(high, low + width)
        left *= min(1.0, 0.5 * width / half[j])
    return left


@njit(cache=True, nogil=True)
def _halve(node, other, side):
    """Cut a side in two: `node` keeps the lower part, `other` gets the upper. A box that holds the incumbent (face 0,
    all zeros) is not cut through it, which would leave it to both halves."""
    cut = 0.5 * (node[LOW + side] + node[HIGH + side])
    width = node[HIGH + side] - node[LOW + side]
    if node[FACE] == 0.0 and abs(cut) < KEEP_WHOLE * width:
        cut += KEEP_WHOLE * width if cut > 0.0 else -KEEP_WHOLE * width
    other[:] = node
    other[LOW + side] = cut
    node[HIGH + side] = cut


@njit(cache=True, nogil=True, error_model="numpy")
def search_boxes(setting, state, scratch, budget, cells):
    """Work off the stack until it is empty, about `budget` point visits are spent or `cells` boxes visited in all."""
    nodes = scratch.nodes
    top, seen, best, far, closed, far_closed, better, far_better = state
    middle, toward, half = np.empty(6), np.empty(6), np.empty(6)
    visits = 0
    while top > 0 and visits < budget and seen < cells:
        node = nodes[top - 1]
        near = is_near(node, setting.farthest, setting.zone)
        node[PHASE] = NEAR if near else BOXES
        limits = thresholds(best, far, setting.slacks)
        threshold = limits[0] if near else limits[1]
        if node[BOUND] <= threshold:
            closed = max(closed, node[BOUND])
            far_closed = far_closed if near else max(far_closed, node[BOUND])
            top -= 1
            continue
        face = int(node[FACE])
        frame = cell_frame(
            face, (node[LOW], node[LOW + 1], node[LOW + 2]), (node[HIGH], node[HIGH + 1], node[HIGH + 2])
        )
        for j in range(6):
            low, high = node[LOW + j], node[HIGH + j]
            middle[j] = 0.5 * (low + high)
            half[j] = 0.5 * (high - low) * UP + TINY
            toward[j] = min(max(0.0, low), high) - middle[j] if near else 0.0
        half[0], half[1], half[2] = frame.half
        shifts = Shifts((middle[3], middle[4], middle[5]), (half[3], half[4], half[5]))
        tight = (toward[0], toward[1], toward[2], toward[3], toward[4], toward[5])
        segment = scratch.segment[top - 1]
        source = scratch.points if segment == 0 else scratch.arena
        span = (scratch.segments[segment, 0], scratch.segments[segment, 1])
        affine = slope_bound(source, span, frame, shifts, tight, (setting.loss, setting.eps), scratch.matters)
        seen += 1
        visits += span[1] - span[0] + BOX_COST
        if affine.centre > best or (not near and affine.centre > far):
            value = saving_at(source, span, setting.loss, face, middle)
            if value > best:
                best, better = value, True
                scratch.best[0, 0] = face
                scratch.best[0, 1:] = middle
            if value > far and is_elsewhere(face, middle, setting.tips, setting.elsewhere):
                far, far_better = value, True
                scratch.best[1, 0] = face
                scratch.best[1, 1:] = middle
            limits = thresholds(best, far, setting.slacks)
            threshold = limits[0] if near else limits[1]
        bound = affine.value
        for j in range(6):
            bound += abs(affine.slope[j]) * half[j]
        least = min(bound, affine.lone)
        if least <= threshold:
            least = min(least, node[BOUND])
            closed = max(closed, least)
            far_closed = far_closed if near else max(far_closed, least)
            top -= 1
            continue
        left = shrink(node, half, affine.slope, bound, threshold)
        if left < 1.0:
            cut = min(threshold, node[BOUND])
            closed = max(closed, cut)
            far_closed = far_closed if near else max(far_closed, cut)
        node[BOUND] = min(node[BOUND], least)
        if (
            affine.found < COPY_BELOW * (span[1] - span[0])
            and segment + 1 < SEGMENTS
            and _copy(source, span, segment, affine.found, scratch)
        ):
            segment += 1
        scratch.segment[top - 1] = segment
        if left < AGAIN:
            continue
        widest, most, size = 0, -1.0, 0.0
        for j in range(6):
            width = node[HIGH + j] - node[LOW + j]
            side = half[j] if j > 2 else half[j] * frame.axes[0] * setting.radius
            effect = 0.5 * width / half[j] * (affine.spread[j] + BASE * affine.mass * side)
            if effect > most:
                widest, most = j, effect
            size = max(size, width if j > 2 else 2.0 * width * setting.radius)
        if size < SMALLEST * setting.xi or top + 1 > nodes.shape[0]:
            closed = max(closed, node[BOUND])
            far_closed = far_closed if near else max(far_closed, node[BOUND])
            top -= 1
            continue
        _halve(node, nodes[top], widest)
        scratch.segment[top] = segment
        top += 1
    return State(top, seen, best, far, closed, far_closed, better, far_better)
