"""Coordinates in PCD are floats, which all programs read, where these are fine enough."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tear3d import Cloud, read_cloud, write_cloud
from tear3d.io.clouds import keeping_suffix

pytest.importorskip("pypcd4")
ROOM = np.random.default_rng(0).random((200, 3)) * np.array([30.0, 20.0, 5.0])
UTM = ROOM + np.array([500_000.0, 5_000_000.0, 100.0])


@pytest.mark.parametrize(
    ("points", "size", "told"),
    [
        (np.eye(3) / 4, 4, ""),
        (ROOM, 4, "as floats, off by"),
        (ROOM + 90.0, 4, "as floats, off by"),
        (ROOM * 1e-9, 4, "as floats, off by"),
        (ROOM + 1000.0, 8, "as doubles"),
        (UTM, 8, "floats would be off by up to 0.25"),
        (np.eye(3) * 1e300, 8, "as doubles"),
        (np.full((2, 3), 0.1), 8, "as doubles"),
    ],
)
def test_floats_or_doubles(tmp_path, caplog, points, size, told):
    with caplog.at_level(logging.INFO):
        write_cloud(tmp_path / "a.pcd", points)
    assert f"SIZE {size} {size} {size}\n".encode() in (tmp_path / "a.pcd").read_bytes()
    assert told in caplog.text
    assert any(record.levelno == logging.WARNING for record in caplog.records) == (size == 8)
    found = read_cloud(tmp_path / "a.pcd")
    if size == 8 or not told:
        np.testing.assert_array_equal(found, points)
    else:
        off = np.abs(found - points).max()
        assert 0.0 < off <= 2.0**-22 * np.ptp(points, axis=0).max()
        assert f"{off:.2g}" in caplog.text


def test_a_moved_cloud_leaves_pcd_where_its_floats_would_be_too_coarse():
    assert keeping_suffix(Cloud(ROOM, format=".pcd")) == ".pcd"
    assert keeping_suffix(Cloud(UTM, format=".pcd")) == ".ply"
    assert keeping_suffix(Cloud(UTM, format=".pcd.gz")) == ".ply"
    assert keeping_suffix(Cloud(UTM, format=".laz")) == ".laz"


@pytest.mark.parametrize("kind", ["u1", "u2", "f8"])
def test_colours_of_every_kind_are_also_there_as_other_programs_read_them(tmp_path, kind):
    colours = np.random.default_rng(1).integers(0, 256, (200, 3)).astype(np.uint8)
    given = {"u1": colours, "u2": colours.astype(np.uint16) * 257, "f8": colours / 255}[kind]
    normals = np.tile([0.6, 0.0, 0.8], (200, 1))
    Cloud(ROOM, {"colors": given, "normals": normals}).write(tmp_path / "a.pcd")
    found = Cloud.read(tmp_path / "a.pcd").attributes
    np.testing.assert_array_equal(found["colors"], given)
    assert found["colors"].dtype == given.dtype
    np.testing.assert_allclose(found["normals"], normals, atol=1e-7)
    o3d = pytest.importorskip("open3d")
    seen = o3d.io.read_point_cloud(str(tmp_path / "a.pcd"))
    np.testing.assert_allclose(np.asarray(seen.points), ROOM, atol=2.0**-22 * 30)
    np.testing.assert_allclose(np.asarray(seen.colors), colours / 255, atol=1e-6)
    np.testing.assert_allclose(np.asarray(seen.normals), normals, atol=1e-6)
