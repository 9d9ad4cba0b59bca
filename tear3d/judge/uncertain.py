"""What every result with a pose and its covariance can do."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray

Order = Literal["rotation_first", "translation_first"]
_ROWS = {"rotation_first": [0, 1, 2, 3, 4, 5], "translation_first": [3, 4, 5, 0, 1, 2]}


class Uncertain:
    """A pose that is known up to a covariance."""

    transformation: FloatArray
    covariance: FloatArray

    def covariance_of(self, order: Order = "rotation_first") -> FloatArray:
        """The 6×6 covariance of the pose, in the order asked for.

        Frame: that of the source. The true pose is `transformation` after a small motion of the source points in
        their own coordinates, x → exp(ω) x + v, with ω in radians and v in the unit of the points: a perturbation on
        the right, T_true = T · Exp(ω, v). Mind that v is the motion of the source's origin: far from the points it
        is large, and correlated with ω.

        Parameters
        ----------
        order : {"rotation_first", "translation_first"}
            (ω, v), which is how `covariance` is stored and what GTSAM wants, or (v, ω).

        Returns
        -------
        (6, 6) array
            NaN where the covariance is not known: see the page on uncertainty.
        """
        if order not in _ROWS:
            raise InputError(f"order is {order!r}: expected 'rotation_first' or 'translation_first'")
        rows = _ROWS[order]
        return np.asarray(self.covariance[np.ix_(rows, rows)])

    def to_g2o(self, i: int = 0, j: int = 1) -> str:
        """The pose as an edge of a pose graph, from vertex `i` (the target) to vertex `j` (the source).

        See `tear3d.io.g2o.g2o_edge` for the conventions. InputError when the covariance is not known.
        """
        from tear3d.io.g2o import g2o_edge

        return g2o_edge(self.transformation, self.covariance, i, j)
