"""The compiled search below one box of poses: depth first, in slices, without the interpreter lock."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import CM
from tear3d.prove.bounds.corners import corner_values, face_values
from tear3d.prove.bounds.slopes import ACTIVE, LANES, ROWS, Work, make_work, sum_slopes
from tear3d.prove.domains.allowed import charted, confine, permits
from tear3d.prove.domains.rotations import UP, cell_frame
from tear3d.prove.pose.home import TINY, Home, fill_up, padded, saving_at, seen_from_home
from tear3d.prove.pose.nodes import BOXES, FACE, HIGH, LOW, NEAR, NODE, place_to_cut
from tear3d.prove.pose.zones import is_elsewhere, is_near, thresholds
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
BASE = 0.1
"""... and how much the plain size of a side counts, against what it costs the bound now, when one is halved."""
SMALLEST = 1e-9
"""Boxes whose largest side moves points by less than this share of the noise bound are not split: what they can save
differs by less than the gap anyone asks for, and float64 has digits left (free choice, their bounds are kept)."""
BOX_COST = 250
"""What a box costs however few its points are, in visits of points: some 1 µs where a visit takes 4 ns."""
FAR_ABOVE = 3.0
"""Corners are not looked at when pairs bounded alone save more than so many times the threshold (free choice)."""
BETTER = 16.0
"""A pose is better than another when it saves more by so many roundings (free choice)."""
NARROWER = 1.0 - 2.0**-48
"""Covers the relative roundings of the share of a box that is cut off, and ..."""
EDGE = 2.0**-49
"""... those of its new edge, at most 5 units of 2⁻⁵³ of its size; three times that (mathematics.md, section 8.6)."""


class State(NamedTuple):
    """How far a subtree has got."""

    top: int
    """Boxes on the stack."""
    cells: int
    """Boxes visited, ..."""
    visits: int
    """... and what that took, in visits of points."""
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
    home: Home
    points: NDArray[Any]
    arena: NDArray[Any]
    """The points of the subtree, and copies of those that still matter, one segment after the other."""
    segments: NDArray[np.int64]
    """(start, stop) of each segment; segment 0 is `points`."""
    work: Work


def make_scratch(n: int, dtype: Any = np.float32) -> Scratch:
    """Work space for n points, with room for copies of half as many again and a few (free choice)."""
    n = padded(n)
    return Scratch(
        np.empty((STACK, NODE)),
        np.zeros(STACK, np.int64),
        np.zeros((2, 7)),
        Home(np.zeros((3, 3)), np.zeros(3)),
        np.empty((ROWS, n), dtype),
        np.empty((ROWS, n + n // 2 + 1024), dtype),
        np.zeros((SEGMENTS, 2), np.int64),
        make_work(n, dtype),
    )


@njit(cache=True, nogil=True)
def _copy(points, span, segment, scratch):
    """Copy the points that matter behind the segment; False when there is no room."""
    arena, marks = scratch.arena, scratch.work.marks
    target = scratch.segments[segment, 1] if segment > 0 else 0
    k = target
    for i in range(span[0], span[1]):
        if marks[i - span[0]]:
            if k + LANES >= arena.shape[1]:
                return False
            for row in range(ROWS):
                arena[row, k] = points[row, i]
            k += 1
    scratch.segments[segment + 1, 0] = target
    scratch.segments[segment + 1, 1] = fill_up(arena, target, k)
    return True


@njit(cache=True, nogil=True)
def shrink(node, middle, half, work, threshold):
    """Cut off the sides of the box where a convex function with the values of `work` at the corners, which are used up,
    does not beat `threshold`; returns the share that is left."""
    left = 1.0
    face_values(work.values, work.faces)
    for j in range(6):
        lower, upper = work.faces[j, 0], work.faces[j, 1]
        if min(lower, upper) >= threshold or not node[LOW + j] < node[HIGH + j]:
            continue
        # Where the chord between the faces is below the threshold, the function is.
        share = (threshold - min(lower, upper)) / abs(upper - lower) * NARROWER
        low, high = node[LOW + j], node[HIGH + j]
        edge = half[j] * (2.0 * share - 1.0)
        slack = EDGE * (abs(low) + abs(high) + half[j])
        if lower < upper:
            node[LOW + j] = max(low, middle[j] + edge - slack)
        else:
            node[HIGH + j] = min(high, middle[j] - edge + slack)
        left *= 1.0 - share
    return left


@njit(cache=True, nogil=True, inline="always")
def _halve(node, other, side):
    """Cut a side in two: `node` keeps the lower part, `other` gets the upper."""
    cut = place_to_cut(node, side)
    for k in range(NODE):
        other[k] = node[k]
    other[LOW + side] = cut
    node[HIGH + side] = cut


@njit(cache=True, nogil=True, inline="always")
def _confined(allowed, frame, node):
    """Cut off what is not allowed of the t of a box; whether anything is left."""
    low, high = (node[LOW + 3], node[LOW + 4], node[LOW + 5]), (node[HIGH + 3], node[HIGH + 4], node[HIGH + 5])
    inside, low, high = confine(allowed, frame, low, high)
    for k in range(3):
        node[LOW + 3 + k], node[HIGH + 3 + k] = low[k], high[k]
    return inside


@njit(cache=True, nogil=True, inline="always")
def _note(best, face, pose):
    best[0] = face
    for k in range(6):
        best[1 + k] = pose[k]


@njit(cache=True, nogil=True, error_model="numpy")
def search_boxes(setting, allowed, state, scratch, budget, cells):
    """Work off the stack until it is empty, about `budget` point visits are spent or `cells` boxes visited in all."""
    nodes, work = scratch.nodes, scratch.work
    top, seen, spent, best, far, closed, far_closed, better, far_better = state
    middle, half = np.empty(6), np.empty(6)
    more = 1.0 + BETTER * setting.unit
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
        least, largest = (node[LOW], node[LOW + 1], node[LOW + 2]), (node[HIGH], node[HIGH + 1], node[HIGH + 2])
        frame = cell_frame(int(node[FACE]), least, largest)
        if allowed is not None:
            frame = charted(frame, allowed.chart)
            if not _confined(allowed, frame, node):
                seen += 1
                visits += BOX_COST
                top -= 1
                continue
        for j in range(6):
            low, high = node[LOW + j], node[HIGH + j]
            middle[j] = 0.5 * (low + high)
            half[j] = 0.5 * (high - low) * UP + TINY
        box = seen_from_home(node, frame, scratch.home, setting.farthest, setting.eps, setting.unit)
        half[0], half[1], half[2] = frame.half
        segment = scratch.segment[top - 1]
        source = scratch.points if segment == 0 else scratch.arena
        span = (scratch.segments[segment, 0], scratch.segments[segment, 1])
        n = span[1] - span[0]
        sums = sum_slopes(source, span, box, setting.loss, setting.unit, work)
        seen += 1
        visits += n + BOX_COST
        face, better_here = int(node[FACE]), sums.centre > more * best or (not near and sums.centre > more * far)
        if allowed is not None:
            better_here = better_here and permits(allowed, face, middle)
        if better_here:
            value = saving_at(source, span, setting.loss, scratch.home, allowed, face, middle)
            if value > more * best:
                best, better = value, True
                _note(scratch.best[0], face, middle)
            if value > more * far and is_elsewhere(allowed, face, middle, setting.tips, setting.elsewhere):
                far, far_better = value, True
                _note(scratch.best[1], face, middle)
            limits = thresholds(best, far, setting.slacks)
            threshold = limits[0] if near else limits[1]
        most_saved, left = sums.lone, 1.0
        if threshold < most_saved <= FAR_ABOVE * threshold and setting.loss != CM:
            visits += sums.lines
            most_saved = min(most_saved, corner_values(sums, work))
            if most_saved > threshold:
                left = shrink(node, middle, half, work, threshold)
        if most_saved <= threshold:
            most_saved = min(most_saved, node[BOUND])
            closed = max(closed, most_saved)
            far_closed = far_closed if near else max(far_closed, most_saved)
            top -= 1
            continue
        if left < 1.0:
            cut = min(threshold, node[BOUND])
            closed = max(closed, cut)
            far_closed = far_closed if near else max(far_closed, cut)
        node[BOUND] = min(node[BOUND], most_saved)
        matter = 0
        for i in range(n):
            matter += work.marks[i] & ACTIVE
        if matter < COPY_BELOW * n and segment + 1 < SEGMENTS and _copy(source, span, segment, scratch):
            segment += 1
        scratch.segment[top - 1] = segment
        if left < AGAIN:
            continue
        widest, most, size = 0, -1.0, 0.0
        for j in range(6):
            width = node[HIGH + j] - node[LOW + j]
            side = half[j] if j > 2 else half[j] * setting.radius
            effect = 0.5 * width / half[j] * (sums.spread[j] + BASE * sums.mass * side)
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
    return State(top, seen, spent + visits, best, far, closed, far_closed, better, far_better)
