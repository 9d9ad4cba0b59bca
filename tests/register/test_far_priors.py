"""Priors where coordinates are large, and what is said of their limits."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import turn_about


def moved_to(problem, offset):
    """The problem around another origin, and its pose there."""
    pose = problem.transformation.copy()
    pose[:3, 3] += offset - pose[:3, :3] @ offset
    return problem.source + offset, problem.target + offset, pose


@pytest.mark.parametrize("within", [(5, 0.5), (5, 5), (30, 100), (None, 1)])
@pytest.mark.parametrize("offset", [(4.5e5, 5.4e6, 300.0), (-1e6, 0.0, 2e6)])
def test_a_pose_near_the_initial_one_is_found_far_from_the_origin(offset, within):
    problem = tear3d.synthetic.make_problem(1500, 0.94, cloud="teapot", seed=1)
    source, target, pose = moved_to(problem, np.array(offset))
    guess = pose.copy()
    guess[:3, :3] = turn_about(np.array([0.0, 0.0, 1.0]), 1e-8) @ guess[:3, :3]
    found = tear3d.register(
        source, target, noise_bound=problem.noise_bound, initial=guess, within=within, certify=False
    )
    assert found.success
    assert found.num_inliers >= 85
    assert tear3d.metrics.rotation_error(found.transformation, pose) < 1.0


def test_limits_that_leave_no_turn_of_a_source_on_a_map_are_told(caplog):
    problem = tear3d.synthetic.make_problem(300, 0.5, cloud="teapot", seed=1)

    def told(offset, **known):
        caplog.clear()
        source, target, pose = moved_to(problem, np.array(offset))
        known = {"initial": pose, **known} if "within" in known else known
        tear3d.register(source, target, noise_bound=problem.noise_bound, certify=False, **known)
        return [record.getMessage() for record in caplog.records if "the way of the origin" in record.getMessage()]

    far, near = (4.5e5, 5.4e6, 300.0), (3.0, 4.0, 0.0)
    (said,) = told(far, within=(5, 10))
    assert "within limits the translation to 10," in said
    assert "of the turns of 5° that are allowed only 0.0001° are left" in said
    assert told(far, within=(None, 10))
    assert told(far, rotation_axis=(0, 0, 1), axis_tolerance=2, planar=True)
    for harmless in ({"within": (0, 10)}, {"within": (5, None)}, {"within": (5, 1e6)}, {"rotation_axis": (0, 0, 1)}):
        assert not told(far, **harmless)
    assert not told(near, within=(5, 0.01))


def test_clouds_far_from_the_origin_with_a_prior():
    turn = turn_about(np.array([0.0, 0.6, 0.8]), 0.4)
    lower, upper = tear3d.shapes.teapot(8000, seed=1), tear3d.shapes.teapot(8000, seed=2) @ turn.T
    far = np.array([4e5, 5e6, 100.0])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turn, far - turn @ far
    found = tear3d.register_clouds(lower + far, upper + far, initial=pose, within=(5, 0.5), certify=False)
    assert found.success
    assert tear3d.metrics.rotation_error(found.transformation, pose) < 0.5


@pytest.mark.parametrize("angle", [1e-3, 1e-2, 0.1])
def test_a_long_arm_is_turned_back_and_the_cloud_hardly_moves(angle):
    """By a turn that brings the far point back, all of the cloud moves about as far as its rim did before."""
    arm, radius = np.array([1e6, 0.0, 0.0]), 0.3
    prior = Prior(rotation=np.eye(3), turn=0.35, point=arm, place=arm, distance=0.3)
    pose = Pose(turn_about(np.array([0.0, 0.0, 1.0]), angle), np.zeros(3))
    nearest = prior.nearest(pose, np.zeros(3), radius)
    assert prior.contains(nearest)
    assert pose.distance(nearest, radius) < 2.0 * angle * radius


@pytest.mark.parametrize(
    ("within", "words"), [((1, 12345.6), "1° and 12345.6"), ((179.99, None), "179.99°"), ((10, 0.1), "10° and 0.1 in")]
)
def test_the_limits_in_words_are_those_that_were_given(within, words):
    assert words in Prior.of(initial=np.eye(4), within=within).words()
    tilted = Prior.of(rotation_axis=(0, 0, 1), axis_tolerance=179.99)
    assert "179.99°" in tilted.words()


@pytest.mark.parametrize("certify", [True, False, "rows"])
def test_pairs_that_are_set_aside_are_counted_in_the_message(certify):
    problem = tear3d.synthetic.make_problem(300, 0.8, seed=5)
    source, target = problem.source.copy(), problem.target.copy()
    source[:3] *= 1e9
    target[:3] *= -3e10
    found = tear3d.register(source, target, noise_bound=problem.noise_bound, certify=certify)
    assert "3 pairs that were set aside" in found.message


def test_a_noise_bound_that_was_not_settled_is_not_said_to_show_nothing():
    problem = tear3d.synthetic.make_problem(800, 0.9, seed=5)
    found = tear3d.register(problem.source, problem.target, time_limit=0.0)
    assert not found.noise.trusted
    assert "before it was settled" in found.message
    assert "no pose stood out" not in found.message


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("known", ["planar", "within", "shift"])
def test_a_cloud_as_far_as_float64_bears_is_registered(unit, known):
    """3·10⁸ of its sizes from the origin."""
    turn = turn_about(np.array([0.0, 0.0, 1.0]), 1.2)
    problem = tear3d.synthetic.make_problem(400, 0.8, rotation=turn, seed=3)
    source, target, pose = moved_to(problem, np.array([1e8, -1e8, 3e7]))
    up = np.array([0.0, 0.0, problem.transformation[2, 3]])  # level motion only
    source, target = unit * source, unit * (target - up)
    pose[:3, 3] = unit * (pose[:3, 3] - up + [0.1, 0.1, 0.0])
    options = {
        "planar": {"rotation_axis": (0, 0, 1), "planar": True},
        "within": {"initial": pose, "within": (10.0, 0.5 * unit)},
        "shift": {"initial": pose, "within": (None, 0.5 * unit)},
    }[known]
    found = tear3d.register(source, target, noise_bound=unit * problem.noise_bound, **options)
    assert found.status == "optimal"
    assert found.num_inliers >= 75


@pytest.mark.parametrize("known", [{"planar": True}, {"axis_tolerance": 3.0}])
def test_points_nearly_in_one_place_are_no_crash(known):
    rng = np.random.default_rng(5)
    source = np.ones((8, 3)) + 1e-9 * rng.normal(size=(8, 3))
    found = tear3d.register(source, source + 0.3, noise_bound=0.05, rotation_axis=(0, 0, 1), **known)
    assert found.status in ("optimal", "no_consensus")
