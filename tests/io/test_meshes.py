"""Meshes become points on their surface."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest

import tear3d
from tear3d import Cloud, read_cloud
from tear3d.errors import FileFormatError, InputError, MissingExtraError

STL = (
    b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
    b"endloop\nendfacet\nendsolid s\n"
)
GLB = b'{"accessors":[{"count":100000000000}]}'


def on_box(points: np.ndarray) -> np.ndarray:
    return np.isclose(np.abs(points).max(axis=1), 0.5)


@pytest.mark.parametrize("kind", ["stl", "off", "glb", "obj", "ply"])
def test_the_surface_is_sampled_evenly(tmp_path, kind):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / f"a.{kind}"
    trimesh.creation.box().export(path)
    cloud = Cloud.sampled(path, 6000, seed=3)
    assert len(cloud) == 6000
    assert on_box(cloud.points).all()
    normals = cloud.attributes["normals"]
    np.testing.assert_allclose(np.abs((normals * cloud.points).sum(axis=1)), 0.5, atol=1e-6)
    sides = np.unique(np.rint(normals).astype(int), axis=0, return_counts=True)[1]
    assert len(sides) == 6
    assert np.abs(sides - 1000).max() <= 6
    np.testing.assert_array_equal(Cloud.sampled(path, 6000, seed=3).points, cloud.points)
    if kind in ("stl", "off", "glb"):
        assert on_box(read_cloud(path)).all()
        assert Cloud.read(path).attributes["normals"].shape == (100_000, 3)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.stl", b"", "damaged|no faces"),
        ("a.stl", b"solid s\nendsolid s\n", "damaged|no faces"),
        ("a.stl", STL.replace(b"vertex 1 0 0", b"vertex 0 0 0"), "no area"),
        ("a.off", b"OFF\n99999999999 9 0\n0 0 0\n", "damaged|no faces"),
        ("a.glb", b"glTF", "GLB header"),
        ("a.glb", b"glTF" + struct.pack("<III4s", 2, 99, 10**9, b"JSON"), "its description"),
        (
            "a.glb",
            b"glTF" + struct.pack("<III4s", 2, 58, 38, b"JSON") + b'{"accessors":[{"count":100000000000}]}',
            "its lists",
        ),
    ],
)
def test_damaged_meshes(tmp_path, name, content, message):
    pytest.importorskip("trimesh")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_cloud(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)


def test_what_cannot_be_sampled(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="no such file"):
        Cloud.sampled(tmp_path / "a.stl")
    (tmp_path / "a.las").touch()
    with pytest.raises(InputError, match="is no mesh"):
        Cloud.sampled(tmp_path / "a.las")
    (tmp_path / "a.stl").write_bytes(STL)
    with pytest.raises(InputError, match="count is 0"):
        Cloud.sampled(tmp_path / "a.stl", 0)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MissingExtraError, match=r"trimesh.*tear3d\[mesh\]"):
        tear3d.read_cloud(tmp_path / "a.stl")
