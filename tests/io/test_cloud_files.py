"""Attributes in files: all that a format holds comes back in its own type, and the rest is named."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tear3d import Cloud, read_cloud, write_cloud
from tear3d.errors import InputError
from tear3d.io.pcd_write import coordinates
from tests.io.clouds import rich_cloud

KEEPING = [".ply", ".pcd", ".npz"]


def same(found: Cloud, written: Cloud) -> None:
    exact = written if not found.format.startswith(".pcd") else Cloud(coordinates(written.points).astype(np.float64))
    np.testing.assert_array_equal(found.points, exact.points)
    assert set(found.attributes) == set(written.attributes)
    for name, values in written.attributes.items():
        np.testing.assert_array_equal(found.attributes[name], values, err_msg=name)
        assert found.attributes[name].dtype == values.dtype, name
        assert found.attributes[name].flags.c_contiguous


@pytest.mark.parametrize("suffix", KEEPING)
def test_everything_comes_back(tmp_path, suffix):
    if suffix == ".pcd":
        pytest.importorskip("pypcd4")
    cloud = rich_cloud(40)
    path = cloud.write(tmp_path / f"a{suffix}")
    found = Cloud.read(path)
    same(found, cloud)
    assert found.format == suffix
    np.testing.assert_array_equal(read_cloud(path), found.points)
    if suffix != ".ply":
        np.testing.assert_array_equal(found.viewpoint, cloud.viewpoint)
    assert found.write(tmp_path / "b").read_bytes() == path.read_bytes()


def test_text_has_the_names_in_its_first_line(tmp_path):
    cloud = rich_cloud(40)
    cloud.write(tmp_path / "a.xyz")
    first = (tmp_path / "a.xyz").read_text().split("\n")[0]
    assert first == "# x y z red green blue nx ny nz intensity time classification ring depth"
    found = Cloud.read(tmp_path / "a.xyz")
    assert found.attributes["colors"].dtype == found.attributes["classification"].dtype == np.uint8
    assert set(found.attributes) == set(cloud.attributes)
    for name, values in cloud.attributes.items():
        np.testing.assert_array_equal(found.attributes[name].astype(values.dtype), values, err_msg=name)
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.xyz"), cloud.points)


@pytest.mark.parametrize("suffix", KEEPING)
@pytest.mark.parametrize("kind", ["b", "i1", "u1", "u2", "i8", "u4", "f2", "f4", "f8"])
def test_types_and_odd_names(tmp_path, suffix, kind):
    if suffix == ".pcd":
        pytest.importorskip("pypcd4")
    values = np.array([0, 1, 1], "?" if kind == "b" else kind)
    cloud = Cloud(np.eye(3), {"a name": values, "a_name": values, "é": values, "one": values[:, None]})
    found = Cloud.read(cloud.write(tmp_path / f"a{suffix}"))
    assert len(found.attributes) == 4
    for column in found.attributes.values():
        np.testing.assert_array_equal(np.ravel(column), values)


def test_what_a_format_has_no_place_for_is_named(tmp_path, caplog):
    cloud = Cloud(np.eye(3), {"big": np.array([2**60 + 1, 0, 0])})
    with caplog.at_level(logging.WARNING):
        assert not Cloud.read(cloud.write(tmp_path / "a.ply")).attributes
        write_cloud(tmp_path / "a.npy", cloud)
    assert "PLY has no place for big" in caplog.text
    assert "NPY has no place for big" in caplog.text


def test_wide_attributes(tmp_path):
    pytest.importorskip("pypcd4")
    wide = np.arange(12, dtype=np.float32).reshape(3, 4)
    cloud = Cloud(np.eye(3), {"fpfh": wide})
    for suffix in (".npz", ".pcd"):
        same(Cloud.read(cloud.write(tmp_path / f"a{suffix}")), cloud)
    found = Cloud.read(cloud.write(tmp_path / "a.ply")).attributes
    assert list(found) == ["fpfh_0", "fpfh_1", "fpfh_2", "fpfh_3"]


def test_rows_that_are_dropped_take_their_attributes_along(tmp_path):
    points = np.arange(12.0).reshape(4, 3)
    points[1, 2] = np.nan
    np.savez(tmp_path / "a.npz", points=points, intensity=np.arange(4), other=np.arange(9))
    found = Cloud.read(tmp_path / "a.npz")
    np.testing.assert_array_equal(found.attributes["intensity"], [0, 2, 3])
    assert list(found.attributes) == ["intensity"]
    assert len(Cloud.read(tmp_path / "a.npz", keep_invalid=True)) == 4


PLY = (
    "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n"
    "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty list uchar int l\n"
    "property float scalar_Intensity\nproperty int label\nend_header\n"
)


def test_text_ply_with_lists(tmp_path):
    path = tmp_path / "a.ply"
    path.write_text(PLY + "1 2 3 255 0 9 2 7 7 0.5 -4\n4 5 6 0 1 2 0 1.5 8\n")
    found = Cloud.read(path).attributes
    np.testing.assert_array_equal(found["colors"], np.array([[255, 0, 9], [0, 1, 2]], np.uint8))
    np.testing.assert_array_equal(found["intensity"], np.float32([0.5, 1.5]))
    np.testing.assert_array_equal(found["label"], np.int32([-4, 8]))
    path.write_text(PLY + "1 2 3 300 0 9 0 0.5 1.5\n4 5 6 0 1 2 0 nan 8\n")
    found = Cloud.read(path).attributes
    np.testing.assert_array_equal(found["label"], [1.5, 8])
    np.testing.assert_array_equal(found["colors"], np.array([[300, 0, 9], [0, 1, 2]], np.uint16))


@pytest.mark.parametrize("kind", ["F", "U"])
@pytest.mark.parametrize("data", ["ascii", "binary"])
def test_packed_colours_of_pcd(tmp_path, kind, data):
    pytest.importorskip("pypcd4")
    packed = np.array([0x0A0B0C, 0xFFFEFD], np.uint32)
    values = packed.view(np.float32) if kind == "F" else packed
    header = (
        f"FIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F {kind}\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 1\n"
        f"VIEWPOINT 1 2 3 1 0 0 0\nPOINTS 2\nDATA {data}\n"
    ).encode()
    rows = np.zeros(2, dtype=[("xyz", "<f4", 3), ("rgb", values.dtype)])
    rows["rgb"] = values
    text = "".join(f"0 0 0 {value!r}\n" for value in values.tolist()).encode()
    (tmp_path / "a.pcd").write_bytes(header + (text if data == "ascii" else rows.tobytes()))
    found = Cloud.read(tmp_path / "a.pcd")
    np.testing.assert_array_equal(found.attributes["colors"], [[10, 11, 12], [255, 254, 253]])
    np.testing.assert_array_equal(found.viewpoint, [1, 2, 3, 1, 0, 0, 0])


def test_text_columns(tmp_path):
    (tmp_path / "a.csv").write_text("Y,x,z,Intensity,name,R,G,B\n2,1,3,9,,255,0,1\n5,4,6,8,,0,7,2\n")
    found = Cloud.read(tmp_path / "a.csv")
    np.testing.assert_array_equal(found.points, [[1, 2, 3], [4, 5, 6]])
    assert list(found.attributes) == ["colors", "intensity"]
    (tmp_path / "a.pts").write_text("1\n1 2 3 -5 10 20 30\n")
    np.testing.assert_array_equal(Cloud.read(tmp_path / "a.pts").attributes["intensity"], [-5])
    (tmp_path / "a.txt").write_text("1 2 3 4\n5 6 7 8\n")
    np.testing.assert_array_equal(Cloud.read(tmp_path / "a.txt").attributes["column4"], [4, 8])
    (tmp_path / "a.txt").write_text("1 2 3 4\n5 6 7 -\n")
    assert not Cloud.read(tmp_path / "a.txt").attributes


def test_fields_of_an_array(tmp_path):
    rows = np.zeros(3, dtype=[("x", "f4"), ("y", "f4"), ("z", "f4"), ("t", "U2"), ("echo", ">u2")])
    np.save(tmp_path / "a.npy", rows)
    found = Cloud.read(tmp_path / "a.npy").attributes
    assert {name: values.dtype for name, values in found.items()} == {"echo": np.uint16}


def test_text_whose_suffix_names_the_columns(tmp_path):
    cloud = rich_cloud(10)
    cloud.write(tmp_path / "a.xyzn")
    found = Cloud.read(tmp_path / "a.xyzn").attributes["normals"]
    np.testing.assert_array_equal(found.astype(np.float32), cloud.attributes["normals"])
    cloud.write(tmp_path / "a.xyzrgb")
    found = Cloud.read(tmp_path / "a.xyzrgb").attributes["colors"]
    np.testing.assert_array_equal(found, cloud.attributes["colors"] / 255)
    assert not (tmp_path / "a.xyzrgb").read_text().startswith("#")
    with pytest.raises(InputError, match="no normals"):
        write_cloud(tmp_path / "b.xyzn", np.eye(3))
