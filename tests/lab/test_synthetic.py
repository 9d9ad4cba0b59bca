import tracemalloc
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.errors import InputError
from tear3d.synthetic import OutlierKind, make_problem, random_rotation

KINDS = get_args(OutlierKind)


def residuals(problem):
    return np.linalg.norm(problem.target - problem.source @ problem.rotation.T - problem.translation, axis=1)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 300),
    ratio=st.floats(0.0, 1.0),
    kind=st.sampled_from(KINDS),
    cloud=st.sampled_from(["gaussian", "ellipsoid"]),
    seed=st.integers(0, 1000),
)
def test_counts_shapes_and_motion(n, ratio, kind, cloud, seed):
    problem = make_problem(n, ratio, outliers=kind, cloud=cloud, seed=seed)
    assert problem.source.shape == problem.target.shape == (n, 3)
    assert problem.source.dtype == problem.target.dtype == np.float64
    assert problem.inlier_mask.sum() == round(n * (1 - ratio))
    np.testing.assert_allclose(problem.rotation @ problem.rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(problem.rotation) == pytest.approx(1.0)
    np.testing.assert_array_equal(problem.transformation[3], [0, 0, 0, 1])
    assert np.all(residuals(problem)[problem.inlier_mask] < 0.08)


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_same_problem_across_blocks(kind):
    n = 70_000  # more than one block
    first, second = (make_problem(n, 0.9, outliers=kind, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.source, second.source)
    np.testing.assert_array_equal(first.target, second.target)
    other = make_problem(n, 0.9, outliers=kind, seed=6)
    assert not np.array_equal(first.source, other.source)


def test_the_papers_noise_and_outliers():
    problem = make_problem(100_000, 0.5, noise=0.02, tau=3.0)
    inlier = problem.inlier_mask
    noise = (problem.target - problem.source @ problem.rotation.T - problem.translation)[inlier]
    assert noise.std() == pytest.approx(0.02, rel=0.02)
    assert np.abs(noise.mean(axis=0)).max() < 5e-4
    assert problem.noise_bound == pytest.approx(5.54 * 0.02)
    outliers = problem.target[~inlier]
    np.testing.assert_allclose(outliers.std(axis=0), 3.0, rtol=0.02)
    assert abs(np.corrcoef(problem.source[~inlier].T, outliers.T)[:3, 3:]).max() < 0.02
    np.testing.assert_allclose(problem.source.std(axis=0), 1.0, rtol=0.02)


def test_inliers_are_at_random_places():
    mask = make_problem(100_000, 0.9).inlier_mask
    assert np.abs(mask.reshape(10, -1).sum(axis=1) - 1000).max() < 150


def test_off_centre_outliers_have_their_mean_three_tau_away():
    problem = make_problem(50_000, 0.9, outliers="off_centre")
    centre = problem.target[~problem.inlier_mask].mean(axis=0)
    assert np.linalg.norm(centre) == pytest.approx(3 * 1.67, rel=0.02)


def test_clustered_outliers_lie_in_ten_spots():
    problem = make_problem(20_000, 0.9, outliers="clustered")
    points = problem.target[~problem.inlier_mask]
    spots = []
    while len(points):
        spots.append(points[0])
        points = points[np.linalg.norm(points - points[0], axis=1) > 0.6]
    assert 3 <= len(spots) <= 10


def test_second_motion_is_rigid_and_another_one():
    problem = make_problem(3000, 1 / 3, outliers="second_motion")  # no room for other outliers
    x, y = problem.source[~problem.inlier_mask], problem.target[~problem.inlier_mask]
    rotation, translation = fit(x, y)
    assert np.std(y - x @ rotation.T - translation) == pytest.approx(0.01, rel=0.05)
    assert np.linalg.norm(rotation - problem.rotation) > 0.1


def test_second_motion_is_obeyed_by_half_as_many_pairs_at_random_places():
    problem = make_problem(150_000, 0.9, outliers="second_motion", tau=1e6)
    movers = ~problem.inlier_mask & (np.linalg.norm(problem.target, axis=1) < 100)
    assert movers.sum() == 7500
    assert np.abs(movers.reshape(10, -1).sum(axis=1) - 750).max() < 120


def fit(x, y):
    u, _, vt = np.linalg.svd((y - y.mean(axis=0)).T @ (x - x.mean(axis=0)))
    rotation = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
    return rotation, y.mean(axis=0) - rotation @ x.mean(axis=0)


def test_plane_outliers_are_flat_on_both_sides():
    problem = make_problem(50_000, 0.9, outliers="plane", seed=3)
    outlier = ~problem.inlier_mask
    source, target = problem.source[outlier], problem.target[outlier]
    assert np.linalg.svd(source - source.mean(axis=0), compute_uv=False)[2] < 1e-9 * len(source)
    widths = np.linalg.svd(target - target.mean(axis=0), compute_uv=False) / np.sqrt(len(target))
    np.testing.assert_allclose(widths, [1.67, 1.67, 0.01], rtol=0.03)
    assert np.linalg.svd(problem.source[~outlier], compute_uv=False)[2] > 1.0


@pytest.mark.parametrize("cloud", ["teapot", "ellipsoid", np.random.default_rng(0).normal(size=(50, 3)) * 9 + 100])
def test_shapes_are_resized_into_the_unit_cube_with_one_scale(cloud):
    source = make_problem(2000, 0.5, cloud=cloud).source
    np.testing.assert_allclose(source.min(axis=0), 0.0, atol=1e-12)
    assert source.max() == pytest.approx(1.0)
    if isinstance(cloud, np.ndarray):
        rows = np.unique(source.round(9), axis=0)
        original = (cloud - cloud.min(axis=0)) / np.ptp(cloud, axis=0).max()
        np.testing.assert_allclose(rows, np.unique(original.round(9), axis=0), atol=1e-8)


def test_an_array_with_enough_points_gives_each_at_most_once():
    cloud = np.random.default_rng(0).random((500, 3))
    source = make_problem(400, 0.5, cloud=cloud).source
    assert len(np.unique(source, axis=0)) == 400
    assert not np.shares_memory(source, cloud)


def test_given_motion_is_used_and_changes_nothing_else():
    rotation = random_rotation(np.random.default_rng(8))
    fixed = make_problem(100, 0.5, rotation=rotation, translation=[5e5, 4e6, 100], seed=1)
    free = make_problem(100, 0.5, seed=1)
    np.testing.assert_array_equal(fixed.rotation, rotation)
    np.testing.assert_array_equal(fixed.translation, [5e5, 4e6, 100])
    np.testing.assert_array_equal(fixed.source, free.source)
    np.testing.assert_array_equal(fixed.inlier_mask, free.inlier_mask)
    np.testing.assert_array_equal(fixed.target[~fixed.inlier_mask], free.target[~free.inlier_mask])


def test_random_rotations_cover_all_octants():
    rng = np.random.default_rng(0)
    rows = np.array([random_rotation(rng)[0] for _ in range(4000)])
    octant = (rows > 0) @ [1, 2, 4]
    assert np.bincount(octant, minlength=8).min() > 400


@pytest.mark.parametrize("kind", KINDS)
def test_little_memory_beyond_the_result(kind):
    n = 500_000
    tracemalloc.start()
    problem = make_problem(n, 0.95, outliers=kind)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    result = problem.source.nbytes + problem.target.nbytes + problem.inlier_mask.nbytes
    assert peak < result + 12e6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": 10.5}, "n is 10.5"),
        ({"outlier_ratio": 1.5}, "outlier_ratio is 1.5"),
        ({"outlier_ratio": float("nan")}, "outlier_ratio is nan"),
        ({"noise": -1.0}, "noise is -1.0"),
        ({"tau": 0.0}, "tau is 0.0"),
        ({"outliers": "weird"}, "outliers is 'weird'.*second_motion"),
        ({"cloud": "bunny"}, "cloud is 'bunny'.*teapot"),
        ({"cloud": np.zeros((3, 100))}, r"cloud has shape \(3, 100\).*rows"),
        ({"cloud": np.full((9, 3), np.nan)}, "cloud has NaN"),
        ({"rotation": np.diag([1, 1, -1])}, "determinant"),
        ({"rotation": np.eye(4)}, r"rotation has shape \(4, 4\)"),
        ({"translation": [1, 2]}, "translation is"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    arguments = {"n": 10, "outlier_ratio": 0.5} | changes
    with pytest.raises(InputError, match=message):
        make_problem(arguments.pop("n"), arguments.pop("outlier_ratio"), **arguments)
