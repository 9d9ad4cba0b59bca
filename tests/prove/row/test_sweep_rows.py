"""One row by the sweep bounds: bounds are bounds, and the search finds what brute force finds."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import make_problem
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.prove.domains.angles import AngleRectangle
from tear3d.prove.domains.circle import Arc, orthogonal_basis
from tear3d.prove.domains.sphere import CubeCell
from tear3d.prove.driver import maximise
from tear3d.prove.row.band import SAME_POSE, Row, row_band
from tear3d.prove.row.cells import circle, cube, rectangles
from tear3d.prove.row.problem import RowProblem
from tear3d.prove.row.sweep import SweepRow
from tests import naive
from tests.problem.cases import pairs_of, rotation_about, truth_inside, unchecked

UPWARDS = (np.array([0.0, 0.0, 1.0]), 0.0)
LOSS = pytest.mark.parametrize("loss", LOSSES)


def stage_of(x, y, xi, w, domain, loss="tear", across=None):
    """The search for a row r and a shift t with y ≈ r·x + t."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    target = np.outer(y, [0.0, 1.0, 0.0])
    xi, w = np.atleast_1d(np.asarray(xi, float)), np.atleast_1d(np.asarray(w, float))
    problem = RowProblem(x, target, xi, w, np.zeros(3), np.array([0.0, 1.0, 0.0]), 0.0, across)
    return SweepRow(problem, domain, LOSSES[loss], "row")


def solved(stage, rel_gap=1e-2, row=UPWARDS, threads=1, **limits):
    return maximise(stage, stage.start(*row), rel_gap=rel_gap, limits=Limits(**limits), threads=threads)


def tiny_problem(n, seed):
    """A few pairs, two thirds of them consistent with one row and shift, noise bounds and weights mixed."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    r = rng.normal(size=3)
    r /= np.linalg.norm(r)
    y = x @ r + 0.4 + 0.02 * rng.normal(size=n)
    y[: n // 3] = rng.normal(size=n // 3)
    return x, y, rng.uniform(0.05, 0.2, n), rng.uniform(0.5, 2.0, n), r


def grid(n=10):
    return np.concatenate([naive.cube_directions(face, 0, 0, 0, n) for face in range(6)])


@LOSS
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 8), st.sampled_from(["cube", "rectangle", "arc"]))
def test_no_row_in_a_cell_beats_its_bound(loss, seed, level, kind):
    rng = np.random.default_rng(seed)
    x, y, xi, w, across = tiny_problem(12, seed)
    width = 2 * math.pi / 2**level
    a, b = rng.uniform(0, 2 * math.pi - width), rng.uniform(0, math.pi - width / 2)
    if kind == "cube":
        cell = CubeCell(int(rng.integers(6)), level, *rng.integers(0, 2**level, 2).tolist())
        domain, directions = cube(), naive.cube_directions(*cell, 9)
    elif kind == "rectangle":
        cell = AngleRectangle(a, a + width, b, b + width / 2)
        domain, directions = rectangles(), naive.rectangle_directions(*cell, 9)
    else:
        cell, domain = Arc(a, a + width), circle(across)
        directions = naive.arc_directions(*orthogonal_basis(across), *cell, 40)
    stage = stage_of(x, y, xi, w, domain, loss)
    bound = stage._bound(cell)
    for r in directions[:: max(1, len(directions) // 30)]:
        assert naive.best_row_shift(x, y, xi, w, r, loss)[0] <= bound * (1 + 1e-14)


@pytest.mark.parametrize("domain", [cube, rectangles])
@LOSS
@pytest.mark.parametrize("n", [3, 5, 8])
def test_first_row_equals_brute_force(loss, n, domain):
    x, y, xi, w, _ = tiny_problem(n, seed=n)
    best = naive.best_row(x, y, xi, w, loss, grid())[0]
    stage = stage_of(x, y, xi, w, domain(), loss)
    found = solved(stage, node_limit=60_000)
    proof, (r, t) = found.certificate, (found.solution[:3], found.solution[3])
    assert (proof.ended_by, proof.closed) == ("gap", True)
    assert proof.saving_bound >= best * (1 - 1e-12)
    assert proof.saving >= best * (1 - 1e-2)
    assert np.linalg.norm(r) == pytest.approx(1.0, abs=1e-14)
    assert proof.saving == pytest.approx(naive.row_saving(x, y, xi, w, r, t, loss), rel=1e-9)
    assert proof.objective == pytest.approx(np.sum(w * LOSSES[loss].caps(xi)) - proof.saving)


@LOSS
@pytest.mark.parametrize("n", [3, 8])
def test_second_row_equals_brute_force(loss, n):
    x, y, xi, w, r = tiny_problem(n, seed=20 + n)
    across = np.cross(r, [0.3, -0.2, 0.9])
    across /= np.linalg.norm(across)
    directions = naive.arc_directions(*orthogonal_basis(across), 0.0, 2 * math.pi, 721)
    best = naive.best_row(x, y, xi, w, loss, directions, project=lambda r: r - (r @ across) * across)[0]
    start = (orthogonal_basis(across)[0], 0.0)
    found = solved(stage_of(x, y, xi, w, circle(across), loss, across), 1e-3, start, node_limit=20_000)
    proof, (r, t) = found.certificate, (found.solution[:3], found.solution[3])
    assert proof.closed
    assert abs(r @ across) < 1e-12
    assert proof.saving_bound >= best * (1 - 1e-12)
    assert proof.saving >= best * (1 - 1e-3)
    assert proof.saving == pytest.approx(naive.row_saving(x, y, xi, w, r, t, loss), rel=1e-9)


@LOSS
def test_ties_and_copies(loss):
    """Points and values on a grid, all copied: many rows and shifts tie for the optimum."""
    rng = np.random.default_rng(3)
    x = np.repeat(rng.integers(-1, 2, (4, 3)).astype(float), 2, axis=0)
    y = np.repeat(rng.integers(-1, 2, 4).astype(float), 2)
    xi, w = np.full(8, 0.25), np.ones(8)
    best = naive.best_row(x, y, xi, w, loss, grid())[0]
    proof = solved(stage_of(x, y, 0.25, 1.0, cube(), loss), 0.05, node_limit=20_000).certificate
    assert proof.saving_bound >= best * (1 - 1e-12)
    assert proof.saving <= proof.saving_bound
    if proof.closed:
        assert proof.saving >= best * (1 - 0.05)


def outlier_problem(n, outliers, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    y = x @ frame.T + 0.3 + 0.01 * rng.normal(size=(n, 3))
    k = int(outliers * n)
    y[:k] = 1.67 * rng.normal(size=(k, 3))
    return x, y, frame


def degrees(r, truth):
    return math.degrees(math.acos(min(1.0, r @ truth)))


@pytest.mark.parametrize("flip", [1.0, -1.0])
def test_recovers_both_rows_among_outliers_on_either_half_of_the_sphere(flip):
    x, y, frame = outlier_problem(400, 0.8)
    first = solved(stage_of(x, flip * y[:, 0], 0.0554, 1.0, cube()), 0.02, time_limit=30)
    assert first.certificate.closed
    r = first.solution[:3]
    assert degrees(r, flip * frame[0]) < 1.0
    start = (orthogonal_basis(r)[0], 0.0)
    second = solved(stage_of(x, y[:, 1], 0.0554, 1.0, circle(r), across=r), 0.02, start, time_limit=30)
    assert second.certificate.closed
    assert degrees(second.solution[:3], frame[1]) < 1.5


def test_same_row_for_any_number_of_threads():
    x, y, _ = outlier_problem(200, 0.7)
    one, *others = (solved(stage_of(x, y[:, 0], 0.0554, 1.0, cube()), 0.05, threads=k) for k in (1, 2, 4))
    for other in others:
        np.testing.assert_array_equal(one.solution, other.solution)
        assert one.certificate.to_dict() == other.certificate.to_dict()


def test_a_known_row_is_kept_and_saves_cells():
    x, y, _ = outlier_problem(200, 0.7)
    stage = stage_of(x, y[:, 0], 0.0554, 1.0, cube())
    plain = solved(stage, 0.05)
    row = (plain.solution[:3], float(plain.solution[3]))
    again = solved(stage, 0.05, row)
    assert again.certificate.saving >= plain.certificate.saving * (1 - 1e-12)
    assert again.certificate.cells <= plain.certificate.cells
    nothing = solved(stage, 0.05, row, time_limit=0.0).certificate
    assert nothing.saving >= plain.certificate.saving * (1 - 1e-12)
    assert (nothing.ended_by, nothing.cells, nothing.closed) == ("time_limit", 0, False)
    assert nothing.saving_bound == pytest.approx(200 * 0.0554)
    assert nothing.saving_bound >= stage.total


@LOSS
def test_improving_an_incumbent_never_loses(loss):
    for seed in range(20):
        x, y, xi, w, r = tiny_problem(30, seed)
        stage = stage_of(x, y, xi, w, cube(), loss)
        rough = r + 0.1 * np.random.default_rng(seed).normal(size=3)
        saving, solution = stage.start(rough / np.linalg.norm(rough), 0.4)
        better, row = stage.improve(saving, solution, Limits())
        assert better >= saving
        assert better == pytest.approx(naive.row_saving(x, y, xi, w, row[:3], row[3], loss), rel=1e-9)


@pytest.mark.parametrize("node_limit", [1, 7, 24, 25, 100])
def test_the_node_limit_is_exact(node_limit):
    x, y, _ = outlier_problem(100, 0.7)
    one, two = (
        solved(stage_of(x, y[:, 0], 0.05, 1.0, cube()), 1e-6, threads=threads, node_limit=node_limit)
        for threads in (1, 2)
    )
    assert one.certificate.ended_by == "node_limit"
    assert one.certificate.cells == node_limit
    assert one.certificate.to_dict() == two.certificate.to_dict()
    best = naive.best_row(x, y[:, 0], np.full(100, 0.05), np.ones(100), "tear", grid(5))[0]
    assert one.certificate.saving_bound >= best * (1 - 1e-12)


class Coarse(Arc):
    """Arcs that are not split below a tenth."""

    def split(self):
        return [Coarse(*part) for part in super().split()] if self.radius > 0.1 else []


def test_certificate_at_the_resolution():
    x, y, frame = outlier_problem(100, 0.5)
    domain = circle(frame[0])._replace(cell=lambda row: Coarse(*row.tolist()))
    stage = stage_of(x, y[:, 1], 0.0554, 1.0, domain, across=frame[0])
    proof = solved(stage, 1e-9, (frame[2], 0.0)).certificate
    assert (proof.ended_by, proof.closed) == ("resolution", False)
    assert stage.total == pytest.approx(100 * 0.0554)
    assert proof.objective == pytest.approx(stage.total - proof.saving)
    assert proof.lower_bound == pytest.approx(stage.total - proof.saving_bound)
    assert proof.lower_bound < proof.objective
    assert proof.gap > 1e-9
    assert len(proof.visited) >= proof.cells
    np.testing.assert_allclose(np.linalg.norm(proof.visited[:, :3], axis=1), 1.0)
    assert proof.history[-1, 2] == proof.saving_bound


@LOSS
def test_odd_inputs_end(loss):
    zero, one = np.zeros((3, 3)), np.ones(3)
    same = solved(stage_of(zero, one, 0.1, 1.0, cube(), loss))
    assert same.certificate.closed
    assert same.solution[3] == pytest.approx(1.0)
    exact = solved(stage_of(np.eye(3), 0.3 * one, 0.0, 1.0, cube(), loss), node_limit=400).certificate
    assert exact.saving_bound >= exact.saving
    assert solved(stage_of(np.eye(3)[:1], one[:1], 0.1, 2.0, cube(), loss)).certificate.closed


def test_rows_move_between_the_coordinates_of_the_search_and_those_given():
    rng = np.random.default_rng(5)
    source, target, centre, r = rng.normal(size=(6, 3)), rng.normal(size=(6, 3)), rng.normal(size=3), rng.normal(size=3)
    direction = np.array([0.6, 0.0, 0.8])
    problem = RowProblem(source, target, np.ones(1), np.ones(1), centre, direction, 0.7)
    t = 0.3
    inner_r, inner_t = problem.moved_in(r, t)
    np.testing.assert_allclose(
        problem.y - problem.x @ inner_r - inner_t, target @ direction - source @ r - t, atol=1e-13
    )
    back_r, back_t = problem.moved_back(inner_r, inner_t)
    np.testing.assert_array_equal(back_r, r)
    assert back_t == pytest.approx(t)


@LOSS
@pytest.mark.parametrize("shared", [True, False])
def test_the_band_of_a_row_is_what_it_leaves_to_the_next(loss, shared, monkeypatch):
    rng = np.random.default_rng(6)
    xi, w = (np.array([0.5]), np.ones(1)) if shared else (rng.uniform(0.1, 1.0, 90), rng.random(90))
    pairs = unchecked(rng.normal(size=(90, 3)), rng.normal(size=(90, 3)), xi, w)
    blocks = pairs.blocks
    monkeypatch.setattr(type(pairs), "blocks", lambda self: blocks(40))  # more than one
    row = Row(np.array([0.0, 0.6, 0.8]), np.array([0.0, 0.0, 1.0]), 0.1)
    band = row_band(pairs, row, LOSSES[loss])
    z = np.abs(pairs.y @ row.axis - pairs.x @ row.r - row.t)
    bounds, weights = np.broadcast_to(xi, 90), np.broadcast_to(w, 90)
    inside = np.flatnonzero(z <= bounds)
    np.testing.assert_array_equal(band.index, inside)
    np.testing.assert_allclose(np.abs(band.residual(pairs, row)), z[inside], atol=1e-14)
    np.testing.assert_allclose(band.xi, LOSSES[loss].left(bounds[inside], z[inside]), atol=1e-14)
    np.testing.assert_array_equal(band.w, weights[inside])


def test_a_row_agrees_with_its_own_pose_and_with_no_other():
    problem = make_problem(200, 0.0, seed=7)
    pairs = pairs_of(problem)
    pose = truth_inside(problem, pairs)
    axis = np.array([0.6, 0.0, 0.8])
    row = Row(axis, axis @ pose.rotation, float(axis @ pose.translation))
    assert row.agrees(pairs, pose)
    shift = SAME_POSE * problem.noise_bound
    assert row._replace(t=row.t + 0.9 * shift).agrees(pairs, pose)
    assert not row._replace(t=row.t + 1.1 * shift).agrees(pairs, pose)
    assert not row._replace(r=-row.r).agrees(pairs, pose)
    far = unchecked(pairs.x + 1e6, pairs.y, problem.noise_bound)  # not centred: the mean is taken into account
    far = replace(far, x_mean=far.x.mean(axis=0))
    moved = pose.between(np.full(3, -1e6), np.zeros(3))
    turn = rotation_about([0.0, 1.0, 0.0], 1e-3)
    close = Row(axis, axis @ moved.rotation @ turn, 0.0)
    assert not close.agrees(far, moved)
    level = float(axis @ moved.translation) + float((axis @ moved.rotation - close.r) @ far.x_mean)
    assert close._replace(t=level).agrees(far, moved)
