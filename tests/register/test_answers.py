"""The right pose, however the problem is posed."""

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tear3d
from tear3d.metrics import rotation_error
from tear3d.synthetic import make_problem, random_rotation
from tests.register.support import is_right, solve


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


def test_noise_bound_per_pair(problem):
    n = len(problem.source)
    loose = np.where(np.arange(n) % 2 == 0, 1.0, 2.5)
    noisy = problem.target + (loose[:, None] > 1.0) * 0.02 * np.random.default_rng(0).normal(size=(n, 3))
    result = tear3d.register(problem.source, noisy, noise_bound=problem.noise_bound * loose)
    assert result.status == "optimal"
    assert is_right(result, problem, 1.0, 0.03)
    residual = np.linalg.norm(noisy - problem.source @ result.rotation.T - result.translation, axis=1)
    assert np.array_equal(result.inlier_mask, residual <= problem.noise_bound * loose)


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
