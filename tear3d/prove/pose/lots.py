"""Pairs in float32, for what is asked of their lengths (mathematics.md, section 9)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.losses import Loss
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.lengths import LEVELS, Lot

SLOP_SINGLE, SLOP_GIVEN = 32.0 * 2.0**-24, 32.0 * 2.0**-53
"""Rounding of a difference of lengths in units of the sizes of both clouds and of the coordinates as given: section 9.3
counts 11.1 and 7."""
SMALLEST, LARGEST = 1e-15, 1e18
"""Sizes of both clouds together whose squares float32 holds, with all their digits where they matter."""
SINGLE_UP = np.float32(1.0 + 2.0**-22)
SURELY = 1.0 - 1e-9
"""Covers the roundings of a limit in steps, and those of the savings that are compared with it."""


def make_lot(pairs: Pairs, loss: Loss) -> Lot | None:
    """The pairs about their means, or None when float32 cannot hold the squares of their coordinates."""
    n = len(pairs)
    rows = np.empty((6, n), np.float32)
    sizes, given = 0.0, 0.0
    for first, points in ((0, pairs.x), (3, pairs.y)):
        centred = points - points.mean(axis=0, dtype=np.float64)
        sizes += float(np.sqrt(np.max(np.sum(centred**2, axis=1))))
        given = max(given, float(np.abs(points).max()))
        if not sizes <= LARGEST:
            return None
        rows[first : first + 3] = centred.T
    if sizes < SMALLEST:
        return None
    xi = np.broadcast_to(pairs.xi.astype(np.float32) * SINGLE_UP, n)
    w = np.broadcast_to(pairs.w, n)
    unit = float(np.max(pairs.w * loss.caps(pairs.xi))) / LEVELS
    slop = SLOP_SINGLE * sizes + SLOP_GIVEN * given
    return Lot(rows, np.ascontiguousarray(xi), np.ascontiguousarray(w, np.float64), slop, unit, loss.code)


def take_lot(lot: Lot, index: NDArray[Any]) -> Lot:
    """Some pairs of a lot."""
    return lot._replace(rows=np.ascontiguousarray(lot.rows[:, index]), xi=lot.xi[index], w=lot.w[index])


def units(limit: float, lot: Lot) -> int:
    """The largest number of steps that is surely not worth more than `limit`."""
    return int(np.floor(limit / lot.unit * SURELY))
