import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.judge.symmetry import free_motions
from tests.bumpy import bumpy_cloud, pose

POINTS = bumpy_cloud(500, 0) + np.array([4.0, -2.0, 1.0])
POSE = pose([0.4, -1.2, 0.3], [1.0, 5.0, -3.0])
AXIS = np.array([1.0, 2.0, -2.0]) / 3.0
THROUGH = np.array([4.1, -2.2, 1.3])


def turn(degrees, axis=AXIS, through=THROUGH, advance=0.0):
    rotation = Rotation.from_rotvec(np.radians(degrees) * axis).as_matrix()
    S = np.eye(4)
    S[:3, :3], S[:3, 3] = rotation, through - rotation @ through + advance * axis
    return S


def named(*motions, noise_bound=0.0):
    return free_motions(POSE, [POSE @ motion for motion in motions], POINTS, noise_bound=noise_bound)


def check_axis(motion, axis, through):
    assert np.linalg.norm(np.cross(motion.axis, axis)) < 1e-9
    assert np.linalg.norm(motion.axis) == pytest.approx(1.0)
    assert np.linalg.norm(np.cross(np.array(motion.through) - through, axis)) < 1e-9


@pytest.mark.parametrize(
    ("angles", "step"),
    [
        ((180.0,), 180.0),
        ((120.0,), 120.0),
        ((-120.0, 120.0), 120.0),
        ((180.0, 120.0), 60.0),
        ((90.0, 180.0), 90.0),
        ((144.0,), 72.0),
        ((30.0, -60.0, 150.0), 30.0),
        ((37.3,), 37.3),
        ((37.3, 81.9, 144.4, -11.1), None),
    ],
)
def test_rotations_about_one_axis(angles, step):
    (motion,) = named(*(turn(angle) for angle in angles))
    assert motion.kind == "rotation"
    check_axis(motion, AXIS, THROUGH)
    assert motion.step == (None if step is None else pytest.approx(step))


def test_the_three_half_turns_of_a_box():
    motions = named(*(turn(180.0, axis) for axis in np.eye(3)))
    assert len(motions) == 3
    for motion, axis in zip(motions, np.eye(3), strict=True):
        check_axis(motion, axis, THROUGH)
        assert motion.step == pytest.approx(180.0)


def test_parallel_axes_are_kept_apart():
    motions = named(turn(180.0), turn(180.0, through=THROUGH + np.array([0.5, 0.0, 0.0])))
    assert [motion.step for motion in motions] == pytest.approx([180.0, 180.0])


@pytest.mark.parametrize(
    ("lengths", "step"), [((1.5,), 1.5), ((1.5, 3.0), 1.5), ((-2.0, 3.0), 1.0), ((1.0, 1.37, 2.11), None)]
)
def test_translations_along_one_direction(lengths, step):
    (motion,) = named(*(pose([0, 0, 0], length * AXIS) for length in lengths))
    assert motion.kind == "translation"
    assert np.linalg.norm(np.cross(motion.axis, AXIS)) < 1e-9
    assert motion.step == (None if step is None else pytest.approx(step))


def test_noise_neither_parts_axes_nor_makes_screws():
    bent = Rotation.from_rotvec([0.02, 0.0, -0.02]).apply(AXIS)
    motions = (turn(90.4), turn(-179.5, bent, THROUGH + 0.01, 0.03))
    (motion,) = named(*motions, noise_bound=0.03)
    assert motion.step == pytest.approx(90.0)
    assert len(named(*motions)) < 2 or named(*motions)[0].step != pytest.approx(90.0)


def test_a_screw_has_no_name():
    assert named(turn(90.0, advance=0.5), noise_bound=0.03) == ()


def test_the_same_pose_is_no_motion():
    assert named(np.eye(4)) == ()
    assert named(turn(1.0), pose([0, 0, 0], [0.02, 0.0, 0.0]), noise_bound=0.03) == ()
