"""Damaged and lying files: a FileFormatError that names the file, quickly and without large allocations."""

from __future__ import annotations

import io
import pickle
import struct
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tear3d.errors import FileFormatError
from tear3d.io import Cloud, read_cloud
from tests.io import test_formats as formats

POINTS = np.random.default_rng(3).normal(size=(40, 3))
SECONDS = 2.0


def npy_bytes(shape: object, descr: str = "<f8", version: bytes = b"\x01\x00") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header


def npz_bytes(member: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("points.npy", member)
    return buffer.getvalue()


def ply_bytes(encoding: str, count: object, body: bytes = b"", extra: str = "") -> bytes:
    xyz = "property float x\nproperty float y\nproperty float z\n"
    return f"ply\nformat {encoding} 1.0\n{extra}element vertex {count}\n{xyz}end_header\n".encode() + body


def pcd_bytes(points: object, data: str, body: bytes = b"", width: object = None, count: str = "1 1 1") -> bytes:
    return (
        f"VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT {count}\nWIDTH {width or points}\n"
        f"HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {points}\nDATA {data}\n"
    ).encode() + body


LIES = {
    "binary_vertices.ply": (ply_bytes("binary_little_endian", 10**12, bytes(100)), "1000000000000 vertices"),
    "ascii_vertices.ply": (ply_bytes("ascii", 10**12, b"1 2 3\n"), "1000000000000 vertices"),
    "negative.ply": (ply_bytes("ascii", -1, b"1 2 3\n"), "'-1'; expected a whole number"),
    "digits.ply": (ply_bytes("ascii", "9" * 5000, b"1 2 3\n"), "whole number"),
    "no_end.ply": (b"ply\nformat ascii 1.0\n", "no end_header"),
    "long_header.ply": (b"ply\nformat ascii 1.0\n" + b"comment x\n" * 10**5, "longer than"),
    "one_line.ply": (b"ply\n" + b"c" * 10**6, "longer than"),
    "no_rows.ply": (ply_bytes("ascii", 1, b"1 2 3\n", "element nothing 99999999999\n"), "without properties"),
    "no_z.ply": (
        ply_bytes("ascii", 1, b"1 2 3\n").replace(b"float z", b"float w"),
        "need the properties x, y, z",
    ),
    "list.ply": (
        ply_bytes("binary_little_endian", 1, b"\xff" * 40, "element f 1\nproperty list uint double v\n"),
        "element f needs at least",
    ),
    "zero.ply": (ply_bytes("ascii", 0), "no points"),
    "binary_points.pcd": (pcd_bytes(10**12, "binary", bytes(100)), "1000000000000 points"),
    "ascii_points.pcd": (pcd_bytes(10**12, "ascii", b"1 2 3\n"), "1000000000000 points"),
    "fewer.pcd": (pcd_bytes(3, "ascii", b"1 2 3\n4.0000 5.0000 6.0000\n"), "declares 3 points but holds 2"),
    "packed.pcd": (
        pcd_bytes(10**8, "binary_compressed", struct.pack("<II", 12, 12 * 10**8) + bytes(12)),
        "match",
    ),
    "packed_size.pcd": (
        pcd_bytes(1, "binary_compressed", struct.pack("<II", 2**32 - 1, 12)),
        "compressed data",
    ),
    "grid.pcd": (pcd_bytes(2, "ascii", b"1 2 3\n4 5 6\n", width=7), "WIDTH × HEIGHT"),
    "count.pcd": (pcd_bytes(1, "binary", bytes(99), count="1 1 99999999"), "field z"),
    "zero.pcd": (pcd_bytes(0, "binary"), "no points"),
    "shape.npy": (npy_bytes("(1000000000000, 3)"), r"shape \(1000000000000, 3\)"),
    "overflow.npy": (npy_bytes("(9223372036854775807, 3)"), "needs at least"),
    "rows.npy": (npy_bytes("(3, 100)") + bytes(2400), "points must be rows"),
    "negative.npy": (npy_bytes("(-4, 3)") + bytes(96), "shape"),
    "text.npy": (npy_bytes("(2, 3)", "<U4") + bytes(96), "expected numbers"),
    "shape.npz": (npz_bytes(npy_bytes("(1000000000000, 3)")), r"shape \(1000000000000, 3\)"),
    "size.bin": (bytes(17), "multiple of 16"),
    "values.bin": (struct.pack("<4f", 1e30, 0, 0, 0), "not float32"),
    "count.pts": (b"3\n1 2 3\n4 5 6\n", "declares 3 points but holds 2"),
    "ragged.xyz": (b"1 2 3\n4 5\n", "fewer numbers"),
    "two.xyz": (b"1 2\n3 4\n", "2 numbers"),
    "header.csv": (b"lat,lon,height\n1,2,3\n", "name the coordinates"),
    "binary.txt": (b"1 2 3\n\0\0", "is binary"),
    "faces.obj": (b"f 1 2 3\n", "no vertex lines"),
    "short.obj": (b"v 1 2\n", "damaged"),
    "long.e57": (b"ASTM-E57" + struct.pack("<IIQQQQ", 1, 0, 10**15, 48, 10**14, 1024), "needs at least"),
}


@pytest.mark.parametrize("read", [read_cloud, Cloud.read], ids=["points", "whole"])
@pytest.mark.parametrize("name", LIES)
def test_lies_are_found_before_anything_is_allocated(tmp_path, name, read):
    content, message = LIES[name]
    if name.endswith(".e57"):
        pytest.importorskip("pye57")
    path = tmp_path / name
    path.write_bytes(content)
    tracemalloc.start()
    started = time.perf_counter()
    try:
        with pytest.raises(FileFormatError, match=message) as caught:
            read(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert str(path) in str(caught.value)
    assert time.perf_counter() - started < SECONDS
    assert peak < 30e6


SUFFIXES = ["ply", "pcd", "las", "laz", "e57", "npy", "npz", "obj", "bin", "xyz", "csv", "pts"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_file(tmp_path, suffix):
    packages = {"las": "laspy", "laz": "laspy", "e57": "pye57", "pcd": "pypcd4"}
    if suffix in packages:
        pytest.importorskip(packages[suffix])
    path = tmp_path / f"a.{suffix}"
    path.touch()
    with pytest.raises(FileFormatError, match=f"a.{suffix}"):
        read_cloud(path)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("unpickled",)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_objects_are_never_unpickled(tmp_path, suffix):
    member = npy_bytes("(1, 3)", "|O") + pickle.dumps(np.array([[Bomb()] * 3], dtype=object))
    path = tmp_path / f"a{suffix}"
    path.write_bytes(member if suffix == ".npy" else npz_bytes(member))
    with pytest.raises(FileFormatError, match="object"):
        read_cloud(path)


@pytest.mark.parametrize(
    ("position", "layout", "value"),
    [(107, "<I", 10**9), (96, "<I", 10**9), (100, "<I", 2**32 - 1), (94, "<H", 65535), (105, "<H", 65535)],
)
@pytest.mark.parametrize("kind", ["las", "laz"])
def test_las_headers_that_lie(tmp_path, kind, position, layout, value):
    path = formats.make(tmp_path, kind, POINTS)
    data = bytearray(path.read_bytes())
    struct.pack_into(layout, data, position, value)
    path.write_bytes(data)
    started = time.perf_counter()
    with pytest.raises(FileFormatError, match=r"cloud\.la"):
        read_cloud(path)
    assert time.perf_counter() - started < SECONDS


@pytest.mark.parametrize("field", ["chunks", "layer"])
def test_laz_sizes_that_would_end_the_process(tmp_path, field):
    path = formats.make(tmp_path, "laz_14", POINTS)
    data = bytearray(path.read_bytes())
    (offset,) = struct.unpack_from("<I", data, 96)
    (table,) = struct.unpack_from("<q", data, offset)
    struct.pack_into("<I", data, table + 4 if field == "chunks" else offset + 8 + 30 + 4, 2**32 - 1)
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match="chunk"):
        read_cloud(path)


@pytest.mark.parametrize(
    ("field", "message"), [("chunks", "40 points do not fit in 0"), ("compressor", "compressor 1")]
)
def test_laz_records_that_contradict_each_other(tmp_path, field, message):
    path = formats.make(tmp_path, "laz_14", POINTS)
    data = bytearray(path.read_bytes())
    header, offset = struct.unpack_from("<HI", data, 94)
    (table,) = struct.unpack_from("<q", data, offset)
    if field == "chunks":
        struct.pack_into("<I", data, table + 4, 0)
    else:
        data[header + 54] = 1
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message):
        read_cloud(path)


@pytest.mark.parametrize("kind", [kind for kind in formats.KINDS if kind not in ("obj", "xyz", "csv", "pts")])
def test_more_memory_than_allowed_is_refused(tmp_path, kind):
    path = formats.make(tmp_path, kind, POINTS)
    with pytest.raises(FileFormatError, match=r"cloud\..*, and 900 are allowed.*max_bytes="):
        read_cloud(path, max_bytes=900)
    assert len(read_cloud(path, max_bytes=10_000)) == len(POINTS)


def same_or_refused(path: Path) -> Cloud | None:
    """With attributes, which may be damaged where the points are not."""
    try:
        return Cloud.read(path)
    except FileFormatError as error:
        if str(path) not in str(error):
            raise
        return None


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", formats.KINDS)
def test_cut_and_flipped_files(tmp_path, kind):
    path = formats.make(tmp_path, kind, POINTS)
    data = path.read_bytes()
    rng = np.random.default_rng(4)
    variants = [data[:cut] for cut in np.linspace(0, len(data) - 1, 50).astype(int)]
    for trial in range(120):
        changed = bytearray(data)
        reach = len(data) if trial % 2 else min(500, len(data))
        for position in rng.integers(0, reach, 1 + trial % 3):
            changed[position] = rng.integers(256)
        variants.append(bytes(changed))
    messages = []
    for variant in variants:
        path.write_bytes(variant)
        started = time.perf_counter()
        try:
            points = read_cloud(path)
        except FileFormatError as error:
            messages.append(str(error))
        else:
            assert points.ndim == 2
            assert points.shape[1] == 3
            assert len(points) > 0
            assert np.isfinite(points).all()
            whole = same_or_refused(path)
            assert whole is None or np.array_equal(whole.points, points)
        assert time.perf_counter() - started < SECONDS
    assert messages
    assert all(str(path) in message for message in messages)
