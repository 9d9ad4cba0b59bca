"""Pairs in float32, for what is asked of their lengths (mathematics.md, section 9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.losses import Loss
from tear3d.problem.pairs import Pairs
from tear3d.problem.prior import Prior
from tear3d.problem.turns import shortest_turn
from tear3d.prove.bounds.lengths import LEVELS, Lot

SLOP_SINGLE, SLOP_GIVEN = 32.0 * 2.0**-24, 32.0 * 2.0**-53
"""Rounding of a difference of lengths in units of the sizes of both clouds and of the coordinates as given: section 9.3
counts 11.1 and 7."""
SMALLEST, LARGEST = 1e-15, 1e18
"""No cloud may be larger, nor both together smaller: float32 holds the squares of lengths in between, with all their
digits where they matter."""
SINGLE_UP = np.float32(1.0 + 2.0**-22)
WIDER = 1.0 + 1e-6
"""Covers the rounding of a turn to float32."""
SURELY = 1.0 - 1e-9
"""Covers the roundings of a limit in steps, and those of the savings that are compared with it."""


def make_lot(pairs: Pairs, loss: Loss) -> Lot | None:
    """The pairs about their means, or None when float32 cannot hold the squares of their coordinates."""
    n = len(pairs)
    rows, xi, w = np.empty((6, n), np.float32), np.empty(n, np.float32), np.empty(n)
    xi[:], w[:] = pairs.xi.astype(np.float32) * SINGLE_UP, pairs.w
    means = pairs.x.mean(axis=0), pairs.y.mean(axis=0)
    squares, given = [0.0, 0.0], 0.0
    for block in pairs.blocks(1 << 16):
        for k, points in enumerate((block.x, block.y)):
            centred = points - means[k]
            squares[k] = max(squares[k], float(np.max(np.sum(centred**2, axis=1))))
            given = max(given, float(np.abs(points).max()))
            if squares[k] > LARGEST**2:
                return None
            rows[3 * k : 3 * k + 3, block.rows] = centred.T
    sizes = float(np.sqrt(squares[0]) + np.sqrt(squares[1]))
    if sizes < SMALLEST:
        return None
    unit = float(np.max(pairs.w * loss.caps(pairs.xi))) / LEVELS
    turn, lean = _turned(rows, pairs.prior)
    return Lot(rows, xi, w, SLOP_SINGLE * sizes + SLOP_GIVEN * given, unit, loss.code, turn, lean)


def _turned(rows: NDArray[np.float32], prior: Prior | None) -> tuple[float, float] | tuple[None, None]:
    """Turn x, or both, so that what a prior says of differences is easily seen; returns `turn` and `lean` of a lot."""
    if prior is None:
        return None, None
    if prior.rotation is not None and prior.turn < math.pi:
        rows[:3] = prior.rotation @ rows[:3].astype(np.float64)
        return 2.0 * math.sin(0.5 * prior.turn) * WIDER, -1.0
    if prior.axis is not None and prior.tilt < math.pi:
        vertical = np.array([0.0, 0.0, 1.0])
        rows[:3] = shortest_turn(prior.source_axis, vertical) @ rows[:3].astype(np.float64)
        rows[3:] = shortest_turn(prior.axis, vertical) @ rows[3:].astype(np.float64)
        return -1.0, 2.0 * math.sin(0.5 * prior.tilt) * WIDER
    return -1.0, -1.0


def take_lot(lot: Lot, index: NDArray[Any]) -> Lot:
    """Some pairs of a lot."""
    return lot._replace(rows=np.ascontiguousarray(lot.rows[:, index]), xi=lot.xi[index], w=lot.w[index])


def units(limit: float, lot: Lot) -> int:
    """The largest number of steps that is surely not worth more than `limit`."""
    return int(np.floor(limit / lot.unit * SURELY))
