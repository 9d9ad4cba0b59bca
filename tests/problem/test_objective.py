"""The full losses against a loop that spells them out."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import CM, TEAR, TLS
from tear3d.problem.objective import full_objective, full_saving, inlier_mask, residuals, saving_and_count
from tear3d.synthetic import make_problem, random_rotation


def spelled_out(x, y, rotation, t, xi, w, loss):
    objective = 0.0
    for p, q, bound, weight in zip(x, y, xi, w, strict=True):
        r = [q[k] - sum(rotation[k][m] * p[m] for m in range(3)) - t[k] for k in range(3)]
        length = math.sqrt(sum(e * e for e in r))
        objective += (
            weight
            * {
                TEAR: min(sum(abs(e) for e in r), bound),
                TLS: min(length**2, bound**2),
                CM: 0.0 if length <= bound else 1.0,
            }[loss]
        )
    return objective


@given(
    st.integers(0, 10_000),
    st.integers(1, 30),
    st.sampled_from([TEAR, CM, TLS]),
    st.sampled_from([0.0, 1e6]),
)
@settings(max_examples=80, deadline=None)
def test_losses_match_their_definition(seed, n, loss, offset):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) + offset
    rotation = random_rotation(rng)
    t = rng.normal(size=3)
    y = x @ rotation.T + t + 0.1 * rng.normal(size=(n, 3)) * rng.integers(0, 5, (n, 1))
    xi, w = rng.random(n), rng.random(n)
    expected = spelled_out(x, y, rotation, t, xi, w, loss)
    assert full_objective(x, y, rotation, t, xi, w, loss) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("loss", [TEAR, CM, TLS])
def test_shared_values_equal_repeated_ones(loss):
    p = make_problem(200, 0.5, seed=1)
    pose = (p.rotation, p.translation)
    ones = np.ones(200)
    one = full_objective(p.source, p.target, *pose, 0.05, None, loss)
    assert one == pytest.approx(full_objective(p.source, p.target, *pose, 0.05 * ones, ones, loss))
    assert full_saving(p.source, p.target, *pose, 0.05, 2.0, loss) == pytest.approx(
        2.0 * full_saving(p.source, p.target, *pose, 0.05, None, loss)
    )


def test_float32_and_strided_input_are_read():
    p = make_problem(500, 0.5, seed=2)
    pose = (p.rotation, p.translation, p.noise_bound)
    exact = full_saving(p.source, p.target, *pose)
    single = full_saving(p.source.astype(np.float32), p.target.astype(np.float32), *pose)
    strided = full_saving(np.asfortranarray(p.source), p.target[::-1][::-1], *pose)
    assert single == pytest.approx(exact, rel=1e-4)
    assert strided == exact


def test_inliers_and_residuals():
    p = make_problem(300, 0.7, seed=3)
    distance = residuals(p.source, p.target, p.rotation, p.translation)
    expected = np.linalg.norm(p.target - p.source @ p.rotation.T - p.translation, axis=1)
    np.testing.assert_allclose(distance, expected, atol=1e-12)
    for factor in (1.0, 3.0):
        mask = inlier_mask(p.source, p.target, p.rotation, p.translation, p.noise_bound, factor)
        np.testing.assert_array_equal(mask, expected <= factor * p.noise_bound)
    count = saving_and_count(p.source, p.target, p.rotation, p.translation, p.noise_bound)[1]
    assert count == np.count_nonzero(expected <= p.noise_bound)


def test_boundary_is_inside():
    x = np.zeros((1, 3))
    y = np.array([[0.25, 0.0, 0.0]])
    assert inlier_mask(x, y, np.eye(3), np.zeros(3), 0.25)[0]
    assert full_objective(x, y, np.eye(3), np.zeros(3), 0.25, None, CM) == 0.0
