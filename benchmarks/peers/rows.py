"""What TEAR-1, CM-1 and TLS-1 share: the first row of the pose by the paper's branch and bound (its Figures 4 and 5).

One search for all three, so that they differ by their loss and its bounds only: rectangles of (α, β) along the first
coordinate axis, the incumbent from the centres of branches, one thread, no candidate before.

In the paper's figures CM-1 takes more than five times as long as TEAR-1. Here it takes less: fewer branches, a sweep
that sorts 2N numbers where TEAR's sorts 4N. An estimate of the branches: where r·x_i ranges over ±e, a background of ρ
wrong pairs per unit of length adds 2ρe caps to the bound of either loss, and the branch goes when that is less than
what the k right pairs save: k caps for CM, k·(1 − E|z|/ξ) for TEAR, which is 0.86·k at ξ = 5.54 σ; so TEAR needs about
1/0.86² as many. That is what 95 % of wrong pairs show, but not 99 %, where TEAR takes five times as many. How the
paper's figure came about is not known to us. TEAR's F1 is the higher one, as printed.
"""

from __future__ import annotations

import math

import numpy as np

from benchmarks.peers import FloatArray, Found, nowhere, time_limit
from tear3d.problem.losses import LossName
from tear3d.problem.options import Options
from tear3d.prove.row.printed import solve_printed_row
from tear3d.prove.row.problem import RowProblem

PAPER = "T. Huang, L. Peng, R. Vidal, Y.-H. Liu: Scalable 3D Registration via TEAR. CVPR 2024"
SETTINGS = (
    "threshold ξ, branch resolution 1e-3 rad (both from the paper's appendix), ended by that or by a gap of 0.001 of "
    "the saving (the paper does not print its tolerance), one thread"
)
SECONDS = math.inf
"""A limit for one search."""


def solve_first_row(source: FloatArray, target: FloatArray, noise_bound: float, loss: LossName) -> Found:
    """The pairs that agree with the first row, and how its search went; a row is no pose."""
    options = Options.of(method="paper", loss=loss, time_limit=min(SECONDS, time_limit(math.inf)))
    axis, centre = np.eye(3)[0], source.mean(axis=0)
    problem = RowProblem(source, target, np.array([noise_bound]), np.ones(1), centre, axis, float(target[:, 0].mean()))
    solution, certificate, _ = solve_printed_row(problem, options, options.limits(), f"{loss}-1")
    r, t = problem.moved_back(solution[:3], float(solution[3]))
    inliers = np.abs(target @ axis - source @ r - t) <= noise_bound
    notes = {
        "iterations": certificate.cells,
        "closed": certificate.closed,
        "gap": certificate.gap,
        "cut": certificate.ended_by == "time_limit",
        "ended_by": certificate.ended_by,
        "resolution_end": certificate.ended_by == "resolution",
        "row": [*r.tolist(), t],
    }
    return Found(nowhere(), inliers, notes)


def prepare(loss: LossName) -> None:
    """Compile what the search of a loss takes."""
    x = np.random.default_rng(0).normal(size=(20, 3))
    solve_first_row(x, x, 0.5, loss)
