"""A k-d tree of points in space, and the nearest of them.

Every node halves its points across the longest side of the box around them and knows that box. It takes milliseconds
from Numba's cache where importing SciPy's takes some tenths of a second, and finds many neighbours of a point in a
fraction of the time, for it does not sort what nobody wants sorted.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

Rows = NDArray[np.int32]

SORTED = 32
"""So many neighbours come nearest first; of more, only the very first is the nearest. Free choice."""
_LEAF = 12
"""Points that are looked at together, at most: free choice, of 8 to 16 all are as fast."""


class Tree:
    """Of (N, 3) points, or of points in a plane; can be pickled."""

    def __init__(self, points: FloatArray) -> None:
        data = np.zeros((len(points), 3))
        data[:, : points.shape[1]] = points
        self.data = data
        """In their own order."""
        self._levels = max(0, math.ceil(math.log2(max(1, len(data)) / _LEAF)))
        self._rows = np.arange(len(data), dtype=np.int32)
        self._boxes = np.empty((2 << self._levels, 6))
        _build(data, self._levels, self._rows, self._boxes)
        self._sorted = data[self._rows]

    @property
    def n(self) -> int:
        return len(self.data)

    def query(self, points: FloatArray, k: int, within: float = math.inf) -> tuple[FloatArray, Rows]:
        """The `k` points nearest to each of some others, if nearer than `within`.

        Returns
        -------
        squared : (M, K) array
            Squared distances, infinite in unused places, which come last; K is `k`, or how many points there are.
        rows : (M, K) int32 array
            -1 in unused places. See `SORTED` for the order; it is the same in every call.
        """
        return self._found(points, min(k, self.n), within)

    def nearest(self, points: FloatArray, within: float = math.inf) -> tuple[FloatArray, Rows]:
        """The distance to the nearest point and its row; infinite and -1 without one nearer than `within`."""
        squared, rows = self._found(points, 1, within)
        return np.sqrt(squared[:, 0]), rows[:, 0]

    def clusters(self, reach: float) -> NDArray[np.int64]:
        """Labels from 0 on: points that `reach` or less apart lead from one to the other have the same."""
        parents = np.arange(self.n)
        _join(self._sorted, self._rows, self._boxes, self._levels, reach, parents)
        return np.unique(parents, return_inverse=True)[1]

    def _found(self, points: FloatArray, k: int, within: float) -> tuple[FloatArray, Rows]:
        queries = np.zeros((len(points), 3))
        queries[:, : points.shape[1]] = points
        squared = np.full((len(points), k), np.inf)
        rows = np.full((len(points), k), -1, dtype=np.int32)
        if k:
            _query(self._sorted, self._rows, self._boxes, self._levels, queries, float(within), squared, rows)
        return squared, rows


@njit(cache=True, nogil=True)
def _build(data, levels, rows, boxes):
    """Order the rows so that node j of a level has those from N j / 2^level on; boxes as low x, y, z, high x, y, z."""
    for level in range(levels + 1):
        for j in range(1 << level):
            start, stop = (len(rows) * j) >> level, (len(rows) * (j + 1)) >> level
            axis = _bound(data, rows, start, stop, boxes[(1 << level) + j])
            if level < levels:
                _halve(data, rows, axis, (start, (len(rows) * (2 * j + 1)) >> (level + 1), stop))


@njit(cache=True, nogil=True)
def _bound(data, rows, start, stop, box):
    longest = 0
    for d in range(3):
        low, high = np.inf, -np.inf
        for place in range(start, stop):
            value = data[rows[place], d]
            low, high = min(low, value), max(high, value)
        box[d], box[3 + d] = low, high
        if high - low > box[3 + longest] - box[longest]:
            longest = d
    return longest


@njit(cache=True, nogil=True)
def _halve(data, rows, axis, span):
    """Quickselect (Hoare): none before the middle is larger than one from there on."""
    left, middle, right = span
    right -= 1
    while left < right:
        pivot = data[rows[(left + right) // 2], axis]
        i, j = left, right
        while i <= j:
            while data[rows[i], axis] < pivot:
                i += 1
            while data[rows[j], axis] > pivot:
                j -= 1
            if i <= j:
                rows[i], rows[j] = rows[j], rows[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True, nogil=True)
def _away(boxes, node, x, y, z):
    """Squared distance of a place from a box."""
    dx = max(boxes[node, 0] - x, 0.0, x - boxes[node, 3])
    dy = max(boxes[node, 1] - y, 0.0, y - boxes[node, 4])
    dz = max(boxes[node, 2] - z, 0.0, z - boxes[node, 5])
    return dx * dx + dy * dy + dz * dz


@njit(cache=True, nogil=True)
def _query(points, rows, boxes, levels, queries, within, squared, found):
    k, leaves = found.shape[1], 1 << levels
    stack, away = np.empty(levels + 2, np.int64), np.empty(levels + 2)
    for i in range(len(queries)):
        x, y, z = queries[i, 0], queries[i, 1], queries[i, 2]
        count, worst = 0, within * within
        stack[0], away[0], top = 1, 0.0, 0
        while top >= 0:
            node, near = stack[top], away[top]
            top -= 1
            while near < worst and node < leaves:
                node *= 2
                near, far = _away(boxes, node, x, y, z), _away(boxes, node + 1, x, y, z)
                other = node + 1
                if far < near:
                    near, far = far, near
                    node, other = other, node
                if far < worst:
                    top += 1
                    stack[top], away[top] = other, far
            if not near < worst:
                continue
            leaf = node - leaves
            for place in range((len(rows) * leaf) >> levels, (len(rows) * (leaf + 1)) >> levels):
                dx, dy, dz = points[place, 0] - x, points[place, 1] - y, points[place, 2] - z
                distance = dx * dx + dy * dy + dz * dz
                if not distance < worst:
                    continue
                if k <= SORTED:
                    count = min(count + 1, k)
                    to = count - 1
                    while to > 0 and squared[i, to - 1] > distance:
                        squared[i, to], found[i, to] = squared[i, to - 1], found[i, to - 1]
                        to -= 1
                    squared[i, to], found[i, to] = distance, rows[place]
                    if count == k:
                        worst = squared[i, k - 1]
                elif count < k:
                    squared[i, count], found[i, count] = distance, rows[place]
                    count += 1
                    if count == k:
                        for root in range(k // 2 - 1, -1, -1):
                            _sink(squared, found, i, root, squared[i, root], found[i, root])
                        worst = squared[i, 0]
                else:
                    _sink(squared, found, i, 0, distance, rows[place])
                    worst = squared[i, 0]
        if k > SORTED:
            _nearest_first(squared, found, i, count)


@njit(cache=True, nogil=True)
def _sink(squared, found, i, root, distance, row):
    """Put a neighbour where it belongs below a root of a heap whose largest is on top."""
    k = squared.shape[1]
    while True:
        child = 2 * root + 1
        if child >= k:
            break
        if child + 1 < k and squared[i, child + 1] > squared[i, child]:
            child += 1
        if not squared[i, child] > distance:
            break
        squared[i, root], found[i, root] = squared[i, child], found[i, child]
        root = child
    squared[i, root], found[i, root] = distance, row


@njit(cache=True, nogil=True)
def _nearest_first(squared, found, i, count):
    best = 0
    for place in range(1, count):
        if squared[i, place] < squared[i, best]:
            best = place
    squared[i, 0], squared[i, best] = squared[i, best], squared[i, 0]
    found[i, 0], found[i, best] = found[i, best], found[i, 0]


@njit(cache=True, nogil=True)
def _join(points, rows, boxes, levels, reach, parents):
    """Union of all that are within reach, each under the smallest row of its cluster."""
    leaves, stack = 1 << levels, np.empty(levels + 2, np.int64)
    for own in range(len(rows)):
        x, y, z = points[own, 0], points[own, 1], points[own, 2]
        stack[0], top = 1, 0
        while top >= 0:
            node = stack[top]
            top -= 1
            if _away(boxes, node, x, y, z) > reach * reach:
                continue
            if node < leaves:
                stack[top + 1], stack[top + 2] = 2 * node, 2 * node + 1
                top += 2
                continue
            leaf = node - leaves
            for place in range((len(rows) * leaf) >> levels, (len(rows) * (leaf + 1)) >> levels):
                dx, dy, dz = points[place, 0] - x, points[place, 1] - y, points[place, 2] - z
                if dx * dx + dy * dy + dz * dz <= reach * reach:
                    a, b = _root(parents, rows[own]), _root(parents, rows[place])
                    parents[max(a, b)] = min(a, b)
    for row in range(len(parents)):
        parents[row] = _root(parents, row)


@njit(cache=True, nogil=True)
def _root(parents, row):
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row
