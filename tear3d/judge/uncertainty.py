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

import math

import numpy as np

from tear3d.find.ways import free_ways
from tear3d.judge.ambiguity import FreeMotion
from tear3d.judge.around import Around, Near
from tear3d.judge.correlation import design_effect
from tear3d.judge.noise import absolute_within, gaussian_within, square_within
from tear3d.judge.symmetry import plain
from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import CM, TEAR, Loss
from tear3d.problem.ranks import median
from tear3d.problem.turns import cross_matrix

FEWEST = 3
"""Pairs that make a line or not."""
ALONG = 0.999
"""Cosine of the angle between a line and the known axis from which on turns about both are the same (free choice)."""
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
        For the coordinates that were given: of (ω, v) in T_true = T · Exp(ω, v), rotation first. NaN when fewer pairs
        agree than a pose needs, or when those that do leave a rotation undetermined, as pairs on a line do. Zero along
        motions that a prior forbids altogether; limits of a prior are not part of it.
    """
    unknown = np.full((6, 6), np.nan)
    near, frame = around.near, around.pairs.frame
    ways = _ways(around)
    if ways.shape[1] == 0:  # one pose is allowed, and none other
        return np.zeros((6, 6))
    if 3 * len(near.x) < ways.shape[1] + 3:
        return unknown
    with np.errstate(all="ignore"):
        inside = _region(near, ways) if loss.code == CM else _sandwich(around, loss, ways)
        if inside is None or not float(np.linalg.eigvalsh(inside[:3, :3])[-1]) <= LARGEST_TURN**2:
            return unknown
        share = near.share if loss.code != CM else 1.0
        moved = carried(share * inside, frame.unit, frame.source + frame.unit * near.centre)
    return moved if np.isfinite(moved).all() else unknown


def _ways(around: Around) -> FloatArray:
    """The motions (ω, v) of the source, about the middle of the pairs that agree, which lead from one allowed pose to
    others, as columns."""
    prior, pose = around.pairs.prior, around.pose
    if prior is None:
        return np.eye(6)
    # Seen from the target ω and v are turned, and so is the arm.
    turn = np.kron(np.eye(2), pose.rotation)
    free = free_ways(prior, pose.rotation @ (prior.point - around.near.centre))
    values, vectors = np.linalg.eigh(turn.T @ free @ turn)
    return np.asarray(vectors[:, values > 0.5])


def _undetermined(around: Around) -> FloatArray | None:
    """The line on which the pairs that agree lie, up to their noise, when turns about it are allowed."""
    near, prior = around.near, around.pairs.prior
    if len(near.x) < FEWEST or not around.on_a_line or (prior is not None and prior.fixed):
        return None
    axis = np.linalg.eigh(near.x.T @ near.x)[1][:, 2]
    if prior is not None and prior.upright and abs(float(axis @ prior.source_axis)) < ALONG:
        return None
    return np.asarray(axis)


def scale_deviation(around: Around, loss: Loss) -> float:
    """The relative standard deviation of the scale of a similarity that maximises the saving; NaN if it is not known.

    For a source that is scaled already. About the middle of the pairs that agree a change of the scale moves a point
    along x, which is orthogonal to what a turn does and adds up to nothing with a shift: the sandwich is a quotient of
    sums. For cm the region is that of `_region`, along this one direction.
    """
    near = around.near
    if len(near.x) <= FEWEST:
        return math.nan
    squares = np.einsum("ij,ij->i", near.x, near.x)
    with np.errstate(all="ignore"):
        if loss.code == CM:
            motion = near.x @ near.rotation.T
            inverse = 1.0 / float(np.sum(squares))
            found = (_uniform(near, motion) or 0.0) + float(np.sum(squares * near.xi**2)) / 5.0 * inverse**2
        else:
            slope, variance, right = _slopes(around, loss)
            inverse = 1.0 / float(np.sum(slope * squares))
            coordinates = 3.0 * float(np.sum(right))
            found = float(np.sum(variance * squares)) * inverse**2 * coordinates / max(coordinates - 9.0, 1.0)
    return math.sqrt(found) if 0.0 <= found < math.inf else math.nan


def free_turn(around: Around) -> FreeMotion | None:
    """The turn of the source that stays open when the pairs that agree lie on a line, up to their noise."""
    near, frame = around.near, around.pairs.frame
    axis = _undetermined(around)
    if axis is None:
        return None
    through = frame.source + frame.unit * near.centre
    return FreeMotion("rotation", plain(axis), plain(through), None)


def carried(covariance: FloatArray, unit: float, origin: FloatArray) -> FloatArray:
    """The covariance in coordinates x' = unit·x + origin: v' = unit·v + origin × ω."""
    adjoint = np.eye(6)
    adjoint[3:, :3] = cross_matrix(origin)
    adjoint[3:, 3:] *= unit
    out = adjoint @ covariance @ adjoint.T
    return np.asarray(0.5 * (out + out.T))


def _slopes(around: Around, loss: Loss) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What each pair adds to A and to B, and how many right ones it stands for."""
    near, noise = around.near, around.noise
    bounds, squares = near.xi, near.squares
    spread = near.spread(noise)
    radius = 1.0 / noise.scale
    probability = noise.right(squares / bounds**2, bounds)
    right = probability / gaussian_within(radius, noise.axes)  # those within ξ stand for those beyond it too
    if loss.code == TEAR:
        slope = near.w * right * absolute_within(radius, noise.axes) / spread
        variance = near.w**2 * (np.abs(near.r).sum(axis=1) < bounds)
    else:
        inside = right * square_within(radius, noise.axes)
        slope = 2.0 * near.w * inside
        variance = 4.0 * near.w**2 * (inside * spread**2 + (1.0 - probability) * squares / noise.axes)
    return slope, variance, right


def _sandwich(around: Around, loss: Loss, ways: FloatArray) -> FloatArray | None:
    near = around.near
    spread = near.spread(around.noise)
    slope, variance, right = _slopes(around, loss)
    covariance = _solved(near.information(slope), near.information(variance), ways)
    if covariance is None or _undetermined(around) is not None:
        return None
    shared = design_effect(near.x, near.gradients(loss), median(near.xi))
    coordinates = around.noise.axes * float(np.sum(right))
    excess = float(np.trace(covariance @ near.information(right / spread**2)))
    return covariance * _few(coordinates, excess, ways.shape[1]) * shared


def _few(coordinates: float, excess: float, ways: int) -> float:
    """What the spread is larger than that of residuals which the pose was fitted to.

    The squares of 3n residuals, in units of their variance, add up to 3n − 12 + tr(C Σ Jᵀ J/σ²), which is 3n − 6 for
    the best of all estimators; two less make it the variance of Student's distribution. With fewer than six `ways` for
    the pose to go, twice their number takes the place of 12; in a plane 2n that of 3n.
    """
    return coordinates / max(coordinates - 2.0 * ways + excess - 2.0, 1.0)


def _solved(slope: FloatArray, variance: FloatArray, ways: FloatArray) -> FloatArray | None:
    """A⁻¹ B A⁻¹ for motions along some ways only, or None when A is singular."""
    if ways.shape[1] < 6:
        found = _inverse(ways.T @ slope @ ways)
        return None if found is None else np.asarray(ways @ found @ (ways.T @ variance @ ways) @ found @ ways.T)
    inverse = _inverse(slope)
    return None if inverse is None else np.asarray(inverse @ variance @ inverse)


def _inverse(slope: FloatArray) -> FloatArray | None:
    size = np.sqrt(np.diag(slope))
    if not (size > 0.0).all():
        return None
    values, vectors = np.linalg.eigh(slope / np.outer(size, size))
    if not values[0] > FLAT * values[-1]:
        return None
    return np.asarray((vectors / values) @ vectors.T / np.outer(size, size))


def _region(near: Near, ways: FloatArray) -> FloatArray | None:
    """For cm: the region in which all pairs that agree still do, plus the noise.

    Along each of some directions that do not interact, six unless something is known of the pose, the error is taken as
    uniform over the interval in which no pair within ξ leaves it; the noise as uniform within ξ, the widest it can be.
    On purpose not too small: the pose may be anywhere in that region, and the search prefers no place of it.
    """
    information = near.information(np.ones(len(near.x)))
    noise = _solved(information, near.information(near.xi**2 / 5.0), ways)
    if noise is None:
        return None
    values, vectors = np.linalg.eigh(ways.T @ information @ ways)
    vectors = ways @ vectors
    region = np.zeros((6, 6))
    for direction in (vectors / np.sqrt(values)).T:
        spread = _uniform(near, (np.cross(direction[:3], near.x) + direction[3:]) @ near.rotation.T)
        if spread is None:
            return None
        region += spread * np.outer(direction, direction)
    return region + noise


def _uniform(near: Near, motion: FloatArray) -> float | None:
    """The mean square of how far along a motion no pair leaves its noise bound, if all as far are as likely."""
    # |r − t·motion| = ξ
    a, b = np.einsum("ij,ij->i", motion, motion), np.einsum("ij,ij->i", near.r, motion)
    root = np.sqrt(np.maximum(b**2 + a * (near.xi**2 - near.squares), 0.0))
    moving = a > 0.0
    if not moving.any():
        return None
    high, low = ((root + b)[moving] / a[moving]).min(), ((root - b)[moving] / a[moving]).min()
    return float((high**3 + low**3) / (3.0 * (high + low)))
