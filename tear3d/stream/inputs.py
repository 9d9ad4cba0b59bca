"""Whether pairs are looked at in pieces, and what of the memory each part may take."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, as_numbers
from tear3d.problem.options import Options, as_whole
from tear3d.stream.files import is_paths, open_rows
from tear3d.stream.local import Local
from tear3d.stream.pieces import Pieces, check_shapes
from tear3d.stream.rows import ArrayRows, Rows, is_mapped
from tear3d.stream.shares import IN_MEMORY, LEAST, SHARE, Shares, physical_memory


class Opened(NamedTuple):
    """Pairs that are not in memory, or need not be."""

    source: Rows
    target: Rows
    noise_bound: Any
    weights: Any
    lazy: bool
    """Whether they are somewhere else."""

    @classmethod
    def of(cls, source: Any, target: Any, noise_bound: Any, weights: Any) -> Opened | None:
        """What can be read in pieces; None when these are neither arrays nor files."""
        sides = as_rows(source), as_rows(target)
        if sides[0] is None or sides[1] is None:
            return None
        lazy = not all(isinstance(rows, ArrayRows) and not is_mapped(rows.array) for rows in sides)
        return cls(sides[0], sides[1], noise_bound, weights, lazy)

    def too_large(self, memory_limit: int | None) -> bool:
        """Whether they should be looked at in pieces."""
        if memory_limit is None:
            return self.lazy and IN_MEMORY * self.source.shape[0] > physical_memory() // SHARE
        return IN_MEMORY * self.source.shape[0] > memory_limit

    def in_memory(self) -> tuple[Any, Any, Any, Any]:
        """The arguments of `register` as arrays."""
        values = (self.source, self.target, self.noise_bound, self.weights)
        return tuple(_loaded(value) for value in values)  # type: ignore[return-value]

    def pieces(self, size: int) -> Pieces:
        """Checked, as far as they can be without being read."""
        check_shapes(self.source, self.target)
        n = self.source.shape[0]
        bounds = _numbers(self.noise_bound, "noise_bound", n)
        weights = np.ones(1) if self.weights is None else _numbers(self.weights, "weights", n)
        return Pieces.of(self.source, self.target, bounds, weights, size)


def local(opened: Opened, memory_limit: int | None, threads: int) -> tuple[Local, Pieces, int]:
    """What runs passes over the pairs here, the pieces, and the bytes for what is kept of them."""
    limit = physical_memory() // SHARE if memory_limit is None else memory_limit
    shares = Shares.of(limit)
    pieces = opened.pieces(shares.piece)
    return Local(pieces, min(threads, shares.threads)), pieces, shares.room


def checked_limit(memory_limit: object) -> int | None:
    if memory_limit is None:
        return None
    limit = as_whole(memory_limit, "memory_limit", 0)
    if limit < LEAST:
        raise InputError(f"memory_limit is {limit}: expected bytes, at least {LEAST} (128 MiB), or None")
    return limit


def check_for_pieces(options: Options) -> None:
    """Refuse what needs all pairs in memory."""
    if options.method != "tear3d" or options.certify == "rows":
        what = "method='paper'" if options.method != "tear3d" else "certify='rows'"
        raise InputError(f"{what} needs all pairs in memory: expected certify='pose' or False, or more memory_limit")


def as_rows(obj: Any) -> Rows | None:
    if isinstance(obj, np.ndarray) and not np.ma.isMaskedArray(obj) and obj.ndim > 0 and obj.dtype.kind in "fiu":
        return ArrayRows(obj)
    if is_paths(obj):
        return open_rows(obj)
    return obj if hasattr(obj, "read") and hasattr(obj, "edges") and hasattr(obj, "shape") else None


def _numbers(values: Any, name: str, n: int) -> Rows | FloatArray:
    rows = as_rows(values)
    if rows is None or rows.shape in ((), (1,)):
        return as_numbers(values, name, n)
    if rows.shape != (n,):
        raise InputError(f"{name} has shape {rows.shape}: expected a number or one per pair ({n})")
    if n == 1 or rows.dtype.kind not in "fiu":
        raise InputError(f"{name} has dtype {rows.dtype}: expected real numbers")
    return rows


def _loaded(value: Any) -> Any:
    rows = None if isinstance(value, np.ndarray) else as_rows(value)
    return value if rows is None else rows.read(0, rows.shape[0])
