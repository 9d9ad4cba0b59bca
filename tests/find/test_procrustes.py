"""Least-squares rigid motion, the NumPy and the compiled version."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.find.procrustes import procrustes, rotation_from_covariance
from tear3d.lab.synthetic import random_rotation
from tear3d.problem.pose import Pose


def is_rotation(r):
    return np.allclose(r @ r.T, np.eye(3), atol=1e-9) and np.linalg.det(r) == pytest.approx(1.0)


def compiled(x, y):
    pose = np.empty(12)
    rotation_from_covariance((y - y.mean(0)).T @ (x - x.mean(0)), pose)
    return pose[:9].reshape(3, 3)


@given(st.integers(0, 10_000), st.integers(3, 40), st.sampled_from([1e-6, 1.0, 1e6]))
@settings(max_examples=60, deadline=None)
def test_exact_motion_is_recovered(seed, n, scale):
    rng = np.random.default_rng(seed)
    x = scale * rng.normal(size=(n, 3))
    rotation, t = random_rotation(rng), scale * rng.normal(size=3)
    y = x @ rotation.T + t
    found = procrustes(x, y)
    np.testing.assert_allclose(found.rotation, rotation, atol=1e-6)
    np.testing.assert_allclose(found.translation, t, atol=1e-6 * scale)
    if n > 5:  # fewer points may be nearly collinear, where squaring converges slowly
        np.testing.assert_allclose(compiled(x, y), rotation, atol=1e-6)


def cost(pose, x, y, w):
    return np.sum(w * np.sum((y - pose.apply(x)) ** 2, axis=1))


def test_no_small_turn_does_better():
    rng = np.random.default_rng(1)
    x, y, w = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), rng.random(30)
    pose = procrustes(x, y, w)
    best = cost(pose, x, y, w)
    for _ in range(200):
        turn = procrustes(np.eye(3), np.eye(3) + 0.05 * rng.normal(size=(3, 3))).rotation
        assert cost(Pose(turn @ pose.rotation, pose.translation), x, y, w) >= best - 1e-9
        assert cost(Pose(pose.rotation, pose.translation + 0.01 * rng.normal(size=3)), x, y, w) >= best


def test_weights_of_zero_remove_points():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20, 3))
    rotation = random_rotation(rng)
    y = x @ rotation.T
    y[:10] = rng.normal(size=(10, 3))
    pose = procrustes(x, y, np.repeat([0.0, 1.0], 10))
    np.testing.assert_allclose(pose.rotation, rotation, atol=1e-10)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_only_the_ratios_of_weights_count(factor):
    rng = np.random.default_rng(5)
    x, y, w = rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), rng.random(20)
    plain, scaled = procrustes(x, y, w), procrustes(x, y, factor * w)
    np.testing.assert_allclose(scaled.matrix, plain.matrix, atol=1e-12)


def test_mirrored_points_give_a_rotation():
    x = np.random.default_rng(3).normal(size=(20, 3))
    y = x * [1, 1, -1]
    assert is_rotation(procrustes(x, y).rotation)
    assert is_rotation(compiled(x, y))
    np.testing.assert_allclose(compiled(x, y), procrustes(x, y).rotation, atol=1e-6)


@pytest.mark.parametrize(
    "x",
    [np.zeros((5, 3)), np.outer(np.arange(5.0), [1, 2, 3]), np.eye(3)[[0, 1, 0, 1, 0]]],
    ids=["coincident", "collinear", "two points"],
)
def test_degenerate_points_give_a_rotation(x):
    rotation = random_rotation(np.random.default_rng(4))
    y = x @ rotation.T + 1.0
    pose = procrustes(x, y)
    assert is_rotation(pose.rotation)
    assert is_rotation(compiled(x, y))
    np.testing.assert_allclose(pose.apply(x), y, atol=1e-9)


@pytest.mark.parametrize("x", [np.ones((3, 3)), 1e200 * np.eye(3), np.full((3, 3), np.nan)])
@pytest.mark.parametrize("w", [np.zeros(3), np.full(3, np.nan), np.full(3, np.inf), None])
def test_where_nothing_is_determined_it_is_the_identity(x, w):
    with np.errstate(over="ignore"):
        pose = procrustes(x, x, w)
    if w is None and np.all(x == 1.0):
        assert is_rotation(pose.rotation)
        return
    np.testing.assert_array_equal(pose.rotation, np.eye(3))
    np.testing.assert_array_equal(pose.translation, 0.0)
