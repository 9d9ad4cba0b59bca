"""Poses: the group, and what they do to points."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.pose import Pose


def random_pose(rng):
    return Pose(random_rotation(rng), rng.normal(size=3))


def close(a, b, atol=1e-12):
    np.testing.assert_allclose(a.rotation, b.rotation, atol=atol)
    np.testing.assert_allclose(a.translation, b.translation, atol=atol)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_composition_inverse_and_change_of_origin_act_on_points_as_they_say(seed):
    rng = np.random.default_rng(seed)
    first, second = random_pose(rng), random_pose(rng)
    x, source, target = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=3)
    np.testing.assert_allclose(second.after(first).apply(x), second.apply(first.apply(x)), atol=1e-12)
    np.testing.assert_allclose(first.inverse.apply(first.apply(x)), x, atol=1e-12)
    close(first.after(first.inverse), Pose.identity())
    np.testing.assert_allclose(first.between(source, target).apply(x - source), first.apply(x) - target, atol=1e-12)
    close(first.between(source, target).between(-source, -target), first)


def test_apply_is_r_x_plus_t():
    turn = Pose.of([[0, -1, 0], [1, 0, 0], [0, 0, 1]], [10, 20, 30])
    np.testing.assert_array_equal(turn.apply(np.array([[1.0, 2.0, 3.0]])), [[8.0, 21.0, 33.0]])


def test_rows_and_matrices_there_and_back():
    pose = random_pose(np.random.default_rng(1))
    np.testing.assert_array_equal(pose.row[:9].reshape(3, 3), pose.rotation)
    for again in (Pose.from_row(pose.row), Pose.from_matrix(pose.matrix), Pose.from_matrix(pose.matrix.tolist())):
        np.testing.assert_array_equal(again.rotation, pose.rotation)
        np.testing.assert_array_equal(again.translation, pose.translation)
    np.testing.assert_array_equal(pose.matrix[3], [0, 0, 0, 1])
    x = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose((pose.matrix @ [*x, 1.0])[:3], pose.apply(x[None])[0], atol=1e-14)


def test_kernels_get_contiguous_float64():
    rotation = np.asfortranarray(random_rotation(np.random.default_rng(2)).astype(np.float32))
    for pose in (Pose.of(rotation, [[1], [2], [3]]), Pose.of(rotation, [1, 2, 3]).inverse):
        for array in (pose.rotation, pose.translation):
            assert array.dtype == np.float64
            assert array.flags.c_contiguous
        assert (pose.rotation.shape, pose.translation.shape) == ((3, 3), (3,))
    with pytest.raises(ValueError, match="reshape"):
        Pose.of(np.eye(4), np.zeros(3))


@given(st.integers(0, 10_000), st.floats(0.1, 10.0))
@settings(max_examples=30, deadline=None)
def test_distance_is_how_far_a_point_moves_at_most(seed, radius):
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    x = rng.normal(size=(500, 3))
    x *= radius / np.linalg.norm(x, axis=1, keepdims=True)
    moved = np.linalg.norm(a.apply(x) - b.apply(x), axis=1)
    assert moved.max() <= a.distance(b, radius) * (1 + 1e-12)
    assert a.distance(b, radius) == pytest.approx(b.distance(a, radius))
    assert a.distance(a, radius) == 0.0
    turned = Pose(b.rotation, a.translation)  # then the bound is attained by some point
    assert np.linalg.norm(a.apply(x) - turned.apply(x), axis=1).max() >= 0.9 * a.distance(turned, radius)


def test_orthonormal_is_the_nearest_rotation():
    rng = np.random.default_rng(3)
    for _ in range(20):
        drifted = Pose(random_rotation(rng) + 1e-3 * rng.normal(size=(3, 3)), rng.normal(size=3))
        fixed = drifted.orthonormal()
        np.testing.assert_allclose(fixed.rotation @ fixed.rotation.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(fixed.rotation) == pytest.approx(1.0)
        np.testing.assert_array_equal(fixed.translation, drifted.translation)
        distance = np.linalg.norm(fixed.rotation - drifted.rotation)
        for _ in range(20):
            other = random_pose(rng).rotation if rng.random() < 0.2 else _nudged(fixed.rotation, rng)
            assert distance <= np.linalg.norm(other - drifted.rotation) + 1e-12
    mirrored = Pose(np.diag([1.0, 1.0, -1.0]), np.zeros(3)).orthonormal()
    assert np.linalg.det(mirrored.rotation) == pytest.approx(1.0)


def _nudged(rotation, rng):
    u, _, vt = np.linalg.svd(rotation + 1e-3 * rng.normal(size=(3, 3)))
    return u @ vt


def test_a_pose_has_arrays_of_its_own_that_kernels_take():
    """Those of a result are read-only views, for which kernels would be compiled once more."""
    matrix = np.eye(4)
    matrix.setflags(write=False)
    for pose in (Pose.from_matrix(matrix), Pose.of(matrix[:3, :3], matrix[:3, 3]), Pose.from_row(np.arange(12.0))):
        for array in (pose.rotation, pose.translation):
            assert array.flags.c_contiguous
            assert array.flags.writeable
            assert not np.shares_memory(array, matrix)
