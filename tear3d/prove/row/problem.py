"""One row of the rotation: y ≈ r·x + t with x = source − centre and y = direction·target − offset."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.pairs import take


class RowProblem(NamedTuple):
    """Maximise Σ w·s(y − r·x − t) over all unit r (orthogonal to `across`, if given) and all t."""

    source: FloatArray
    target: FloatArray
    xi: FloatArray
    w: FloatArray
    """One entry per pair, or a single one that all share."""
    centre: FloatArray
    direction: FloatArray
    offset: float
    across: FloatArray | None = None
    """A unit vector that r must be orthogonal to: the row that was solved before."""

    def some(self, rows: slice) -> RowProblem:
        """The problem of some of the pairs."""
        return self._replace(
            source=self.source[rows], target=self.target[rows], xi=take(self.xi, rows), w=take(self.w, rows)
        )

    def moved_in(self, r: FloatArray, t: float) -> tuple[FloatArray, float]:
        """A row for the pairs as given, in the coordinates of the search."""
        return r, t + float(r @ self.centre) - self.offset

    def moved_back(self, r: FloatArray, t: float) -> tuple[FloatArray, float]:
        """A row in the coordinates of the search, for the pairs as given."""
        return r, t + self.offset - float(r @ self.centre)

    @property
    def x(self) -> FloatArray:
        return self.source - self.centre

    @property
    def y(self) -> FloatArray:
        return np.asarray(self.target @ self.direction - self.offset)

    @property
    def y_rounding(self) -> FloatArray:
        """What rounding can take `y` away from its exact value, per pair; large where targets lie far off."""
        return np.asarray(4.0 * 2.0**-53 * (np.abs(self.target) @ np.abs(self.direction) + abs(self.offset)))
