"""Pairs in pieces: where each begins, and how one is read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray
from tear3d.problem.frame import Frame
from tear3d.problem.pairs import Pairs, some, take
from tear3d.stream.rows import Rows

_ZERO = np.zeros(3)


class Piece(NamedTuple):
    """Some consecutive pairs as they were given. `xi` and `w` have one entry per pair, or one for all."""

    first: int
    """The number of its first pair."""
    x: NDArray[Any]
    y: NDArray[Any]
    xi: FloatArray
    w: FloatArray

    @classmethod
    def checked(cls, first: int, stop: int, *columns: Any) -> Piece:
        """What was read, if it is what was announced: the rows of the two sides belong together."""
        for name, values in zip(cls._fields[1:], columns, strict=True):
            due = (stop - first, 3) if name in "xy" else (stop - first,)
            if values.shape != due and (name in "xy" or values.shape != (1,)):
                called = {"x": "source", "y": "target", "xi": "noise_bound", "w": "weights"}[name]
                raise InputError(
                    f"{called} gave an array of shape {values.shape} for rows {first} to {stop}: expected {due}, as it "
                    "was announced"
                )
        return cls(first, *columns)

    def take(self, rows: NDArray[np.int64]) -> Piece:
        """Some of its pairs. Their numbers among all are no longer those from `first` on."""
        xi, w = take(self.xi, rows), take(self.w, rows)
        return Piece(self.first, some(self.x, rows), some(self.y, rows), xi, w)

    def inside(self, frame: Frame) -> Pairs:
        """As pairs of a frame."""
        x = np.subtract(self.x, frame.source, dtype=np.float64)
        y = np.subtract(self.y, frame.target, dtype=np.float64)
        xi, w = self.xi, self.w
        if frame.unit != 1.0:
            x /= frame.unit
            y /= frame.unit
            xi = xi / frame.unit
        if frame.weight != 1.0:
            w = w / frame.weight
        return Pairs(x, y, xi, w, frame, _ZERO, _ZERO)


@dataclass(frozen=True, eq=False)
class Pieces:
    """All pairs. What all have in common is an array with one entry."""

    source: Rows
    target: Rows
    noise_bound: Rows | FloatArray
    weights: Rows | FloatArray
    edges: tuple[int, ...]
    """Where pieces begin, and where the last one ends."""

    @classmethod
    def of(
        cls, source: Rows, target: Rows, noise_bound: Rows | FloatArray, weights: Rows | FloatArray, size: int
    ) -> Pieces:
        """Pieces of at most so many pairs, none across an edge of the source."""
        edges = split_edges(sorted({0, source.shape[0], *source.edges}), size)
        return cls(source, target, noise_bound, weights, edges)

    def __len__(self) -> int:
        return len(self.edges) - 1

    @property
    def num_pairs(self) -> int:
        return self.edges[-1]

    def read(self, number: int) -> Piece:
        """One piece, from wherever it is."""
        start, stop = self.edges[number], self.edges[number + 1]
        x, y = self.source.read(start, stop), self.target.read(start, stop)
        numbers = [
            rows if isinstance(rows, np.ndarray) else np.asarray(rows.read(start, stop), np.float64).reshape(-1)
            for rows in (self.noise_bound, self.weights)
        ]
        return Piece.checked(start, stop, x, y, *numbers)


def split_edges(bounds: list[int], size: int) -> tuple[int, ...]:
    """Where pieces of at most `size` begin, none across a bound; and the last bound."""
    return (*(start for first, last in pairwise(bounds) for start in _even(first, last, size)), bounds[-1])


def _even(first: int, last: int, size: int) -> list[int]:
    """Where equal stretches of at most `size` begin."""
    count = -(-(last - first) // size)
    return [first + (last - first) * k // count for k in range(count)]


def check_shapes(source: Any, target: Any) -> None:
    """Refuse what cannot be pairs."""
    for rows, name in ((source, "source"), (target, "target")):
        if len(rows.shape) != 2 or rows.shape[1] != 3:
            raise InputError(f"{name} has shape {rows.shape}: pass points as rows (N×3)")
        if rows.dtype.kind not in "fiu":
            raise InputError(f"{name} has dtype {rows.dtype}: expected real numbers")
        if np.isnan(rows.shape[0]):
            raise InputError(f"{name} has chunks of unknown size: call its compute_chunk_sizes() before")
    if source.shape[0] != target.shape[0]:
        raise InputError(
            f"source has {source.shape[0]} points and target {target.shape[0]}: row i of one must be matched to row i "
            "of the other"
        )
    if source.shape[0] < 3:
        raise InputError(f"source has {source.shape[0]} points: a pose needs at least 3 pairs")
