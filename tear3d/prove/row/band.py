"""A row that was found, and the pairs that it leaves to the next one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.frame import Frame
from tear3d.problem.losses import Loss
from tear3d.problem.objective import inlier_mask
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

SAME_POSE = 2.0
"""A row agrees with a pose when the two differ by no more than this many (typical) noise bounds, at the root mean
square radius of the cloud and for every pair that agrees with the pose. A free choice; without the first condition two
real pairs whose largest consensus is a wrong, small patch were called optimal (`python -m benchmarks.real`)."""


class Row(NamedTuple):
    """y·axis ≈ r·x + t."""

    axis: FloatArray
    r: FloatArray
    t: float

    def agrees(self, pairs: Pairs, pose: Pose) -> bool:
        """Whether it is a row of the pose: the two agree on the cloud as a whole and on each pair that is right."""
        turn = self.r - self.axis @ pose.rotation
        shift = self.t - float(self.axis @ pose.translation)
        limit = SAME_POSE * pairs.typical_bound
        if float(np.linalg.norm(turn)) * pairs.radius + abs(float(pairs.x_mean @ turn) + shift) > limit:
            return False
        inliers = np.flatnonzero(inlier_mask(pairs, pose))
        return bool(np.abs(pairs.x[inliers] @ turn + shift).max(initial=0.0) <= limit)

    def outside(self, frame: Frame) -> tuple[float, ...]:
        """r and t for the coordinates given."""
        t = frame.unit * self.t + float(self.axis @ frame.target) - float(self.r @ frame.source)
        return (*self.r.tolist(), t)


class Band(NamedTuple):
    """Some of the pairs with what rows have left of their noise bounds."""

    index: NDArray[np.int64]
    xi: FloatArray
    w: FloatArray

    def cut(self, z: FloatArray, loss: Loss) -> Band:
        """Keep |z| ≤ ξ; ξ shrinks by what the residual has used up (paper, Hyperparameter Setup)."""
        z = np.abs(z)
        keep = np.flatnonzero(z <= self.xi)
        xi, w = (np.broadcast_to(values, z.shape)[keep] for values in (self.xi, self.w))
        return Band(self.index[keep], loss.left(xi, z[keep]), np.ascontiguousarray(w))

    def residual(self, pairs: Pairs, row: Row) -> FloatArray:
        return np.asarray(pairs.y[self.index] @ row.axis - pairs.x[self.index] @ row.r - row.t)


def row_band(pairs: Pairs, row: Row, loss: Loss) -> Band:
    """Of all pairs, those within their noise bound of a row."""
    parts = []
    for block in pairs.blocks():
        band = Band(np.arange(block.rows.start, block.rows.stop), block.xi, block.w)
        parts.append(band.cut(block.y @ row.axis - block.x @ row.r - row.t, loss))
    return Band(*(np.concatenate(values) for values in zip(*parts, strict=True)))
