"""Local maximisation of the full saving over scale, rotation and translation together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tear3d.find.ascent import BAND, ROUNDS
from tear3d.find.newton import FRACTIONS, GRADES, LONGER, STEPS, STRIDE_SIZE
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import CM, TEAR, TLS, Loss
from tear3d.problem.objective import Surveyed, survey
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, rigid_part, similar
from tear3d.problem.turns import turn_about


def climb_similar(
    pairs: Pairs, pose: Pose, loss: Loss, span: ScaleRange, *, graduated: bool = True, limits: Limits | None = None
) -> Surveyed:
    """Climb from a similarity, a pose whose matrix is a rotation times a scale, to a local maximum of the saving.

    As `find.ascent.climb`, with a seventh parameter: a graduated least-squares start, then reweighted Gauss-Newton, on
    the pairs in a band around the start. Never ends lower than it began; the scale stays within `span`.
    """
    here = survey(pairs, pose, loss, BAND)
    for number in range(ROUNDS):
        if len(here.rows) < 3 or (limits is not None and limits.over()):
            break
        reached = _Band(pairs, here.rows, loss, span).climbed(here.pose, graduated and number == 0)
        there = survey(pairs, reached, loss, BAND)
        if not there.saving > here.saving:
            break
        gained, here = there.saving - here.saving, there
        if gained <= 1e-3 * here.saving:
            break
    return here


class _Band:
    """The pairs near a similarity, about their means: scale and translation do not interact there."""

    def __init__(self, pairs: Pairs, rows: NDArray[np.int64], loss: Loss, span: ScaleRange) -> None:
        rows = rows[:: -(-len(rows) // STRIDE_SIZE)]
        x, y = pairs.x[rows], pairs.y[rows]
        self.x_mean, self.y_mean = x.mean(axis=0), y.mean(axis=0)
        self.x, self.y = x - self.x_mean, y - self.y_mean
        self.xi = np.broadcast_to(take(pairs.xi, rows), len(rows))
        self.w = np.broadcast_to(take(pairs.w, rows), len(rows))
        self.loss, self.span = loss.code, span

    def climbed(self, pose: Pose, graduated: bool) -> Pose:
        """The best similarity met on the way up."""
        own = pose.between(self.x_mean, self.y_mean)
        best, saving = own, self._saving(own)
        if graduated:
            for grade in GRADES:
                own = self._moved(own, self._step(own, TLS, grade), 1.0)
            reached = self._saving(own)
            if reached > saving:
                best, saving = own, reached
        lengths = LONGER + FRACTIONS if self.loss == TEAR else FRACTIONS
        for _ in range(STEPS):
            step, before = self._step(best, self.loss, 1.0), saving
            for length in lengths:
                own = self._moved(best, step, length)
                reached = self._saving(own)
                if reached > saving:
                    best, saving = own, reached
                    break
            if saving <= before * (1.0 + 1e-7):
                if len(lengths) == len(FRACTIONS):
                    break
                lengths = FRACTIONS  # a long step may only just improve
        return best.between(-self.x_mean, -self.y_mean)

    def _residuals(self, pose: Pose) -> FloatArray:
        return self.y - pose.apply(self.x)

    def _saving(self, pose: Pose) -> float:
        e = self._residuals(pose)
        if self.loss == TEAR:
            return float(np.sum(self.w * np.maximum(0.0, self.xi - np.abs(e).sum(axis=1))))
        left = self.xi**2 - np.einsum("ij,ij->i", e, e)
        return float(np.sum(self.w * (left >= 0.0 if self.loss == CM else np.maximum(0.0, left))))

    def _step(self, pose: Pose, loss: int, width: float) -> FloatArray:
        """Of Gauss-Newton, from the pairs within width·ξ: a turn, a shift and the relative change of the scale."""
        e = self._residuals(pose)
        if loss == TEAR:
            near = np.abs(e).sum(axis=1) < width * self.xi
        else:
            near = np.einsum("ij,ij->i", e, e) <= (width * self.xi) ** 2
        e, xi, q = e[near], self.xi[near], self.x[near] @ pose.rotation.T
        weights = np.repeat(self.w[near][:, None], 3, axis=1)
        if loss == TEAR:  # which turns squares into absolute values
            weights = weights / np.maximum(np.abs(e), 1e-3 * xi[:, None])
        slopes = np.zeros((len(q), 3, 7))
        slopes[:, [0, 1, 2], [1, 2, 0]], slopes[:, [0, 1, 2], [2, 0, 1]] = q[:, [2, 0, 1]], -q[:, [1, 2, 0]]
        slopes[:, [0, 1, 2], [3, 4, 5]], slopes[:, :, 6] = 1.0, q
        flat = slopes.reshape(-1, 7)
        weighed = flat * weights.reshape(-1, 1)
        h, g = weighed.T @ flat, weighed.T @ e.ravel()
        size = np.sqrt(np.maximum(np.diag(h), 1e-300))  # turns, lengths and ratios have different units
        h = h / np.outer(size, size) + 1e-10 * np.eye(7)
        return np.asarray(np.linalg.solve(h, g / size) / size) if np.isfinite(h).all() else np.zeros(7)

    def _moved(self, pose: Pose, step: FloatArray, length: float) -> Pose:
        scale, rigid = rigid_part(pose)
        scale = self.span.clip(scale * float(np.exp(np.clip(length * step[6], -1.0, 1.0))))
        turn = length * step[:3]
        angle = float(np.linalg.norm(turn))
        rotation = turn_about(turn / angle, angle) @ rigid.rotation if angle > 0.0 else rigid.rotation
        return similar(scale, Pose(rotation, pose.translation + length * step[3:6]).orthonormal())
