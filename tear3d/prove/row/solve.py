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
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.sharp import SharpRow
from tear3d.prove.row.sweep import SweepRow


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
        stage = SharpRow(problem, (r, t), rel_gap=options.rel_gap, name=name)
    else:
        whole = rectangles() if options.bounds == "paper" else cube()
        domain = whole if problem.across is None else circle(problem.across)
        stage = SweepRow(problem, domain, options.the_loss, name)
    start = stage.start(r, t)
    return maximise(stage, start, rel_gap=options.rel_gap, limits=limits, threads=options.threads)
