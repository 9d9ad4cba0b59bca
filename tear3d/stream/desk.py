"""Where a thread works on a piece: cells family by family, with copies of the voters that can matter in each."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tear3d.prove.bounds.parts import MOST_PARTS
from tear3d.prove.bounds.tallies import mark_voters, pick_voters
from tear3d.prove.bounds.voters import BLOCK, Copies, Voters
from tear3d.prove.bounds.votes import make_booth
from tear3d.prove.pose.nodes import FACE, LIST
from tear3d.stream.families import Family
from tear3d.stream.scene import Seated

ARENA = 1.5
"""Room for copies of voters, as a multiple of those of a piece: families inside each other have about 0.6, 0.36, ... of
them at most (`WORTH`), and where there is no room for one it keeps the voters of the family it is in."""

Some = tuple[Voters, tuple[int, int]]
"""Voters, and which of them."""


class Desk:
    """Work space of a thread."""

    def __init__(self) -> None:
        self.booth = make_booth()
        self._ends, self._mask = np.empty(MOST_PARTS, np.int64), np.empty(BLOCK, np.uint8)
        self._room = Voters(
            np.empty((6, 0), np.float32), np.empty(0, np.float32), np.empty(0, np.int32), np.empty(0, np.int32)
        )

    def walk(self, seated: Seated, family: Family) -> Iterator[tuple[int, Some]]:
        """Every node, with voters among whom are all that can save anything in it."""
        voters, room = seated.voters, math.ceil(ARENA * seated.size)
        if room > self._room.index.size:
            rows, index = np.empty((6, room), np.float32), np.empty(room, np.int32)
            self._room = Voters(rows, np.empty(room, np.float32), np.empty(room, np.int32), index)
        arena = self._room
        if voters.xi.size == 1:
            arena = arena._replace(xi=voters.xi)
        if voters.ballots.size == 1:
            arena = arena._replace(ballots=voters.ballots)
        yield from self._inside(family, (voters, (0, seated.size)), arena, 0, seated.ballot.margin)

    def _inside(self, family: Family, who: Some, arena: Voters, free: int, margin: float) -> Iterator[tuple[int, Some]]:
        for number in family.nodes:
            yield number, who
        for child in family.families:
            fewer, end = who, free
            copies = Copies(arena, free, arena.index.size, self._ends, self._mask, self.booth.block)
            if pick_voters(*who, child.hull[FACE:LIST], margin, copies):
                end = int(self._ends[0])
                fewer = arena, (free, end)
            yield from self._inside(child, fewer, arena, end, margin)

    def mark(self, who: Some, node: NDArray[np.float64], margin: float, mask: NDArray[np.uint8]) -> None:
        """Set the mask of those voters that can save anything in a cell."""
        mark_voters(*who, node[FACE:LIST], margin, self.booth.block, mask)
