"""What the tests of `register` share."""

import json

import numpy as np
import pytest

import tear3d
from tear3d.metrics import rotation_error, translation_error
from tear3d.problem.pose import Pose


def solve(problem, **options):
    options = {"noise_bound": problem.noise_bound} | options
    return tear3d.register(problem.source, problem.target, **options)


def is_right(result, problem, degrees=0.5, distance=0.02):
    return (
        rotation_error(result.transformation, problem.transformation) < degrees
        and translation_error(result.transformation, problem.transformation) < distance
    )


def turn_onto(a, b, rng):
    """A random rotation that maps the unit vector a to b."""

    def frame(v):
        q = np.linalg.qr(np.column_stack([v, rng.normal(size=(3, 2))]))[0]
        return np.column_stack([v, q[:, 1], np.cross(v, q[:, 1])])

    return frame(b) @ frame(a).T


def competing(seed, n=600, inliers=60, small=0.35, wobble=0.35):
    """Two motions A and B of equal size, the target cloud smaller than the source.

    A's residuals lie along an axis of the target and along the diagonal of the source, B's the other way round: as the
    pairs are given A saves more, with source and target swapped B.
    """
    rng, xi = np.random.default_rng(seed), 0.1
    source, target = rng.normal(size=(n, 3)), small * rng.normal(size=(n, 3))
    axis, diagonal = np.array([1.0, 0.0, 0.0]), np.ones(3) / np.sqrt(3.0)
    for k, (here, there) in enumerate(((axis, diagonal), (diagonal, axis))):
        part = slice(k * inliers, (k + 1) * inliers)
        rotation = turn_onto(there, here, rng)
        source[part] = small * rng.normal(size=(inliers, 3))
        signs = rng.choice([-1.0, 1.0], size=(inliers, 1))
        target[part] = source[part] @ rotation.T + 0.1 * rng.normal(size=3) + wobble * xi * signs * here
    return source, target, xi


def rows_are_those_of_the_pose(result, source, target, noise_bound):
    """Whether the rows that the certificate is about move no point of the cloud far from where the pose puts it."""
    attempt = result.certificate.attempt
    pose = Pose.from_matrix(result.transformation)
    cloud, pose = (target, pose.inverse) if attempt.swapped else (source, pose)
    first = np.array(attempt.axis)
    along = pose.apply(cloud) @ first
    row = np.array(attempt.rows[0])
    return bool(np.sqrt(np.mean((cloud @ row[:3] + row[3] - along) ** 2)) <= 2.0 * noise_bound)


def check_fields(result, n):
    """The contract of the result, type by type."""
    assert result.transformation.shape == (4, 4)
    assert result.transformation.dtype == np.float64
    np.testing.assert_array_equal(result.transformation[3], [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(result.rotation @ result.rotation.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(result.rotation) > 0.0
    assert result.translation.shape == (3,)
    assert result.inlier_mask.shape == (n,)
    assert result.inlier_mask.dtype == np.bool_
    for value, kind in (
        (result.num_inliers, int),
        (result.num_pairs, int),
        (result.fitness, float),
        (result.inlier_rmse, float),
        (result.objective, float),
        (result.significance, float),
        (result.status, str),
        (result.message, str),
        (result.success, bool),
        (result.seconds, dict),
    ):
        assert type(value) is kind
    assert result.message
    for stage in result.certificate.stages:
        for value in (stage.objective, stage.lower_bound, stage.saving, stage.saving_bound, stage.gap):
            assert type(value) is float
        assert type(stage.cells) is int
        assert type(stage.closed) is bool
        assert stage.saving <= stage.saving_bound
        assert stage.objective + stage.saving == pytest.approx(stage.lower_bound + stage.saving_bound)
        assert stage.closed == (stage.ended_by == "gap")
        assert stage.visited.shape[1] == 6
        assert stage.history.shape[1] == 3
    text = str(result)
    assert result.status in text
    assert f"{result.num_inliers} inliers of {n} pairs" in text
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["status"] == result.status
