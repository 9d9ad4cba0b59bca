"""The paper's method as it is printed: TEAR-1, TEAR-2 and an SVD, along the coordinate axes and from no candidate.

What the rest of this folder does better is left out on purpose, so that the two can be compared: no frame from the
data, no change of roles, no second attempt, no pose to start from, no refinement, one thread.
"""

from __future__ import annotations

import numpy as np

from tear3d.find.procrustes import procrustes
from tear3d.problem.limits import Limits
from tear3d.problem.objective import Scored, full_saving
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.prove.certificate import Proof, StageCertificate
from tear3d.prove.row.band import Band, Row, row_band
from tear3d.prove.row.printed import solve_printed_row
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.rows import TearOff, solved

ENOUGH = 3
"""Pairs that determine a pose."""


def solve_as_printed(pairs: Pairs, options: Options, limits: Limits) -> Proof:
    """The pose of the paper's method, and what its two searches proved.

    Parameters
    ----------
    pairs : Pairs
    options : Options
        `loss` and `rel_gap`.
    limits : Limits
        When they end the first row there is no second one, and the pose is that of the pairs which the first leaves.

    Returns
    -------
    Proof
        With one attempt, which agrees when its rows are those of the pose.
    """
    u, v, _ = np.eye(3)
    loss = options.the_loss
    with limits.timed("first row"):
        problem = RowProblem(pairs.x, pairs.y, pairs.xi, pairs.w, pairs.x_mean, u, float(pairs.y_mean @ u))
        first, row = solved(solve_printed_row(problem, options, limits, "first row"), problem)
        left = row_band(pairs, row, loss)
    stages: tuple[StageCertificate, ...] = (first,)
    rows: tuple[Row, ...] = (row,)
    if limits.exceeded() is None:
        with limits.timed("second row"):
            x, y = pairs.x[left.index], pairs.y[left.index]
            problem = RowProblem(x, y, left.xi, left.w, pairs.x_mean, v, float(pairs.y_mean @ v), row.r)
            second, other = solved(solve_printed_row(problem, options, limits, "second row"), problem)
            both = left.cut(left.residual(pairs, other), loss)
        stages, rows = (first, second), (row, other)
        left = both if len(both.index) >= ENOUGH else left
    with limits.timed("refinement"):
        best = _fitted(pairs, left, options)
    attempt = TearOff(pairs, False, stages, rows, best.pose).attempt(best.pose)
    return Proof(best, (attempt,))


def _fitted(pairs: Pairs, band: Band, options: Options) -> Scored:
    """The pose by SVD of the pairs that the rows leave, and what it saves over all."""
    pose = procrustes(pairs.x[band.index], pairs.y[band.index], band.w)
    return Scored(pose, full_saving(pairs, pose, options.the_loss))
