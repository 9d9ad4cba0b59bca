"""`register` from the outside: the right pose, the promised fields, the same answer however the problem is posed."""

import itertools
import json
import tracemalloc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tear3d
from tear3d import pipeline
from tear3d.metrics import rotation_error, translation_error
from tear3d.problem.validation import check_pairs
from tear3d.synthetic import make_problem, random_rotation


def solve(problem, **options):
    options = {"noise_bound": problem.noise_bound} | options
    return tear3d.register(problem.source, problem.target, **options)


def is_right(result, problem, degrees=0.5, distance=0.02):
    return (
        rotation_error(result.transformation, problem.transformation) < degrees
        and translation_error(result.transformation, problem.transformation) < distance
    )


@pytest.fixture(scope="module")
def problem():
    return make_problem(800, 0.8, seed=4)


@pytest.fixture(scope="module")
def result(problem):
    return solve(problem)


def in_octant(signs, rng):
    """A rotation whose first row has these signs, none of them doubtful."""
    while True:
        rotation = random_rotation(rng)
        if np.all(rotation[0] * signs > 0.2):
            return rotation


@pytest.mark.parametrize("signs", list(itertools.product((1.0, -1.0), repeat=3)))
def test_every_octant_of_the_first_row_comes_back(signs):
    rng = np.random.default_rng(8)
    for seed in range(2):
        given = make_problem(300, 0.6, rotation=in_octant(signs, rng), seed=seed)
        result = solve(given)
        assert result.status == "optimal"
        assert is_right(result, given, 1.5, 0.05)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 1, 1)])
def test_half_turns_come_back(axis):
    axis = np.array(axis) / np.linalg.norm(axis)
    given = make_problem(300, 0.6, rotation=2.0 * np.outer(axis, axis) - np.eye(3), seed=1)
    result = solve(given)
    assert result.status == "optimal"
    assert is_right(result, given, 1.5, 0.05)


def test_identity_without_noise_or_outliers():
    x = np.random.default_rng(0).normal(size=(50, 3))
    result = tear3d.register(x, x, noise_bound=0.01)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.transformation, np.eye(4), atol=1e-9)
    assert result.num_inliers == 50
    assert result.inlier_rmse < 1e-9


@pytest.mark.parametrize("kind", ["off_centre", "clustered", "second_motion", "plane"])
def test_harder_outliers(kind):
    given = make_problem(1000, 0.6, outliers=kind, seed=2)
    result = solve(given, rel_gap=1e-2)
    assert result.success
    assert is_right(result, given, 1.0, 0.05)


def test_large_coordinates_lose_nothing(problem, result):
    shift = np.array([5e5, 4e6, 100.0])
    for moved, still in ((problem.source + shift, problem.target), (problem.source, problem.target + shift)):
        other = tear3d.register(moved, still, noise_bound=problem.noise_bound)
        np.testing.assert_allclose(other.rotation, result.rotation, atol=1e-8)
        back = other.translation + other.rotation @ shift if moved is not problem.source else other.translation - shift
        # Coordinates of 4e6 are known to 1e-9 each, the rotation to 1e-8 of their size.
        np.testing.assert_allclose(back, result.translation, atol=0.05 if moved is not problem.source else 1e-7)
        near = other.transformation[:3, :3] @ moved.mean(axis=0) + other.translation - still.mean(axis=0)
        here = result.rotation @ problem.source.mean(axis=0) + result.translation - problem.target.mean(axis=0)
        np.testing.assert_allclose(near, here, atol=1e-7)
        assert other.status == result.status
        assert np.array_equal(other.inlier_mask, result.inlier_mask)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_units_do_not_matter(problem, result, scale):
    other = tear3d.register(problem.source * scale, problem.target * scale, noise_bound=problem.noise_bound * scale)
    np.testing.assert_allclose(other.rotation, result.rotation, atol=1e-7)
    np.testing.assert_allclose(other.translation, result.translation * scale, atol=1e-7 * scale)
    assert other.objective == pytest.approx(result.objective * scale)
    assert other.status == result.status


def test_weight_zero_ignores_a_pair(problem, result):
    right = np.flatnonzero(problem.inlier_mask)
    weights = np.ones(len(problem.source))
    weights[right[:80]] = 0.0
    misled = problem.target.copy()
    misled[right[:80]] = misled[right[0]] + 1e-3 * np.arange(240).reshape(80, 3)
    other = tear3d.register(problem.source, misled, noise_bound=problem.noise_bound, weights=weights)
    kept = tear3d.register(
        problem.source[weights > 0.0], problem.target[weights > 0.0], noise_bound=problem.noise_bound
    )
    assert other.status == kept.status == "optimal"
    assert is_right(other, problem)
    assert rotation_error(other.transformation, kept.transformation) < 0.05
    assert other.objective == pytest.approx(kept.objective, rel=1e-3)


def test_equal_weights_scale_the_objective_and_the_certificate(problem, result):
    double = solve(problem, weights=np.full(len(problem.source), 2.0))
    assert is_right(double, problem)
    assert double.objective == pytest.approx(2.0 * result.objective, rel=1e-3)
    for ours, theirs in zip(double.certificate.stages, result.certificate.stages, strict=True):
        assert ours.saving == pytest.approx(2.0 * theirs.saving, rel=1e-2)
        assert ours.objective == pytest.approx(2.0 * theirs.objective, rel=1e-2)


def test_noise_bound_per_pair(problem):
    n = len(problem.source)
    loose = np.where(np.arange(n) % 2 == 0, 1.0, 2.5)
    noisy = problem.target + (loose[:, None] > 1.0) * 0.02 * np.random.default_rng(0).normal(size=(n, 3))
    result = tear3d.register(problem.source, noisy, noise_bound=problem.noise_bound * loose)
    assert result.status == "optimal"
    assert is_right(result, problem, 1.0, 0.03)
    residual = np.linalg.norm(noisy - problem.source @ result.rotation.T - result.translation, axis=1)
    assert np.array_equal(result.inlier_mask, residual <= problem.noise_bound * loose)


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
@pytest.mark.parametrize("bounds", ["sharp", "sweep"])
def test_losses_and_bounds(loss, bounds):
    given = make_problem(150, 0.5, seed=6)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 150)
    for extra in ({}, {"weights": weights}):
        result = solve(given, loss=loss, bounds=bounds, rel_gap=5e-2, time_limit=60.0, **extra)
        assert result.status == "optimal"
        assert is_right(result, given, 2.0, 0.05)
        assert result.settings["loss"] == loss


def test_sweep_and_sharp_find_the_same(problem, result):
    other = solve(problem, bounds="sweep", rel_gap=1e-2)
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


@pytest.mark.parametrize("n", [100, 1000])
def test_all_outliers_have_no_consensus(n):
    wrong = []
    for seed in range(5):
        given = make_problem(n, 1.0, seed=100 + seed)
        result = solve(given, rel_gap=0.05, time_limit=2.0)
        assert result.transformation.shape == (4, 4)
        if result.status != "no_consensus" or result.success:
            wrong.append(seed)
    assert not wrong


@pytest.fixture(scope="module")
def hard():
    return make_problem(20_000, 0.985, seed=0)


@pytest.mark.parametrize(
    ("options", "status"),
    [({"time_limit": 0.1}, "time_limit"), ({"node_limit": 10}, "node_limit"), ({"time_limit": 0.0}, "time_limit")],
)
def test_limits_return_the_incumbent(hard, options, status):
    result = solve(hard, rel_gap=1e-6, threads=2, **options)
    assert result.status in (status, "no_consensus")
    if options != {"time_limit": 0.0}:
        assert result.status == status
    check_fields(result, 20_000)
    assert not result.certificate.closed
    assert result.certificate.gap > 1e-6
    for stage in result.certificate.stages:
        assert stage.cells <= options.get("node_limit", 10**9)


@pytest.mark.parametrize("how", ["false", "interrupt"])
def test_the_callback_can_stop_the_search(hard, how):
    stages = []

    def progress(report):
        stages.append(report.stage)
        if report.stage != "first row":
            return None
        if how == "interrupt" and stages.count("first row") == 1:
            raise KeyboardInterrupt
        return False

    try:
        result = solve(hard, rel_gap=1e-6, progress=progress)
    except KeyboardInterrupt:
        pytest.fail("the interruption was not turned into a result")
    assert "first row" in stages
    assert result.status == "interrupted"
    assert is_right(result, hard)
    assert np.isfinite(result.certificate.gap)
    assert result.certificate.gap > 1e-6
    assert result.certificate.stages[0].ended_by == "interrupted"


def check_fields(result, n):
    """The contract of the result, type by type."""
    assert result.transformation.shape == (4, 4)
    assert result.transformation.dtype == np.float64
    np.testing.assert_array_equal(result.transformation[3], [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(result.rotation @ result.rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(result.rotation) > 0.0
    assert result.translation.shape == (3,)
    assert result.inlier_mask.shape == (n,)
    assert result.inlier_mask.dtype == np.bool_
    for value, kind in (
        (result.num_inliers, int),
        (result.fitness, float),
        (result.inlier_rmse, float),
        (result.objective, float),
        (result.significance, float),
        (result.status, str),
        (result.message, str),
        (result.success, bool),
        (result.seconds, dict),
    ):
        assert type(value) is kind
    assert result.message
    for stage in result.certificate.stages:
        for value in (stage.objective, stage.lower_bound, stage.saving, stage.saving_bound, stage.gap):
            assert type(value) is float
        assert type(stage.cells) is int
        assert type(stage.closed) is bool
        assert stage.saving <= stage.saving_bound
        assert stage.objective + stage.saving == pytest.approx(stage.lower_bound + stage.saving_bound)
        assert stage.closed == (stage.ended_by == "gap")
        assert stage.visited.shape[1] == 6
        assert stage.history.shape[1] == 3
    text = str(result)
    assert result.status in text
    assert f"{result.num_inliers} inliers of {n} pairs" in text
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["status"] == result.status


def test_fields_of_the_result(problem, result):
    check_fields(result, len(problem.source))
    assert result.status == "optimal"
    assert [stage.name for stage in result.certificate.stages] == ["first row", "second row"]
    assert result.certificate.closed
    assert result.certificate.gap <= 1e-3
    residual = problem.target - problem.source @ result.rotation.T - result.translation
    mask = np.linalg.norm(residual, axis=1) <= problem.noise_bound
    assert np.array_equal(result.inlier_mask, mask)
    assert result.fitness == mask.mean()
    assert result.inlier_rmse == pytest.approx(np.sqrt(np.mean(np.sum(residual[mask] ** 2, axis=1))))
    losses = np.minimum(np.abs(residual).sum(axis=1), problem.noise_bound)
    assert result.objective == pytest.approx(losses.sum())
    with pytest.raises(AttributeError):
        result.status = "optimal"


def test_no_row_of_any_pose_beats_the_first_stage(problem, monkeypatch):
    torn = []
    inner = pipeline.solve_first_row

    def spy(centred, direction, *rest):
        torn.append((centred, direction))
        return inner(centred, direction, *rest)

    monkeypatch.setattr(pipeline, "solve_first_row", spy)
    stage = solve(problem).certificate.stages[0]
    (centred, u) = torn[0]
    x, y, rng = centred.x, centred.y @ u, np.random.default_rng(0)
    turns = [problem.rotation, *(random_rotation(rng) for _ in range(300))]
    turns += [rotation @ problem.rotation for rotation in map(small_rotation, 0.05 * rng.normal(size=(300, 3)))]
    for rotation in turns:
        b = y - x @ (u @ rotation)
        savings = np.maximum(0.0, problem.noise_bound - np.abs(b[:, None] - b[None, :])).sum(axis=0)
        assert savings.max() <= stage.saving_bound


def small_rotation(v):
    skew = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    return np.linalg.solve(np.eye(3) + 0.5 * skew, np.eye(3) - 0.5 * skew)


def test_same_seed_same_bits(problem, result):
    again = solve(problem)
    assert np.array_equal(again.transformation, result.transformation)
    assert again.certificate.to_dict() == result.certificate.to_dict()
    assert again.objective == result.objective
    other = solve(problem, seed=7)
    assert rotation_error(other.transformation, result.transformation) < 0.01


def test_any_container_of_points(problem, result):
    def noise(points):
        wide = np.random.default_rng(0).normal(size=(2 * len(points), 6))
        wide[::2, ::2] = points
        return wide[::2, ::2]

    class Positions(dict):
        """As in Open3D's tensor clouds: point["positions"].cpu().numpy()."""

    forms: dict[str, Any] = {
        "list": lambda p: p.tolist(),
        "fortran": np.asfortranarray,
        "strided": noise,
        "read-only": lambda p: np.frombuffer(p.tobytes()).reshape(-1, 3),
        "big-endian": lambda p: p.astype(">f8"),
        "open3d": lambda p: SimpleNamespace(points=p.tolist()),
        "tensor": lambda p: SimpleNamespace(
            point=Positions(positions=SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: p)))
        ),
    }
    for name, form in forms.items():
        source, target = form(problem.source), form(problem.target)
        other = tear3d.register(source, target, noise_bound=problem.noise_bound)
        assert np.array_equal(other.transformation, result.transformation), name
    single = tear3d.register(
        problem.source.astype(np.float32), problem.target.astype(np.float32), noise_bound=problem.noise_bound
    )
    assert rotation_error(single.transformation, result.transformation) < 1e-3
    assert single.transformation.dtype == np.float64


def test_the_input_is_not_changed(problem):
    source, target = problem.source.copy(), problem.target.copy()
    noise, weights = np.full(len(source), problem.noise_bound), np.linspace(0.0, 1.0, len(source))
    given = [array.copy() for array in (source, target, noise, weights)]
    tear3d.register(source, target, noise_bound=noise, weights=weights, rel_gap=1e-2)
    for before, after in zip(given, (source, target, noise, weights), strict=True):
        assert np.array_equal(before, after)


def test_nothing_is_printed(problem, capfd):
    solve(problem, rel_gap=1e-2)
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def peak(n):
    """The most memory of a call beyond its input, in bytes."""
    given = make_problem(n, 0.99, cloud="ellipsoid", seed=0)
    tracemalloc.start()
    result = solve(given, rel_gap=1e-2, threads=1, time_limit=60.0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.status == "optimal"
    return most


@pytest.mark.slow
def test_memory_is_linear_in_the_pairs():
    solve(make_problem(60_000, 0.5, cloud="ellipsoid"))  # compiles, if nothing did, the kernels in single precision
    small, large = peak(100_000), peak(300_000)
    fixed = 80e6  # the grid of groups and the like, per thread
    assert small < 64 * 100_000 + fixed
    assert large < 64 * 300_000 + fixed
    assert large - small < 64 * 200_000


def test_roles_are_swapped_when_the_target_is_smaller():
    problem = make_problem(3000, 0.9, tau=0.2, translation=np.array([0.1, -0.2, 0.3]), seed=4)
    result = solve(problem)
    assert result.status == "optimal"
    assert is_right(result, problem)
    p = pipeline.Centred.of(check_pairs(problem.source, problem.target, problem.noise_bound, None))
    assert p.target_radius < pipeline.SWAP * p.radius
    twice = p.swapped().swapped()
    assert twice.x is p.x
    assert twice.radius == pytest.approx(p.radius, rel=1e-3)


def test_the_whole_problem_is_certified(problem):
    whole = solve(problem, certify="full", rel_gap=0.01)
    assert whole.status == "optimal"
    assert is_right(whole, problem)
    (stage,) = whole.certificate.stages
    assert stage.name == "full problem"
    assert stage.closed
    assert stage.gap <= 0.01
    # The stage is about the returned pose and its full objective, and rows bound it.
    assert stage.objective == pytest.approx(whole.objective, rel=1e-9)
    assert stage.saving <= solve(problem).certificate.stages[0].saving_bound
    limited = solve(problem, certify="full", rel_gap=0.001, node_limit=10)
    assert limited.status == "node_limit"
    assert limited.certificate.gap > 0.001


def test_the_full_certificate_is_for_tear_only(problem):
    with pytest.raises(tear3d.InputError, match="loss='tear' only"):
        solve(problem, certify="full", loss="tls")
