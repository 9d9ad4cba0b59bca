"""Poses around pivots when the vertical is known."""

import math

import numpy as np
import pytest

from tear3d.find.seekers import STEEP, Free, Upright, Within, seeker_for
from tear3d.find.upright import UprightAim, _agreeing, search_upright
from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES, TEAR
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import turn_about
from tests.naive_upright import agrees, best_upright, turned
from tests.prove.pose.priors import KINDS, make_prior

XI = 0.05


def made(rng, n=200, right=40, angle=1.0, lean=0.0):
    """7×n points, the first of which follow a turn about the vertical that may lean."""
    points = np.empty((7, n))
    points[:3], points[3:6], points[6] = rng.normal(size=(3, n)), 1.5 * rng.normal(size=(3, n)), XI
    motion = turn_about(np.array([1.0, 0.0, 0.0]), lean) @ turned(angle)
    points[3:6, :right] = motion @ points[:3, :right] + np.array([[0.3], [-0.2], [0.9]])
    points[3:6, :right] += 0.2 * XI * rng.normal(size=(3, right))
    return points, motion


@pytest.mark.parametrize("shifts", [False, True])
@pytest.mark.parametrize("lean", [0.0, 0.1])
def test_who_agrees_is_who_agrees_with_the_twin(lean, shifts):
    points, _ = made(np.random.default_rng(0), angle=0.0 if shifts else 1.0)
    flags = np.empty(points.shape[1], np.uint8)
    for p in range(0, 80, 7):
        _agreeing(points, p, UprightAim(TEAR, 0.5, lean, 0.6, shifts), flags)
        twin = [agrees(points, p, j, 0.5, lean, shifts) for j in range(points.shape[1])]
        assert flags.astype(bool).tolist() == twin


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("angle", [0.0, 1.0, math.pi, -3.1])
def test_the_pose_around_a_right_pivot_is_that_of_the_twin(angle, dtype):
    points, motion = made(np.random.default_rng(1), angle=angle)
    poses, scores = np.empty((8, 12)), np.empty(8)
    aim = UprightAim(TEAR, 0.5, 0.0, 0.0, False)
    search_upright(points.astype(dtype), aim, 0, 8, 4.0, poses, scores)
    for p in range(8):
        count, (rotation, shift) = best_upright(points, p, 0.5)
        assert count > 10
        assert scores[p] > 5.0
        assert np.abs(poses[p, :9].reshape(3, 3) - motion).max() < 0.05
        assert np.abs(rotation - motion).max() < 0.1
        assert np.linalg.norm(poses[p, 9:] - shift) < 4.0 * XI


def test_a_pivot_without_company_scores_nothing():
    points, _ = made(np.random.default_rng(2), right=0)
    poses, scores = np.empty((20, 12)), np.empty(20)
    search_upright(points, UprightAim(TEAR, 0.5, 0.0, 0.6, False), 0, 20, 8.0, poses, scores)
    assert not scores.any()


def test_an_axis_that_is_off_is_found_with_a_tolerance():
    points, motion = made(np.random.default_rng(3), lean=math.radians(3.0))
    poses, scores = np.empty((8, 12)), np.empty(8)
    search_upright(points, UprightAim(TEAR, 0.5, 0.06, 0.0, False), 0, 8, 4.0, poses, scores)
    best = int(np.argmax(scores))
    assert np.abs(poses[best, :9].reshape(3, 3) - motion).max() < 0.02


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, Free),
        ({"rotation_axis": (0, 0, 1)}, Upright),
        ({"rotation_axis": (1, 2, 3), "axis_tolerance": 5}, Upright),
        ({"rotation_axis": (1, 2, 3), "axis_tolerance": 2.0 * math.degrees(STEEP)}, Within),
        ({"rotation": np.eye(3)}, Upright),
        ({"initial": np.eye(4), "within": (20, 1)}, Within),
    ],
)
def test_who_seeks(options, kind):
    x = np.random.default_rng(0).normal(size=(20, 3))
    assert type(seeker_for(Pairs.of(x, x, 0.1).confined(Prior.of(**options)))) is kind


def test_poses_come_back_in_the_coordinates_of_the_pairs():
    rng = np.random.default_rng(5)
    axis = np.array([1.0, -2.0, 0.5]) / math.sqrt(5.25)
    rotation, x = turn_about(axis, 2.0), rng.normal(size=(64, 3))
    pairs = Pairs.of(x, x @ rotation.T + 1.0, XI).confined(Prior.of(rotation_axis=axis))
    seeker = seeker_for(pairs)
    poses, scores = np.empty((4, 12)), np.empty(4)
    from tear3d.find.seekers import Span

    seeker.search(seeker.rows(64), seeker.aim(LOSSES["tear"], np.inf), Span(0, 4, 4.0), poses, scores)
    assert scores.min() > 50.0
    assert np.allclose(poses[:, :9].reshape(-1, 3, 3), rotation, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_no_allowed_pose_is_nearer_than_it_is_said_to_be(kind):
    """So that a pose is given up at once only where it would be given up in the end."""
    rng = np.random.default_rng(KINDS.index(kind))
    x = rng.normal(size=(50, 3))
    far = sharp = 0
    for _ in range(30):
        prior = make_prior(rng, Pose(random_rotation(rng), rng.normal(size=3)), 1.0, kind)
        pairs = Pairs.of(x, x, XI).confined(prior)
        seeker = Within(pairs, pairs.prior)
        poses = [Pose(random_rotation(rng), 2.0 * rng.normal(size=3)) for _ in range(5)]
        allowed = [pairs.allow(pose) for pose in poses]
        least = seeker.least_distances(np.array([pose.row for pose in poses]))
        inside = seeker.least_distances(np.array([pose.row for pose in allowed]))
        assert np.all(inside <= 1e-6 * (1.0 + np.linalg.norm(prior.point)))
        for pose, bound in zip(poses, least, strict=True):
            nearest = min(pose.distance(other, seeker.radius) for other in allowed)
            assert bound <= nearest + 1e-6
            far += bound > 3.0 * XI
            sharp += bound > 0.2 * nearest
    assert far > 20
    assert sharp > 5
