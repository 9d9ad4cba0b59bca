"""What is known of a pose: gravity, a pose near by, a rotation; from `register` to its words."""

import math

import numpy as np
import pytest

import tear3d
from tear3d.lab.synthetic import random_rotation
from tear3d.metrics import rotation_error
from tear3d.problem.turns import turn_about

XI = 0.0554
UP = (0.0, 0.0, 1.0)


def made(n, wrong, seed, *, axis=UP, lean=0.0, planar=False, rotation=None):
    """Pairs of the paper's kind whose motion turns about an axis, up to a lean in degrees."""
    rng = np.random.default_rng(seed)
    axis = np.array(axis) / np.linalg.norm(axis)
    if rotation is None:
        rotation = turn_about(axis, rng.uniform(-math.pi, math.pi))
        across = np.cross(axis, rng.normal(size=3))
        rotation = turn_about(across / np.linalg.norm(across), math.radians(lean)) @ rotation
    truth = np.eye(4)
    truth[:3, :3], truth[:3, 3] = rotation, rng.normal(size=3)
    if planar:
        truth[:3, 3] -= axis * (axis @ truth[:3, 3])
    x = rng.normal(size=(n, 3))
    y = x @ rotation.T + truth[:3, 3] + 0.01 * rng.normal(size=(n, 3))
    y[round(n * (1.0 - wrong)) :] = 1.67 * rng.normal(size=(round(n * wrong), 3))
    return x, y, truth


def off(truth, degrees, shift):
    """A pose so far from another."""
    other = truth.copy()
    other[:3, :3] = turn_about(np.array([0.6, 0.0, 0.8]), math.radians(degrees)) @ truth[:3, :3]
    other[:3, 3] += shift
    return other


def right(result, truth):
    return rotation_error(result.transformation, truth) < 2.0 and np.abs(result.translation - truth[:3, 3]).max() < 0.1


@pytest.mark.parametrize("seed", range(20))
def test_gravity_is_right_and_proven_where_one_in_a_hundred_agrees(seed):
    x, y, truth = made(1000, 0.99, seed)
    result = tear3d.register(x, y, noise_bound=XI, rotation_axis=UP)
    assert result.status == "optimal"
    assert right(result, truth)
    assert np.allclose(result.rotation @ UP, UP, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_gravity_is_right_where_one_in_a_thousand_agrees(seed):
    x, y, truth = made(100_000, 0.999, seed)
    result = tear3d.register(x, y, noise_bound=XI, rotation_axis=UP)
    assert result.status == "optimal"
    assert right(result, truth)


@pytest.mark.parametrize("seed", range(20))
def test_an_axis_two_degrees_off_is_no_matter_with_a_tolerance_of_three(seed):
    x, y, truth = made(1000, 0.98, seed, lean=2.0)
    result = tear3d.register(x, y, noise_bound=XI, rotation_axis=UP, axis_tolerance=3.0)
    assert result.status == "optimal"
    assert right(result, truth)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (1, 2, -3)])
@pytest.mark.parametrize("loss", ["tear", "tls", "cm"])
def test_any_axis_and_any_loss(axis, loss):
    x, y, truth = made(500, 0.95, 1, axis=axis)
    result = tear3d.register(x, y, noise_bound=XI, rotation_axis=axis, loss=loss)
    assert result.status == "optimal"
    assert right(result, truth)


def test_axes_that_differ_between_the_clouds():
    x, y, truth = made(500, 0.95, 2)
    turn = random_rotation(np.random.default_rng(0))
    truth[:3, :3] = truth[:3, :3] @ turn.T
    result = tear3d.register(x @ turn.T, y, noise_bound=XI, rotation_axis=[turn @ UP, UP])
    assert result.status == "optimal"
    assert right(result, truth)


@pytest.mark.parametrize("axis", [UP, (1, 2, 3)])
def test_motion_in_a_plane(axis):
    x, y, truth = made(500, 0.98, 3, axis=axis, planar=True)
    result = tear3d.register(x, y, noise_bound=XI, rotation_axis=axis, planar=True)
    assert result.status == "optimal"
    assert right(result, truth)
    assert abs(result.translation @ axis) < 1e-12
    assert "plane" in result.message


def test_a_known_rotation_leaves_the_translation():
    x, y, truth = made(500, 0.98, 4)
    result = tear3d.register(x, y, noise_bound=XI, rotation=truth[:3, :3])
    assert result.status == "optimal"
    assert np.allclose(result.rotation, truth[:3, :3], atol=1e-14)
    assert right(result, truth)
    assert "with the given rotation" in result.message


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_near_a_pose_that_is_given_in_any_unit(scale):
    x, y, truth = made(1000, 0.98, 5, rotation=random_rotation(np.random.default_rng(7)))
    truth[:3, 3] *= scale
    initial = off(truth, 5.0, 0.2 * scale)
    near = tear3d.register(scale * x, scale * y, noise_bound=scale * XI, initial=initial, within=(10, 0.5 * scale))
    assert near.status == "optimal"
    assert rotation_error(near.transformation, truth) < 2.0
    assert "within 10°" in near.certificate.scope
    assert near.message.startswith("of the poses within 10°")
    assert near.to_dict()["certificate"]["scope"] == near.certificate.scope
    assert near.settings["prior"]["degrees"] == pytest.approx(10.0)


def test_a_truth_outside_is_not_found_and_nothing_is_claimed_of_it():
    x, y, truth = made(1000, 0.9, 6)
    result = tear3d.register(x, y, noise_bound=XI, initial=off(truth, 40.0, 1.0), within=(10, 0.3))
    assert result.status == "no_consensus"
    assert not result.success
    assert "within 10°" in result.message


def test_a_pose_at_the_edge_is_called_so():
    x, y, truth = made(1000, 0.5, 7)
    edge = tear3d.register(x, y, noise_bound=XI, initial=off(truth, 3.0, 0.0), within=(2.5, 0.5))
    assert "at the edge of what is allowed" in edge.message
    assert edge.message.startswith("of the poses within 2.5°")
    inside = tear3d.register(x, y, noise_bound=XI, initial=off(truth, 3.0, 0.0), within=(6, 0.5))
    assert "edge" not in inside.message


def test_the_result_is_the_same_for_any_number_of_threads():
    x, y, truth = made(3000, 0.97, 8, lean=1.0)
    for options in ({"rotation_axis": UP, "axis_tolerance": 2.0}, {"initial": off(truth, 5, 0.1), "within": (15, 1.0)}):
        found = [tear3d.register(x, y, noise_bound=XI, threads=count, **options) for count in (1, 2, 4)]
        assert len({result.transformation.tobytes() for result in found}) == 1
        assert len({(result.certificate.gap, result.certificate.cells, result.message) for result in found}) == 1


def test_pairs_that_agree_with_no_allowed_pose_do_not_count():
    x, y, truth = made(300, 0.0, 9)
    y[:200] += 5.0  # another motion, which no pose near the given one has
    result = tear3d.register(x, y, noise_bound=XI, initial=truth, within=(5, 0.5))
    assert result.status == "optimal"
    assert result.num_inliers == 100
    assert result.num_pairs == 300


@pytest.mark.parametrize("certify", ["rows"])
def test_rows_know_no_priors(certify):
    x, y, _ = made(50, 0.0, 10)
    with pytest.raises(tear3d.InputError, match="certify='rows'"):
        tear3d.register(x, y, noise_bound=XI, rotation_axis=UP, certify=certify)
    with pytest.raises(tear3d.InputError, match="method='paper'"):
        tear3d.register(x, y, noise_bound=XI, rotation_axis=UP, method="paper")


@pytest.mark.clock
def test_limits_hold_and_the_pose_is_allowed():
    x, y, _ = made(20_000, 0.995, 11, lean=1.0)
    result = tear3d.register(x, y, noise_bound=XI, rotation_axis=UP, axis_tolerance=1.5, time_limit=0.05)
    assert sum(v for k, v in result.seconds.items() if k != "compiling") < 1.0
    lean = math.degrees(math.acos(min(1.0, result.rotation[2, 2])))
    assert lean <= 1.5 + 1e-6


@pytest.mark.parametrize("centre", [0.0, 10.0, 100.0])
@pytest.mark.parametrize("distance", [0.0, 0.03, 1.0])
def test_the_origin_of_the_translation_may_be_far_from_the_cloud(centre, distance):
    x, y, truth = made(500, 0.8, 12, rotation=random_rotation(np.random.default_rng(3)))
    x = x + centre
    truth[:3, 3] -= truth[:3, :3] @ np.full(3, centre)
    result = tear3d.register(x, y, noise_bound=XI, initial=truth, within=(10, distance))
    assert result.status == "optimal"
    assert result.num_inliers >= 95
    assert np.linalg.norm(result.translation - truth[:3, 3]) <= distance * (1.0 + 1e-9) + 1e-9 * (1.0 + centre)


def test_the_covariance_has_as_many_ways_as_the_pose():
    x, y, truth = made(300, 0.2, 13)
    ways = {
        4: {"rotation_axis": UP},
        3: {"rotation": truth[:3, :3]},
        5: {"rotation_axis": UP, "axis_tolerance": 3.0, "planar": True, "initial": truth, "within": (None, None)},
    }
    for rank, options in ways.items():
        found = tear3d.register(x, y, noise_bound=XI, certify=False, **options)
        sizes = np.linalg.eigvalsh(found.covariance)
        assert np.count_nonzero(sizes > 1e-9 * sizes[-1]) == rank
    pinned = tear3d.register(x, y, noise_bound=XI, certify=False, initial=truth, within=(10, 0))
    assert np.linalg.matrix_rank(pinned.covariance, tol=1e-9 * np.linalg.norm(pinned.covariance)) == 3


@pytest.mark.parametrize("loss", ["tear", "cm"])
def test_a_single_pose_may_be_allowed(loss):
    x, y, truth = made(300, 0.5, 14)
    result = tear3d.register(x, y, noise_bound=XI, loss=loss, initial=truth, within=(0, 0))
    assert result.status == "optimal"
    assert np.allclose(result.transformation, truth, atol=1e-12)
    assert not result.covariance.any()
