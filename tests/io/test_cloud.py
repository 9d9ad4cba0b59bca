"""Clouds keep what they carry: read, taken apart, moved, joined and written."""

from __future__ import annotations

import logging
import sys

import numpy as np
import pytest

import tear3d
from tear3d import Cloud
from tear3d.errors import InputError
from tear3d.problem.arrays import as_points
from tests.io.clouds import POSE, QUARTER, rich_cloud


def test_numpy_and_register_take_it_for_points():
    cloud = rich_cloud(30)
    assert len(cloud) == 30
    assert np.asarray(cloud) is not None
    np.testing.assert_array_equal(np.asarray(cloud), cloud.points)
    result = tear3d.register(cloud, cloud, noise_bound=0.1, certify=False)
    np.testing.assert_allclose(result.transformation, np.eye(4), atol=1e-9)
    assert repr(Cloud(cloud.points)) == "Cloud(30 points, no attributes)"


def test_taken_rows_take_their_attributes_along():
    cloud = rich_cloud(10)
    mask = np.arange(10) % 3 == 0
    for rows in (mask, np.flatnonzero(mask), slice(None, None, 3)):
        part = cloud.take(rows)
        np.testing.assert_array_equal(part.points, cloud.points[mask])
        for name, values in cloud.attributes.items():
            np.testing.assert_array_equal(part.attributes[name], values[mask])
            assert part.attributes[name].dtype == values.dtype


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_a_pose_moves_points_and_viewpoint_and_turns_normals(scale):
    cloud = rich_cloud(10)
    pose = POSE.copy()
    pose[:3, :3] *= scale
    moved = cloud.transformed(pose)
    np.testing.assert_allclose(moved.points, scale * cloud.points @ QUARTER.T + [1, 2, 3], atol=1e-12)
    np.testing.assert_allclose(moved.attributes["normals"], cloud.attributes["normals"] @ QUARTER.T, atol=1e-6)
    assert moved.attributes["normals"].dtype == np.float32
    np.testing.assert_array_equal(moved.attributes["colors"], cloud.attributes["colors"])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(moved.viewpoint, [1, 2 + scale, 3, half, 0, 0, half], atol=1e-12)


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (np.eye(3), "4×4"),
        (np.diag([1.0, 1, -1, 1]), "determinant"),
        (np.diag([1.0, 2, 1, 1]), "rotation times a scale"),
        (np.full((4, 4), np.nan), "finite"),
        ([["a"]], "numbers"),
    ],
)
def test_what_is_no_pose_is_refused(pose, message):
    with pytest.raises(InputError, match=message):
        rich_cloud(5).transformed(pose)


def test_joined_clouds_have_what_all_of_them_have(caplog):
    one, other = rich_cloud(4), rich_cloud(6)
    del other.attributes["ring"]
    other.attributes["colors"] = (other.attributes["colors"].astype(np.uint16)) * 257
    with caplog.at_level(logging.WARNING):
        both = Cloud.joined([one, other])
    assert "left out, since not all 2 clouds have it alike: ring" in caplog.text
    assert set(both.attributes) == set(other.attributes)
    np.testing.assert_array_equal(both.points, np.vstack([one.points, other.points]))
    assert both.attributes["colors"].dtype == np.uint16
    np.testing.assert_array_equal(both.attributes["colors"][:4], one.attributes["colors"].astype(int) * 257)
    with pytest.raises(InputError, match="none given"):
        Cloud.joined([])


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"x": np.zeros(3)}, "'x' has a name"),
        ({"a": np.zeros(2)}, r"shape \(2,\).*3 points"),
        ({"a": np.array(["a", "b", "c"])}, "expected numbers"),
        ({"colors": np.zeros((3, 4))}, "three bytes"),
        ({"colors": np.zeros((3, 3), np.uint32)}, "uint8, uint16 or floats"),
        ({"normals": np.zeros((3, 3), int)}, "three floats"),
        ({"a": np.zeros((3, 0))}, "shape"),
    ],
)
def test_attributes_that_do_not_fit_are_named(attributes, message):
    with pytest.raises(InputError, match=message):
        Cloud(np.zeros((3, 3)), attributes)


def test_fields_and_frames():
    rows = np.zeros(
        4, dtype=[("X", "f4"), ("y", "f8"), ("z", "i4"), ("r", "u1"), ("g", "u1"), ("b", "u1"), ("q", "U3")]
    )
    rows["X"], rows["b"] = np.arange(4), 7
    cloud = Cloud.of(rows)
    np.testing.assert_array_equal(cloud.points[:, 0], np.arange(4))
    assert set(cloud.attributes) == {"colors"}
    assert cloud.attributes["colors"].dtype == np.uint8
    with pytest.raises(InputError, match="1 dimensions"):
        tear3d.register(rows, rows, noise_bound=0.1)
    lower = rows.astype([(name.lower(), kind) for name, kind in rows.dtype.descr])
    result = tear3d.register(lower, cloud, noise_bound=0.1, certify=False)
    assert result.num_pairs == 4
    with pytest.raises(InputError, match="no column 'y', only x, z"):
        Cloud.of(np.zeros(2, dtype=[("x", "f8"), ("z", "f8")]))
    assert len(Cloud.of([[1, 2, 3]])) == 1
    assert Cloud.of(cloud) is cloud


def test_data_frames(tmp_path):
    class Frame(dict):
        columns = property(lambda self: list(self))

        def to_numpy(self):
            raise AssertionError("not needed")

    frame = Frame(x=[1.0, 2.0], y=[3, 4], z=[5, 6], intensity=np.float32([7, 8]), name=["a", "b"])
    cloud = Cloud.of(frame)
    np.testing.assert_array_equal(cloud.points, [[1, 3, 5], [2, 4, 6]])
    assert {name: values.dtype for name, values in cloud.attributes.items()} == {"intensity": np.float32}
    np.testing.assert_array_equal(as_points(frame, "frame"), cloud.points)
    tear3d.write_cloud(tmp_path / "a.ply", frame)
    assert list(Cloud.read(tmp_path / "a.ply").attributes) == ["intensity"]


def test_pandas():
    pandas = pytest.importorskip("pandas")
    cloud = Cloud.of(pandas.DataFrame({"x": [1, 2], "y": [3, 4], "z": [5, 6], "gps_time": [0.5, 1.5], "n": ["a", "b"]}))
    np.testing.assert_array_equal(cloud.attributes["time"], [0.5, 1.5])
    assert "pandas" in sys.modules


def test_open3d_there_and_back():
    o3d = pytest.importorskip("open3d")
    cloud = rich_cloud(20)
    legacy = cloud.to_open3d()
    back = Cloud.from_open3d(legacy)
    np.testing.assert_array_equal(back.points, cloud.points)
    np.testing.assert_allclose(back.attributes["colors"], cloud.attributes["colors"] / 255)
    np.testing.assert_allclose(back.attributes["normals"], cloud.attributes["normals"])
    tensor = o3d.t.geometry.PointCloud.from_legacy(legacy)
    assert set(Cloud.of(tensor).attributes) == {"colors", "normals"}
    assert not Cloud.of(o3d.geometry.PointCloud(legacy.points)).attributes
