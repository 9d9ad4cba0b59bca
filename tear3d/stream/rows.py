"""Points or numbers that are read a stretch at a time: arrays, memory-mapped or not, files one after the other."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError, InputError

SUFFIXES = (".npy", ".parquet")


class Rows(Protocol):
    """What holds one row for each pair. `read` may be called by one thread at a time."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def edges(self) -> tuple[int, ...]:
        """Where stretches begin that are best read as a whole; empty where it does not matter."""

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """A copy of some rows, that nobody else holds."""


class ArrayRows:
    """An array. Of one that maps a file no page stays in memory when it was read."""

    edges: tuple[int, ...] = ()

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self._map = _mapping(array)
        self._file = None if self._map is None else _MappedFile(array, self._map[0])

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    def read(self, start: int, stop: int) -> NDArray[Any]:
        part = self.array[start:stop]
        if self._map is None or self._file is None:
            return np.array(part, order="C")
        self._file.check()
        out = np.array(part, order="C")
        self._file.check()
        _let_go(part, *self._map)
        return out


class Unchanged:
    """A file that stays as it is while it is read: passes over numbers that change prove nothing."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = path
        self._known = _stamp(path)

    def check(self) -> None:
        now = _stamp(self.path)
        if now is not None and self._known is not None and now[:2] == self._known[:2] and now != self._known:
            raise FileFormatError(f"{self.path}: was changed while it was read: expected a file that nobody writes to")


class _MappedFile(Unchanged):
    """That of a memory map, which must not become shorter: to read behind its end would end the process."""

    def __init__(self, array: Any, mapped: mmap.mmap) -> None:
        read_only = getattr(array, "mode", None) == "r"  # who writes to a map himself knows what he does
        self.name = getattr(array, "filename", None) or "a memory-mapped file"
        super().__init__(getattr(array, "filename", None) if read_only else None)
        self._mapped, self._size = mapped, mapped.size()

    def check(self) -> None:
        if self._mapped.size() < self._size:
            raise FileFormatError(f"{self.name}: became shorter while it was read: expected a file that stays as it is")
        super().check()


def _stamp(path: str | os.PathLike[str] | None) -> tuple[int, ...] | None:
    """Which file it is, and when it was changed last; None when there is none of that name (any more)."""
    try:
        found = None if path is None else os.stat(path)
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)


class JoinedRows:
    """The rows of several, one after the other."""

    def __init__(self, parts: Sequence[Rows]) -> None:
        self.parts = list(parts)
        self._starts = [0, *accumulate(part.shape[0] for part in parts)]
        self.shape = (self._starts[-1], *parts[0].shape[1:])
        self.dtype = np.result_type(*(part.dtype for part in parts))
        self.edges = tuple(
            start + edge
            for start, part in zip(self._starts, self.parts, strict=False)
            for edge in (0, *part.edges)
            if any(one.edges for one in self.parts)
        )

    def read(self, start: int, stop: int) -> NDArray[Any]:
        found = []
        while start < stop:
            number = bisect_right(self._starts, start) - 1
            first, behind = self._starts[number], self._starts[number + 1]
            found.append(self.parts[number].read(start - first, min(stop, behind) - first))
            start = behind
        if not found:
            return np.empty((0, *self.shape[1:]), self.dtype)
        return found[0] if len(found) == 1 else np.concatenate(found)


def join(parts: Sequence[Rows], names: Sequence[str]) -> Rows:
    """Rows one after the other; what they are called is for errors."""
    for part, name in zip(parts, names, strict=True):
        if part.shape[1:] != parts[0].shape[1:]:
            raise InputError(
                f"{name} has shape {part.shape} and {names[0]} {parts[0].shape}: expected as many columns in each"
            )
    return parts[0] if len(parts) == 1 else JoinedRows(parts)


def is_mapped(array: NDArray[Any]) -> bool:
    """Whether an array is a view of a file that can be read anew at any time."""
    return _mapping(array) is not None


def _mapping(array: Any) -> tuple[mmap.mmap, int] | None:
    """The map of a file that an array is a view of, and where it begins; None if pages may hold what no file does."""
    while array is not None:
        if isinstance(array, np.memmap):
            found = array._mmap  # type: ignore[attr-defined]
            if array.mode == "c" or not isinstance(found, mmap.mmap) or not hasattr(found, "madvise"):
                return None
            whole = np.frombuffer(memoryview(found), np.uint8) if len(found) else None
            return None if whole is None else (found, whole.__array_interface__["data"][0])
        array = getattr(array, "base", None)
    return None


def _let_go(part: NDArray[Any], mapped: mmap.mmap, begin: int) -> None:
    """Take the pages of a part of a map out of memory; the file's cache keeps them as long as it likes."""
    if not part.size:
        return
    low, high = np.lib.array_utils.byte_bounds(part)
    page = mmap.PAGESIZE
    start = (low - begin) // page * page
    stop = min(len(mapped), high - begin)
    mapped.madvise(mmap.MADV_DONTNEED, start, stop - start)


def is_path(obj: object) -> bool:
    """A string is one only when it ends like the name of a file that can be opened."""
    return isinstance(obj, os.PathLike) or (isinstance(obj, str) and obj.lower().endswith(SUFFIXES))
