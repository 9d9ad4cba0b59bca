"""Lists of the pairs that matter in nodes which wait to be searched on."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

ROOM = 64 << 20
"""Bytes of all lists together. Beyond that, nodes are searched with all pairs (free choice)."""


class Lists:
    """Row numbers, kept as long as a node refers to them. Numbers are handed out in any order: no result depends on
    them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: dict[int, tuple[NDArray[np.int32], int]] = {}
        self._last = 0
        self._bytes = 0

    def keep(self, index: NDArray[np.int32], nodes: int) -> int:
        """A number for a list that so many nodes refer to; 0 when there is no room."""
        with self._lock:
            if self._bytes + index.nbytes > ROOM:
                return 0
            self._last += 1
            self._lists[self._last] = index, nodes
            self._bytes += index.nbytes
            return self._last

    def take(self, number: int, size: int) -> NDArray[np.int32]:
        """The list of a number."""
        if number == 0:
            return np.arange(size, dtype=np.int32)
        with self._lock:
            return self._lists[number][0]

    def done(self, number: int) -> None:
        """One node less refers to a list."""
        if number == 0:
            return
        with self._lock:
            index, nodes = self._lists[number]
            if nodes > 1:
                self._lists[number] = index, nodes - 1
            else:
                del self._lists[number]
                self._bytes -= index.nbytes
