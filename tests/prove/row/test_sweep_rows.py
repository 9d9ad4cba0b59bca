"""One row by branch and bound: bounds are bounds, and the search finds what brute force finds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.errors import InputError
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.prove.bounds.ranges import arc_ranges, cell_ranges, rectangle_ranges
from tear3d.prove.domains.circle import orthogonal_basis
from tear3d.prove.domains.sphere import cell_vertices
from tear3d.prove.row.sweep import _pairs, solve_arc_sweep, solve_row_sweep
from tests import naive


def tiny_problem(n, seed):
    """A few pairs, two thirds of them consistent with one row and shift, thresholds and weights mixed."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    r = rng.normal(size=3)
    r /= np.linalg.norm(r)
    y = x @ r + 0.4 + 0.02 * rng.normal(size=n)
    y[: n // 3] = rng.normal(size=n // 3)
    return x, y, rng.uniform(0.05, 0.2, n), rng.uniform(0.5, 2.0, n), r


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 8), st.sampled_from(["cube", "angles", "arc"]))
def test_no_pose_in_a_cell_beats_its_bound(loss, seed, level, kind):
    rng = np.random.default_rng(seed)
    x, y, xi, w, _ = tiny_problem(12, seed)
    pairs = _pairs(x, y, xi, w, loss)
    if kind == "cube":
        cell = (int(rng.integers(6)), level, *rng.integers(0, 2**level, 2).tolist())
        bound, directions = pairs.bound(cell_ranges, cell_vertices(*cell)), naive.cube_directions(*cell, 9)
    else:
        width = 2 * math.pi / 2**level
        a, b = rng.uniform(0, 2 * math.pi - width), rng.uniform(0, math.pi - width / 2)
        if kind == "angles":
            cell = (a, a + width, b, b + width / 2)
            bound = pairs.bound(rectangle_ranges, *cell)
            directions = naive.rectangle_directions(*cell, 9)
        else:
            u, v = orthogonal_basis(rng.normal(size=3))
            bound = pairs.bound(arc_ranges, u, v, a, a + width)
            directions = naive.arc_directions(u, v, a, a + width, 40)
    for r in directions[:: max(1, len(directions) // 30)]:
        saving, _ = naive.best_row_shift(x, y, xi, w, r, loss)
        assert saving <= bound * (1 + 1e-14)


def grid(n=40):
    return np.concatenate([naive.cube_directions(face, 0, 0, 0, n // 4) for face in range(6)])


@pytest.mark.parametrize("parameterisation", ["cube", "angles"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [3, 5, 8])
def test_first_row_equals_brute_force(loss, n, parameterisation):
    x, y, xi, w, _ = tiny_problem(n, seed=n)
    best = naive.best_row(x, y, xi, w, loss, grid())[0]
    found = solve_row_sweep(
        x,
        y,
        xi,
        w,
        loss=loss,
        rel_gap=1e-2,
        parameterisation=parameterisation,
        limits=Limits(node_limit=60_000),
    )
    assert found.ended_by == "gap"
    assert found.closed
    assert found.saving_bound >= best * (1 - 1e-12)
    assert found.saving >= best * (1 - 1e-2)
    assert np.linalg.norm(found.r) == pytest.approx(1.0, abs=1e-14)
    assert found.saving == pytest.approx(naive.row_saving(x, y, xi, w, found.r, found.t, loss), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [3, 8])
def test_second_row_equals_brute_force(loss, n):
    x, y, xi, w, r = tiny_problem(n, seed=20 + n)
    r1 = np.cross(r, [0.3, -0.2, 0.9])
    r1 /= np.linalg.norm(r1)
    circle = naive.arc_directions(*orthogonal_basis(r1), 0.0, 2 * math.pi, 721)
    best = naive.best_row(x, y, xi, w, loss, circle, project=lambda r: r - (r @ r1) * r1)[0]
    found = solve_arc_sweep(x, y, xi, w, r1, loss=loss, rel_gap=1e-3, limits=Limits(node_limit=20_000))
    assert found.closed
    assert abs(found.r @ r1) < 1e-12
    assert found.saving_bound >= best * (1 - 1e-12)
    assert found.saving >= best * (1 - 1e-3)
    assert found.saving == pytest.approx(naive.row_saving(x, y, xi, w, found.r, found.t, loss), rel=1e-9)


def outlier_problem(n, outliers, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = x @ frame.T + 0.3 + 0.01 * rng.normal(size=(n, 3))
    k = int(outliers * n)
    y[:k] = 1.67 * rng.normal(size=(k, 3))
    return x, y, frame


@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_recovers_both_rows_among_outliers_on_either_half_of_the_sphere(flip):
    x, y, frame = outlier_problem(400, 0.8)
    first = solve_row_sweep(x, flip * y[:, 0], 0.0554, 1.0, rel_gap=0.02, limits=Limits(time_limit=30))
    assert first.closed
    assert math.degrees(math.acos(min(1.0, flip * first.r @ frame[0]))) < 1.0
    second = solve_arc_sweep(x, y[:, 1], 0.0554, 1.0, first.r, rel_gap=0.02, limits=Limits(time_limit=30))
    assert second.closed
    assert math.degrees(math.acos(min(1.0, second.r @ frame[1]))) < 1.5


def test_same_row_for_any_number_of_threads():
    x, y, _ = outlier_problem(200, 0.7)
    one, two = (solve_row_sweep(x, y[:, 0], 0.0554, 1.0, rel_gap=0.05, threads=k) for k in (1, 2))
    np.testing.assert_array_equal(one.r, two.r)
    assert (one.t, one.saving, one.saving_bound, one.cells) == (
        two.t,
        two.saving,
        two.saving_bound,
        two.cells,
    )


def test_an_incumbent_is_kept_and_saves_cells():
    x, y, _ = outlier_problem(200, 0.7)
    plain = solve_row_sweep(x, y[:, 0], 0.0554, 1.0, rel_gap=0.05)
    again = solve_row_sweep(x, y[:, 0], 0.0554, 1.0, rel_gap=0.05, incumbent=(3 * plain.r, plain.t))
    assert again.saving >= plain.saving * (1 - 1e-12)
    assert again.cells <= plain.cells
    nothing = solve_row_sweep(x, y[:, 0], 0.0554, 1.0, limits=Limits(time_limit=0.0), incumbent=(plain.r, plain.t))
    assert nothing.saving >= plain.saving * (1 - 1e-12)
    assert (nothing.ended_by, nothing.cells, nothing.closed) == ("time_limit", 0, False)
    assert nothing.saving_bound == pytest.approx(200 * 0.0554)


def test_certificate_and_resolution():
    x, y, _ = outlier_problem(100, 0.5)
    found = solve_row_sweep(x, y[:, 0], 0.0554, 1.0, rel_gap=1e-9, resolution=0.1)
    certificate = found.certificate("first row")
    assert (certificate.ended_by, certificate.closed) == ("resolution", False)
    assert found.total == pytest.approx(100 * 0.0554)
    assert certificate.objective == pytest.approx(found.total - found.saving)
    assert certificate.lower_bound == pytest.approx(found.total - found.saving_bound)
    assert certificate.lower_bound < certificate.objective
    assert certificate.gap > 1e-9
    assert len(certificate.visited) == certificate.cells
    np.testing.assert_allclose(np.linalg.norm(certificate.visited[:, :3], axis=1), 1.0)
    assert certificate.history[-1, 2] == found.saving_bound


@pytest.mark.parametrize("loss", LOSSES)
def test_odd_inputs_end(loss):
    zero, one = np.zeros((3, 3)), np.ones(3)
    same = solve_row_sweep(zero, one, 0.1, 1.0, loss=loss)
    assert same.closed
    assert same.t == pytest.approx(1.0)
    exact = solve_row_sweep(np.eye(3), 0.3 * one, 0.0, 1.0, loss=loss, limits=Limits(node_limit=400))
    assert exact.saving_bound >= exact.saving
    single = solve_row_sweep(np.eye(3)[:1], one[:1], 0.1, 2.0, loss=loss)
    assert single.closed


def test_bad_input_is_named():
    x, y = np.zeros((4, 3)), np.zeros(4)
    for arguments, message in [
        ((x.T, y, 0.1, 1.0), "x has shape"),
        ((x, y[:3], 0.1, 1.0), "y has shape"),
        ((x, 0.0, 0.1, 1.0), "y has shape"),
        ((x, y, -0.1, 1.0), "xi has entries"),
        ((x, y, 0.1, np.full(4, np.nan)), "w has entries"),
        ((x + np.inf, y, 0.1, 1.0), "x has entries"),
    ]:
        with pytest.raises(InputError, match=message):
            solve_row_sweep(*arguments)
    with pytest.raises(InputError, match="'cubes'"):
        solve_row_sweep(x, y, 0.1, 1.0, parameterisation="cubes")
    with pytest.raises(InputError, match="loss is 'l2'"):
        solve_row_sweep(x, y, 0.1, 1.0, loss="l2")
    with pytest.raises(InputError, match="r1"):
        solve_arc_sweep(x, y, 0.1, 1.0, np.zeros(3))
    with pytest.raises(InputError, match="incumbent"):
        solve_arc_sweep(x, y, 0.1, 1.0, np.eye(3)[0], incumbent=(np.eye(3)[0], 0.0))
