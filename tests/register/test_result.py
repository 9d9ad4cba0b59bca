"""What a result holds, type by type, and what a call leaves alone."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import tear3d
from tear3d.metrics import rotation_error
from tear3d.synthetic import make_problem
from tests.register.support import check_fields, solve


@pytest.fixture(scope="module")
def problem():
    return make_problem(800, 0.8, seed=4)


@pytest.fixture(scope="module")
def result(problem):
    return solve(problem)


def test_fields_of_the_result(problem, result):
    check_fields(result, len(problem.source))
    assert result.status == "optimal"
    assert [stage.name for stage in result.certificate.stages] == ["pose"]
    assert result.certificate.closed
    assert result.certificate.gap <= 1e-2
    residual = problem.target - problem.source @ result.rotation.T - result.translation
    mask = np.linalg.norm(residual, axis=1) <= problem.noise_bound
    assert np.array_equal(result.inlier_mask, mask)
    assert result.fitness == mask.mean()
    assert result.inlier_rmse == pytest.approx(np.sqrt(np.mean(np.sum(residual[mask] ** 2, axis=1))))
    losses = np.minimum(np.abs(residual).sum(axis=1), problem.noise_bound)
    assert result.objective == pytest.approx(losses.sum())
    assert result.saving == pytest.approx(problem.noise_bound * len(losses) - losses.sum())
    with pytest.raises(AttributeError):
        result.status = "optimal"


def test_same_seed_same_bits(problem, result):
    again = solve(problem)
    assert np.array_equal(again.transformation, result.transformation)
    assert again.certificate.to_dict() == result.certificate.to_dict()
    assert again.objective == result.objective
    other = solve(problem, seed=7)
    assert rotation_error(other.transformation, result.transformation) < 0.01


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
    solve(make_problem(200_000, 0.5, cloud="ellipsoid"))  # compiles, if nothing did, the kernels for many pairs
    small, large = peak(500_000), peak(1_500_000)
    fixed = 30e6  # what is copied of them, and grids, per thread
    assert small < 32 * 500_000 + fixed
    assert large < 32 * 1_500_000 + fixed
    assert large - small < 32 * 1_000_000


def test_results_compare_by_identity_and_can_be_keys(problem, result):
    other = solve(problem)
    assert result == result
    assert (result == other) is False
    assert len({result, other, result}) == 2


def test_arrays_of_a_result_are_read_only(result):
    with pytest.raises(ValueError, match="read-only"):
        result.transformation[0, 0] = 2.0
    with pytest.raises(ValueError, match="read-only"):
        result.inlier_mask[0] = True


def test_settings_report_noise_bounds_that_pairs_have(problem):
    assert solve(problem).settings["noise_bound"] == problem.noise_bound
    bounds = np.linspace(0.05, 0.06, len(problem.source))
    settings = solve(problem, noise_bound=bounds, certify=False).settings
    assert settings["noise_bound"] == {"lowest": bounds[0], "highest": bounds[-1]}


def test_the_class_has_what_the_json_has(result):
    written = result.to_dict()
    for name in written:
        assert hasattr(result, name), name
    assert written["num_pairs"] == result.num_pairs == len(result.inlier_mask)


@pytest.mark.parametrize("scale", [1.0, 1e60])
def test_the_way_of_the_centre(problem, scale):
    """Far from the origin the translation is long though the points stay where they are."""
    offset = np.array([5e5, 5.4e6, 300.0])
    result = tear3d.register(
        scale * (problem.source + offset),
        scale * (problem.target + offset),
        noise_bound=scale * problem.noise_bound,
        certify=False,
    )
    centre = problem.source.mean(axis=0)
    way = problem.transformation[:3, :3] @ centre + problem.transformation[:3, 3] - centre
    np.testing.assert_allclose(result.centre / scale, centre + offset, atol=1e-6)
    np.testing.assert_allclose(result.centre_shift / scale, way, atol=0.05)
    assert np.linalg.norm(result.translation) > 1e4 * np.linalg.norm(result.centre_shift)
    assert result.to_dict()["centre_shift"] == result.centre_shift.tolist()
    assert not result.centre.flags.writeable


def test_the_centre_leaves_out_pairs_that_were_set_aside(problem):
    source = problem.source.copy()
    source[0] = 1e100
    result = tear3d.register(source, problem.target, noise_bound=problem.noise_bound, certify=False)
    np.testing.assert_allclose(result.centre, source[1:].mean(axis=0))


def test_a_result_without_a_centre_says_so(result):
    other = replace(result, centre=np.full(3, np.nan))
    assert other.to_dict()["centre"] is None
    assert other.to_dict()["centre_shift"] is None
