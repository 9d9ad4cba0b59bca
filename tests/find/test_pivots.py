"""The kernel that searches around pivots against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.find import pivots
from tear3d.find.pivots import Aim, search_pivots
from tear3d.find.seekers import sample_rows
from tear3d.lab.metrics import rotation_error
from tear3d.lab.synthetic import make_problem
from tear3d.problem.losses import LOSSES
from tests import naive_find
from tests.problem.cases import unchecked


def sample(n, outliers, seed, dtype=np.float32, noise=0.01, spread=1.0):
    """Pairs in random order as the kernel wants them, noise bounds of their own if `spread` is above 1."""
    problem = make_problem(n, outliers, noise=noise, seed=seed)
    rng = np.random.default_rng(seed)
    xi = 5.5 * noise * rng.uniform(1.0, spread, n)
    rows = sample_rows(unchecked(problem.source, problem.target, xi), n)
    return rows.astype(dtype), problem


def run(rows, first, last, *, loss="tear", tolerance=0.5, reach=np.inf, prune=0.6, floor=4.0):
    poses, scores = np.full((last - first, 12), np.nan), np.full(last - first, np.nan)
    aim = Aim(LOSSES[loss].code, tolerance, reach, prune)
    return poses, scores, search_pivots(rows, aim, first, last, floor, poses, scores)


def assert_as_the_twin(rows, first, last, *, loss="tear", tolerance=0.5, reach=np.inf, prune=0.6, floor=4.0):
    options = {"tolerance": tolerance, "reach": reach, "prune": prune, "floor": floor}
    poses, scores, rose = run(rows, first, last, loss=loss, **options)
    expected, level = naive_find.search_pivots(rows, first=first, last=last, tear=loss == "tear", **options)
    for own, score, (pose, value) in zip(poses, scores, expected, strict=True):
        assert score == pytest.approx(value, abs=2e-3)
        if pose is not None:
            np.testing.assert_allclose(own, pose.row, atol=1e-4)
    assert rose == pytest.approx(level)
    return scores


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("n", "outliers"), [(40, 0.3), (90, 0.6), (150, 0.85)])
def test_as_the_twin(dtype, loss, n, outliers):
    rows, _ = sample(n, outliers, seed=n, dtype=dtype, spread=2.0)
    scores = assert_as_the_twin(rows, 0, 30, loss=loss)
    assert np.count_nonzero(scores) >= 2


@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 1.0]), st.sampled_from([0.4, 1.0, np.inf]))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_as_the_twin_for_any_tolerance_and_reach(seed, tolerance, reach):
    rows, _ = sample(64, 0.4, seed, np.float64)
    assert_as_the_twin(rows, 3, 13, tolerance=tolerance, reach=reach, prune=0.0, floor=5.0)


def test_fine_noise_bounds_in_float64():
    rows, problem = sample(60, 0.3, 1, np.float64, noise=1e-9)
    assert_as_the_twin(rows, 0, 20)
    poses, scores, _ = run(rows, 0, 60, prune=0.0)
    right = np.flatnonzero(problem.inlier_mask)
    assert np.count_nonzero(scores[right]) >= 0.95 * len(right)
    assert max(rotation_error(poses[i, :9].reshape(3, 3), problem.rotation) for i in right if scores[i]) < 1e-5


def test_the_floor_rises_and_cuts_off_what_is_below():
    rows, problem = sample(200, 0.5, 2)
    _, scores, floor = run(rows, 0, 200, prune=0.9)
    assert floor >= 0.9 * 80
    assert np.count_nonzero(scores[~problem.inlier_mask]) < 5
    _, none, still = run(rows, 0, 50, floor=1000.0)
    np.testing.assert_array_equal(none, 0.0)
    assert still == 1000.0


def test_neighbours_beyond_the_most_are_left_out():
    rows, problem = sample(pivots.MAX_NEIGHBOURS + 300, 0.0, 3)
    poses, scores, _ = run(rows, 0, 2)
    assert np.all(scores > 100.0)
    assert np.all(scores <= pivots.MAX_NEIGHBOURS + 1)
    assert rotation_error(poses[0, :9].reshape(3, 3), problem.rotation) < 0.5


def test_the_pose_around_an_inlier_and_nothing_without_one():
    p = make_problem(804, 0.9, seed=25)
    order = np.argsort(~p.inlier_mask, kind="stable")  # inliers first
    rows = sample_rows(unchecked(p.source[order], p.target[order], np.full(804, p.noise_bound)), 804)
    assert rows.shape == (7, 808)
    poses, scores, _ = run(rows, 0, 804, prune=0.0, floor=30.0)
    errors = [rotation_error(pose[:9].reshape(3, 3), p.rotation) for pose in poses[:80]]
    assert np.mean(np.array(errors) < 2.0) > 0.95
    assert np.count_nonzero(scores[80:]) <= 5  # nothing else has a support of 30


def test_padding_is_nobodys_neighbour():
    rows, _ = sample(33, 0.0, 4)
    assert rows.shape == (7, 40)
    _, scores, _ = run(rows, 0, 33, prune=0.0)
    expected, _ = naive_find.search_pivots(rows[:, :33], 0.5, np.inf, 0.0, 0, 33, 4.0, True)
    np.testing.assert_allclose(scores, [score for _, score in expected], atol=2e-3)
    assert not run(rows, 33, 40)[1].any()
