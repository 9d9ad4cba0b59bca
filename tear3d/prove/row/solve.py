"""One row of the rotation, by the bounds that were asked for."""

from __future__ import annotations

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import TEAR
from tear3d.problem.options import Options
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.driver import Found, maximise
from tear3d.prove.row.cells import circle, cube, rectangles
from tear3d.prove.row.points import TooLate
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.sharp import SharpRow
from tear3d.prove.row.sweep import SweepRow

PIECE = 1 << 17
"""Pairs looked at together (memory; free choice)."""


def solve_row(problem: RowProblem, row: tuple[FloatArray, float], options: Options, limits: Limits, name: str) -> Found:
    """The best row and what is proven about it, starting from a known one of the pairs as given.

    The sharp bounds are for the TEAR loss; for the others it is always the sweep.
    """
    r, t = problem.moved_in(*row)
    if problem.across is not None:
        r = r - (r @ problem.across) * problem.across
        length = float(np.linalg.norm(r))
        r = r / length if length > 0.0 else orthogonal_basis(problem.across)[0]
    if len(problem.source) == 0:
        nothing = StageCertificate(name, 0.0, 0.0, 0.0, 0.0, 0, True, "gap")
        return Found(np.array([*r, t]), nothing)
    stage: SharpRow | SweepRow
    if options.the_loss.code == TEAR and options.bounds == "sharp":
        try:
            stage = SharpRow(problem, (r, t), rel_gap=options.rel_gap, name=name, limits=limits)
        except TooLate:
            ended_by = limits.exceeded()
            if ended_by is not None:
                return _not_begun(problem, (r, t), name, ended_by)
            stage = SharpRow(problem, (r, t), rel_gap=options.rel_gap, name=name)  # what took so long was compiling
    else:
        whole = rectangles() if options.bounds == "paper" else cube()
        domain = whole if problem.across is None else circle(problem.across)
        stage = SweepRow(problem, domain, options.the_loss, name)
    start = stage.start(r, t)
    return maximise(stage, start, rel_gap=options.rel_gap, limits=limits, threads=options.threads)


def _not_begun(problem: RowProblem, row: tuple[FloatArray, float], name: str, ended_by: str) -> Found:
    """What is known without a search: what the row saves, and what all pairs can save."""
    r, t = row
    n, most, saving = len(problem.source), problem.w * problem.xi, 0.0
    total = float(np.sum(most)) * (n if most.size == 1 else 1)
    _, away = problem.moved_back(r, t)
    for first in range(0, n, PIECE):
        some = problem.some(slice(first, first + PIECE))
        residual = np.abs(some.target @ some.direction - some.source @ r - away)
        saving += float(np.sum(some.w * np.maximum(0.0, some.xi - residual)))
    bound = total * (1.0 + 2.0**-52 * (n + 2))
    certificate = StageCertificate(name, total - saving, total - bound, saving, bound, 0, False, ended_by)
    return Found(np.array([*r, t]), certificate)
