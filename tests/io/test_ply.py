"""PLY files of every kind, written by hand."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tear3d.errors import FileFormatError
from tear3d.io import read_cloud, write_cloud
from tear3d.io.ply_header import TYPES

ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">"}
CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "f4": "f", "f8": "d"}
ROWS = [(1, 2, 3), (4, 5, 6), (7, 8, 9), (10, 11, 12), (13, 14, 15)]
XYZ = "property double x\nproperty double y\nproperty double z\n"


def ply(encoding: str, elements: list[tuple[str, int, str]], body: bytes, end: str = "\n") -> bytes:
    lines = ["ply", f"format {encoding} 1.0"]
    for name, count, properties in elements:
        lines += [f"element {name} {count}", *properties.splitlines()]
    return "".join(line + end for line in (*lines, "end_header")).encode() + body


def read(tmp_path, content: bytes) -> np.ndarray:
    path = tmp_path / "a.ply"
    path.write_bytes(content)
    return read_cloud(path)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("encoding", ORDERS)
def test_coordinates_of_every_type(tmp_path, encoding, name):
    properties = f"property uchar red\nproperty {name} z\nproperty {name} x\nproperty short red\nproperty {name} y\n"
    layout = ORDERS[encoding] + "B" + 2 * CODES[TYPES[name]] + "h" + CODES[TYPES[name]]
    body = b"".join(struct.pack(layout, 255, z, x, -1, y) for x, y, z in ROWS)
    np.testing.assert_array_equal(read(tmp_path, ply(encoding, [("vertex", 5, properties)], body)), ROWS)


@pytest.mark.parametrize("encoding", ORDERS)
@pytest.mark.parametrize("lengths", [[3] * 40, [3, 4] * 40, [0] * 7, [3] * 100 + [4] * 100, [3] * 17 + [0] + [5] * 33])
def test_lists_before_and_after_the_vertices_are_skipped(tmp_path, encoding, lengths):
    order = ORDERS[encoding]
    camera = struct.pack(f"{order}fd", 1, 2)
    faces = b"".join(struct.pack(f"{order}hH{n}iB", -5, n, *range(n), 9) for n in lengths)
    body = camera + faces + np.array(ROWS, f"{order}f8").tobytes() + faces
    face = "property short flag\nproperty list ushort int vertex_index\nproperty uchar colour\n"
    elements = [("camera", 1, "property float f\nproperty double g\n"), ("face", len(lengths), face)]
    elements += [("vertex", 5, XYZ), ("strip", len(lengths), face)]
    np.testing.assert_array_equal(read(tmp_path, ply(encoding, elements, body)), ROWS)


@pytest.mark.parametrize("encoding", [*ORDERS, "ascii"])
@pytest.mark.parametrize("lengths", [[2] * 5, [0, 1, 2, 3, 0], [0] * 5])
def test_lists_among_the_coordinates(tmp_path, encoding, lengths):
    order = ORDERS.get(encoding, "<")
    properties = (
        "property list uchar float a\nproperty float x\nproperty list uint short x\nproperty int y\nproperty double z\n"
    )
    body = b""
    for n, (x, y, z) in zip(lengths, ROWS, strict=True):
        if encoding == "ascii":
            body += " ".join(map(str, [n, *range(n), x, n, *range(n), y, z])).encode() + b"\n"
        else:
            body += struct.pack(f"{order}B{n}ffI{n}hid", n, *range(n), x, n, *range(n), y, z)
    np.testing.assert_array_equal(read(tmp_path, ply(encoding, [("vertex", 5, properties)], body)), ROWS)


@pytest.mark.parametrize(
    "body",
    [
        "1 2 3\n4 5 6\n7 8 9\n10 11 12\n13 14 15",
        "  1\t2   3 \r\n\r\n4 5 6\r\n7 8 9\r\n10 11 12\r\n \t13 14 15 \r\n\r\n",
        "1 2e0 3.0\n+4 5 6\n7 8 9\n1.0E1 11 12\n13 14 15\n3 0 1 2\n",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_in_its_usual_spellings(tmp_path, body, end):
    comments = XYZ.replace("property double y", "comment made by hand\nobj_info num_cols 9\nproperty double y")
    content = ply("ascii", [("vertex", 5, comments), ("face", 1, "property list uchar int v\n")], body.encode(), end)
    np.testing.assert_array_equal(read(tmp_path, content), ROWS)


def test_text_with_elements_before_and_more_columns(tmp_path):
    body = b"0.5\n\n3 0 1 2\n4 0 1 2 3\n" + b"".join(b"%d 255 %d %d nan\n" % (z, x, y) for x, y, z in ROWS)
    elements = [("camera", 1, "property float f\n"), ("face", 2, "property list uchar int v\n")]
    names = ("float z", "uchar red", "float x", "float y", "double quality")
    elements.append(("vertex", 5, "".join(f"property {name}\n" for name in names)))
    np.testing.assert_array_equal(read(tmp_path, ply("ascii", elements, body)), ROWS)


def test_header_with_windows_line_ends_and_a_binary_body(tmp_path):
    body = np.array(ROWS, "<f8").tobytes()
    content = ply("binary_little_endian", [("vertex", 5, XYZ)], body, "\r\n")
    np.testing.assert_array_equal(read(tmp_path, content), ROWS)


@pytest.mark.parametrize("encoding", ORDERS)
def test_every_truncation_is_noticed(tmp_path, encoding):
    order = ORDERS[encoding]
    elements = [("face", 3, "property list int int v\n"), ("vertex", 5, "property list uint int w\n" + XYZ)]
    body = b"".join(struct.pack(f"{order}i{n}i", n, *range(n)) for n in (3, 4, 3))
    body += b"".join(struct.pack(f"{order}I2i3d", 2, 0, 0, *row) for row in ROWS)
    content = ply(encoding, elements, body)
    np.testing.assert_array_equal(read(tmp_path, content), ROWS)
    for cut in range(len(content)):
        with pytest.raises(FileFormatError, match=r"a\.ply: "):
            read(tmp_path, content[:cut])


@pytest.mark.parametrize(
    ("elements", "body", "message"),
    [
        ([("vertex", 2, XYZ)], b"1 2 3\n40 50\n", "damaged"),
        ([("vertex", 2, XYZ)], b"1 2 3 4\n4 5 6 7\n", "3 numbers per vertex but has 4"),
        ([("vertex", 3, XYZ)], b"1.0 2.0 3.0\n4.0 5.0 6.0\n", "declares 3 vertices but holds 2"),
        ([("vertex", 1, XYZ)], b"\n\n\n\n\n\n", "holds none"),
        ([("vertex", 1, XYZ)], b"1 2 three\n", "damaged"),
        ([("vertex", 1, XYZ + "property list uchar int v\n")], b"1 2 3 2 7\n", "does not match the header"),
        ([("vertex", 1, XYZ + "property list uchar int v\n")], b"1 2 3 -1 7\n", "does not match the header"),
        ([("vertex", 0, XYZ)], b"", "no points"),
        ([("vertex", 0, "")], b"", "need the properties"),
        ([("points", 1, XYZ)], b"1 2 3\n", "no vertex element, only points"),
        ([("vertex", 1, XYZ + "property float x\n")], b"1 2 3 4\n", "need the properties"),
        ([("vertex", 1, XYZ + "property half w\n")], b"1 2 3 4\n", "has the line 'property half w'"),
        ([("vertex", 1, XYZ + "property list float int w\n")], b"1 2 3 0\n", "has the line"),
        ([("vertex", 1, XYZ + "format ascii 1.0\n")], b"1 2 3\n", "has the line 'format"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path, elements, body, message):
    with pytest.raises(FileFormatError, match=message):
        read(tmp_path, ply("ascii", elements, body))


def test_format_line(tmp_path):
    for line in (b"", b"format ascii 2.0\n", b"format utf8 1.0\n"):
        content = ply("ascii", [("vertex", 1, XYZ)], b"1 2 3\n").replace(b"format ascii 1.0\n", line)
        with pytest.raises(FileFormatError, match="format"):
            read(tmp_path, content)


def test_negative_list_lengths(tmp_path):
    content = ply("binary_little_endian", [("face", 1, "property list char int v\n"), ("vertex", 1, XYZ)], b"\xff" * 40)
    with pytest.raises(FileFormatError, match="a list of face has the length -1"):
        read(tmp_path, content)


def test_what_is_written(tmp_path):
    write_cloud(tmp_path / "a.ply", ROWS)
    expected = ply("binary_little_endian", [("vertex", 5, XYZ)], np.array(ROWS, "<f8").tobytes())
    assert (tmp_path / "a.ply").read_bytes() == expected
