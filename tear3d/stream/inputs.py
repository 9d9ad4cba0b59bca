"""What `register` was given, when it can be read in pieces; and whether it will be."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, as_numbers, as_points, is_masked
from tear3d.problem.options import as_whole
from tear3d.stream.files import is_paths, open_rows
from tear3d.stream.pieces import Pieces, check_shapes
from tear3d.stream.rows import ArrayRows, Rows, is_mapped
from tear3d.stream.shares import IN_MEMORY, LEAST, SHARE, physical_memory


class Asked(NamedTuple):
    """How pairs are to be looked at."""

    memory_limit: int | None
    client: Any = None
    checkpoint: str | os.PathLike[str] | None = None

    @property
    def most(self) -> int:
        """Bytes."""
        return physical_memory() // SHARE if self.memory_limit is None else self.memory_limit


class Opened(NamedTuple):
    """Pairs that are not in memory, or need not be."""

    source: Any
    target: Any
    """Rows, or Dask arrays when there is a client."""
    noise_bound: Any
    weights: Any
    in_pieces: bool

    @classmethod
    def of(cls, source: Any, target: Any, noise_bound: Any, weights: Any, asked: Asked) -> Opened | None:
        """What can be read in pieces; None when these are neither arrays nor files."""
        dask = [is_dask(obj) for obj in (source, target)]
        if asked.client is not None:
            if not all(dask):
                raise InputError("client is given: expected Dask arrays for source and target, chunked by rows")
            return cls(source, target, noise_bound, weights, True)
        named = (source, "source"), (target, "target")
        sides = [as_rows(obj, name) for obj, name in named]
        if asked.memory_limit is None and not any(map(_in_file, sides)):
            return None
        rows = [
            ArrayRows(as_points(obj, name, finite=False)) if found is None else found
            for found, (obj, name) in zip(sides, named, strict=True)
        ]
        large = any(IN_MEMORY * side.shape[0] > asked.most for side in rows if side.shape)
        return cls(rows[0], rows[1], noise_bound, weights, large)

    def in_memory(self) -> tuple[Any, Any, Any, Any]:
        """The arguments of `register` as arrays."""
        return tuple(_loaded(value, name) for value, name in zip(self, self._fields[:4], strict=False))  # type: ignore[return-value]

    def pieces(self, size: int) -> Pieces:
        """Checked, as far as they can be without being read."""
        check_shapes(self.source, self.target)
        return Pieces.of(self.source, self.target, *self.numbers(), size)

    def numbers(self) -> tuple[Any, Any]:
        """Noise bounds and weights: an array with one entry for all, or one per pair, somewhere."""
        n = int(self.source.shape[0])
        weights = np.ones(1) if self.weights is None else _numbers(self.weights, "weights", n)
        return _numbers(self.noise_bound, "noise_bound", n), weights


def checked_limit(memory_limit: object) -> int | None:
    if memory_limit is None:
        return None
    limit = as_whole(memory_limit, "memory_limit", 0)
    if limit < LEAST:
        raise InputError(f"memory_limit is {limit}: expected bytes, at least {LEAST} (128 MiB), or None")
    return limit


def is_dask(obj: object) -> bool:
    """Whether something is a Dask array."""
    return type(obj).__module__.startswith("dask.array") and hasattr(obj, "to_delayed")


class DaskRows:
    """A Dask array without a cluster: chunks are computed when they are read."""

    def __init__(self, array: Any, name: str = "a Dask array") -> None:
        self.array = array
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype[Any] = array.dtype
        if any(np.isnan(size) for size in self.shape):
            raise InputError(f"{name} has chunks of unknown size: call its compute_chunk_sizes() before")
        self.edges = tuple(np.cumsum((0, *array.chunks[0]))[:-1].tolist()) if self.shape else ()

    def read(self, start: int, stop: int) -> NDArray[Any]:
        return np.array(self.array[start:stop].compute())


def as_rows(obj: Any, name: str) -> Rows | None:
    """What can be read a stretch at a time; None when something else is there. `name` is for errors."""
    if isinstance(obj, np.ndarray) and not is_masked(obj) and obj.ndim > 0 and obj.dtype.kind in "fiu":
        return ArrayRows(obj)
    if is_paths(obj):
        return open_rows(obj)
    if is_dask(obj):
        return DaskRows(obj, name)
    return obj if hasattr(obj, "read") and hasattr(obj, "edges") and hasattr(obj, "shape") else None


def _numbers(values: Any, name: str, n: int) -> Rows | FloatArray | Any:
    rows = as_rows(values, name)
    if rows is None or rows.shape in ((), (1,)):
        numbers = as_numbers(values if rows is None else _all(rows), name, n)
        return numbers if numbers.size == 1 else ArrayRows(numbers)
    if rows.shape != (n,):
        raise InputError(f"{name} has shape {rows.shape}: expected a number or one per pair ({n})")
    if rows.dtype.kind not in "fiu":
        raise InputError(f"{name} has dtype {rows.dtype}: expected real numbers")
    return rows


def _in_file(rows: Rows | None) -> bool:
    return rows is not None and not (isinstance(rows, ArrayRows) and not is_mapped(rows.array))


def _loaded(value: Any, name: str) -> Any:
    rows = as_rows(value, name)
    return value if rows is None else _all(rows)


def _all(rows: Rows) -> NDArray[Any]:
    return np.asarray(rows.array) if isinstance(rows, ArrayRows | DaskRows) else rows.read(0, rows.shape[0])
