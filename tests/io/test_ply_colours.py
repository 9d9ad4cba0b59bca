"""Colours of PLY files, beside points that are read by others."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.errors import FileFormatError
from tear3d.io.clouds import read_cloud, write_cloud
from tear3d.io.ply_colours import read_colours

POINTS = np.array([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
COLOURS = np.array([[255, 0, 7], [1, 2, 3]], np.uint8)


def header(style: str, count: int = 2, kind: str = "uchar", before: str = "") -> bytes:
    properties = [f"property {kind} {name}" for name in ("blue", "red")] + [f"property float {axis}" for axis in "xyz"]
    lines = ["ply", f"format {style} 1.0", *before.split("\n")[: bool(before) * 9], f"element vertex {count}"]
    return "\n".join([*lines, *properties, f"property {kind} green", "end_header\n"]).encode()


def body(order: str) -> bytes:
    rows = np.empty(2, [("br", "u1", 2), ("xyz", f"{order}f4", 3), ("g", "u1")])
    rows["br"], rows["xyz"], rows["g"] = COLOURS[:, [2, 0]], POINTS, COLOURS[:, 1]
    return rows.tobytes()


@pytest.mark.parametrize(("style", "order"), [("binary_little_endian", "<"), ("binary_big_endian", ">")])
@pytest.mark.parametrize("before", ["", "element camera 3\nproperty uchar a\nproperty short b"])
def test_binary(tmp_path, style, order, before):
    path = tmp_path / "a.ply"
    path.write_bytes(header(style, before=before) + bytes(9 if before else 0) + body(order))
    np.testing.assert_array_equal(read_colours(path), COLOURS)
    np.testing.assert_array_equal(read_cloud(path), POINTS)


def test_text(tmp_path):
    path = tmp_path / "a.ply"
    rows = [f"{c[2]} {c[0]} {p[0]} {p[1]} {p[2]} {c[1]}\n" for p, c in zip(POINTS, COLOURS, strict=True)]
    path.write_bytes(header("ascii") + "".join(rows).encode())
    np.testing.assert_array_equal(read_colours(path), COLOURS)
    np.testing.assert_array_equal(read_cloud(path), POINTS)


def test_none_where_there_are_none(tmp_path):
    write_cloud(tmp_path / "a.ply", POINTS)
    write_cloud(tmp_path / "a.xyz", POINTS)
    (tmp_path / "b.ply").write_bytes(header("ascii", kind="float") + b"1 2 3 4 5 6\n1 2 3 4 5 6\n")
    for name in ("a.ply", "a.xyz", "b.ply"):
        assert read_colours(tmp_path / name) is None


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "a.ply"
    path.write_bytes((header("binary_little_endian") + body("<"))[:-4])
    with pytest.raises(FileFormatError, match=r"a\.ply"):
        read_colours(path)
