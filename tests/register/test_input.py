"""Odd input gets a right answer or an error that names it, never a wrong answer, a hang or a crash."""

import warnings

import numpy as np
import pytest

import tear3d
from tear3d.metrics import rotation_error
from tear3d.report import words
from tear3d.synthetic import make_problem, random_rotation
from tests.register import fuzz
from tests.register.support import is_right, solve


@pytest.fixture(scope="module")
def problem():
    return make_problem(300, 0.5, seed=2)


def test_one_huge_noise_bound_does_not_ruin_the_verdict():
    given = make_problem(1000, 0.5, seed=0)
    bounds = np.full(1000, given.noise_bound)
    bounds[np.flatnonzero(~given.inlier_mask)[0]] = 1e6
    result = solve(given, noise_bound=bounds)
    assert result.success
    assert is_right(result, given)


@pytest.mark.parametrize("far", [1e6, 1e12, 1e100])
@pytest.mark.parametrize("side", ["source", "target"])
def test_one_stray_point_does_not_matter(side, far):
    given = make_problem(220, 0.2, seed=1)
    points = {"source": given.source.copy(), "target": given.target.copy()}
    row = int(np.flatnonzero(~given.inlier_mask)[0])
    points[side][row] = [far, -far, far]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = tear3d.register(**points, noise_bound=given.noise_bound)
    assert result.status == "optimal"
    assert is_right(result, given)
    assert not result.inlier_mask[row]
    assert result.num_pairs == 220


def test_a_pair_too_far_away_for_its_digits_is_named(problem):
    source, target = problem.source.copy(), problem.target.copy()
    source[17], target[17] = 1e16, 1e16
    with pytest.raises(tear3d.InputError, match="row 17"):
        tear3d.register(source, target, noise_bound=problem.noise_bound)


def test_coordinates_whose_squares_overflow_are_named(problem):
    source = problem.source.copy()
    source[3, 1] = 1e200
    with pytest.raises(tear3d.InputError, match=r"source .*row 3"):
        tear3d.register(source, problem.target, noise_bound=problem.noise_bound)


@pytest.mark.parametrize("share", [1e-4, 1e-6, 1e-9])
def test_exact_inliers_of_a_tiny_noise_bound_are_found(share):
    rng = np.random.default_rng(3)
    x, rotation = rng.normal(size=(300, 3)), random_rotation(rng)
    y = x @ rotation.T + [0.1, 0.2, 0.3]
    y[210:] = rng.normal(size=(90, 3))
    result = tear3d.register(x, y, noise_bound=share)
    assert result.status == "optimal"
    assert np.array_equal(result.inlier_mask, np.arange(300) < 210)
    assert rotation_error(result.rotation, rotation) < 1e-4


def test_a_noise_bound_below_the_digits_is_refused(problem):
    with pytest.raises(tear3d.InputError, match="noise_bound"):
        solve(problem, noise_bound=1e-16)


@pytest.mark.parametrize("scale", [1e-140, 1e-60, 1e-12, 1e12, 1e60, 1e140])
def test_a_problem_has_no_units(problem, scale):
    usual = solve(problem)
    result = tear3d.register(problem.source * scale, problem.target * scale, noise_bound=problem.noise_bound * scale)
    assert result.status == usual.status
    # Up to where the ascent stops: when a step gains less than 10⁻⁵ of the saving.
    np.testing.assert_allclose(result.rotation, usual.rotation, atol=1e-4)
    np.testing.assert_allclose(result.translation, usual.translation * scale, atol=1e-4 * scale)
    assert result.objective == pytest.approx(usual.objective * scale, rel=1e-4)
    assert result.certificate.stages[0].saving == pytest.approx(usual.certificate.stages[0].saving * scale, rel=1e-3)


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_only_ratios_of_weights_count(problem, loss, factor):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(problem.source))
    usual, scaled = (
        solve(problem, weights=w, loss=loss, rel_gap=0.1, time_limit=30.0) for w in (weights, factor * weights)
    )
    assert scaled.status == usual.status
    np.testing.assert_allclose(scaled.rotation, usual.rotation, atol=1e-4)
    assert scaled.objective == pytest.approx(factor * usual.objective, rel=1e-4)


@pytest.mark.parametrize("weight", [1e308, 3e307, 5e-324])
def test_weights_beyond_measure_are_refused(problem, weight):
    with pytest.raises(tear3d.InputError, match="weights"):
        solve(problem, weights=np.full(len(problem.source), weight))


BAD = {
    "noise_bound": [10**400, "0.05", 0.05 + 0j, True, [0.05, 0.05], np.ma.masked_array([0.05] * 300, mask=False)],
    "weights": ["1", [1j] * 300, [10**400] * 300, np.ma.masked_array([1.0] * 300, mask=[True] + [False] * 299)],
    "node_limit": [10**400, "5", -1, 2.5, float("nan")],
    "seed": [10**400, -1, "0"],
    "threads": [10**400, 0, "2"],
    "time_limit": [10**400, -1.0, "1", float("nan")],
    "rel_gap": [10**400, 0.0, 1.0, "0.1"],
    "loss": ["TEAR", 0, None],
    "bounds": ["blunt", 1],
    "certify": ["rows?", 2, None],
    "progress": [5, "print"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in BAD.items() for value in values])
def test_bad_options_are_named(problem, name, value):
    with pytest.raises(tear3d.InputError, match=name):
        solve(problem, **{name: value})


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda p: np.ma.masked_array(p, mask=np.zeros(p.shape, bool)),
        lambda p: p + 0j,
        lambda p: p.astype(str),
        lambda p: [[10**400, 0, 0]] * len(p),
        lambda p: p.T,
        lambda p: p[:, :2],
        lambda p: np.where(p > 1.0, np.nan, p),
        lambda p: p * 1e155,
        lambda p: np.zeros_like(p),
    ],
)
def test_bad_points_are_named(problem, side, spoil):
    points = {"source": problem.source, "target": problem.target}
    points[side] = spoil(points[side])
    with pytest.raises(tear3d.InputError, match=side):
        tear3d.register(**points, noise_bound=problem.noise_bound)


def test_periodic_data_does_not_fool_the_samples():
    """Two matches a point, the second one right; and zeros in every other row."""
    given = make_problem(30_000, 0.0, seed=2)
    source, target = np.repeat(given.source, 2, axis=0), np.repeat(given.target, 2, axis=0)
    target[0::2] = np.random.default_rng(0).permutation(given.target)
    assert tear3d.register(source, target, noise_bound=given.noise_bound, certify=False).success
    source[0::2] = target[0::2] = 0.0
    assert tear3d.register(source, target, noise_bound=given.noise_bound, certify=False).success


@pytest.mark.parametrize("certify", ["rows", "pose"])
def test_a_heavy_pair_far_away_is_not_forgotten(certify):
    given = make_problem(100, 0.5, seed=1)
    weights, target = np.ones(100), given.target.copy()
    row = int(np.flatnonzero(~given.inlier_mask)[0])
    weights[row], target[row] = 1000.0, [1e9, 0.0, 0.0]
    result = tear3d.register(
        given.source, target, noise_bound=given.noise_bound, weights=weights, rel_gap=0.01, certify=certify
    )
    assert result.status == "uncertified"
    assert "one pair that was set aside" in result.message
    assert "none saves more" not in words.verdict(result).sentence


def test_hundreds_of_odd_problems_end_in_a_result_or_an_input_error():
    outcomes, broken = fuzz.run(400)
    assert not broken
    assert outcomes["refused"] > 40
    assert outcomes["optimal"] > 10
