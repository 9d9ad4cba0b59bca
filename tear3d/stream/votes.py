"""Passes of the proof: votes about cells of poses, and the pairs that still matter in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Frame, Pairs, some, take
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.tallies import ROOM, cast_votes, mark_voters
from tear3d.prove.bounds.voters import make_block
from tear3d.prove.bounds.votes import Booth, make_booth
from tear3d.prove.pose.nodes import FACE, LIST
from tear3d.prove.pose.points import Everybody, Packed, pack
from tear3d.stream.pieces import Piece


@dataclass(frozen=True)
class Scene:
    """How pieces are packed for the proof."""

    frame: Frame
    pose: Pose
    loss: str
    everybody: Everybody

    def pack(self, piece: Piece) -> tuple[Packed | None, NDArray[np.int64]]:
        """The pairs of a piece that can save anything, and their numbers in it."""
        pairs = piece.inside(self.frame)
        good = np.broadcast_to((pairs.xi > 0.0) & (pairs.w > 0.0), len(pairs))
        rows = np.flatnonzero(good)
        if not len(rows):
            return None, rows
        kept = pairs if len(rows) == len(pairs) else pairs.take(rows)
        return pack(kept, LOSSES[self.loss], self.pose, self.everybody._replace(grouped=False)), rows


@dataclass
class Tally:
    """Votes about every cell."""

    votes: NDArray[np.int32]
    booth: Booth | None = None
    """Work space."""

    def __getstate__(self) -> dict[str, Any]:
        return {"votes": self.votes, "booth": None}


@dataclass(frozen=True)
class Votes:
    """The votes of all pairs about some cells."""

    scene: Scene
    nodes: FloatArray
    sharp: bool

    def begin(self) -> Tally:
        return Tally(np.zeros((len(self.nodes), ROOM), np.int32))

    def add(self, total: Tally, number: int, piece: Piece, over: Callable[[], bool]) -> Tally | None:
        packed, _ = self.scene.pack(piece)
        if packed is None:
            return total
        if total.booth is None:
            total.booth = make_booth()
        for k, node in enumerate(self.nodes):
            if over():
                return None
            count = cast_votes(packed.voters, node[FACE:LIST], self.sharp, packed.ballot, total.booth)
            total.votes[k, :count] += total.booth.grid[:count]
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
    most: int

    def begin(self) -> Gathered:
        return Gathered()

    def add(self, total: Gathered, number: int, piece: Piece, over: Callable[[], bool]) -> Gathered | None:
        packed, usable = self.scene.pack(piece)
        if packed is None or total.full:
            return total
        mask = touching(packed, self.nodes, over)
        if mask is None:
            return None
        rows = np.sort(packed.numbers(packed.voters, (0, packed.size))[mask]).astype(np.int64)
        pairs = packed.pairs
        numbers = (np.broadcast_to(take(values, rows), len(rows)).copy() for values in (pairs.xi, pairs.w))
        total.parts[number] = piece.first + usable[rows], some(pairs.x, rows), some(pairs.y, rows), *numbers
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


def touching(packed: Packed, nodes: FloatArray, over: Callable[[], bool]) -> NDArray[np.bool_] | None:
    """Which voters can save anything in some cells; None when it is time to stop."""
    mask, block = np.zeros(packed.size, np.uint8), make_block()
    for node in nodes:
        if over():
            return None
        mark_voters(packed.voters, node[FACE:LIST], packed.ballot.margin, block, mask)
    return mask.astype(bool)


def _one(values: FloatArray) -> FloatArray:
    """One value when all are equal: kernels are faster, and it takes less room."""
    return values[:1].copy() if values.size and np.all(values == values[0]) else values
