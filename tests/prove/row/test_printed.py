"""One row by the paper's branch and bound: against brute force, and where it ends."""

import math

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.options import BRANCH_RESOLUTION, Options
from tear3d.prove.domains.angles import WHOLE_SPHERE
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.row.printed import PrintedRow, solve_printed_row
from tear3d.prove.row.problem import RowProblem
from tests import naive
from tests.prove.row.test_sweep_rows import grid, tiny_problem

ACROSS = np.array([0.6, 0.0, 0.8])


def problem_of(n=8, seed=0, across=None):
    x, y, xi, w, _ = tiny_problem(n, seed)
    direction = np.array([0.0, 1.0, 0.0])
    return x, y, xi, w, RowProblem(x, np.outer(y, direction), xi, w, np.zeros(3), direction, 0.0, across)


def solved(problem, loss="tear", rel_gap=1e-2, **limits):
    options = Options.of(method="paper", loss=loss, rel_gap=rel_gap)
    return solve_printed_row(problem, options, Limits(**limits), "row")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("across", [None, ACROSS, np.array([0.0, 0.0, 1.0])])
def test_no_row_saves_more_than_its_bound_and_hardly_any_more_than_it_found(loss, across):
    x, y, xi, w, problem = problem_of(across=across)
    if across is None:
        best = naive.best_row(x, y, xi, w, loss, grid())[0]
    else:
        directions = naive.arc_directions(*orthogonal_basis(across), 0.0, 2 * math.pi, 721)
        best = naive.best_row(x, y, xi, w, loss, directions, project=lambda r: r - (r @ across) * across)[0]
    found = solved(problem, loss, node_limit=200_000)
    proof, (r, t) = found.certificate, (found.solution[:3], found.solution[3])
    assert proof.ended_by in ("gap", "resolution")
    assert proof.closed == (proof.ended_by == "gap")
    assert proof.saving_bound >= best * (1 - 1e-12)
    assert proof.saving >= best * (1 - 0.03)
    assert proof.saving == pytest.approx(naive.row_saving(x, y, xi, w, r, t, loss), rel=1e-9)
    assert across is None or abs(r @ across) < 1e-12


def test_the_first_incumbent_is_the_centre_of_everything():
    *_, problem = problem_of()
    found = solved(problem, node_limit=0)
    assert found.solution[:3] == pytest.approx(WHOLE_SPHERE.centre)
    assert found.certificate.cells == 0


def test_the_incumbent_is_always_the_centre_of_a_branch():
    """Nothing polishes it: its angles are odd multiples of a power of two of those of the whole sphere."""
    *_, problem = problem_of(seed=3)
    r = solved(problem).solution[:3]
    alpha, beta = math.atan2(r[1], r[0]) % (2 * math.pi), math.acos(r[2])
    for turn in (alpha / (2 * math.pi), beta / math.pi):
        steps = turn * 2**14  # the narrowest branches are a 2⁻¹³rd of the whole
        assert steps == pytest.approx(round(steps), abs=1e-6)


@pytest.mark.parametrize("across", [None, ACROSS])
def test_of_no_pairs_nothing_is_saved(across):
    *_, problem = problem_of(across=across)
    found = solved(problem.some(slice(0, 0)))
    assert np.linalg.norm(found.solution[:3]) == pytest.approx(1.0)
    assert (found.certificate.saving_bound, found.certificate.closed, found.certificate.gap) == (0.0, True, 0.0)


def test_no_branch_is_divided_below_the_resolution():
    *_, problem = problem_of()
    stage = PrintedRow(problem, Options.of(method="paper"), "row")
    cell, depth = WHOLE_SPHERE, 0
    while parts := stage.parts(cell):
        cell, depth = parts[0], depth + 1
    assert depth == 13
    assert 0.5 * BRANCH_RESOLUTION < cell.side <= BRANCH_RESOLUTION
    visited = solved(problem, rel_gap=1e-6).certificate.visited
    assert visited[:, 3].min() >= 0.9 * cell.radius
