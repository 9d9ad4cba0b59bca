"""The paper's method: two rows of the rotation, each proven on its own, the third from their cross product.

Any orthonormal frame of the target space will do: the first row is torn off along a direction in which the pose's
translation vanishes, because there the background of wrong pairs and the right ones peak together, and the row's global
optimum is the pose's if any row's is. If not, others are tried. Bounds widen with |x|, so source and target change
roles when the target is the smaller cloud; then the rows are those of the inverse pose. Savings are compared in one
place only, `_offer`, and there always over the pairs as given.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tear3d.find.ascent import climb
from tear3d.find.search import COMPARABLE
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.objective import Scored
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import Attempt, StageCertificate
from tear3d.prove.driver import Found
from tear3d.prove.row.band import Row, row_band
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.solve import solve_row

log = logging.getLogger("tear3d")

MAX_ATTEMPTS = 3
SWAP = 0.8
"""Source and target change roles when the target's spread is below this share of the source's."""
Judge = Callable[[Pose], float]


@dataclass(frozen=True)
class TearOff:
    """The rows found along two axes of a frame, of pairs that may have changed roles."""

    pairs: Pairs
    swapped: bool
    stages: tuple[StageCertificate, ...]
    rows: tuple[Row, ...]
    pose: Pose | None
    """Made of both rows, for the pairs in the roles they have here; None without a second row."""

    def agrees(self, pose: Pose) -> bool:
        """Whether the rows are rows of a pose of the pairs as given."""
        own = pose.inverse if self.swapped else pose
        return all(row.agrees(self.pairs, own) for row in self.rows)

    def attempt(self, pose: Pose) -> Attempt:
        a, b, c = self.rows[0].axis.tolist()
        rows = tuple(row.outside(self.pairs.frame) for row in self.rows)
        return Attempt(self.stages, self.agrees(pose), (a, b, c), self.swapped, rows, complete=len(rows) == 2)


def prove_rows(
    pairs: Pairs, start: Scored, options: Options, limits: Limits, judge: Judge, worth: float
) -> tuple[Scored, tuple[Attempt, ...]]:
    """Tear off rows until the proven optima of two of them are rows of the best pose.

    Parameters
    ----------
    pairs, start
        The pairs, and the best pose known with its saving over them.
    options, limits
    judge : callable
        How likely a pose's consensus is chance (lower is better); settles between poses of comparable savings.
    worth : float
        A best pose that the judge puts above this gets no second attempt.

    Returns
    -------
    best, attempts
        The best pose by the full objective, and all that was tried; what agrees does so with this pose.
    """
    best, torn = start, []
    swapped = pairs.swapped.radius < SWAP * pairs.radius
    for number in range(MAX_ATTEMPTS):
        tried = _tear_off(pairs, best.pose, swapped, number, options, limits)
        torn.append(tried)
        if tried.pose is not None:
            with limits.timed("refinement"):
                best = _offer(pairs, tried, best, Offer(options.the_loss, limits, judge))
        if tried.agrees(best.pose) or limits.exceeded() is not None or judge(best.pose) > worth:
            break
        log.info("rows along axis %d are not those of the best pose, tearing off others", number + 1)
    return best, tuple(tried.attempt(best.pose) for tried in torn)


class Offer(NamedTuple):
    """How a pose made of rows is refined and compared."""

    loss: Loss
    limits: Limits
    judge: Judge


def _offer(pairs: Pairs, tried: TearOff, best: Scored, how: Offer) -> Scored:
    """The pose made of the rows, refined, if it saves more than the best over the pairs as given.

    Among comparable savings only if it is not more likely chance, which many-to-one matches can be.
    """
    assert tried.pose is not None
    own = tried.pose.inverse if tried.swapped else tried.pose
    found = Scored(*climb(pairs, own, how.loss, limits=how.limits))
    if found.saving <= best.saving:
        return best
    clearly = COMPARABLE * found.saving > best.saving
    return found if clearly or how.judge(found.pose) <= how.judge(best.pose) else best


def _tear_off(given: Pairs, pose: Pose, swapped: bool, number: int, options: Options, limits: Limits) -> TearOff:
    """Both rows along the axes of a frame, starting from those of a pose."""
    pairs, own = (given.swapped, pose.inverse) if swapped else (given, pose)
    u, v, w = frame = _frame(pairs, own, number)
    loss = options.the_loss
    with limits.timed("first row"):
        problem = RowProblem(pairs.x, pairs.y, pairs.xi, pairs.w, pairs.x_mean, u, float(pairs.y_mean @ u))
        first, row = solved(solve_row(problem, _row_of(own, u), options, limits, "first row"), problem)
    if limits.exceeded() is not None:
        return TearOff(pairs, swapped, (first,), (row,), None)
    with limits.timed("second row"):
        band = row_band(pairs, row, loss)
        problem = RowProblem(
            pairs.x[band.index], pairs.y[band.index], band.xi, band.w, pairs.x_mean, v, float(pairs.y_mean @ v), row.r
        )
        second, other = solved(solve_row(problem, _row_of(own, v), options, limits, "second row"), problem)
    stages, rows = (first, second), (row, other)
    third = np.cross(row.r, other.r)
    band = band.cut(band.residual(pairs, other), loss)
    if not len(band.index):
        return TearOff(pairs, swapped, stages, rows, None)
    shift = _peak(band.residual(pairs, Row(w, third, 0.0)), band.w, pairs.typical_bound)
    rotation = frame.T @ np.array([row.r, other.r, third])
    translation = frame.T @ np.array([row.t, other.t, shift])
    return TearOff(pairs, swapped, stages, rows, Pose(rotation, translation).orthonormal())


def _row_of(pose: Pose, axis: FloatArray) -> tuple[FloatArray, float]:
    return axis @ pose.rotation, float(axis @ pose.translation)


def solved(found: Found, problem: RowProblem) -> tuple[StageCertificate, Row]:
    """What was proven, and the row for the pairs as given."""
    r, t = problem.moved_back(found.solution[:3], float(found.solution[3]))
    return found.certificate, Row(problem.direction, r, t)


def _frame(pairs: Pairs, pose: Pose, number: int) -> FloatArray:
    """A right-handed orthonormal frame of the target space, rows u, v, w; the row along u is torn off first.

    Attempt 0: u and v orthogonal to the translation, u along the larger spread. Then the principal axes in turn.
    """
    _, axes = np.linalg.eigh(pairs.target_covariance)
    principal = axes.T[::-1]
    t = pose.translation
    length = float(np.linalg.norm(t))
    if number == 0 and length > 1e-3 * pairs.radius:
        w = t / length
        flat = np.eye(3) - np.outer(w, w)
        _, inside = np.linalg.eigh(flat @ pairs.target_covariance @ flat)
        u = inside[:, 2] - (inside[:, 2] @ w) * w
        u /= np.linalg.norm(u)
        v = np.cross(w, u)
    else:
        u, v = principal[number % 3], principal[(number + 1) % 3]
    return np.array([u, v, np.cross(u, v)])


def _peak(b: FloatArray, w: FloatArray, width: float) -> float:
    """The middle of the most crowded stretch of 2·width: good enough a shift for the refinement to start from."""
    order = np.argsort(b)
    b, total = b[order], np.concatenate([[0.0], np.cumsum(w[order])])
    ends = np.searchsorted(b, b + 2.0 * width, side="right")
    first = int(np.argmax(total[ends] - total[:-1]))
    return float(0.5 * (b[first] + b[ends[first] - 1]))
