"""The pairs packed for the compiled search, in coordinates where the incumbent is the identity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray
from tear3d.prove.bounds.votes import NORM, ROWS, WEIGHT, XI
from tear3d.prove.domains.rotations import rotation_at

LEVELS = 256
"""Unequal savings are rounded up to this many steps for the votes."""
UNIT_ROUNDING = 2.0**-53


@dataclass(frozen=True)
class Packed:
    """Columns are pairs: R0 (x − m), y − t0 − R0 m, |x − m|, ξ, w, for the incumbent (R0, t0) and the mean m of x."""

    points: FloatArray
    votes: NDArray[np.int32]
    unit: float
    """votes·unit ≥ w ξ / 2."""
    eps: float
    """Bound of the rounding error of a coordinate of a residual, per point."""
    xi: float
    radius: float
    """Typical ξ and |x|."""
    low: FloatArray
    high: FloatArray
    """A box of t outside which nothing is saved."""
    total: float
    """Σ w ξ."""
    rotation: FloatArray
    shift: FloatArray
    mean: FloatArray

    def pose(self, face: int, g: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The pose for the pairs as given, from a chart point and a translation for the packed ones."""
        turn = rotation_at(face, g)
        rotation = turn @ self.rotation
        return rotation, t + self.shift - rotation @ self.mean


def _per_pair(name: str, values: object, n: int) -> FloatArray:
    array = np.asarray(1.0 if values is None else values, np.float64)
    if array.shape not in ((), (1,), (n,)):
        raise InputError(f"{name} has shape {array.shape}: expected a number or one per pair ({n})")
    if not np.all(np.isfinite(array)) or np.any(array < 0.0):
        raise InputError(f"{name} has entries that are negative or not finite")
    return np.broadcast_to(array, n)


def checked(x: object, y: object, xi: object, w: object) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Float64 arrays of one length, the pairs that can save nothing left out."""
    x, y = np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y, np.float64)
    for name, array in (("x", x), ("y", y)):
        if array.ndim != 2 or array.shape[1] != 3:
            raise InputError(f"{name} has shape {array.shape}: expected points as rows (N×3)")
        if not np.all(np.isfinite(array)):
            raise InputError(f"{name} has coordinates that are not finite")
    if len(x) != len(y):
        raise InputError(f"x has {len(x)} rows and y has {len(y)}: expected pairs")
    xi, w = _per_pair("xi", xi, len(x)), _per_pair("w", w, len(x))
    keep = xi * w > 0.0
    if not np.all(keep):
        x, y, xi, w = x[keep], y[keep], xi[keep], w[keep]
    return x, y, xi, w


def pack_pairs(
    x: FloatArray, y: FloatArray, xi: FloatArray, w: FloatArray, rotation: FloatArray, t: FloatArray
) -> Packed:
    """Pack checked pairs around the pose (rotation, t); the rotation must be orthonormal to rounding."""
    n = len(x)
    mean = x.mean(axis=0)
    shift = t + rotation @ mean
    points = np.empty((ROWS, n))
    points[:3] = rotation @ (x - mean).T
    points[3:6] = (y - shift).T
    points[NORM] = np.sqrt(np.sum(points[:3] ** 2, axis=0))
    points[XI], points[WEIGHT] = xi, w
    half = 0.5 * xi * w
    largest = float(half.max())
    levels = 1 if half.min() == largest else max(1, min(LEVELS, 2**29 // n))
    unit = largest / levels * (1.0 + 1e-12)
    # A residual takes some twenty roundings of |x| and of |y| as packed, and four of the given coordinates.
    given = max(float(np.abs(x).max()), float(np.abs(y).max()), float(np.abs(t).max()))
    largest_x, largest_y = float(points[NORM].max()), float(np.abs(points[3:6]).max())
    eps = UNIT_ROUNDING * (64.0 * (largest_x + 2.0 * largest_y) + 8.0 * given)
    reach = points[NORM] + points[XI] + 4.0 * eps
    return Packed(
        points=points,
        votes=np.ceil(half / largest * levels).astype(np.int32),
        unit=unit,
        eps=eps,
        xi=float(np.median(xi)),
        radius=float(np.sqrt(np.mean(points[NORM] ** 2))),
        low=(points[3:6] - reach).min(axis=1),
        high=(points[3:6] + reach).max(axis=1),
        total=float(np.sum(xi * w)),
        rotation=rotation,
        shift=shift,
        mean=mean,
    )
