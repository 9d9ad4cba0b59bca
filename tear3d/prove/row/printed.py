"""One row as the paper's branch and bound finds it: Algorithm 1 on its own cells, bounds and incumbents.

Differs from `SweepRow` in what it does without: one branch is taken at a time, the incumbent is the best centre of a
branch and nothing makes it better, and a branch as narrow as the resolution is not divided.
"""

from __future__ import annotations

import math

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.options import BRANCH_RESOLUTION, Options
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.domains.angles import WHOLE_SPHERE, AngleRectangle
from tear3d.prove.domains.circle import Arc
from tear3d.prove.driver import Found, maximise
from tear3d.prove.row.cells import Domain, circle, rectangles
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.sweep import SweepRow
from tear3d.prove.stage import Batch


class PrintedRow(SweepRow):
    """The stage: TEAR-1, CM-1 or TLS-1; across a row, the same of the second one."""

    def __init__(self, problem: RowProblem, options: Options, name: str) -> None:
        super().__init__(problem, _domain(problem), options.the_loss, name)

    def begin(self) -> tuple[float, FloatArray]:
        """The centre of the whole domain, with its best shift (Algorithm 1, line 5)."""
        return self._with_best_shift(self.domain.centre(self.domain.roots[0]))

    def batch(self, phase: int, waiting: int, turn: int) -> Batch:
        return Batch(1, 1)

    def parts(self, cell: AngleRectangle | Arc) -> list[AngleRectangle] | list[Arc]:
        return cell.split() if cell.side > BRANCH_RESOLUTION else []

    def improve(self, saving: float, solution: FloatArray, limits: Limits) -> tuple[float, FloatArray]:
        return saving, solution


def solve_printed_row(problem: RowProblem, options: Options, limits: Limits, name: str) -> Found:
    """The row that the paper's search ends with, and what it proved.

    Ends when the gap is closed or, as `resolution`, when every branch that might save more is as narrow as
    BRANCH_RESOLUTION; its bounds then stay in the certificate, whose gap is open.
    """
    stage = PrintedRow(problem, options, name)
    if len(problem.source) == 0:
        centre = stage.domain.centre(stage.domain.roots[0])
        return Found(np.array([*centre, 0.0]), StageCertificate(name, 0.0, 0.0, 0.0, 0.0, 0, True, "gap"))
    return maximise(stage, stage.begin(), rel_gap=options.rel_gap, limits=limits)


def _domain(problem: RowProblem) -> Domain:
    """Everything as one branch. TEAR-2's circle has an angle of its own: the paper's is singular for a level row."""
    if problem.across is None:
        return rectangles()._replace(roots=[WHOLE_SPHERE])
    return circle(problem.across)._replace(roots=[Arc(0.0, 2.0 * math.pi)])
