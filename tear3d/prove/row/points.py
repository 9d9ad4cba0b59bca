"""The points of one row problem, packed for the compiled search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.prove.bounds.data import Points
from tear3d.prove.row.problem import RowProblem

SLABS = 16
"""Large clouds without far points are ordered by slabs of y first, so that a t-range needs a stretch of them only.
Free choice, part of no bound."""
SLAB_LIMIT = 400_000
"""Fewer points are not worth slabs. Free choice, part of no bound."""
KEYS = SLABS << 12
FAR_SHARE = 0.05
"""At most this share of the points may lie outside the grid of groups. Free choice, part of no bound."""
SLICE = 1 << 18
"""Pairs between two looks at the clock. Free choice, part of no bound."""


class TooLate(Exception):
    """The time was over before the points were packed."""


@dataclass(frozen=True)
class RowPoints:
    """Pairs ordered by slab of y and along a space-filling curve of x, the near ones first."""

    all: Points
    radius: float
    """Root mean square of a tangent coordinate of x."""
    largest: float
    """The largest |x|."""
    lowest: float
    highest: float
    """The range of y."""
    total: float
    """Σ w ξ."""
    slabs: FloatArray
    """Upper ends of the slabs of y, or empty."""
    slab_starts: NDArray[np.int64]

    def stretch(self, t0: float, t1: float) -> tuple[int, int]:
        """Start and length of the columns that hold all points with a saving for some shift in [t0, t1]."""
        if not self.slabs.size:
            return 0, self.all.count
        margin = (self.largest + self.all.xi) * (1.0 + 1e-6) + self.all.eps
        first = int(np.searchsorted(self.slabs, t0 - margin))
        last = int(np.searchsorted(self.slabs, t1 + margin))
        start, end = self.slab_starts[first], self.slab_starts[min(last + 1, SLABS)]
        return int(start), int(end - start)


class _Given(NamedTuple):
    """The pairs as given, for compiled code."""

    source: FloatArray
    target: FloatArray
    xi: FloatArray
    w: FloatArray
    centre: FloatArray
    direction: FloatArray
    offset: float


@njit(cache=True, nogil=True)
def _measure(given, out):
    """out = (Σ|x|², max |x|, min y, max y, max of |terms of y|), x = source − centre, y = direction·target − offset."""
    source, target, _, _, centre, direction, offset = given
    out[0], out[1], out[2], out[3], out[4] = 0.0, 0.0, np.inf, -np.inf, 0.0
    for i in range(source.shape[0]):
        a0, a1, a2 = source[i, 0] - centre[0], source[i, 1] - centre[1], source[i, 2] - centre[2]
        square = a0 * a0 + a1 * a1 + a2 * a2
        y0, y1, y2 = direction[0] * target[i, 0], direction[1] * target[i, 1], direction[2] * target[i, 2]
        y = y0 + y1 + y2 - offset
        out[0] += square
        out[1] = max(out[1], square)
        out[2] = min(out[2], y)
        out[3] = max(out[3], y)
        out[4] = max(out[4], abs(y0) + abs(y1) + abs(y2))
    out[1] = np.sqrt(out[1])


@njit(cache=True, nogil=True)
def _key(a0, a1, a2, y, scale, extent, slabs):
    """Slab of y and Morton code of x in the cube [−extent, extent]³ with 4 bits a side; far points come last."""
    if a0 * a0 + a1 * a1 + a2 * a2 > extent * extent:
        return KEYS
    i, j, k = int((a0 + extent) * scale), int((a1 + extent) * scale), int((a2 + extent) * scale)
    code = 0
    for bit in range(4):
        code |= ((i >> bit) & 1) << (3 * bit) | ((j >> bit) & 1) << (3 * bit + 1) | ((k >> bit) & 1) << (3 * bit + 2)
    slab = 0
    for end in slabs:
        slab += y > end
    return slab << 12 | code


@njit(cache=True, nogil=True)
def _sort(given, span, placing, extent, slabs, starts, up, out):
    """Count the keys of some pairs in starts[key + 1], or place the pairs where starts[key] says, which moves on."""
    source, target, xi, w, centre, direction, offset = given
    scale = 7.999 / extent if extent > 0.0 else 0.0
    for i in range(span[0], span[1]):
        if xi[i % xi.size] * w[i % w.size] <= 0.0:
            continue
        a0, a1, a2 = source[i, 0] - centre[0], source[i, 1] - centre[1], source[i, 2] - centre[2]
        y = direction[0] * target[i, 0] + direction[1] * target[i, 1] + direction[2] * target[i, 2] - offset
        key = _key(a0, a1, a2, y, scale, extent, slabs)
        if not placing:
            starts[key + 1] += 1
            continue
        j = starts[key]
        starts[key] += 1
        out[0, j], out[1, j], out[2, j], out[3, j] = a0, a1, a2, y
        if out.shape[0] == 6:
            # Rounded up: in single precision half an ulp of a huge threshold would exceed eps.
            out[4, j] = xi[i % xi.size] * (1.0 + up)
            out[5, j] = w[i % w.size] * (1.0 + up)


def _pack(given: _Given, extent: float, slabs: FloatArray, up: float, out: Any, limits: Limits | None) -> Any:
    """Counting sort by key into out; returns where the stretch of each key ends."""
    starts, n = np.zeros(KEYS + 2, np.int64), len(given.source)
    for placing in (False, True):
        for first in range(0, n, SLICE):
            if limits is not None and limits.over():
                raise TooLate
            _sort(given, (first, min(n, first + SLICE)), placing, extent, slabs, starts, up, out)
        if not placing:
            np.cumsum(starts, out=starts)
    return starts


def _extent(source: FloatArray, centre: FloatArray, largest: float) -> float:
    """The radius of the grid of groups: all points, or the central mass when the tails are heavy."""
    sample = source[:: max(1, len(source) // 20000)] - centre
    central = float(np.quantile(np.sqrt(np.einsum("ij,ij->i", sample, sample)), 1.0 - FAR_SHARE))
    return largest if largest <= 1.3 * central or central == 0.0 else central


def pack_points(problem: RowProblem, *, double: bool = False, limits: Limits | None = None) -> RowPoints:
    """Pack a row problem, `double` in float64, else in float32 if that can hold its numbers.

    Pairs that can save nothing are left out; a weight that all share must be 1. Raises TooLate when the limits are
    over.
    """
    given = _Given(*problem[:7])
    source, target, xi, w, centre, direction, offset = given
    general = xi.size > 1 or w.size > 1
    usable = np.broadcast_to(xi * w > 0.0, len(source)) if general else xi[:1] > 0.0
    alive = int(np.count_nonzero(usable)) if general else len(source) * int(usable[0])
    if not alive:
        return _nothing(general, double)
    numbers = np.empty(5)
    _measure(given, numbers)
    squares, largest, lowest, highest, terms = numbers.tolist()
    size = max(abs(lowest), abs(highest))
    double = double or not _fits(np.array([max(largest, size)]), xi, w)
    dtype, unit = (np.float64, 2.0**-53) if double else (np.float32, 2.0**-24)
    extent = _extent(source, centre, largest)
    slabs = np.empty(0)
    if alive >= SLAB_LIMIT and extent == largest and not general:
        sample = target[:: max(1, len(target) // 20000)] @ direction - offset
        slabs = np.quantile(sample, np.arange(1, SLABS) / SLABS)
    rows = np.empty((6 if general else 4, alive), dtype)
    starts = _pack(given, extent * (1.0 + 1e-12), slabs, 2.0 * unit, rows, limits)
    near = int(starts[KEYS - 1])
    # b, E, the linear term and t in the precision of the search; y before, and the place of ±ξ, in float64
    # (mathematics.md, section 4.4).
    eps = unit * (28.0 * largest + 4.0 * size)
    eps += 2.0**-53 * (4.0 * terms + 4.0 * abs(offset) + 8.0 * float(xi.max()))
    return RowPoints(
        all=Points(
            rows=rows,
            start=0,
            count=alive,
            near=0 if general else near,
            extent=extent * (1.0 + 1e-6),
            xi=float(np.median(xi[xi > 0.0])),
            eps=eps,
            general=general,
        ),
        radius=float(np.sqrt(2.0 / 3.0 * squares / len(source))),
        largest=largest,
        lowest=lowest,
        highest=highest,
        total=float(np.sum(xi * w)) if general else float(xi[0]) * len(source),
        slabs=slabs,
        slab_starts=np.concatenate([[0], starts[(1 << 12) - 1 : KEYS : 1 << 12]]),
    )


def _fits(*values: FloatArray) -> bool:
    """Whether float32 holds all of them, but for zeros, without under- or overflow on the way."""
    return all(np.all((part == 0.0) | ((part > 1e-30) & (part < 1e30))) for part in values)


def _nothing(general: bool, double: bool) -> RowPoints:
    rows = np.empty((6 if general else 4, 0), np.float64 if double else np.float32)
    none = Points(rows, start=0, count=0, near=0, extent=0.0, xi=0.0, eps=0.0, general=general)
    return RowPoints(none, 0.0, 0.0, 0.0, 0.0, 0.0, np.empty(0), np.zeros(1, np.int64))
