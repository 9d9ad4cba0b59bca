"""E57: colours, intensity, grid and the scanner's pose."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tear3d import Cloud, read_cloud
from tests.io.clouds import POSE, rich_cloud

pye57 = pytest.importorskip("pye57")


def test_what_e57_holds_comes_back(tmp_path, caplog):
    cloud = rich_cloud(200).transformed(POSE)
    grid = {"rowIndex": np.arange(200, dtype=np.uint16), "columnIndex": np.arange(200, dtype=np.uint16) // 2}
    cloud.attributes.update(grid)
    with caplog.at_level(logging.WARNING):
        cloud.write(tmp_path / "a.e57")
    assert "E57 has no place for normals, time, classification, ring, depth" in caplog.text
    found = Cloud.read(tmp_path / "a.e57")
    np.testing.assert_allclose(found.points, cloud.points, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.e57"), found.points)
    np.testing.assert_allclose(found.viewpoint, cloud.viewpoint, atol=1e-12)
    assert set(found.attributes) == {"colors", "intensity", *grid}
    for name, values in found.attributes.items():
        np.testing.assert_array_equal(values, cloud.attributes[name])
        assert values.dtype == cloud.attributes[name].dtype
    again = Cloud.read(found.write(tmp_path / "b"))
    np.testing.assert_allclose(again.points, cloud.points, rtol=0, atol=1e-5)


@pytest.mark.parametrize("viewpoint", [None, np.array([0.0, 0, 0, 1, 0, 0, 0])])
def test_far_from_the_origin_nothing_is_lost(tmp_path, viewpoint):
    points = np.random.default_rng(0).random((50, 3)) * 10 + [5e5, 5e6, 100]
    cloud = Cloud(points, {"colors": np.full((50, 3), 0.5), "intensity": np.full(50, np.nan)}, viewpoint=viewpoint)
    found = Cloud.read(cloud.write(tmp_path / "a.e57"))
    np.testing.assert_allclose(found.points, points, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found.attributes["colors"], np.full((50, 3), 128))
    assert list(found.attributes) == ["colors"]


@pytest.mark.parametrize("viewpoint", [None, np.array([5.0, -40, 3, 0.5, 0.5, 0.5, 0.5])])
def test_what_single_precision_costs(tmp_path, viewpoint):
    points = np.random.default_rng(0).random((500, 3)) * [100.0, 80, 20]
    found = read_cloud(Cloud(points, viewpoint=viewpoint).write(tmp_path / "a.e57"))
    assert 0.0 < np.abs(found - points).max() <= 2.0**-22 * 100.0


def test_marked_points_keep_their_rows(tmp_path):
    file = pye57.E57(str(tmp_path / "a.e57"), mode="w")
    data = {f"cartesian{axis}": np.arange(6.0) for axis in "XYZ"}
    data |= {
        "intensity": np.arange(6, dtype=np.float32),
        "cartesianInvalidState": np.array([0, 1, 0, 0, 1, 0], np.int8),
    }
    file.write_scan_raw(data)
    file.close()
    np.testing.assert_array_equal(Cloud.read(tmp_path / "a.e57").attributes["intensity"], [0, 2, 3, 5])
    assert len(Cloud.read(tmp_path / "a.e57", keep_invalid=True)) == 6


def test_one_point(tmp_path):
    found = Cloud.read(Cloud(np.array([[1.0, 2, 3]])).write(tmp_path / "a.e57"))
    np.testing.assert_array_equal(found.points, [[1, 2, 3]])
