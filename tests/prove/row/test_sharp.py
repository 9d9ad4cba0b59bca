"""The search with the sharp bounds is right, and the same for any number of threads."""

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tests import naive
from tests.prove.row.sharp_cases import each, row_problem, saving, sharp, stage


@pytest.mark.parametrize("n", range(3, 9))
@pytest.mark.parametrize("seed", range(3))
def test_first_row_equals_brute_force(n, seed):
    problem = row_problem(n, 100 * n + seed)
    x, y, xi, w, _, _ = problem
    grid = np.concatenate([naive.cube_directions(face, 0, 0, 0, 10) for face in range(6)])
    best = naive.best_row(x, y, xi, w, "tear", grid)
    found = sharp(x, y, xi, w, incumbent=(np.array([1.0, 0.0, 0.0]), 0.0), limits=Limits(time_limit=30.0))
    assert found.certificate.ended_by == "gap"
    assert found.certificate.saving_bound >= best[0]
    assert saving(problem, found.solution) >= best[0] / 1.01


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
def test_nothing_saves_more_than_the_certificate_says(general, double):
    x, y, xi, w, r, t = row_problem(3000, 7, outliers=0.8, general=general)
    found = sharp(x, y, xi, w, incumbent=(r, t), rel_gap=1e-3, double=double)
    assert found.certificate.closed
    rng = np.random.default_rng(0)
    everywhere = rng.normal(size=(300, 3))
    around = found.solution[:3] + 10.0 ** rng.uniform(-6, -1, (700, 1)) * rng.normal(size=(700, 3))
    for q in np.concatenate([everywhere, around]):
        q = q / np.linalg.norm(q)
        b = y - x @ q
        for shift in (*rng.choice(b, 3), found.solution[3], found.solution[3] + 0.01 * rng.normal()):
            there = naive.row_saving(x, y, each(xi, 3000), each(w, 3000), q, shift, "tear")
            assert there <= found.certificate.saving_bound


@pytest.mark.parametrize("far", [-30.0, -100.0, -1000.0])
def test_one_far_pair_does_not_hide_the_better_of_two_motions(far):
    """A shift range of more nodes than one evaluation holds is halved; all halves must keep their points."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    x -= x.mean(axis=0)
    better, worse = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([-1.0, 2.0, 2.0]) / 3.0
    y = x @ better + 0.3
    y[100:180] = x[100:180] @ worse - 0.5
    y[0] = far
    found = sharp(x, y, np.array([0.05]), np.ones(1), incumbent=(worse, -0.5), rel_gap=1e-3)
    assert found.certificate.closed
    assert np.linalg.norm(found.solution[:3] - better) < 1e-3
    assert found.certificate.saving_bound >= 5.9


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("circle", [False, True])
def test_threads_change_no_bit(general, circle):
    x, y, xi, w, r, t = row_problem(1500, 3, outliers=0.8, general=general)
    across = np.cross(r, [0.3, -0.5, 0.8]) if circle else None
    found = [sharp(x, y, xi, w, incumbent=(r, t), rel_gap=1e-3, across=across, threads=k) for k in (1, 2, 4)]
    assert found[0].certificate.closed
    for other in found[1:]:
        assert np.array_equal(found[0].solution, other.solution)
        assert found[0].certificate.to_dict() == other.certificate.to_dict()
        assert np.array_equal(found[0].certificate.visited, other.certificate.visited)


def test_a_weight_that_all_share_scales_savings_and_bounds():
    x, y, xi, w, r, t = row_problem(300, 1, general=False)
    one = sharp(x, y, xi, w, incumbent=(r, t), rel_gap=1e-3)
    other = sharp(x, y, xi, 0.3 * w, incumbent=(r, t), rel_gap=1e-3)
    assert np.array_equal(one.solution, other.solution)
    for name in ("saving", "saving_bound", "objective", "lower_bound"):
        assert getattr(other.certificate, name) == pytest.approx(0.3 * getattr(one.certificate, name), rel=1e-12)
    assert other.certificate.cells == one.certificate.cells


def test_nothing_to_save_needs_no_search():
    for xi, w in ((np.zeros(1), np.ones(1)), (np.ones(1), np.zeros(1)), (np.zeros(5), np.ones(5))):
        found = sharp(np.eye(5, 3), np.zeros(5), xi, w, incumbent=(np.eye(3)[0], 0.0))
        assert found.certificate.closed
        assert (found.certificate.saving, found.certificate.cells) == (0.0, 0)


def test_start_moves_into_the_domain():
    x, y, xi, w, r, t = row_problem(50, 2)
    across = np.array([0.6, 0.0, 0.8])
    row = stage(x, y, xi, w, incumbent=(r, t), across=across)
    value, solution = row.start(5.0 * r, t)
    assert abs(solution[:3] @ across) < 1e-15
    assert np.linalg.norm(solution[:3]) == pytest.approx(1.0, abs=1e-15)
    assert value == pytest.approx(saving((x, y, xi, w), solution), rel=1e-12)
    assert row.total == pytest.approx(np.sum(xi * w))


def test_single_precision_gives_way_when_the_gap_needs_it():
    x, y, xi, w, r, t = row_problem(60_000, 0, outliers=0.5, general=False)
    dtypes = [stage(x, y, xi, w, incumbent=(r, t), rel_gap=gap, double=None).points.rows.dtype for gap in (1e-2, 1e-9)]
    assert dtypes == [np.float32, np.float64]
    assert stage(x[:500], y[:500], xi, w, incumbent=(r, t), double=None).points.rows.dtype == np.float64
