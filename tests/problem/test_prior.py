"""What is known of a pose: which poses are allowed, and which pairs can agree with one of them."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.errors import InputError
from tear3d.problem.pose import Pose
from tear3d.problem.possible import possible
from tear3d.problem.prior import Prior
from tear3d.problem.turns import angle_between, angle_of, axis_of, shortest_turn, turn_about
from tests.prove.pose.priors import KINDS, allowed_pose, make_prior, small, unit

seeds = st.integers(0, 2**32 - 1)
MATRIX = np.eye(4)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rotation_axis": (0, 0)}, "rotation_axis"),
        ({"rotation_axis": "up"}, "rotation_axis"),
        ({"rotation_axis": (0, 0, 0)}, "not zero"),
        ({"rotation_axis": (0, np.nan, 1)}, "finite"),
        ({"axis_tolerance": 3}, "without rotation_axis"),
        ({"rotation_axis": (0, 0, 1), "axis_tolerance": -1}, "axis_tolerance"),
        ({"rotation_axis": (0, 0, 1), "axis_tolerance": "3"}, "axis_tolerance"),
        ({"planar": True}, "without rotation_axis"),
        ({"rotation_axis": (0, 0, 1), "planar": 1}, "planar"),
        ({"rotation_axis": (0, 0, 1), "plane_tolerance": 1.0}, "without planar"),
        ({"rotation": np.eye(2)}, "3×3"),
        ({"rotation": 2.0 * np.eye(3)}, "no rotation"),
        ({"rotation": np.diag([1.0, 1.0, -1.0])}, "reflection"),
        ({"rotation": np.eye(3), "rotation_axis": (0, 0, 1)}, "both say how to turn"),
        ({"initial": MATRIX}, "without within"),
        ({"within": (10, 1)}, "without initial"),
        ({"initial": np.ones((4, 4)), "within": (10, 1)}, "last row"),
        ({"initial": MATRIX, "within": 10}, "within is 10"),
        ({"initial": MATRIX, "within": (10, 1, 2)}, "degrees, distance"),
        ({"initial": MATRIX, "within": (-10, 1)}, r"within\[0\]"),
        ({"initial": MATRIX, "within": (10, "near")}, r"within\[1\]"),
        ({"initial": np.diag([1.0, -1.0, -1.0, 1.0]), "within": (10, 1), "rotation_axis": (0, 0, 1)}, "within both"),
    ],
)
def test_what_is_wrong_is_named(options, words):
    with pytest.raises(InputError, match=words):
        Prior.of(**options)


def test_what_leaves_nothing_out_is_no_prior():
    assert Prior.of() is None
    assert Prior.of(initial=MATRIX, within=(None, None)) is None
    assert Prior.of(initial=MATRIX, within=(180, np.inf)) is None
    assert Prior.of(rotation_axis=(0, 0, 1), axis_tolerance=180) is None


def test_an_axis_may_differ_between_the_clouds():
    prior = Prior.of(rotation_axis=[(0, 0, 2), (3, 0, 0)])
    turned = shortest_turn(np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]))
    assert prior.contains(Pose(turned, np.ones(3)))
    assert prior.contains(Pose(turn_about(np.array([1.0, 0.0, 0.0]), 1.0) @ turned, np.ones(3)))
    assert not prior.contains(Pose.identity())


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=150, deadline=None)
def test_the_nearest_pose_is_allowed_and_an_allowed_one_is_its_own(seed, kind):
    rng = np.random.default_rng(seed)
    prior = make_prior(rng, Pose(small(rng, 3.0), rng.normal(size=3)), 1.0, kind)
    found = allowed_pose(rng, prior, 1.0)
    assert prior.contains(found)
    again = prior.nearest(found)
    assert np.abs(again.matrix - found.matrix).max() < 1e-6
    assert np.abs(found.rotation @ found.rotation.T - np.eye(3)).max() < 1e-12


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=100, deadline=None)
def test_other_coordinates_allow_the_same_poses(seed, kind):
    rng = np.random.default_rng(seed)
    prior = make_prior(rng, Pose.identity(), 1.0, kind)
    source, target, scale = rng.normal(size=3), rng.normal(size=3), 10.0 ** rng.uniform(-2, 2)
    inside = prior.between(source, target, scale)
    pose = allowed_pose(rng, prior, 1.0)
    moved = pose.between(source, target)
    assert inside.contains(Pose(moved.rotation, moved.translation / scale), 1e-8)
    away = Pose(pose.rotation, pose.translation + 100.0 * unit(rng))
    there = away.between(source, target)
    assert prior.contains(away) == inside.contains(Pose(there.rotation, there.translation / scale))


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=150, deadline=None)
def test_a_pair_that_agrees_with_an_allowed_pose_is_possible(seed, kind):
    rng = np.random.default_rng(seed)
    prior = make_prior(rng, Pose(small(rng, 3.0), rng.normal(size=3)), 1.0, kind)
    pose, xi = allowed_pose(rng, prior, 1.0), 10.0 ** rng.uniform(-3, 0, 40)
    x = rng.normal(size=(40, 3)) * 10.0 ** rng.uniform(-2, 1)
    y = pose.apply(x) + xi[:, None] * np.array([unit(rng) for _ in range(40)]) * 0.999999
    assert possible(prior, x, y, xi).all()


def test_pairs_that_no_allowed_pose_explains_are_left_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    y = 3.0 * rng.normal(size=(2000, 3))
    kept = [
        np.mean(possible(Prior.of(**options), x, y, np.array([0.05])))
        for options in (
            {"rotation_axis": (0, 0, 1), "planar": True},
            {"initial": MATRIX, "within": (10, 0.3)},
            {"rotation_axis": (0, 0, 1)},
        )
    ]
    assert kept[0] < 0.05
    assert kept[1] < 0.05
    assert kept[2] == 1.0


@pytest.mark.parametrize("angle", [1e-9, 1e-4, 1.0, 3.0, math.pi - 1e-6, math.pi])
def test_angle_and_axis_of_a_rotation(angle):
    rng = np.random.default_rng(3)
    for _ in range(20):
        axis = unit(rng)
        rotation = turn_about(axis, angle)
        assert angle_of(rotation) == pytest.approx(angle, abs=1e-7, rel=1e-6)
        assert np.abs(turn_about(axis_of(rotation), angle_of(rotation)) - rotation).max() < 1e-7
        other = unit(rng)
        assert angle_between(shortest_turn(axis, other, 0.1) @ axis, other) == pytest.approx(0.1)


def test_words_tell_what_is_allowed():
    prior = Prior.of(rotation_axis=(0, 0, 1), axis_tolerance=2, planar=True, initial=MATRIX, within=(20, 0.5))
    assert prior.words() == (
        "that turn about the given axis (0, 0, 1), give or take 2°, and within 20° and 0.5 in translation of the "
        "initial one and that stay in the plane across the axis"
    )
    assert Prior.of(rotation=np.eye(3)).words() == "with the given rotation"


def test_a_point_far_from_the_cloud_is_brought_back_by_a_turn():
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(100, 3)) + np.array([300.0, 0.0, 0.0])
    prior = Prior.of(initial=MATRIX, within=(10, 0.01))
    off = Pose(turn_about(np.array([0.0, 0.0, 1.0]), 1e-3), np.array([0.0, -0.3, 0.0]))  # 0.3 from the initial one
    by_turn = prior.nearest(off, cloud.mean(axis=0), 1.7)
    by_shift = prior.nearest(off)
    moved = [np.linalg.norm(pose.apply(cloud) - off.apply(cloud), axis=1).max() for pose in (by_turn, by_shift)]
    assert prior.contains(by_turn)
    assert prior.contains(by_shift)
    assert moved[0] < 0.02 < 0.2 < moved[1]


@pytest.mark.parametrize(("lean", "turn"), [(5.0, 5.5), (90.0, 100.0), (0.0, 30.0)])
def test_about_an_exact_axis_the_nearest_turn_is_that_at_the_edge(lean, turn):
    leaning = np.eye(4)
    leaning[:3, :3] = turn_about(np.array([1.0, 0.0, 0.0]), math.radians(lean))
    prior = Prior.of(rotation_axis=(0, 0, 1), initial=leaning, within=(turn, None))
    up = np.array([0.0, 0.0, 1.0])
    most = 2.0 * math.degrees(math.acos(math.cos(math.radians(turn / 2)) / math.cos(math.radians(lean / 2))))
    for angle in (most + 1e-3, most + 20.0, -most - 1.0):
        found = prior.nearest(Pose(turn_about(up, math.radians(angle)), np.zeros(3)))
        assert prior.contains(found)
        assert math.degrees(angle_of(found.rotation)) == pytest.approx(most, abs=1e-5)
        assert math.copysign(1.0, found.rotation[1, 0]) == math.copysign(1.0, angle)


@pytest.mark.parametrize(
    "options",
    [
        {"rotation_axis": (10**400, 0, 1)},
        {"rotation_axis": ("0", "0", "1")},
        {"rotation_axis": np.array([0, 0, 1j])},
        {"rotation_axis": np.ma.masked_array([0.0, 0.0, 1.0], [True, False, False])},
        {"rotation": [[10**400, 0, 0], [0, 1, 0], [0, 0, 1]]},
        {"rotation": 1e308 * np.eye(3)},
        {"initial": MATRIX, "within": np.array(5.0)},
        {"initial": MATRIX, "within": b"ab"},
        {"initial": MATRIX, "within": (np.complex64(3), 1)},
        {"initial": MATRIX + 1e200 * np.eye(4, k=3), "within": (5, 1)},
    ],
)
def test_odd_input_is_an_input_error(options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError):
            Prior.of(**options)
