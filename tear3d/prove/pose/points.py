"""The pairs packed for the compiled search, in coordinates where the incumbent is the identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.votes import Points, Votes
from tear3d.prove.domains.rotations import rotation_at

LEVELS = 256
"""Unequal savings are rounded up to this many steps for the votes (free choice), or fewer: ..."""
MOST_VOTES = 2**29
"""... twice this sum of all ballots fits into the int32 of a voxel."""
UNIT = 2.0**-53
"""Relative error of one rounding."""
TURNED, PLACED, GIVEN, DEFECT = 256.0, 32.0, 4.0, 16.0
"""Roundings of a residual in units of |x|, of |y − t|, of the coordinates as given and of the Gram matrix of the
incumbent's rotation: mathematics.md, section 8.4, counts 124, 14, 3.5 and 9."""
UNIT_UP = 1.0 + 1e-12
"""Covers the four roundings of a ballot (section 7.3)."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Pairs as R0 (x − m), y − s for an incumbent (R0, t0), the mean m of x and s = t0 + R0 m."""

    points: Points
    votes: Votes
    eps: float
    """Bound of the length of the rounding error of a residual, per point; everything from the pairs given on."""
    low: FloatArray
    high: FloatArray
    """A box of t outside which nothing is saved."""
    ceiling: float
    """At least Σ w ξ."""
    rotation: FloatArray
    shift: FloatArray
    mean: FloatArray

    @property
    def size(self) -> int:
        return int(self.points.norm.size)

    def pose(self, face: int, g: FloatArray, t: FloatArray) -> Pose:
        """The pose for the pairs as given, from a chart point and a translation for the packed ones."""
        rotation = rotation_at(face, g) @ self.rotation
        return Pose(rotation, t + self.shift - rotation @ self.mean)


def pack(pairs: Pairs, pose: Pose) -> Packed:
    """Pack pairs around a pose with a nearly orthonormal rotation: at least one pair, all with w ξ > 0."""
    xi, w = (np.broadcast_to(values, len(pairs)) for values in (pairs.xi, pairs.w))
    x, y = pairs.x, pairs.y
    mean = x.mean(axis=0)
    shift = pose.translation + pose.rotation @ mean
    turned = np.ascontiguousarray(pose.rotation @ (x - mean).T)
    norm = np.sqrt(np.sum(turned**2, axis=0))
    points = Points(turned, np.ascontiguousarray((y - shift).T), norm, np.array(xi), np.array(w))
    eps = _rounding(points, pose.rotation, max(float(np.abs(x).max()), float(np.abs(y).max())))
    reach = points.norm + points.xi + 2.0 * eps
    return Packed(
        points=points,
        votes=_votes(points),
        eps=eps,
        low=(points.y - reach).min(axis=1),
        high=(points.y + reach).max(axis=1),
        ceiling=float(np.sum(points.xi * points.w)) * (1.0 + 2.0 * UNIT * (len(x) + 2)),
        rotation=pose.rotation,
        shift=shift,
        mean=mean,
    )


def _rounding(points: Points, rotation: FloatArray, given: float) -> float:
    """Bound of the length of the rounding error of a residual (mathematics.md, section 8.4)."""
    largest_x, largest_y, largest_xi = float(points.norm.max()), float(np.abs(points.y).max()), float(points.xi.max())
    away = 2.0 * (largest_x + 2.0 * largest_y + largest_xi)  # at least |y − t|₂ of any point and any t of the search
    defect = float(np.linalg.norm(rotation.T @ rotation - np.eye(3))) + DEFECT * UNIT
    return UNIT * (TURNED * largest_x + PLACED * away + GIVEN * given) + defect * largest_x


def _votes(points: Points) -> Votes:
    half = 0.5 * points.xi * points.w
    largest = float(half.max())
    levels = 1 if half.min() == largest else max(1, min(LEVELS, MOST_VOTES // half.size))
    ballots = np.maximum(1, np.ceil(half / largest * levels)).astype(np.int32)
    radius = float(np.sqrt(np.mean(points.norm**2)))
    return Votes(ballots, largest / levels * UNIT_UP, float(np.median(points.xi)), radius)
