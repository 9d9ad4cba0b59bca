"""What is dropped, noted and refused before clouds are registered."""

import json
import logging
from types import SimpleNamespace

import numpy as np
import pytest

from tear3d.clouds.inputs import HOPELESS, Inputs, span_of
from tear3d.errors import InputError
from tear3d.io import read_cloud
from tests.bumpy import apply, bumpy_cloud, pose
from tests.clouds.support import register_clouds
from tests.io.test_formats import make

TRUTH = pose([0.4, -1.2, 2.0], [3.0, 1.0, -2.0])
UTM = np.array([500_000.0, 5_400_000.0, 300.0])
CLOUD = bumpy_cloud(3000, 0)
OTHER = apply(TRUTH, bumpy_cloud(3000, 1))


def with_holes(points, every=4):
    """As an organised cloud: rows of NaN where nothing was measured, and an infinite one."""
    holes = np.repeat(points, 2, axis=0)
    holes[::every] = np.nan
    holes[1] = [0.0, np.inf, 0.0]
    return holes


def test_rows_that_are_not_finite_are_dropped_and_counted(caplog):
    holes = with_holes(CLOUD)
    kept = holes[np.isfinite(holes).all(axis=1)]
    with caplog.at_level(logging.WARNING, "tear3d"):
        found = register_clouds(holes, OTHER, threads=1)
    assert found.dropped == (6000 - len(kept), 0) == (1501, 0)
    assert found.notes == ("dropped 1501 of 6000 points of source that are not finite",)
    assert found.notes[0] in caplog.text
    assert found.success
    np.testing.assert_array_equal(found.transformation, register_clouds(kept, OTHER, threads=1).transformation)
    said = json.loads(json.dumps(found.to_dict()))
    assert said["dropped"] == [1501, 0]
    assert said["notes"] == list(found.notes)


def test_open3d_clouds_with_holes():
    open3d = pytest.importorskip("open3d")
    holes = with_holes(CLOUD)
    legacy = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(holes))
    tensor = open3d.t.geometry.PointCloud(holes.astype(np.float32))
    for cloud in (legacy, tensor, SimpleNamespace(points=holes)):
        inputs = Inputs.of(OTHER, cloud)
        assert inputs.dropped == (0, 1501)
        np.testing.assert_allclose(inputs.clouds[1], holes[np.isfinite(holes).all(axis=1)], atol=1e-6)


@pytest.mark.parametrize("left", [0, 2])
def test_too_few_finite_points(left):
    points = np.full((50, 3), np.nan)
    points[:left] = 1.0
    with pytest.raises(InputError, match=f"target has {left} finite points of 50"):
        Inputs.of(CLOUD, points)


def test_clean_clouds_are_neither_copied_nor_noted():
    inputs = Inputs.of(CLOUD, OTHER)
    assert inputs.clouds[0] is CLOUD
    assert (inputs.dropped, inputs.notes, inputs.units) == ((0, 0), (), "")


@pytest.mark.parametrize("factor", [1000.0, 1e-3, 137.0])
def test_spans_that_no_registration_can_come_of_are_refused(factor):
    with pytest.raises(InputError, match=r"spans .* times as much: .*\? Bring both to one unit") as caught:
        register_clouds(CLOUD, OTHER * factor)
    assert ("is one in millimetres and the other in metres" in str(caught.value)) == (factor != 137.0)
    assert str(caught.value).startswith("target spans" if factor < 1.0 else "source spans")


@pytest.mark.parametrize(
    ("factor", "words"),
    [(10.0, "centimetres"), (25.4, "inches"), (1 / 39.37, "inches"), (17.0, "the same unit"), (3.2808, "feet")],
)
def test_spans_that_may_still_be_a_pair_are_noted(factor, words):
    inputs = Inputs.of(CLOUD, factor * CLOUD)
    assert words in inputs.units
    assert inputs.notes == (inputs.units,)


def test_a_map_spans_many_times_its_scan_without_a_note():
    scan = CLOUD[:: len(CLOUD) // 100]
    assert Inputs.of(scan, 17.0 * CLOUD).notes == ()
    assert "the same unit" in Inputs.of(17.0 * scan, CLOUD).units
    assert "inches" in Inputs.of(scan, 25.4 * CLOUD).units


@pytest.mark.parametrize("factor", [1.0, 2.0, 3.0, 4.9, 0.3])
def test_parts_of_usual_size_are_not(factor):
    assert Inputs.of(CLOUD, factor * CLOUD).notes == ()


def test_a_few_far_points_do_not_change_the_span():
    far = np.vstack((CLOUD, 1e6 * CLOUD[:100]))
    assert span_of(far) == pytest.approx(span_of(CLOUD), rel=0.2)
    assert 1.5 < span_of(CLOUD) < 3.0


def test_an_object_in_its_scene_is_found():
    """The scene spans six times the object, in the same unit."""
    rng = np.random.default_rng(0)
    floor = np.column_stack((rng.uniform(-6.0, 6.0, (60_000, 2)), rng.normal(0.0, 0.01, 60_000) - 1.5))
    scene = apply(TRUTH, np.vstack((floor, bumpy_cloud(6000, 1))))
    found = register_clouds(bumpy_cloud(6000, 0), scene, threads=1, time_limit=30.0)
    assert found.notes == (), "a scene with so many more points may well be larger"
    assert found.success
    assert np.linalg.norm(apply(found.transformation, CLOUD) - apply(TRUTH, CLOUD), axis=1).max() < found.voxel_size


def test_when_nothing_is_left_of_the_smaller_one_the_units_are_named():
    assert HOPELESS > 30.0
    with pytest.raises(InputError, match=r"points of source are left at the voxel size 3: source spans .*unit"):
        register_clouds(CLOUD, 30.0 * OTHER, voxel_size=3.0)


def test_a_failure_on_the_matches_says_so_and_names_the_units():
    def same(points, voxel_size):
        return np.ones((len(points), 1))

    with pytest.raises(InputError, match=r"from the matches of the clouds: .*coincide.*; source spans .* inches"):
        register_clouds(CLOUD, 25.4 * OTHER, descriptor=same)


@pytest.mark.parametrize("stored", [np.float32, float])
@pytest.mark.parametrize("options", [{}, {"voxel_size": 0.1}])
def test_digits_lost_to_float32_are_noticed_when_the_voxel_size_is_known(stored, options):
    lost = (OTHER + UTM).astype(np.float32).astype(stored)
    with pytest.raises(InputError, match=r"target reach 5\.4e\+06 .* float32, which resolves 0\.5 .* the voxel size"):
        register_clouds(CLOUD + UTM, lost, **options)


@pytest.mark.parametrize("kind", ["ply_ascii", "ply_big", "pcd_binary", "npy", "bin", "e57"])
def test_digits_lost_in_a_file_are_noticed(tmp_path, kind):
    path = make(tmp_path, kind, (OTHER + UTM).astype(np.float32).astype(float))
    with pytest.raises(InputError, match="were once float32"):
        register_clouds(CLOUD + UTM, read_cloud(path))


def test_far_away_the_centre_tells_how_far_the_cloud_moves():
    turn = pose([0.0, 0.0, np.radians(1.0)], [0.0, 0.0, 0.0])
    shift = np.array([0.3, -0.2, 0.1])
    found = register_clouds(CLOUD + UTM, apply(turn, CLOUD) + UTM + shift, threads=1)
    assert np.linalg.norm(found.transformation[:3, 3]) > 9e4
    np.testing.assert_allclose(found.centre, CLOUD.mean(axis=0) + UTM, atol=0.1)
    np.testing.assert_allclose(found.centre_shift, shift, atol=0.02)
    assert found.to_dict()["centre_shift"] == found.centre_shift.tolist()
