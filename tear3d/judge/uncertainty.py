"""The covariance of a pose that maximises the saving: the sandwich A⁻¹ B A⁻¹ of an M-estimator.

Model. A right pair's residual is Gaussian with standard deviation s·ξ, the same along all axes; wrong pairs near the
pose are spread evenly around it. s and the density of the wrong ones are fitted to the residuals (`noise.py`).
Where residuals of neighbours have something in common, B grows by their design effect (`correlation.py`).

A small motion δ = (ω, v) of the source changes the residual r by J δ with Jᵀ J = [x]ᵀ[x] and so on, whatever the
rotation. The saving of a pair has the gradient w·Jᵀ ψ(r), ψ = sign(r) for tear and 2r for tls within the truncation
and 0 beyond. B = Σ w² Jᵀ E[ψψᵀ] J is its variance; wrong pairs are part of it. A = Σ w Jᵀ E[ψ rᵀ/(sξ)²] J is the slope
of its mean, by the derivative of the Gaussian density; the slope of an even density is zero, so only right pairs count.

cm. The number of pairs within ξ has no gradient: any pose of a whole region is as good. See `_region`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.judge.ambiguity import FreeMotion
from tear3d.judge.correlation import design_effect
from tear3d.judge.noise import Noise, absolute_within, fit_noise, gaussian_within, square_within
from tear3d.judge.symmetry import plain
from tear3d.problem.arrays import FloatArray, spread_rows
from tear3d.problem.losses import CM, TEAR, Loss
from tear3d.problem.objective import inlier_mask, residuals
from tear3d.problem.pairs import Frame, Pairs
from tear3d.problem.pose import Pose

FEWEST = 3
"""Pairs that a pose needs."""
LARGEST_TURN = 1.0
"""Radians: with a larger standard deviation of the rotation, the pairs do not determine it, nor does a covariance
describe it."""
REACH = 2.0
"""The noise is measured on residuals up to so many noise bounds."""
SAMPLE = 2_000
"""Of so many pairs at most, ..."""
LARGEST = 100_000
"""... and the sums are over so many at most. Free choices."""
BREADTH = 2.0
"""Source points that lie no farther from a line than this many times their noise do not say how it is turned."""
FLAT = 1e-12
"""Smallest eigenvalue of the scaled information, relative to the largest, that is no rounding error."""


def pose_covariance(pairs: Pairs, pose: Pose, loss: Loss) -> FloatArray:
    """Covariance of a local maximum of the full saving.

    Parameters
    ----------
    pairs, pose, loss
        The pose as found inside, in the frame of the pairs.

    Returns
    -------
    (6, 6) array
        For the coordinates that were given: of (ω, v) in T_true = T · Exp(ω, v), rotation first. NaN when fewer than
        three pairs agree, or when those that do leave a rotation undetermined, as pairs on a line do.
    """
    unknown = np.full((6, 6), np.nan)
    rows = _rows(pairs, pose)
    if len(rows) < FEWEST:
        return unknown
    thin = spread_rows(len(rows), LARGEST)
    with np.errstate(all="ignore"):
        near = _Near.of(pairs.take(rows[thin]), pose)
        inside = _region(near) if loss.code == CM else _sandwich(near, loss, _noise(pairs, pose))
        if inside is None or not float(np.linalg.eigvalsh(inside[:3, :3])[-1]) <= LARGEST_TURN**2:
            return unknown
        share = len(near.x) / len(rows) if loss.code != CM else 1.0
        moved = carried(share * inside, pairs.frame.unit, pairs.frame.source + pairs.frame.unit * near.centre)
    return moved if np.isfinite(moved).all() else unknown


def free_turn(pairs: Pairs, pose: Pose) -> FreeMotion | None:
    """The turn of the source that stays open when the pairs that agree lie on a line, up to their noise."""
    rows = _rows(pairs, pose)
    if len(rows) < FEWEST:
        return None
    near = _Near.of(pairs.take(rows[spread_rows(len(rows), LARGEST)]), pose)
    with np.errstate(all="ignore"):
        spread = np.maximum(_noise(pairs, pose).scale * near.xi, near.least)
    if not near.on_a_line(spread):
        return None
    axis = np.linalg.eigh(near.x.T @ near.x)[1][:, 2]
    through = pairs.frame.source + pairs.frame.unit * near.centre
    return FreeMotion("rotation", plain(axis), plain(through), None)


def _rows(pairs: Pairs, pose: Pose, reach: float = 1.0) -> NDArray[np.int64]:
    """Pairs that count, with a residual up to so many noise bounds."""
    return np.flatnonzero(inlier_mask(pairs, pose, reach) & (pairs.xi > 0.0) & (pairs.w > 0.0))


def _noise(pairs: Pairs, pose: Pose) -> Noise:
    rows = _rows(pairs, pose, REACH)
    around = pairs.take(rows[spread_rows(len(rows), SAMPLE)])
    return fit_noise(residuals(around, pose) ** 2 / around.xi**2, np.broadcast_to(around.xi, len(around)), REACH)


def carried(covariance: FloatArray, unit: float, origin: FloatArray) -> FloatArray:
    """The covariance in coordinates x' = unit·x + origin: v' = unit·v + origin × ω."""
    adjoint = np.eye(6)
    adjoint[3:, :3] = cross_matrix(origin)
    adjoint[3:, 3:] *= unit
    out = adjoint @ covariance @ adjoint.T
    return np.asarray(0.5 * (out + out.T))


def cross_matrix(a: FloatArray) -> FloatArray:
    """a × b as a matrix times b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


class _Near(NamedTuple):
    """The pairs that agree with a pose."""

    x: FloatArray
    """Source points around their centre."""
    r: FloatArray
    """Residuals, in the axes of the target."""
    xi: FloatArray
    w: FloatArray
    centre: FloatArray
    rotation: FloatArray
    least: float
    """What rounding of the coordinates does to a residual."""

    @classmethod
    def of(cls, pairs: Pairs, pose: Pose) -> _Near:
        count, centre = len(pairs), pairs.x.mean(axis=0)
        r = pairs.y - pose.apply(pairs.x)
        xi, w = (np.broadcast_to(values, count).astype(np.float64) for values in (pairs.xi, pairs.w))
        size = max(np.abs(pairs.x).max(), np.abs(pairs.y).max(), *_given(pairs.frame))
        return cls(pairs.x - centre, r, xi, w, centre, pose.rotation, float(np.finfo(np.float64).eps * size))

    @property
    def squares(self) -> FloatArray:
        return np.einsum("ij,ij->i", self.r, self.r)

    @property
    def breadth(self) -> float:
        """Root mean square distance of the points from the nearest plane along their main axis: 0 on a line."""
        return max(0.0, float(np.linalg.eigvalsh(self.x.T @ self.x / len(self.x))[1])) ** 0.5

    def on_a_line(self, spread: FloatArray) -> bool:
        """Up to their noise, so that a turn about it stays open."""
        return self.breadth <= BREADTH * float(np.median(spread))

    def gradients(self, loss: Loss) -> FloatArray:
        """Of the savings of the pairs, with respect to (ω, v)."""
        inside = np.abs(self.r).sum(axis=1) < self.xi if loss.code == TEAR else np.ones(len(self.r), bool)
        psi = (np.sign(self.r) if loss.code == TEAR else self.r) * (self.w * inside)[:, None] @ self.rotation
        return np.hstack((np.cross(self.x, psi), psi))

    def information(self, weights: FloatArray) -> FloatArray:
        """Σ weight·Jᵀ J of (ω, v)."""
        x = self.x
        out = np.zeros((6, 6))
        moment = (weights[:, None] * x).T @ x
        out[:3, :3] = np.trace(moment) * np.eye(3) - moment
        out[:3, 3:] = cross_matrix(weights @ x)
        out[3:, :3] = out[:3, 3:].T
        out[3:, 3:] = np.sum(weights) * np.eye(3)
        return out


def _given(frame: Frame) -> tuple[float, float]:
    """How far off the clouds lie in the coordinates given, in units of those inside."""
    return float(np.abs(frame.source).max() / frame.unit), float(np.abs(frame.target).max() / frame.unit)


def _sandwich(near: _Near, loss: Loss, noise: Noise) -> FloatArray | None:
    bounds, squares = near.xi, near.squares
    spread = np.maximum(noise.scale * bounds, near.least)
    radius = 1.0 / noise.scale
    probability = noise.right(squares / bounds**2, bounds)
    right = probability / gaussian_within(radius)  # those within ξ stand for those beyond it too
    if loss.code == TEAR:
        slope = near.w * right * absolute_within(radius) / spread
        variance = near.w**2 * (np.abs(near.r).sum(axis=1) < bounds)
    else:
        inside = right * square_within(radius)
        slope = 2.0 * near.w * inside
        variance = 4.0 * near.w**2 * (inside * spread**2 + (1.0 - probability) * squares / 3.0)
    covariance = _solved(near.information(slope), near.information(variance))
    if covariance is None or near.on_a_line(spread):
        return None
    shared = design_effect(near.x, near.gradients(loss), float(np.median(bounds)))
    return covariance * _few(near, covariance, right, spread) * shared


def _few(near: _Near, covariance: FloatArray, right: FloatArray, spread: FloatArray) -> float:
    """What the spread is larger than that of residuals which the pose was fitted to.

    The squares of 3n residuals, in units of their variance, add up to 3n − 12 + tr(C Σ Jᵀ J/σ²), which is 3n − 6 for
    the best of all estimators; two less make it the variance of Student's distribution.
    """
    coordinates = 3.0 * float(np.sum(right))
    excess = float(np.trace(covariance @ near.information(right / spread**2)))
    return coordinates / max(coordinates - 12.0 + excess - 2.0, 1.0)


def _solved(slope: FloatArray, variance: FloatArray) -> FloatArray | None:
    """A⁻¹ B A⁻¹, or None when A is singular."""
    size = np.sqrt(np.diag(slope))
    if not (size > 0.0).all():
        return None
    values, vectors = np.linalg.eigh(slope / np.outer(size, size))
    if not values[0] > FLAT * values[-1]:
        return None
    inverse = (vectors / values) @ vectors.T / np.outer(size, size)
    return np.asarray(inverse @ variance @ inverse)


def _region(near: _Near) -> FloatArray | None:
    """For cm: the region in which all pairs that agree still do, plus the noise.

    Along each of six directions that do not interact, the error is taken as uniform over the interval in which no pair
    within ξ leaves it; the noise as uniform within ξ, the widest it can be. On purpose not too small: the pose may be
    anywhere in that region, and the search prefers no place of it.
    """
    information = near.information(np.ones(len(near.x)))
    noise = _solved(information, near.information(near.xi**2 / 5.0))
    if noise is None:
        return None
    values, vectors = np.linalg.eigh(information)
    region = np.zeros((6, 6))
    for direction in (vectors / np.sqrt(values)).T:
        motion = (np.cross(direction[:3], near.x) + direction[3:]) @ near.rotation.T
        # |r − t·motion| = ξ
        a, b = np.einsum("ij,ij->i", motion, motion), np.einsum("ij,ij->i", near.r, motion)
        root = np.sqrt(np.maximum(b**2 + a * (near.xi**2 - near.squares), 0.0))
        moving = a > 0.0
        high, low = ((root + b)[moving] / a[moving]).min(), ((root - b)[moving] / a[moving]).min()
        region += (high**3 + low**3) / (3.0 * (high + low)) * np.outer(direction, direction)
    return region + noise
