"""The parts of the question whether a shape can be laid onto itself."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.clouds.likeness import Likeness, Scan, likeness, look
from tear3d.clouds.slides import Slide, likely_slides, name_slides
from tear3d.clouds.turns import Field, likely_turns
from tear3d.features.voxel import voxel_downsample
from tests import naive_turns
from tests.bumpy import apply, bumpy_cloud, pose


def sheet(seed, noise=0.1):
    """A rough plane of 40 by 30, with about a point per unit of area."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-1.0, 1.0, (10_000, 2)) * [20.0, 15.0]
    return voxel_downsample(np.column_stack((flat, rng.normal(0.0, noise, len(flat)))), 1.0)


def looks(source, target, motion):
    rows = np.arange(len(source.points)), np.arange(len(target.points))
    return [look(source, rows[0], target, motion), look(target, rows[1], source, np.linalg.inv(motion))]


def compared(first, second, motion):
    source, target = Scan(first), Scan(second)
    return likeness(looks(source, target, np.eye(4)), looks(source, target, motion))


def test_surfaces_end_where_they_end():
    points = sheet(0)
    inner = (np.abs(points[:, 0]) < 17.0) & (np.abs(points[:, 1]) < 12.0)
    outer = (np.abs(points[:, 0]) > 19.5) | (np.abs(points[:, 1]) > 14.5)
    at_end = Scan(points).at_end
    assert at_end[inner].mean() < 0.1
    assert at_end[outer].mean() > 0.8


def test_distances_are_in_standard_deviations():
    for noise, least in ((0.3, 0.4), (0.1, 0.05)):
        source, target = Scan(sheet(0, noise)), Scan(sheet(1, noise))
        seen = look(source, np.arange(len(source.points)), target, np.eye(4))
        # Less than one where there is hardly any noise: a twentieth of the spacing is always allowed for.
        assert least < seen.squares[seen.near & seen.inside].mean() < 1.4


def test_a_slide_is_as_good_and_a_step_aside_is_not():
    first, second = sheet(0), sheet(1)
    slid = compared(first, second, pose([0, 0, 0], [4.0, 0, 0]))
    assert slid.as_good
    assert slid.lost == pytest.approx(0.1, abs=0.03)
    lifted = compared(first, second, pose([0, 0, 0], [0, 0, 0.8]))
    assert not lifted.as_good
    assert lifted.excess > 3.0
    assert not lifted.settled


def test_a_small_thing_that_both_saw_speaks_against_a_slide():
    def with_post(seed):
        rng = np.random.default_rng(seed)
        angle, height = rng.uniform(0, 2 * np.pi, 90), rng.uniform(0, 8, 90)
        return np.concatenate((sheet(seed), np.column_stack((2 * np.cos(angle), 2 * np.sin(angle), height))))

    slide = pose([0, 0, 0], [6.0, 0, 0])
    found = compared(with_post(0), with_post(1), slide)
    assert found.settled
    assert found.contradicted
    assert found.against == pytest.approx(90 / (len(sheet(0)) + 90), rel=0.3)
    # Seen by one scan only, it says nothing.
    assert compared(with_post(0), sheet(1), slide).as_good


def test_nothing_in_common():
    assert compared(sheet(0), sheet(1), pose([0, 0, 0], [0, 0, 50.0])) == Likeness(0.0, np.inf, 1.0, 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_misfits_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    cloud, points, centre = rng.normal(size=(40, 3)), 2.0 * rng.normal(size=(10, 3)), rng.normal(size=3)
    rotations = Rotation.from_rotvec(rng.normal(size=(3, 3))).as_matrix()
    field = Field(cloud)
    twin = [
        naive_turns.misfit(points, cloud, each, centre, field.cell, field.corner, field.distance.shape)
        for each in rotations
    ]
    assert field.misfits(points, rotations, centre) == pytest.approx(twin, rel=1e-5)


@pytest.mark.parametrize("order", [2, 3, 5])
def test_the_turn_of_a_shape_is_likely(order):
    part = bumpy_cloud(1_500, 0) * [1.0, 1.0, 1.5]
    whole = np.concatenate([apply(pose([0, 0, 2 * np.pi * k / order], np.zeros(3)), part) for k in range(order)])
    guesses = likely_turns(whole, Field(whole), np.zeros(3), 3)
    wanted = Rotation.from_rotvec([0, 0, 2 * np.pi / order])
    apart = [
        min((Rotation.from_matrix(guess[:3, :3]) * turn).magnitude() for turn in (wanted, wanted.inv()))
        for guess in guesses
    ]
    assert np.degrees(min(apart)) < 5.0


def cylinder(closed):
    rng = np.random.default_rng(0)
    angle, height = rng.uniform(0, 2 * np.pi, 4_000), rng.uniform(-8, 8, 4_000)
    normals = np.column_stack((np.cos(angle), np.sin(angle), 0 * angle))
    points = 5.0 * normals + height[:, None] * [0, 0, 1]
    if closed:
        flat = rng.uniform(-5, 5, (1_500, 2))
        flat = flat[np.hypot(*flat.T) < 5.0]
        points = np.concatenate((points, np.column_stack((flat, np.full(len(flat), 8.0)))))
        normals = np.concatenate((normals, np.tile([0.0, 0.0, 1.0], (len(flat), 1))))
    return points, normals


MOVED = pose([0.3, -0.8, 0.4], [20.0, -7.0, 3.0])
AXIS = MOVED[:3, 2]


@pytest.mark.parametrize(("closed", "kinds"), [(True, ["rotation"]), (False, ["rotation", "translation"])])
def test_a_cylinder_turns_and_slides(closed, kinds):
    points, normals = cylinder(closed)
    points, normals = apply(MOVED, points), normals @ MOVED[:3, :3].T
    slides = likely_slides(points, normals)
    assert len(slides) == len(kinds)
    for slide in slides:
        motion = slide.motion(3.0)
        apart = np.linalg.norm(apply(motion, points) - points, axis=1)
        assert apart.max() == pytest.approx(3.0, rel=0.05)
        back = (apply(motion, points) - MOVED[:3, 3]) @ MOVED[:3, :3]
        on_wall = np.abs(back[:, 2]) < 7.9
        assert np.hypot(*back[on_wall, :2].T) == pytest.approx(5.0, abs=0.05) or closed
    named = name_slides(slides, points)
    assert [motion.kind for motion in named] == kinds
    for motion in named:
        assert motion.step is None
        assert abs(np.dot(motion.axis, AXIS)) == pytest.approx(1.0, abs=1e-3)
        assert np.linalg.norm(np.cross(np.subtract(motion.through, MOVED[:3, 3]), AXIS)) < 0.1


def test_a_corner_does_not_slide():
    rng = np.random.default_rng(0)
    normals = np.repeat(np.eye(3), 500, axis=0)
    assert likely_slides(rng.uniform(0, 10, (1_500, 3)) * (1.0 - normals), normals) == []


def test_a_screw_has_no_name():
    points = bumpy_cloud(500, 0)
    screw = Slide(np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.0, 0.5]))
    assert name_slides([screw], points) == []
    turned = screw.motion(np.pi)
    assert turned[:3, :3] == pytest.approx(Rotation.from_rotvec([0, 0, np.pi / 2]).as_matrix())
    assert turned[:3, 3] == pytest.approx([0.0, 0.0, np.pi / 2])
