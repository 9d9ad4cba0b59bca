"""Which shapes are called ambiguous, and what they are told to be free to do."""

import time

import numpy as np
import pytest

import tear3d
from benchmarks.ambiguity import scans
from benchmarks.families import ASYMMETRIC, SYMMETRIC
from tear3d.clouds.symmetry import ambiguity
from tear3d.features.voxel import choose_voxel_size, voxel_downsample
from tests.bumpy import apply, bumpy_cloud, pose
from tests.real_data import require_clouds

TRUTH = pose([0.4, -0.2, 1.0], [3.0, 1.0, -2.0])


def asked(source, target, truth, **options):
    size = choose_voxel_size(source, target)
    return ambiguity(voxel_downsample(source, size), voxel_downsample(target, size), truth, size, **options)


def about(family, seed, partial=False):
    return asked(*scans(SYMMETRIC.get(family) or ASYMMETRIC[family], seed, partial), threads=1)


def about_z(motion):
    """The families have their main axis there, through the origin."""
    lean, off = np.linalg.norm(motion.axis[:2]), np.linalg.norm(np.cross(motion.through, motion.axis))
    return lean < 0.03 and off < 0.05


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("family", SYMMETRIC)
def test_symmetric(family, partial):
    assert about(family, 3, partial) is not None


@pytest.mark.parametrize("partial", [False, True])
@pytest.mark.parametrize("family", ASYMMETRIC)
def test_asymmetric(family, partial):
    assert about(family, 3, partial) is None


@pytest.mark.parametrize("family", ["cylinder", "cone", "torus", "revolution"])
def test_any_turn_about_the_axis(family):
    free = [motion for motion in about(family, 5).free if motion.step is None]
    assert [motion.kind for motion in free] == ["rotation"]
    assert about_z(free[0])


def test_a_sphere_turns_about_any_axis_through_its_centre():
    found = about("sphere", 5)
    assert [(motion.kind, motion.step) for motion in found.free] == [("rotation", None)] * 3
    assert all(np.linalg.norm(motion.through) < 0.02 for motion in found.free)
    assert abs(np.linalg.det([motion.axis for motion in found.free])) > 0.1


def test_a_plane_slides_and_turns():
    free = [motion for motion in about("plane", 5).free if motion.step is None]
    assert sorted(motion.kind for motion in free) == ["rotation", "translation", "translation"]
    for motion in free:
        assert abs(motion.axis[2]) == pytest.approx(float(motion.kind == "rotation"), abs=0.03)


def test_walls_slide_along_themselves():
    # With a floor between them, and without.
    (free,) = (motion for motion in about("parallel walls", 6).free if motion.step is None)
    assert free.kind == "translation"
    assert abs(free.axis[0]) > 0.99
    free = [motion for motion in about("parallel walls", 4).free if motion.step is None]
    assert sorted(motion.kind for motion in free) == ["rotation", "translation", "translation"]


def test_a_box_has_three_half_turns():
    found = about("box", 0)
    assert [motion.step for motion in found.free] == pytest.approx([180.0] * 3)
    assert np.sort(np.abs([motion.axis for motion in found.free]).max(axis=1)) == pytest.approx(1.0, abs=0.01)
    assert "180°" in found.sentence


@pytest.mark.parametrize(("seed", "teeth"), [(0, 11), (1, 8), (2, 11)])
def test_a_gear_turns_by_one_tooth(seed, teeth):
    # Drawn first of all by the family.
    assert int(np.random.default_rng(seed).integers(5, 13)) == teeth
    found = [motion for motion in about("gear", seed).free if about_z(motion)]
    assert [motion.step for motion in found] == pytest.approx([360.0 / teeth])


def test_every_named_motion_fits():
    source, target, truth = scans(SYMMETRIC["bumpy, half turn"], 8, False)
    (motion,) = asked(source, target, truth).free
    S = pose(np.radians(motion.step) * np.array(motion.axis), np.zeros(3))
    S[:3, 3] = motion.through - S[:3, :3] @ motion.through
    refined = tear3d.refine.refine_icp(source, target, truth @ S)
    assert np.linalg.norm(apply(refined.transformation, source) - apply(truth @ S, source), axis=1).max() < 0.1
    assert refined.fitness > 0.99


@pytest.fixture(scope="module")
def row():
    """Six equal things in a row, of which one scan has the first four and the other the last four."""
    rng = np.random.default_rng(0)
    whole = np.concatenate([bumpy_cloud(8_000, 0) + np.array([3.0 * k, 0.0, 0.0]) for k in range(6)])
    first, second = (whole[rng.random(len(whole)) < 0.5] for _ in range(2))
    return [voxel_downsample(cloud, 0.12) for cloud in (first[first[:, 0] < 10.5], second[second[:, 0] > 4.5])]


def test_equal_things_in_a_row(row):
    motions = ambiguity(*row, np.eye(4), 0.12).free
    assert {motion.kind for motion in motions} == {"translation"}
    assert motions[0].step == pytest.approx(3.0, abs=0.02)
    assert np.abs(motions[0].axis) == pytest.approx((1.0, 0.0, 0.0), abs=0.01)


def test_other_poses_are_looked_at(row, monkeypatch):
    monkeypatch.setattr("tear3d.clouds.symmetry.likely_shifts", lambda *_: [])
    assert ambiguity(*row, np.eye(4), 0.12) is None
    assert ambiguity(*row, np.eye(4), 0.12, others=[pose([0, 0, 0.5], [0.5, 0.0, 1.0])]) is None
    (motion,) = ambiguity(*row, np.eye(4), 0.12, others=[pose([0, 0, 0], [3.0, 0.0, 0.0])]).free
    assert motion.step == pytest.approx(3.0, abs=0.02)


def test_a_handle_seen_by_one_scan_only_says_nothing():
    source, target, truth = scans(ASYMMETRIC["mug"], 2, False)
    assert asked(source, target, truth) is None
    bare = source[np.hypot(source[:, 0], source[:, 1]) < 0.85]
    assert len(bare) < len(source)
    (motion,) = (motion for motion in asked(bare, target, truth).free if motion.step is None)
    assert about_z(motion)


def test_the_same_points_twice():
    """Without any noise the pose fits perfectly, and a half turn as well as other points would."""
    points = tear3d.shapes.ellipsoid(12_000, seed=1)
    assert len(asked(points, apply(TRUTH, points), TRUTH).free) == 3
    points = bumpy_cloud(12_000, 0)
    assert asked(points, apply(TRUTH, points), TRUTH) is None


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_scale_and_place_do_not_matter(scale):
    source, target, truth = scans(SYMMETRIC["box"], 0, False)
    moved = truth.copy()
    moved[:3, 3] = scale * truth[:3, 3] - truth[:3, :3] @ np.full(3, 100.0 * scale)
    found = asked(scale * source + 100.0 * scale, scale * target, moved)
    assert [motion.step for motion in found.free] == pytest.approx([180.0] * 3)
    for motion in found.free:
        apart = np.subtract(motion.through, 100.0 * scale)
        assert np.linalg.norm(np.cross(apart, motion.axis)) < 0.05 * scale


def test_too_little_to_say():
    points = tear3d.shapes.ellipsoid(60, seed=1)
    assert ambiguity(points, points, np.eye(4), 0.3) is None
    many = tear3d.shapes.ellipsoid(3_000, seed=1)
    assert ambiguity(many, many, pose([0, 0, 0], [50.0, 0, 0]), 0.1) is None


def test_nothing_is_said_about_a_pose_that_does_not_fit():
    source, target, truth = scans(SYMMETRIC["box"], 0, False)
    wrong = truth @ pose([0.3, 0.5, 0.2], [0.2, 0.1, 0.0])
    assert asked(source, target, truth) is not None
    assert asked(source, target, wrong) is None


def test_it_is_quick():
    source, target, truth = scans(ASYMMETRIC["bumpy"], 1, False)
    asked(source, target, truth)
    size = choose_voxel_size(source, target)
    few = [voxel_downsample(cloud, size) for cloud in (source, target)]
    began = time.process_time()
    ambiguity(*few, truth, size, threads=1)
    # Half a second is wanted; the rest is for slow machines.
    assert time.process_time() - began < 1.5


def test_clouds_are_called_ambiguous():
    source, target, _ = scans(SYMMETRIC["bumpy, half turn"], 8, False)
    found = tear3d.register_clouds(source, target, certify=False)
    assert found.ambiguity is not None
    assert found.ambiguity.free[0].step == pytest.approx(180.0)


def test_a_ball_has_no_consensus_and_is_ambiguous():
    source, target, _ = scans(SYMMETRIC["sphere"], 1, True)
    found = tear3d.register_clouds(source, target, certify=False)
    assert [motion.step for motion in found.ambiguity.free] == [None] * 3


@pytest.mark.slow
def test_no_real_scene_is_ambiguous():
    folder = require_clouds()
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        source, target = (tear3d.read_cloud(next(place.glob(f"{name}.*"))) for name in ("source", "target"))
        clouds = [cloud[np.isfinite(cloud).all(axis=1)] for cloud in (source, target)]
        assert asked(*clouds, np.loadtxt(place / "T_target_source.txt")) is None, place.name
