import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tear3d.errors import InputError
from tear3d.metrics import (
    LIMITS,
    is_success,
    precision_recall_f1,
    registration_recall,
    rotation_error,
    translation_error,
)
from tear3d.synthetic import random_rotation


def about(axis, degrees):
    """Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.radians(degrees)
    return np.eye(3) + np.sin(angle) * k + 2 * np.sin(angle / 2) ** 2 * k @ k


def pose(rotation=None, translation=(0, 0, 0)):
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3) if rotation is None else rotation
    matrix[:3, 3] = translation
    return matrix


@given(degrees=st.floats(0.0, 180.0), seed=st.integers(0, 100))
def test_rotation_error_is_the_angle(degrees, seed):
    rng = np.random.default_rng(seed)
    truth = random_rotation(rng)
    turned = truth @ about(rng.standard_normal(3), degrees)
    assert rotation_error(turned, truth) == pytest.approx(degrees, abs=1e-12)
    assert rotation_error(pose(truth), pose(turned)) == pytest.approx(degrees, abs=1e-12)


@pytest.mark.parametrize("degrees", [1e-10, 1e-8, 1e-5])
def test_rotation_error_keeps_the_digits_of_tiny_angles(degrees):
    assert rotation_error(about([1, 2, 3], degrees), np.eye(3)) == pytest.approx(degrees, rel=1e-5)


def test_errors_of_stacks_have_one_number_per_pose():
    stack = np.stack([pose(about([0, 0, 1], 30), (3, 4, 0)), pose()])
    np.testing.assert_allclose(rotation_error(stack, pose()), [30, 0], atol=1e-12)
    np.testing.assert_allclose(translation_error(stack, pose()), [5, 0])
    assert isinstance(translation_error(stack[0], pose()), float)
    assert translation_error([3, 4, 0], pose()) == 5.0


def test_precision_recall_f1():
    scores = precision_recall_f1([1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 1, 0])
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == pytest.approx(1 / 2)
    assert scores.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))
    assert precision_recall_f1([0, 0], [0, 0]) == (0.0, 0.0, 0.0)
    assert precision_recall_f1([1, 0], [0, 0]) == (0.0, 0.0, 0.0)


def test_limits_are_the_papers():
    assert LIMITS == {"3dmatch": (15.0, 0.30), "kitti": (5.0, 0.60), "eth": (3.0, 0.50)}


@pytest.mark.parametrize("dataset", LIMITS)
def test_success_needs_both_errors_within_their_limits(dataset):
    degrees, metres = LIMITS[dataset]
    good = pose(about([1, 0, 0], 0.99 * degrees), (0, 0.99 * metres, 0))
    turned = pose(about([1, 0, 0], 1.01 * degrees))
    moved = pose(None, (0, 1.01 * metres, 0))
    assert is_success(good, pose(), dataset) is True
    assert is_success(turned, pose(), dataset) is False
    assert is_success(moved, pose(), dataset) is False
    nothing = np.full((4, 4), np.nan)
    stack = [good, turned, moved, nothing]
    assert registration_recall(stack, [pose()] * 4, dataset) == 0.25


def test_bad_arguments_are_named():
    with pytest.raises(InputError, match=r"estimated has shape \(3,\)"):
        rotation_error([1, 2, 3], np.eye(3))
    with pytest.raises(InputError, match=r"truth has shape \(2,\)"):
        translation_error([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="same length"):
        precision_recall_f1([True], [True, False])
    with pytest.raises(InputError, match=r"'moon'.*3dmatch, kitti, eth"):
        is_success(np.eye(4), np.eye(4), "moon")
    with pytest.raises(InputError, match="4×4"):
        is_success(np.eye(3), np.eye(3), "eth")
    with pytest.raises(InputError, match="at least one"):
        registration_recall(np.empty((0, 4, 4)), np.empty((0, 4, 4)), "eth")
