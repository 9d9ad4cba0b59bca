"""Where the voxels lie that beat a threshold: in boxes with nothing between them (mathematics.md, section 7.2)."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.prove.bounds.voxels import left_of_axis, top_of

MOST_PARTS = 8
"""Survivors are cut into no more boxes than this (free choice; a byte has a bit for each)."""
FIRST, LAST, MOST = 0, 3, 6
"""Columns of a part: its first and last voxels along the axes, and its most votes, ..."""
COLUMNS = 7


@njit(cache=True, nogil=True)
def _tighten(voxels, shape, row, threshold, part, filled):
    """Shrink a part to the voxels that beat the threshold, and mark the slabs of each axis that hold any."""
    for axis in range(3):  # the copy of a slice would take seconds to compile, here and below
        for at in range(filled.shape[1]):
            filled[axis, at] = 0
    most = np.int32(0)
    first, last = part[FIRST + 2], part[LAST + 2] + 1
    for i in range(part[FIRST], part[LAST] + 1):
        for j in range(part[FIRST + 1], part[LAST + 1] + 1):
            at = (i * (shape[1] + 1) + j) * row
            line = voxels[at + first : at + last]
            top = top_of(line)
            if top <= threshold:
                continue
            most = max(most, top)
            filled[0, i] = filled[1, j] = 1
            for k in range(line.size):
                if line[k] > threshold:
                    filled[2, first + k] = 1
    part[MOST] = most
    for axis in range(3):
        a, b = part[FIRST + axis], part[LAST + axis]
        while a < b and filled[axis, a] == 0:
            a += 1
        while b > a and filled[axis, b] == 0:
            b -= 1
        part[FIRST + axis], part[LAST + axis] = a, b


@njit(cache=True, nogil=True, inline="always")
def _widest_gap(part, filled):
    """The axis with the widest gap between slabs that hold survivors, the last slab before it and the first behind; -1
    for the axis when there is none."""
    best, axis, before, behind = 0, -1, 0, 0
    for k in range(3):
        last = part[FIRST + k]
        for at in range(last + 1, part[LAST + k] + 1):
            if filled[k, at]:
                if at - last - 1 > best:
                    best, axis, before, behind = at - last - 1, k, last, at
                last = at
    return axis, before, behind


@njit(cache=True, nogil=True, inline="always")
def find_parts(voxels, shape, row, threshold, hull, parts, filled):
    """Cut the hull of the survivors into boxes where whole slabs of voxels hold none; returns how many.

    Parameters
    ----------
    voxels, shape, row
        A grid of votes.
    threshold : int
    hull : Hull
        Of the survivors, of which there are some.
    parts : (MOST_PARTS, COLUMNS) int64 array
        Filled.
    filled : (3, MAX_SIDE) uint8 array
        Work space.
    """
    for k in range(3):
        parts[0, FIRST + k], parts[0, LAST + k] = hull.first[k], hull.last[k]
    count, at = 1, 0
    while at < count:
        part = parts[at]
        _tighten(voxels, shape, row, threshold, part, filled)
        axis, before, behind = _widest_gap(part, filled)
        if axis < 0 or count == MOST_PARTS:
            at += 1
            continue
        for c in range(COLUMNS):
            parts[count, c] = part[c]
        part[LAST + axis] = before
        parts[count, FIRST + axis] = behind
        count += 1
    return count


@njit(cache=True, nogil=True, inline="always")
def boxes_of(grid, high, parts, count, boxes):
    """The boxes of t of some parts, as (low, high); returns their volume together, without what rounding adds."""
    volume = 0.0
    for k in range(count):
        own = 1.0
        for axis in range(3):
            first, last = parts[k, FIRST + axis], parts[k, LAST + axis]
            a, b = left_of_axis(grid.low[axis], high[axis], grid.size[axis], first, last)
            boxes[k, axis], boxes[k, 3 + axis] = a, b
            own *= (last + 1 - first) * grid.size[axis]
        volume += own
    return volume
