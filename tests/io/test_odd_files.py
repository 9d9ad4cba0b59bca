"""Odd but legal files: the right cloud, or an error that says what is wrong."""

from __future__ import annotations

import logging
import struct

import numpy as np
import pytest

from tear3d import Cloud, read_cloud
from tear3d.errors import FileFormatError

POINTS = np.arange(12.0).reshape(4, 3) + 0.5
ROWS = "".join(f"{x} {y} {z}\n" for x, y, z in POINTS)
CSV = ROWS.replace(" ", ",")


def lines(ending):
    return "".join(f"{x},{y},{z}{ending}\n" for x, y, z in POINTS)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("blank.xyz", "\n\n" + ROWS.replace("\n", "\n\n")),
        ("windows.xyz", ROWS.replace("\n", "\r\n")),
        ("bom and windows.csv", "\ufeffx,y,z\r\n" + CSV.replace("\n", "\r\n")),
        ("name with spaces é 点.csv", "X;Y;Z\n" + ROWS.replace(" ", ";")),
        ("words.csv", "x, y, z, name\n" + lines(", abc")),
        ("words_first.csv", "name,x,y,z\n" + "".join(f"p,{line}\n" for line in CSV.splitlines())),
        ("comment_behind.xyz", ROWS.replace("\n", " # first\n", 1)),
        ("trailing.csv", "x,y,z,\n" + lines(",")),
        ("cloud.asc", "//X Y Z\n4\n" + ROWS),
        ("counted.pts", "4\r\n" + ROWS.replace("\n", " -1000 1 2 3\r\n")),
    ],
)
def test_text(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode())
    np.testing.assert_array_equal(read_cloud(tmp_path / name), POINTS)
    np.testing.assert_array_equal(Cloud.read(tmp_path / name).points, POINTS)


def test_empty_cells_are_no_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,z,i,n\n" + lines(",1,a").replace("1,a\n", ",b\n", 1) + ",,,,\n")
    found = Cloud.read(tmp_path / "a.csv")
    np.testing.assert_array_equal(found.points, POINTS)
    assert not found.attributes  # the first cell of each is empty or a word
    (tmp_path / "a.csv").write_text("x,y,z,i\n" + lines(",1") + "1,2,3,\n,,,\n")
    found = Cloud.read(tmp_path / "a.csv")
    np.testing.assert_array_equal(found.attributes["i"], [1, 1, 1, 1, np.nan])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (("x;y;z\n" + ROWS.replace(" ", ";").replace(".", ",")).encode(), "decimal commas"),
        (ROWS.replace(".", ",").encode(), "decimal commas"),
        (("x,y,z\n" + CSV).encode("utf-16"), "UTF-16"),
        ((ROWS + "1 2\n").encode(), "fewer numbers than the first"),
        (b"name,x,y,z\na,b,c,d\n", "expected x y z"),
    ],
)
def test_text_that_is_refused(tmp_path, data, told):
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(FileFormatError, match=told):
        Cloud.read(tmp_path / "a.csv")


def test_big_endian_ply_with_lists_before_its_vertices(tmp_path):
    faces = b"".join(struct.pack(f">B{k}i", k, *range(k)) for k in (0, 3, 2))
    header = (
        "ply\r\nformat binary_big_endian 1.0\r\ncomment é\r\nelement face 3\r\nproperty list uchar int corners\r\n"
        "element vertex 4\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\nend_header\r\n"
    )
    (tmp_path / "a.ply").write_bytes(header.encode() + faces + POINTS.astype(">f4").tobytes())
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.ply"), POINTS)


@pytest.mark.parametrize("packed", [False, True])
def test_pcd_with_padding(tmp_path, packed):
    pytest.importorskip("pypcd4")
    rows = np.zeros(4, [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("_", "u1", 4), ("ring", "<u2"), ("__", "u1", 10)])
    rows["x"], rows["y"], rows["z"] = POINTS.T
    rows["ring"] = [5, 6, 7, 8]
    body = b"".join(rows[name].tobytes() for name in rows.dtype.names) if packed else rows.tobytes()
    if packed:  # LZF that copies all bytes as they are
        lzf = b"".join(bytes([len(body[k : k + 32]) - 1]) + body[k : k + 32] for k in range(0, len(body), 32))
        body = struct.pack("<II", len(lzf), len(body)) + lzf
    header = (
        "# .PCD v0.7\r\nFIELDS x y z _ ring _\r\nSIZE 4 4 4 1 2 1\r\nTYPE F F F U U U\r\nCOUNT 1 1 1 4 1 10\r\n"
        f"WIDTH 4\r\nHEIGHT 1\r\nPOINTS 4\r\nDATA binary{'_compressed' if packed else ''}\r\n"
    )
    (tmp_path / "a.pcd").write_bytes(header.encode() + body)
    found = Cloud.read(tmp_path / "a.pcd")
    np.testing.assert_array_equal(found.points, POINTS)
    np.testing.assert_array_equal(found.attributes["ring"], [5, 6, 7, 8])


def ptx(points, shift):
    pose = f"1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 {shift} 1\n"
    rows = "".join(" ".join(map(str, row)) + "\n" for row in points)
    return f"{len(points)}\n1\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n{pose}{rows}"


def test_ptx_with_several_scans(tmp_path, caplog):
    first, second = POINTS[:2], POINTS[2:] - [0, 0, 100]
    grey = [np.column_stack([part, [0.25, 0.5]]) for part in (first, second)]
    (tmp_path / "a.ptx").write_bytes((ptx(grey[0], 0) + "\n" + ptx(grey[1], 100)).replace("\n", "\r\n").encode())
    found = Cloud.read(tmp_path / "a.ptx")
    np.testing.assert_array_equal(found.points, POINTS)
    np.testing.assert_array_equal(found.attributes["intensity"], [0.25, 0.5] * 2)
    with caplog.at_level(logging.WARNING):
        (tmp_path / "b.ptx").write_text(ptx(grey[0], 0) + ptx(np.column_stack([grey[1], np.ones((2, 3))]), 100))
        assert not Cloud.read(tmp_path / "b.ptx").attributes
    assert "its scans carry different numbers" in caplog.text


def test_what_kitti_and_obj_carry(tmp_path):
    np.column_stack([POINTS, [0.0, 0.25, 0.5, 1.0]]).astype("<f4").tofile(tmp_path / "a.bin")
    found = Cloud.read(tmp_path / "a.bin")
    np.testing.assert_array_equal(found.points, POINTS)
    np.testing.assert_array_equal(found.attributes["intensity"], [0.0, 0.25, 0.5, 1.0])
    text = "".join(f"v {row} 0.25 0.5 1\r\n" for row in ROWS.splitlines())
    (tmp_path / "a.obj").write_text(text + "vn 0 0 1\r\nf 1//1 2//1 3//1\r\n")
    found = Cloud.read(tmp_path / "a.obj")
    np.testing.assert_array_equal(found.points, POINTS)
    np.testing.assert_array_equal(found.attributes["colors"], np.tile([0.25, 0.5, 1.0], (4, 1)))
    (tmp_path / "a.obj").write_text(text + "v 1 2 3\n")
    assert not Cloud.read(tmp_path / "a.obj").attributes


@pytest.mark.parametrize("inside", [True, False])
def test_las_with_bytes_in_its_colours(tmp_path, inside):
    laspy = pytest.importorskip("laspy")
    las = laspy.LasData(laspy.LasHeader(point_format=2, version="1.2"))
    las.x, las.y, las.z = POINTS.T
    las.red = las.green = las.blue = np.array([0, 100, 200, 255]) * (1 if inside else 257)
    las.write(tmp_path / "a.las")
    cloud = Cloud.read(tmp_path / "a.las")
    again = Cloud.read(cloud.write(tmp_path / "b.las"))
    np.testing.assert_array_equal(again.attributes["colors"], cloud.attributes["colors"])
    pytest.importorskip("pye57")
    found = Cloud.read(cloud.write(tmp_path / "a.e57"))
    np.testing.assert_array_equal(found.attributes["colors"][:, 0], [0, 100, 200, 255])
    other = Cloud(POINTS, {"colors": np.full((4, 3), 65535, np.uint16)})
    both = Cloud.joined([Cloud(POINTS, {"colors": cloud.attributes["colors"]}), other]).attributes["colors"]
    np.testing.assert_array_equal(both[:, 0], [0, 25700, 51400, 65535, *[65535] * 4])
