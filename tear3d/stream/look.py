"""The first pass: are these numbers, how large are they, and a sample of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import LARGEST, FloatArray, spread_rows
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import COPY_LIMIT
from tear3d.stream.pieces import Piece

SAMPLE = COPY_LIMIT
"""Pairs among which poses are found and by which chance is judged: ten times as many as the search looks at, so that
what it finds can be refined; no more than are centred, for all will be about their mean."""


@dataclass
class Facts:
    """What the first pass finds out."""

    low: FloatArray = field(default_factory=lambda: np.full(6, np.inf))
    high: FloatArray = field(default_factory=lambda: np.full(6, -np.inf))
    """Of the coordinates of source (3) and target (3)."""
    bounds: FloatArray = field(default_factory=lambda: np.array([np.inf, -np.inf, np.inf, -np.inf]))
    """The least and the largest noise bound, the least and the largest weight."""
    usable: int = 0
    """Pairs with a positive noise bound and weight."""
    bad: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By name of an argument: how many rows are no numbers, or beyond what float64 can square; and the first."""
    totals: dict[int, tuple[float, ...]] = field(default_factory=dict)
    """Σ w·cap of every piece, by loss."""
    sample: dict[int, tuple[NDArray[Any], ...]] = field(default_factory=dict)
    """Of every piece: source, target, noise bounds and weights."""
    prints: dict[int, bytes] = field(default_factory=dict)
    """Of every piece: what tells its numbers from others, if that was asked for."""

    def total(self, loss: str) -> float:
        """Σ w·cap of all pairs as given."""
        number = list(LOSSES).index(loss)
        return float(sum(self.totals[piece][number] for piece in sorted(self.totals)))

    def sampled(self, column: int) -> NDArray[Any]:
        return np.concatenate([self.sample[piece][column] for piece in sorted(self.sample)])

    def fingerprint(self) -> str:
        """Of all pairs; the same only for the same numbers in the same pieces."""
        return hashlib.blake2b(
            b"".join(self.prints[piece] for piece in sorted(self.prints)), digest_size=16
        ).hexdigest()

    def check(self, num_pairs: int) -> None:
        """Refuse what cannot be registered, in the words used of arrays in memory."""
        for name, (count, first) in self.bad.items():
            if name in ("source", "target"):
                raise InputError(
                    f"{name} has {count} of {num_pairs} points with NaN or infinite coordinates, or beyond {LARGEST:g} "
                    f"(first at row {first}): remove them"
                )
            raise InputError(
                f"{name} has {count} entries that are negative, NaN or beyond {LARGEST:g} (first at {first})"
            )
        if self.usable < 3:
            raise InputError(f"only {self.usable} pairs have a positive weight and noise bound: expected at least 3")


@dataclass(frozen=True)
class Look:
    """The first pass."""

    num_pairs: int
    fingerprint: bool = False
    """Whether numbers are to be told from others: for a checkpoint, which must not go on with other pairs."""

    def begin(self) -> Facts:
        return Facts()

    def add(self, total: Facts, number: int, piece: Piece, over: Callable[[], bool]) -> Facts:
        for k, (name, points) in enumerate((("source", piece.x), ("target", piece.y))):
            low, high = points.min(axis=0), points.max(axis=0)
            if not max(float(high.max()), -float(low.min())) <= LARGEST:
                _note(total, name, piece.first, ~(np.abs(points) <= LARGEST).all(axis=1))
            own = slice(3 * k, 3 * k + 3)
            total.low[own], total.high[own] = np.minimum(total.low[own], low), np.maximum(total.high[own], high)
        for k, (name, values) in enumerate((("noise_bound", piece.xi), ("weights", piece.w))):
            if not 0.0 <= float(values.min()) <= float(values.max()) <= LARGEST:
                _note(total, name, piece.first, ~((values >= 0.0) & (values <= LARGEST)))
            ends = total.bounds[2 * k : 2 * k + 2]
            ends[:] = min(ends[0], float(values.min())), max(ends[1], float(values.max()))
        size = len(piece.x)
        usable = np.broadcast_to((piece.xi > 0.0) & (piece.w > 0.0), size)
        total.usable += int(np.count_nonzero(usable))
        with np.errstate(over="ignore"):
            caps = [np.sum(np.broadcast_to(piece.w * loss.caps(piece.xi), size)) for loss in LOSSES.values()]
        total.totals[number] = tuple(float(cap) for cap in caps)
        rows = self._drawn(piece.first, size)
        numbers = (np.broadcast_to(values, size)[rows].copy() for values in (piece.xi, piece.w))
        total.sample[number] = (piece.x[rows], piece.y[rows], *numbers)
        if self.fingerprint:
            total.prints[number] = _fingerprint(piece)
        return total

    def _drawn(self, first: int, size: int) -> NDArray[np.int64]:
        """Which rows of a piece belong to the sample of all."""
        drawn = _spread(self.num_pairs)
        if isinstance(drawn, slice):
            return np.arange(size)
        start, stop = np.searchsorted(drawn, (first, first + size))
        return drawn[start:stop] - first

    def merge(self, one: Facts, other: Facts) -> Facts:
        one.low, one.high = np.minimum(one.low, other.low), np.maximum(one.high, other.high)
        for k in (0, 2):
            one.bounds[k] = min(one.bounds[k], other.bounds[k])
            one.bounds[k + 1] = max(one.bounds[k + 1], other.bounds[k + 1])
        one.usable += other.usable
        for name, (count, first) in other.bad.items():
            known, before = one.bad.get(name, (0, first))
            one.bad[name] = known + count, min(first, before)
        one.totals |= other.totals
        one.sample |= other.sample
        one.prints |= other.prints
        return one


@lru_cache(1)
def _spread(num_pairs: int) -> slice | NDArray[np.int64]:
    return spread_rows(num_pairs, SAMPLE)


def _fingerprint(piece: Piece) -> bytes:
    out = hashlib.blake2b(digest_size=16)
    for values in piece[1:]:
        out.update(f"{values.dtype.str} {values.shape}".encode())
        out.update(np.ascontiguousarray(values).data.cast("B"))
    return out.digest()


def _note(total: Facts, name: str, first: int, bad: NDArray[np.bool_]) -> None:
    count, row = int(np.count_nonzero(bad)), first + int(np.argmax(bad))
    known, before = total.bad.get(name, (0, row))
    total.bad[name] = known + count, min(before, row)
