"""What is proven of rows, and about which pose; see `test_pose_proof` for the pose itself."""

import json

import numpy as np
import pytest

import tear3d
from tear3d.metrics import rotation_error
from tear3d.problem.pairs import Pairs
from tear3d.prove import rows
from tear3d.synthetic import make_problem, random_rotation
from tests.register.support import competing, is_right, rows_are_those_of_the_pose, solve


def by_rows(problem, **options):
    return solve(problem, certify="rows", **options)


@pytest.fixture(scope="module")
def problem():
    return make_problem(800, 0.8, seed=4)


@pytest.fixture(scope="module")
def result(problem):
    return by_rows(problem)


def test_equal_weights_scale_the_objective_and_the_certificate(problem, result):
    double = by_rows(problem, weights=np.full(len(problem.source), 2.0))
    assert is_right(double, problem)
    assert double.objective == pytest.approx(2.0 * result.objective, rel=1e-3)
    for ours, theirs in zip(double.certificate.stages, result.certificate.stages, strict=True):
        assert ours.saving == pytest.approx(2.0 * theirs.saving, rel=1e-2)
        assert ours.objective == pytest.approx(2.0 * theirs.objective, rel=1e-2)


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
@pytest.mark.parametrize("bounds", ["sharp", "sweep"])
def test_losses_and_bounds(loss, bounds):
    given = make_problem(150, 0.5, seed=6)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 150)
    for extra in ({}, {"weights": weights}):
        result = by_rows(given, loss=loss, bounds=bounds, rel_gap=5e-2, time_limit=60.0, **extra)
        assert result.status == "optimal"
        assert is_right(result, given, 2.0, 0.05)
        assert result.settings["loss"] == loss


def test_sweep_and_sharp_find_the_same(problem, result):
    other = by_rows(problem, bounds="sweep", rel_gap=1e-2)
    assert other.status == "optimal"
    assert rotation_error(other.transformation, result.transformation) < 0.01
    assert other.objective == pytest.approx(result.objective, rel=1e-4)


def test_certify_false_returns_the_candidate(problem, result):
    quick = solve(problem, certify=False)
    assert quick.status == "uncertified"
    assert quick.success
    assert quick.certificate.stages == ()
    assert not quick.certificate.closed
    assert quick.certificate.gap == np.inf
    assert "no bound" in str(quick)
    assert is_right(quick, problem)
    assert json.loads(json.dumps(quick.to_dict()))["certificate"]["stages"] == []


def test_no_row_of_any_pose_beats_the_first_stage(problem, result):
    attempt = result.certificate.attempt
    assert not attempt.swapped
    u, rng = np.array(attempt.axis), np.random.default_rng(0)
    y = problem.target @ u
    turns = [problem.rotation, *(random_rotation(rng) for _ in range(300))]
    turns += [rotation @ problem.rotation for rotation in map(small_rotation, 0.05 * rng.normal(size=(300, 3)))]
    for rotation in turns:
        b = y - problem.source @ (u @ rotation)
        savings = np.maximum(0.0, problem.noise_bound - np.abs(b[:, None] - b[None, :])).sum(axis=0)
        assert savings.max() <= attempt.stages[0].saving_bound


def small_rotation(v):
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.linalg.solve(np.eye(3) + 0.5 * skew, np.eye(3) - 0.5 * skew)


def test_roles_are_swapped_when_the_target_is_smaller():
    problem = make_problem(3000, 0.9, tau=0.2, translation=np.array([0.1, -0.2, 0.3]), seed=4)
    pairs = Pairs.of(problem.source, problem.target, problem.noise_bound)
    assert pairs.swapped.radius < rows.SWAP * pairs.radius
    result = by_rows(problem)
    assert result.status == "optimal"
    assert result.certificate.attempt.swapped
    assert is_right(result, problem)
    assert rows_are_those_of_the_pose(result, problem.source, problem.target, problem.noise_bound)


@pytest.mark.parametrize("seed", [5, 34, 45, 56, *range(8)])
def test_optimal_is_about_the_pose_that_is_returned(seed):
    source, target, xi = competing(seed)
    result = tear3d.register(source, target, noise_bound=xi, certify="rows")
    assert result.certificate.attempts[0].swapped
    if result.status == "optimal":
        assert rows_are_those_of_the_pose(result, source, target, xi)
    for attempt in result.certificate.attempts:
        assert attempt.agrees == (result.certificate.attempt is attempt and result.certificate.agrees)


def test_rows_agree_at_every_inlier_and_not_on_average():
    rng, xi = np.random.default_rng(0), 0.1
    along, across = np.zeros((40, 3)), np.zeros((50, 3))
    along[:, 0], across[:, 1] = np.tile([-40.0, 40.0], 20), np.tile([-30.0, 30.0], 25)
    source = np.concatenate([0.3 * rng.normal(size=(300, 3)), along, across])
    target = source + 0.1 * xi * rng.uniform(-1.0, 1.0, size=source.shape)
    lured = np.arange(350, 390)
    target[lured, 0] += 0.1 * xi * source[lured, 1]
    target[lured, 2] += np.repeat([-2.0, 2.0], 20)
    result = tear3d.register(source, target, noise_bound=xi, certify="rows")
    attempt, pose = result.certificate.attempt, result.transformation
    axis, row = np.array(attempt.axis), np.array(attempt.rows[0])
    apart = np.abs(source @ (axis @ pose[:3, :3] - row[:3]) + axis @ pose[:3, 3] - row[3])
    assert not attempt.agrees or apart[result.inlier_mask].max() <= 2.0 * xi * (1.0 + 1e-9)


def test_one_closed_row_is_no_proof():
    first = make_problem(3000, 0.9, seed=1)
    for cells in range(200, 700, 50):
        result = by_rows(first, node_limit=cells)
        if result.certificate.stages and all(stage.closed for stage in result.certificate.stages):
            assert len(result.certificate.stages) == 2 or result.status == "node_limit"
        if result.status == "node_limit":
            assert "not those of this pose" not in result.message


def test_every_attempt_is_kept_and_told():
    kept = []
    for seed in range(40):
        source, target, xi = competing(seed)
        result = tear3d.register(source, target, noise_bound=xi, certify="rows")
        attempts = result.certificate.attempts
        assert result.certificate.cells == sum(s.cells for a in attempts for s in a.stages)
        assert len(result.to_dict()["certificate"]["attempts"]) == len(attempts)
        if len(attempts) > 1:
            kept.append(result)
    assert kept
    for result in kept:
        assert f"{len(result.certificate.attempts)} directions were tried" in result.message
        assert not result.certificate.attempts[0].agrees


def test_cells_are_the_same_for_any_number_of_threads(problem):
    for options in ({}, {"bounds": "sweep", "rel_gap": 0.05}):
        counts = {by_rows(problem, threads=threads, **options).certificate.cells for threads in (1, 2, 4)}
        assert len(counts) == 1


def test_the_papers_cells_prove_the_same(problem, result):
    paper = by_rows(problem, bounds="paper", rel_gap=0.05, time_limit=60.0)
    assert paper.status == "optimal"
    assert rotation_error(paper.transformation, result.transformation) < 0.01
