"""Passes of the proof: votes about cells of poses, and the pairs that still matter in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.frame import Frame
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.tallies import ROOM, cast_votes
from tear3d.prove.pose.nodes import FACE, LIST
from tear3d.stream.desk import Desk
from tear3d.stream.families import Family
from tear3d.stream.pieces import Piece
from tear3d.stream.scene import Scene


@dataclass
class Tally:
    """Votes about every cell."""

    votes: NDArray[np.int32]
    desk: Desk | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"votes": self.votes, "desk": None}


@dataclass(frozen=True)
class Votes:
    """The votes of all pairs about some cells."""

    scene: Scene
    nodes: FloatArray
    family: Family
    """Of all nodes."""
    sharp: bool

    def begin(self) -> Tally:
        return Tally(np.zeros((len(self.nodes), ROOM), np.int32))

    def add(self, total: Tally, number: int, piece: Piece, over: Callable[[], bool]) -> Tally | None:
        seated = self.scene.seat(piece)
        if seated is None:
            return total
        desk = total.desk = total.desk or Desk()
        grid = desk.booth.grid
        for k, who in desk.walk(seated, self.family):
            if over():
                return None
            count = cast_votes(*who, self.nodes[k, FACE:LIST], self.sharp, seated.ballot, desk.booth)
            total.votes[k, :count] += grid[:count]
        return total

    def merge(self, one: Tally, other: Tally) -> Tally:
        one.votes += other.votes
        return one


@dataclass
class Gathered:
    """Pairs that still matter."""

    parts: dict[int, tuple[NDArray[Any], ...]] = field(default_factory=dict)
    """By piece: numbers, x, y, ξ and w inside."""
    count: int = 0
    full: bool = False
    """There were more than there is room for: none are here."""
    desk: Desk | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"desk": None}

    def pairs(self, frame: Frame, num_pairs: int) -> Pairs:
        columns = [np.concatenate([self.parts[piece][k] for piece in sorted(self.parts)]) for k in range(5)]
        rows, x, y, xi, w = columns
        self.parts.clear()
        zero = np.zeros(3)
        return Pairs(x, y, _one(xi), _one(w), frame, zero, zero, rows, num_pairs)


@dataclass(frozen=True)
class Gather:
    """The pairs that can save anything in some cells."""

    scene: Scene
    nodes: FloatArray
    family: Family
    """Of all nodes."""
    most: int

    def begin(self) -> Gathered:
        return Gathered()

    def add(self, total: Gathered, number: int, piece: Piece, over: Callable[[], bool]) -> Gathered | None:
        seated = None if total.full else self.scene.seat(piece)
        if seated is None:
            return total
        desk = total.desk = total.desk or Desk()
        mask = np.zeros(seated.size, np.uint8)
        for k, who in desk.walk(seated, self.family):
            if over():
                return None
            desk.mark(who, self.nodes[k], seated.ballot.margin, mask)
        rows = seated.rows(mask)
        pairs = piece.take(rows).inside(self.scene.frame)
        numbers = (np.broadcast_to(values, len(rows)).copy() for values in (pairs.xi, pairs.w))
        total.parts[number] = piece.first + rows, pairs.x, pairs.y, *numbers
        total.count += len(rows)
        return self._checked(total)

    def merge(self, one: Gathered, other: Gathered) -> Gathered:
        one.parts |= other.parts
        one.count += other.count
        one.full |= other.full
        return self._checked(one)

    def _checked(self, total: Gathered) -> Gathered:
        if total.count > self.most or total.full:
            total.full = True
            total.parts.clear()
        return total


def _one(values: FloatArray) -> FloatArray:
    """One value when all are equal: kernels are faster, and it takes less room."""
    return values[:1].copy() if values.size and np.all(values == values[0]) else values
