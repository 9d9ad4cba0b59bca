"""Rows of binary PLY elements that hold lists, and so have no fixed length."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared
from tear3d.io.ply_header import Element

CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I"}
BLOCK = 1 << 16
SHORT_RUN = 16
"""Rows of equal lengths are compared at once; where they change more often, a block is walked row by row."""


class Rows:
    """Where the rows of an element lie in the bytes of its file."""

    def __init__(self, path: Path, data: NDArray[np.uint8], start: int, element: Element, order: str) -> None:
        self._path, self._data, self._bytes = path, data, data.data
        self._start, self._element = start, element
        # A row is: for every list the numbers before it, its length and its items; then the numbers after.
        self._lists: list[tuple[int, struct.Struct, int]] = []
        self._scalars: dict[str, tuple[int, int, np.dtype[Any]]] = {}
        before = 0
        for p in element.properties:
            if p.length is None:
                self._scalars[p.name] = (len(self._lists), before, np.dtype(order + p.type))
                before += p.least_bytes
            else:
                self._lists.append((before, struct.Struct(order + CODES[p.length]), int(p.type[1])))
                before = 0
        self._tail = before

    def skip(self) -> int:
        """Where the next element starts."""
        end = self._start
        for parts in self._blocks():
            end = int(parts[-1, -1]) + self._tail
        return end

    def columns(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The numbers of these names, none of them a list."""
        found = np.empty((self._element.count, len(names)))
        row = 0
        for parts in self._blocks():
            for column, name in enumerate(names):
                part, offset, kind = self._scalars[name]
                places = parts[:, part, None] + offset + np.arange(kind.itemsize)
                found[row : row + len(parts), column] = self._data[places].view(kind)[:, 0]
            row += len(parts)
        return found

    def _blocks(self) -> Iterator[NDArray[np.int64]]:
        """Where the parts of the rows start (after every list a new one), some rows at a time."""
        left, at, window = self._element.count, self._start, SHORT_RUN
        while left:
            first = self._walk(at, 1)
            step = int(first[0, -1]) + self._tail - at
            count = self._same(at, first[0], step, min(left, window))
            window = min(2 * window, BLOCK) if count == window else 2 * SHORT_RUN
            if count < min(left, SHORT_RUN):
                count = min(left, BLOCK)
                parts = self._walk(at, count)
            else:
                parts = first + step * np.arange(count)[:, None]
            at = int(parts[-1, -1]) + self._tail
            left -= count
            yield parts

    def _walk(self, at: int, count: int) -> NDArray[np.int64]:
        places: list[int] = []
        size = len(self._data)
        for _ in range(count):
            places.append(at)
            for before, length, item in self._lists:
                at += before
                if at + length.size > size:
                    self._refuse(at + length.size)
                (items,) = length.unpack_from(self._bytes, at)
                if items < 0:
                    raise FileFormatError(f"{self._path}: a list of {self._element.name} has the length {items}")
                at += length.size + items * item
                places.append(at)
            at += self._tail
            if at > size:
                self._refuse(at)
        return np.array(places, dtype=np.int64).reshape(count, -1)

    def _refuse(self, needed: int) -> None:
        check_declared(self._path, f"its element {self._element.name}", needed, len(self._data))

    def _same(self, start: int, parts: NDArray[np.int64], step: int, most: int) -> int:
        """How many rows from `start` on have lists of the same lengths as the first."""
        most = min(most, (len(self._data) - start) // step)
        same = np.ones(most, dtype=bool)
        for (before, length, _), part in zip(self._lists, parts[:-1], strict=True):
            for i in range(length.size):
                column = np.ndarray(most, np.uint8, self._bytes, int(part) + before + i, (step,))
                same &= column == column[0]
        return most if same.all() else int(np.argmin(same))
