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

import numpy as np

from tear3d.judge.ambiguity import FreeMotion
from tear3d.judge.around import Around, Near, cross_matrix
from tear3d.judge.correlation import design_effect
from tear3d.judge.noise import absolute_within, gaussian_within, square_within
from tear3d.judge.symmetry import plain
from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import CM, TEAR, Loss

FEWEST = 3
"""Pairs that a pose needs."""
LARGEST_TURN = 1.0
"""Radians: with a larger standard deviation of the rotation, the pairs do not determine it, nor does a covariance
describe it."""
FLAT = 1e-12
"""Smallest eigenvalue of the scaled information, relative to the largest, that is no rounding error."""


def pose_covariance(around: Around, loss: Loss) -> FloatArray:
    """Covariance of a local maximum of the full saving.

    Parameters
    ----------
    around : Around
        The pose as found inside, in the frame of its pairs.
    loss : Loss

    Returns
    -------
    (6, 6) array
        For the coordinates that were given: of (ω, v) in T_true = T · Exp(ω, v), rotation first. NaN when fewer than
        three pairs agree, or when those that do leave a rotation undetermined, as pairs on a line do.
    """
    unknown = np.full((6, 6), np.nan)
    near, frame = around.near, around.pairs.frame
    if len(near.x) < FEWEST:
        return unknown
    with np.errstate(all="ignore"):
        inside = _region(near) if loss.code == CM else _sandwich(around, loss)
        if inside is None or not float(np.linalg.eigvalsh(inside[:3, :3])[-1]) <= LARGEST_TURN**2:
            return unknown
        share = near.share if loss.code != CM else 1.0
        moved = carried(share * inside, frame.unit, frame.source + frame.unit * near.centre)
    return moved if np.isfinite(moved).all() else unknown


def free_turn(around: Around) -> FreeMotion | None:
    """The turn of the source that stays open when the pairs that agree lie on a line, up to their noise."""
    near, frame = around.near, around.pairs.frame
    if len(near.x) < FEWEST or not around.on_a_line:
        return None
    axis = np.linalg.eigh(near.x.T @ near.x)[1][:, 2]
    through = frame.source + frame.unit * near.centre
    return FreeMotion("rotation", plain(axis), plain(through), None)


def carried(covariance: FloatArray, unit: float, origin: FloatArray) -> FloatArray:
    """The covariance in coordinates x' = unit·x + origin: v' = unit·v + origin × ω."""
    adjoint = np.eye(6)
    adjoint[3:, :3] = cross_matrix(origin)
    adjoint[3:, 3:] *= unit
    out = adjoint @ covariance @ adjoint.T
    return np.asarray(0.5 * (out + out.T))


def _sandwich(around: Around, loss: Loss) -> FloatArray | None:
    near, noise = around.near, around.noise
    bounds, squares = near.xi, near.squares
    spread = near.spread(noise)
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
    if covariance is None or around.on_a_line:
        return None
    shared = design_effect(near.x, near.gradients(loss), float(np.median(bounds)))
    return covariance * _few(near, covariance, right, spread) * shared


def _few(near: Near, covariance: FloatArray, right: FloatArray, spread: FloatArray) -> float:
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


def _region(near: Near) -> FloatArray | None:
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
        if not moving.any():
            return None
        high, low = ((root + b)[moving] / a[moving]).min(), ((root - b)[moving] / a[moving]).min()
        region += (high**3 + low**3) / (3.0 * (high + low)) * np.outer(direction, direction)
    return region + noise
