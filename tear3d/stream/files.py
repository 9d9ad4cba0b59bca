"""Pairs in files, opened without being read: .npy, several of them, Parquet."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError, InputError, MissingExtraError
from tear3d.stream.rows import ArrayRows, Rows, Unchanged, is_path, join

SIDES = ("source", "target")
COLUMNS = {side: tuple(f"{side}_{axis}" for axis in "xyz") for side in SIDES}
"""Names of columns, as `write_pairs` gives them to text files."""
PER_PAIR = {"noise_bound": ("noise_bound", "xi"), "weights": ("weights", "weight")}
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class OpenPairs(NamedTuple):
    """Pairs in files, for `register`."""

    source: Rows
    target: Rows
    noise_bound: Rows | None = None
    weights: Rows | None = None


def open_pairs(paths: Paths) -> OpenPairs:
    """Open pairs in files that may be larger than memory; `register` reads them a piece at a time.

    Parameters
    ----------
    paths : path or list of paths
        One file after the other:

        - ``.npy``: N×6 arrays, source and target side by side.
        - ``.parquet`` (extra ``parquet``): columns ``source_x`` to ``target_z``, optionally ``noise_bound`` (or ``xi``)
          and ``weights`` (or ``weight``).

    Returns
    -------
    OpenPairs
        ``source``, ``target``, ``noise_bound`` and ``weights``, to be passed on to `register`; the last two are None
        when the files have none.

    Examples
    --------
    >>> pairs = tear3d.open_pairs(["a.npy", "b.npy"])  # doctest: +SKIP
    >>> result = tear3d.register(pairs.source, pairs.target, noise_bound=0.05, memory_limit=2**30)  # doctest: +SKIP
    """
    found = [_open(path) for path in _several(paths)]
    columns: list[Any] = []
    for name, parts in zip(OpenPairs._fields, zip(*found, strict=True), strict=True):
        given = [part for part in parts if part is not None]
        if given and len(given) < len(parts):
            raise InputError(f"{name} is in {len(given)} of {len(parts)} files only: expected in all or in none")
        columns.append(join(given, [name] * len(given)) if given else None)
    return OpenPairs(*columns)


def open_rows(paths: Paths) -> Rows:
    """One array in files, one after the other: .npy, or Parquet of which every column counts."""
    several = _several(paths)
    return join([_rows(path) for path in several], [str(path) for path in several])


def _several(paths: Paths) -> list[Path]:
    several = [Path(paths)] if isinstance(paths, str | os.PathLike) else [Path(path) for path in paths]
    if not several:
        raise InputError("no files given: expected at least one path")
    return several


def is_paths(obj: object) -> bool:
    """Whether something is a path, or a list of paths."""
    return is_path(obj) or (isinstance(obj, list | tuple) and bool(obj) and all(is_path(item) for item in obj))


def _open(path: Path) -> OpenPairs:
    if path.suffix.lower() == ".parquet":
        table = _Parquet(path)
        sides = [ParquetRows(table, table.need(COLUMNS[side])) for side in SIDES]
        own = [next((name for name in names if name in table.names), None) for names in PER_PAIR.values()]
        return OpenPairs(*sides, *(None if name is None else ParquetRows(table, (name,)) for name in own))
    array = _mapped(path)
    if array.ndim != 2 or array.shape[1] != 6:
        raise FileFormatError(f"{path}: has shape {array.shape}: expected N×6, source and target side by side")
    return OpenPairs(ArrayRows(array[:, :3]), ArrayRows(array[:, 3:]))


def _rows(path: Path) -> Rows:
    if path.suffix.lower() == ".parquet":
        table = _Parquet(path)
        return ParquetRows(table, tuple(table.names))
    return ArrayRows(_mapped(path))


def _mapped(path: Path) -> NDArray[Any]:
    if path.suffix.lower() != ".npy":
        raise FileFormatError(f"{path}: unknown suffix {path.suffix!r}: expected .npy or .parquet")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except FileNotFoundError:
        raise FileFormatError(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError) as error:
        raise FileFormatError(f"{path}: cannot be read as .npy: {error}") from error
    if array.dtype.kind not in "fiu":
        raise FileFormatError(f"{path}: has dtype {array.dtype}: expected real numbers")
    return np.asarray(array) if array.ndim == 0 else array


class _Parquet:
    """A Parquet file; its row groups are read one at a time, and the last one is kept, of some columns and others."""

    def __init__(self, path: Path) -> None:
        try:
            import pyarrow as arrow
            from pyarrow import parquet
        except ImportError:
            raise MissingExtraError("pyarrow", "parquet", f"{path}: a Parquet file") from None
        self.path, self._errors = path, arrow.ArrowException
        try:
            self.file = parquet.ParquetFile(path)
        except FileNotFoundError:
            raise FileFormatError(f"{path}: no such file") from None
        except (OSError, arrow.ArrowException) as error:
            raise FileFormatError(f"{path}: cannot be read as Parquet: {error}") from error
        meta, schema = self.file.metadata, self.file.schema_arrow
        self.names = [str(field.name) for field in schema]
        for field in schema:
            if not (arrow.types.is_floating(field.type) or arrow.types.is_integer(field.type)):
                self.names.remove(field.name)
            elif self.names.count(field.name) > 1:
                raise FileFormatError(f"{path}: has several columns {field.name!r}: expected one of each name")
        self.starts = [0, *accumulate(meta.row_group(k).num_rows for k in range(meta.num_row_groups))]
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, ...], tuple[int, NDArray[Any]]] = {}
        self._file = Unchanged(path)
        self._types = {field.name: field.type.to_pandas_dtype() for field in schema if field.name in self.names}

    def need(self, names: tuple[str, ...]) -> tuple[str, ...]:
        missing = [name for name in names if name not in self.names]
        if missing:
            raise FileFormatError(f"{self.path}: has no column of numbers {missing[0]!r}: expected {', '.join(names)}")
        return names

    def dtype(self, names: tuple[str, ...]) -> np.dtype[Any]:
        return np.result_type(*(np.dtype(self._types[name]) for name in names))

    def group(self, number: int, names: tuple[str, ...]) -> NDArray[Any]:
        """Some columns of a row group, side by side; what is missing is NaN."""
        with self._lock:
            if names not in self._kept or self._kept[names][0] != number:
                self._kept.pop(names, None)
                self._kept[names] = number, self._read(number, names)
            return self._kept[names][1]

    def _read(self, number: int, names: tuple[str, ...]) -> NDArray[Any]:
        try:
            table = self.file.read_row_group(number, columns=list(names), use_threads=False)
        except (OSError, self._errors) as error:
            raise FileFormatError(f"{self.path}: row group {number} cannot be read: {error}") from error
        self._file.check()
        columns = [table.column(name) for name in names]
        dtype = np.dtype(np.float64) if any(column.null_count for column in columns) else self.dtype(names)
        out = np.empty((table.num_rows, len(names)), dtype)
        for k, column in enumerate(columns):
            out[:, k] = column.to_numpy()
        return out


class ParquetRows:
    """Columns of a Parquet file."""

    def __init__(self, table: _Parquet, names: tuple[str, ...]) -> None:
        self.table, self.names = table, names
        count = table.starts[-1]
        self.shape: tuple[int, ...] = (count, len(names)) if len(names) > 1 else (count,)
        self.dtype = table.dtype(names)
        self.edges = tuple(table.starts[:-1])

    def read(self, start: int, stop: int) -> NDArray[Any]:
        found, starts = [], self.table.starts
        while start < stop:
            number = bisect_right(starts, start) - 1
            rows = self.table.group(number, self.names)
            found.append(rows[start - starts[number] : min(stop, starts[number + 1]) - starts[number]])
            start = starts[number + 1]
        out = np.concatenate(found) if found else np.empty((0, len(self.names)), self.dtype)
        return out if len(self.shape) == 2 else out[:, 0]
