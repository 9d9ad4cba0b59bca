"""Clouds when something is known of the pose: matches, refinement and other poses are confined, too."""

import math

import numpy as np
import pytest

import tear3d
from tear3d.clouds.symmetry import Allowed, ambiguity
from tear3d.metrics import rotation_error
from tear3d.problem.prior import Prior
from tests.bumpy import apply, bumpy_cloud, pose

UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def clouds():
    cloud = bumpy_cloud(4000, 0)
    truth = pose([0.0, 0.0, 1.1], [0.5, -0.3, 0.2])
    rng = np.random.default_rng(1)
    return cloud[rng.permutation(4000)[:3500]], apply(truth, bumpy_cloud(4000, 2)), truth


def test_an_exact_axis_stays_exact_through_the_refinement(clouds):
    source, target, truth = clouds
    found = tear3d.register_clouds(source, target, rotation_axis=UP)
    assert found.success
    assert rotation_error(found.transformation, truth) < 1.0
    assert found.refinement is not None
    assert np.allclose(found.transformation[:3, :3] @ UP, UP, atol=1e-12)
    assert "given axis" in found.result.message


def test_a_prior_confines_the_refined_pose(clouds):
    source, target, truth = clouds
    found = tear3d.register_clouds(source, target, initial=truth, within=(4, 0.2))
    assert found.success
    assert np.linalg.norm(found.transformation[:3, 3] - truth[:3, 3]) <= 0.2
    wrong = truth.copy()
    wrong[:3, 3] += 5.0
    nothing = tear3d.register_clouds(source, target, initial=wrong, within=(4, 0.2), time_limit=3.0)
    assert not nothing.success
    assert any("only poses within 4° and 0.2" in reason for reason in nothing.reasons)


def test_what_is_not_allowed_is_no_ambiguity():
    rng = np.random.default_rng(0)
    height, angle = rng.uniform(-1.0, 1.0, 6000), rng.uniform(0.0, 2.0 * math.pi, 6000)
    column = np.column_stack([0.4 * np.cos(angle), 0.4 * np.sin(angle), height])
    column[:600] = rng.uniform([-0.4, -0.4, 1.0], [0.4, 0.4, 1.0001], (600, 3))
    free = ambiguity(column, column, np.eye(4), 0.05)
    assert free is not None
    known = Prior.of(rotation=np.eye(3))
    assert ambiguity(column, column, np.eye(4), 0.05, allowed=Allowed(known, column, 0.05)) is None


def test_options_that_need_pairs_are_refused(clouds):
    source, target, _ = clouds
    with pytest.raises(TypeError, match="max_instances"):
        tear3d.register_clouds(source, target, max_instances=2)
    with pytest.raises(tear3d.InputError, match="rotation_axis"):
        tear3d.register_clouds(source, target, rotation_axis=(0, 0, 0))
