"""How pieces are seated as voters: straight from what was read, with what all pairs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.frame import Frame
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.bounds.votes import Ballot
from tear3d.prove.pose.points import Everybody, Packed, pack
from tear3d.stream.pieces import Piece


class Seated(NamedTuple):
    """Pairs as voters."""

    voters: Voters
    ballot: Ballot
    numbers: NDArray[np.int64] | None
    """Which pairs of a piece they are; None when all."""

    @property
    def size(self) -> int:
        return self.voters.rows.shape[1]

    def rows(self, mask: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The numbers of some of them in the piece."""
        chosen = np.flatnonzero(mask)
        return chosen if self.numbers is None else self.numbers[chosen]


@dataclass(frozen=True)
class Scene:
    """How pieces are seated for the proof."""

    frame: Frame
    pose: Pose
    loss: str
    everybody: Everybody

    def pack(self, pairs: Pairs) -> Packed:
        """Pairs in memory, as all are seated."""
        packed = pack(pairs, LOSSES[self.loss], self.pose, self.everybody._replace(grouped=False))
        assert packed is not None  # without limits
        return packed

    def seat(self, piece: Piece) -> Seated | None:
        """The pairs of a piece that can save anything; None when there are none. As by `pack`, to the bit."""
        xi, w = piece.xi / self.frame.unit, piece.w / self.frame.weight
        good, numbers = (xi > 0.0) & (w > 0.0), None
        if not good.all():
            numbers = np.flatnonzero(np.broadcast_to(good, len(piece.x)))
            if not len(numbers):
                return None
            piece = piece.take(numbers)
            xi, w = (values if values.size == 1 else values[numbers] for values in (xi, w))
        everybody = self.everybody
        own, ballots = everybody.savings.own(xi, w)
        if ballots.min() == ballots.max():
            ballots = ballots[:1].copy()
        rows = np.empty((6, len(piece.x)), np.float32)
        shift = self.pose.translation + self.pose.rotation @ everybody.mean
        inside = self.frame.source, self.frame.target, float(self.frame.unit)
        seat(*_plain(piece.x, piece.y), inside, (self.pose.rotation, everybody.mean, shift), rows)
        margin = everybody.extent.errors(self.pose.rotation)[2]
        ballot = Ballot(everybody.savings.unit, margin, everybody.typical, everybody.radius, LOSSES[self.loss].code, 0)
        return Seated(Voters(rows, own, ballots, np.empty(0, np.int32)), ballot, numbers)


def _plain(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both in one of the two types for which there is a kernel."""
    if x.dtype == y.dtype and x.dtype in (np.float32, np.float64):
        return x, y
    return np.asarray(x, np.float64), np.asarray(y, np.float64)


@njit(cache=True, nogil=True, error_model="numpy")
def seat(x, y, inside, around, rows):
    """Write pairs as given as R0 (x − m) and y − s, x and y in the frame of `inside`, which are origins and unit."""
    source, target, unit = inside
    rotation, mean, shift = around
    for i in range(x.shape[0]):
        a = (x[i, 0] - source[0]) / unit - mean[0]
        b = (x[i, 1] - source[1]) / unit - mean[1]
        c = (x[i, 2] - source[2]) / unit - mean[2]
        for row in range(3):
            rows[row, i] = rotation[row, 0] * a + rotation[row, 1] * b + rotation[row, 2] * c
            rows[3 + row, i] = (y[i, row] - target[row]) / unit - shift[row]
