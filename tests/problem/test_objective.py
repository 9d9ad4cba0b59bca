"""The full losses against a loop that spells them out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import make_problem, random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving, inlier_mask, residuals, saving_and_count, survey
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tests.problem.cases import pairs_of, truth_inside, unchecked


def spelled_out(pairs, pose, xi, w, loss):
    objective = 0.0
    for p, q, bound, weight in zip(pairs.x, pairs.y, xi, w, strict=True):
        r = [q[k] - sum(pose.rotation[k][m] * p[m] for m in range(3)) - pose.translation[k] for k in range(3)]
        length = math.sqrt(sum(e * e for e in r))
        objective += (
            weight
            * {
                "tear": min(sum(abs(e) for e in r), bound),
                "tls": min(length**2, bound**2),
                "cm": 0.0 if length <= bound else 1.0,
            }[loss.name]
        )
    return objective


@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from(sorted(LOSSES)), st.sampled_from([0.0, 1e6]))
@settings(max_examples=80, deadline=None)
def test_total_minus_saving_is_the_loss_as_defined(seed, n, name, offset):
    rng = np.random.default_rng(seed)
    loss, pose = LOSSES[name], Pose(random_rotation(rng), rng.normal(size=3))
    x = rng.normal(size=(n, 3)) + offset
    y = pose.apply(x) + 0.1 * rng.normal(size=(n, 3)) * rng.integers(0, 5, (n, 1))
    xi, w = rng.random(n), rng.random(n)
    pairs = unchecked(x, y, xi, w)
    objective = pairs.total(loss) - full_saving(pairs, pose, loss)
    assert objective == pytest.approx(spelled_out(pairs, pose, xi, w, loss), abs=1e-7)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
def test_shared_values_equal_repeated_ones(loss):
    problem = make_problem(200, 0.5, seed=1)
    x, y, ones = problem.source, problem.target, np.ones(200)
    pose = Pose.of(problem.rotation, problem.translation)
    shared, repeated = unchecked(x, y, 0.05), unchecked(x, y, 0.05 * ones, ones)
    assert saving_and_count(shared, pose, loss) == saving_and_count(repeated, pose, loss)
    assert shared.total(loss) == pytest.approx(repeated.total(loss))
    doubled = full_saving(unchecked(x, y, 0.05, 2.0), pose, loss)
    assert doubled == pytest.approx(2.0 * full_saving(shared, pose, loss))


def test_float32_and_strided_input_are_read():
    problem = make_problem(500, 0.5, seed=2)
    exact = pairs_of(problem)
    pose = truth_inside(problem, exact)
    single = Pairs.of(problem.source.astype(np.float32), problem.target.astype(np.float32), problem.noise_bound)
    strided = Pairs.of(np.asfortranarray(problem.source), problem.target[::-1][::-1], problem.noise_bound)
    saving = full_saving(exact, pose, LOSSES["tear"])
    assert full_saving(single, pose, LOSSES["tear"]) == pytest.approx(saving, rel=1e-4)
    assert full_saving(strided, pose, LOSSES["tear"]) == saving
    np.testing.assert_array_equal(strided.x, exact.x)


def test_inliers_and_residuals():
    problem = make_problem(300, 0.7, seed=3)
    pairs = pairs_of(problem)
    pose = truth_inside(problem, pairs)
    expected = np.linalg.norm(problem.target - problem.source @ problem.rotation.T - problem.translation, axis=1)
    np.testing.assert_allclose(residuals(pairs, pose), expected, atol=1e-12)
    for factor in (1.0, 3.0):
        np.testing.assert_array_equal(inlier_mask(pairs, pose, factor), expected <= factor * problem.noise_bound)
    for loss in LOSSES.values():
        assert saving_and_count(pairs, pose, loss)[1] == np.count_nonzero(expected <= problem.noise_bound)


def test_noise_bounds_of_their_own():
    rng = np.random.default_rng(4)
    x, xi = rng.normal(size=(100, 3)), rng.uniform(0.0, 2.0, 100)
    pairs = unchecked(x, x + rng.normal(size=(100, 3)), xi)
    expected = np.linalg.norm(pairs.y - x, axis=1) <= xi
    np.testing.assert_array_equal(inlier_mask(pairs, Pose.identity()), expected)
    assert full_saving(pairs, Pose.identity(), LOSSES["cm"]) == np.count_nonzero(expected)


def test_boundary_is_inside():
    pairs = unchecked([[0.0, 0.0, 0.0]], [[0.25, 0.0, 0.0]], 0.25)
    assert inlier_mask(pairs, Pose.identity())[0]
    assert pairs.total(LOSSES["cm"]) - full_saving(pairs, Pose.identity(), LOSSES["cm"]) == 0.0


@pytest.mark.parametrize("n", [1, 7, 8, 100, 1001])
@pytest.mark.parametrize("shared", [True, False])
def test_very_many_pairs_are_surveyed_without_their_columns(n, shared, monkeypatch):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 3))
    y = x + 0.2 * rng.normal(size=(n, 3))
    bounds, weights = np.full(1, 0.3) if shared else rng.uniform(0.0, 0.5, n), rng.uniform(0.0, 2.0, n)
    made = []
    for limit in (n, n - 1):
        monkeypatch.setattr("tear3d.problem.objective.COPY_LIMIT", limit)
        pairs = unchecked(x, y, bounds, weights)
        found = [
            survey(pairs, Pose.identity(), loss, factor) for loss in LOSSES.values() for factor in (-1.0, 0.5, 3.0)
        ]
        made.append([(one.saving, one.num_inliers, one.rows.tolist()) for one in found])
    assert made[0] == made[1]
    far = np.linalg.norm(y - x, axis=1) > 3.0 * bounds
    assert made[0][2][2] == np.flatnonzero(~far).tolist()
