"""A pass that measures poses over all pairs and brings back those near the first of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import BAND
from tear3d.problem.arrays import FloatArray
from tear3d.problem.frame import Frame
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import near_rows, residuals, survey
from tear3d.problem.pairs import Pairs, some, take
from tear3d.problem.pose import Pose
from tear3d.stream.pieces import Piece

_STEP = 1 << 16
"""Pairs that are measured between two looks at the clock (free choice)."""


class Near(NamedTuple):
    """Pairs of a piece near a pose: their numbers, coordinates inside, noise bounds and weights."""

    rows: NDArray[np.int64]
    x: FloatArray
    y: FloatArray
    xi: FloatArray
    w: FloatArray

    def thinned(self, level: int) -> Near:
        """One in 2^level, whichever piece they came with."""
        kept = _lot(self.rows, level)
        return self if kept.all() else Near(self.rows[kept], *(values[kept] for values in self[1:]))


@dataclass
class Found:
    """What is known of some poses over some pieces."""

    savings: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """Of every piece, of every pose."""
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Inliers of every pose."""
    squares: dict[int, float] = field(default_factory=dict)
    """Σ|r|² of the inliers of the first pose, by piece."""
    flags: dict[int, NDArray[np.uint8]] = field(default_factory=dict)
    """Which pairs of a piece are inliers of the first, as bits."""
    near: dict[int, Near] = field(default_factory=dict)
    """Those within BAND noise bounds of the first, or one in 2^level of them, ..."""
    num_near: int = 0
    level: int = 0
    """... of so many."""

    def kept(self) -> int:
        return sum(len(near.rows) for near in self.near.values())

    def saving(self, number: int) -> float:
        return float(sum(self.savings[piece][number] for piece in sorted(self.savings)))

    def rmse(self) -> float:
        total = sum(self.squares[piece] for piece in sorted(self.squares))
        return float(np.sqrt(total / self.counts[0])) if self.counts[0] else float("nan")

    def pairs(self, frame: Frame, num_pairs: int) -> Pairs:
        """The near ones as pairs."""
        columns = [np.concatenate([self.near[piece][k] for piece in sorted(self.near)]) for k in range(5)]
        rows, x, y, xi, w = columns
        zero = np.zeros(3)
        return Pairs(x, y, xi, w, frame, zero, zero, rows, num_pairs)

    def share(self) -> float:
        """Of the near ones that are here."""
        return self.kept() / self.num_near if self.num_near else 1.0

    def mask(self, edges: tuple[int, ...]) -> NDArray[np.bool_]:
        """Inliers of the first pose among all pairs."""
        out = np.zeros(edges[-1], bool)
        for number, bits in self.flags.items():
            start, stop = edges[number], edges[number + 1]
            out[start:stop] = np.unpackbits(bits, count=stop - start).view(bool)
        return out


@dataclass(frozen=True)
class Agreement:
    """The pass."""

    poses: tuple[Pose, ...]
    """In the frame."""
    frame: Frame
    loss: str
    most: int
    """Near pairs that are brought back at most."""

    def begin(self) -> Found:
        return Found(counts=np.zeros(len(self.poses), np.int64))

    def add(self, total: Found, number: int, piece: Piece, over: Callable[[], bool]) -> Found | None:
        pairs, loss = piece.inside(self.frame), LOSSES[self.loss]
        savings, squares, agree = np.zeros(len(self.poses)), 0.0, np.zeros(len(pairs), bool)
        near: list[NDArray[np.int64]] = []
        for block in pairs.blocks(_STEP):
            if over():
                return None
            few = pairs.take(block.rows)
            for k, pose in enumerate(self.poses):
                found = survey(few, pose, loss, BAND if k == 0 else -1.0)
                savings[k] += found.saving
                total.counts[k] += found.num_inliers
                if k == 0:
                    around = few.take(found.rows)
                    inside = near_rows(around, pose)
                    off = residuals(around.take(inside), pose)
                    squares += float(off @ off)
                    agree[block.rows.start + found.rows[inside]] = True
                    near.append(block.rows.start + found.rows)
        rows = np.concatenate(near) if near else np.empty(0, np.int64)
        total.savings[number], total.squares[number] = tuple(savings.tolist()), squares
        total.flags[number] = np.packbits(agree)
        total.num_near += len(rows)
        own = _take(pairs, rows[_lot(piece.first + rows, total.level)], piece.first)
        total.near[number] = own
        return self._thin(total)

    def merge(self, one: Found, other: Found) -> Found:
        one.savings |= other.savings
        one.squares |= other.squares
        one.flags |= other.flags
        one.counts = one.counts + other.counts
        one.num_near += other.num_near
        level = max(one.level, other.level)
        one.near = {piece: near.thinned(level) for piece, near in (one.near | other.near).items()}
        one.level = level
        return self._thin(one)

    def _thin(self, total: Found) -> Found:
        """As many as there is room for: the same ones, however the pieces were shared out."""
        while total.kept() > self.most:
            total.level += 1
            total.near = {piece: near.thinned(total.level) for piece, near in total.near.items()}
        return total


def _take(pairs: Pairs, rows: NDArray[np.int64], first: int) -> Near:
    numbers = (np.broadcast_to(take(values, rows), len(rows)).copy() for values in (pairs.xi, pairs.w))
    return Near(first + rows, some(pairs.x, rows), some(pairs.y, rows), *numbers)


def _lot(rows: NDArray[np.int64], level: int) -> NDArray[np.bool_]:
    """Which of some pairs are among one in 2^level drawn by their numbers (Fibonacci hashing)."""
    if level == 0:
        return np.ones(len(rows), bool)
    drawn = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(drawn >> np.uint64(64 - level) == 0)
