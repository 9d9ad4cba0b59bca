"""What of the memory each part of a search over pieces may take."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

LEAST = 128 << 20
"""A limit below this leaves no room for pieces of a useful size (free choice)."""
IN_MEMORY = 96
"""Bytes a pair takes when all are in memory: 48 as float64, 32 for the proof, the rest for what is copied meanwhile."""
BLOCK_BYTES = 160
"""Bytes that a pair of a piece takes while a thread looks at it: as it is read and read ahead, as float64, packed."""
SMALLEST, LARGEST = 1 << 15, 1 << 20
"""Pairs of a piece (free choices: of fewer the grids of votes cost more than the votes)."""
SHARE = 4
"""Without a limit, what lies in files may take one in so many bytes of the machine's memory (free choice)."""


MOST_PAIRS = 1 << 30
"""So many votes fit into the int32 of a voxel."""
VOTE_BYTES = 4 * ((1 << 16) + 64)
"""What a cell takes in a pass, in every thread: a grid of votes."""
FEWEST_CELLS, MOST_CELLS = 8, 256
"""Cells of a pass (free choices)."""


class Shares(NamedTuple):
    """How a limit on memory is spent. None of it depends on the number of threads, nor does the result."""

    piece: int
    """Pairs of a piece."""
    room: int
    """Bytes for votes and pairs that are kept."""
    threads: int
    """That have room to work at once."""

    @classmethod
    def of(cls, limit: int) -> Shares:
        piece = 1 << (max(SMALLEST, min(LARGEST, limit // 8 // BLOCK_BYTES)).bit_length() - 1)
        room = limit // 2
        busy = piece * BLOCK_BYTES + min(MOST_CELLS * VOTE_BYTES, room // 8)
        return cls(piece, room, max(1, (limit - room) // busy))


def physical_memory() -> int:
    """Of the machine, or a guess where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


def give_back() -> None:
    """Let the C library return to the system what it keeps of memory that is free: glibc, of much that passes took."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], object] | None:
    try:
        return ctypes.CDLL(None).malloc_trim if sys.platform == "linux" else None
    except (OSError, AttributeError):  # another C library
        return None
