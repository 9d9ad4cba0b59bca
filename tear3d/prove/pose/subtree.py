"""The compiled search below one box of poses: depth first, in slices, without the interpreter lock."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.prove.bounds.slopes import CENTRE, LONE, MASS, SIZE, SLOPE, SPREAD, SUMS, VALUE, slope_bound
from tear3d.prove.bounds.votes import BOUND, FACE, NODE, ROWS, WEIGHT, XI, T
from tear3d.prove.domains.rotations import AXES, FRAME, HALF, cell_frame

STACK = 512
SEGMENTS = 48
COPY_BELOW = 0.7
"""The points that still matter are copied out when they are fewer than this share."""
AGAIN = 0.5
KEEP_WHOLE = 0.17
BASE = 0.1
"""How much the plain size of a side counts, against what it costs the bound now, when a side to halve is chosen."""
SMALLEST = 1e-9
"""Boxes whose largest side moves points by less than this share of the noise bound are not split."""

# Indices into Task.state and Task.count.
SAVING, CLOSED = 0, 1
TOP, CELLS, VISITS, UNRESOLVED = 0, 1, 2, 3


class Setting(NamedTuple):
    """What is the same for all boxes of a search."""

    xi: float
    radius: float
    eps: float
    slack: float
    """Boxes whose bound is at most (1 + slack)·incumbent are pruned."""


class Task(NamedTuple):
    """The state of one subtree."""

    nodes: NDArray[np.float64]
    segment: NDArray[np.int64]
    state: NDArray[np.float64]
    """Best saving known, largest bound of what was pruned."""
    count: NDArray[np.int64]
    best: NDArray[np.float64]
    """(face, g, t) of the best saving found inside."""


class Scratch(NamedTuple):
    """Work space of one thread."""

    arena: NDArray[np.float64]
    """Copies of the points that still matter, one segment after the other."""
    segments: NDArray[np.int64]
    """(start, stop) of each segment; segment 0 is all points."""
    active: NDArray[np.int32]
    grid: NDArray[np.int32]
    """Voxels for the votes."""


def make_task(node: NDArray[np.float64], saving: float) -> Task:
    nodes = np.empty((STACK, NODE))
    nodes[0] = node
    count = np.zeros(4, np.int64)
    count[TOP] = 1
    return Task(nodes, np.zeros(STACK, np.int64), np.array([saving, 0.0]), count, np.zeros(7))


def make_scratch(n: int, voxels: int = 0) -> Scratch:
    segments = np.zeros((SEGMENTS, 2), np.int64)
    segments[0, 1] = n
    return Scratch(np.empty((ROWS, n + n // 2 + 1024)), segments, np.empty(n, np.int32), np.empty(voxels, np.int32))


@njit(cache=True, nogil=True)
def saving_at(points, active, found, face, pose, frame):
    """Σ w·max(0, ξ − ‖y − R x − t‖₁) over the listed points, at chart point pose[0:3] of a face and t = pose[3:6]."""
    box = np.empty(6)
    box[:3] = pose[:3]
    box[3:] = pose[:3]
    cell_frame(face, box, frame)
    total = 0.0
    for m in range(found):
        i = active[m]
        norm = 0.0
        for k in range(3):
            p = frame[3 * k] * points[0, i] + frame[3 * k + 1] * points[1, i] + frame[3 * k + 2] * points[2, i]
            norm += abs(points[3 + k, i] - p - pose[3 + k])
        total += points[WEIGHT, i] * max(0.0, points[XI, i] - norm)
    return total


@njit(cache=True, nogil=True)
def _copy(points, segment, found, scratch):
    """Copy the active points behind the segment; False when there is no room."""
    arena, active = scratch.arena, scratch.active
    target = scratch.segments[segment, 1] if segment > 0 else 0
    if target + found > arena.shape[1]:
        return False
    for row in range(ROWS):
        for k in range(found):
            arena[row, target + k] = points[row, active[k]]
    scratch.segments[segment + 1, 0] = target
    scratch.segments[segment + 1, 1] = target + found
    return True


@njit(cache=True, nogil=True)
def _shrink(node, box_half, sums, bound, threshold):
    """Cut off the sides of the box where the affine bound does not beat `threshold`; returns the share that is left."""
    left = 1.0
    for j in range(6):
        k = j if j < 3 else j + 3
        slope = sums[SLOPE + j]
        if abs(slope) * 2.0 * box_half[j] <= bound - threshold:
            continue
        width = (bound - threshold) / abs(slope) * (1.0 + 1e-9) + 1e-12 * box_half[j]
        # r = z − a·(u×p) − b: a positive sum means that the saving grows with a (and b).
        if slope > 0.0:
            node[k] = max(node[k], node[k + 3] - width)
        else:
            node[k + 3] = min(node[k + 3], node[k] + width)
        left *= min(1.0, 0.5 * width / box_half[j])
    return left


@njit(cache=True, nogil=True, error_model="numpy")
def search_subtree(points, setting, task, scratch, budget, cell_limit):
    """Work off the task's stack until it is empty or `budget` point visits or `cell_limit` boxes are spent."""
    nodes, count, state = task.nodes, task.count, task.state
    frame, point, sums = np.empty(FRAME), np.empty(FRAME), np.empty(SUMS)
    middle, toward, half = np.empty(6), np.empty(6), np.empty(6)
    visits, cells = 0, 0
    while count[TOP] > 0 and visits < budget and cells < cell_limit:
        top = count[TOP] - 1
        node = nodes[top]
        threshold = state[SAVING] * (1.0 + setting.slack)
        if node[BOUND] <= threshold:
            state[CLOSED] = max(state[CLOSED], node[BOUND])
            count[TOP] = top
            continue
        face = int(node[FACE])
        cell_frame(face, node, frame)
        for j in range(6):
            k = j if j < 3 else j + 3
            middle[j] = 0.5 * (node[k] + node[k + 3])
            half[j] = frame[HALF + j] if j < 3 else 0.5 * (node[k + 3] - node[k]) * (1.0 + 1e-13) + 1e-300
            toward[j] = 0.0
            if face == 0:
                toward[j] = min(max(0.0, node[k]), node[k + 3]) - middle[j]
        segment = task.segment[top]
        source = points if segment == 0 else scratch.arena
        start, stop = scratch.segments[segment, 0], scratch.segments[segment, 1]
        found = slope_bound(source, start, stop, frame, middle[3:], half[3:], toward, setting.eps, scratch.active, sums)
        cells += 1
        visits += stop - start
        if sums[CENTRE] > state[SAVING]:
            value = saving_at(source, scratch.active, found, face, middle, point)
            if value > state[SAVING]:
                state[SAVING] = value
                threshold = value * (1.0 + setting.slack)
                task.best[0] = face
                task.best[1:] = middle
        bound = sums[VALUE]
        for j in range(6):
            bound += abs(sums[SLOPE + j]) * half[j]
        rounding = 4e-16 * (found + 16) * sums[SIZE]
        bound += rounding
        lone = sums[LONE] + rounding
        if min(bound, lone) <= threshold:
            state[CLOSED] = max(state[CLOSED], min(min(bound, lone), node[BOUND]))
            count[TOP] = top
            continue
        left = _shrink(node, half, sums, bound, threshold)
        if left < 1.0:
            state[CLOSED] = max(state[CLOSED], min(threshold, node[BOUND]))
        node[BOUND] = min(node[BOUND], min(bound, lone))
        if found < COPY_BELOW * (stop - start) and segment + 1 < SEGMENTS and _copy(source, segment, found, scratch):
            segment += 1
        task.segment[top] = segment
        if left < AGAIN:
            continue
        widest, most = 0, -1.0
        for j in range(6):
            k = j if j < 3 else j + 3
            share = 0.5 * (node[k + 3] - node[k]) / half[j]
            side = half[j] if j > 2 else half[j] * frame[AXES] * setting.radius
            effect = share * (sums[SPREAD + j] + BASE * sums[MASS] * side)
            if effect > most:
                widest, most = k, effect
        size = 0.0
        for j in range(3):
            size = max(size, 2.0 * (node[3 + j] - node[j]) * setting.radius, node[T + 3 + j] - node[T + j])
        if size < SMALLEST * setting.xi or top + 2 > nodes.shape[0]:
            state[CLOSED] = max(state[CLOSED], node[BOUND])
            count[UNRESOLVED] += 1
            count[TOP] = top
            continue
        # A cut through the incumbent would leave it to both halves.
        cut = 0.5 * (node[widest] + node[widest + 3])
        width = node[widest + 3] - node[widest]
        if face == 0 and abs(cut) < KEEP_WHOLE * width:
            cut += KEEP_WHOLE * width if cut > 0.0 else -KEEP_WHOLE * width
        nodes[top + 1] = node
        nodes[top + 1, widest] = cut
        node[widest + 3] = cut
        task.segment[top + 1] = segment
        count[TOP] = top + 2
    count[CELLS] += cells
    count[VISITS] += visits
