"""Files of every format, written by other means than the code under test, and read by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tear3d.io import read_cloud

KINDS = [
    *(
        "ply_ascii",
        "ply_little",
        "ply_big",
        "ply_faces_first",
        "pcd_ascii",
        "pcd_binary",
        "pcd_binary_compressed",
    ),
    *("las", "laz", "laz_14", "e57", "npy", "npy_fortran", "npy_fields", "npz"),
    *("obj", "bin", "xyz", "csv", "pts"),
]
POINTS = np.random.default_rng(1).normal(size=(50, 3)) * 10 + [5e5, 4e6, 100]
TOLERANCE = {"pcd_ascii": 1e-9, "las": 5.1e-5, "laz": 5.1e-5, "laz_14": 5.1e-5, "e57": 0.26, "bin": 0.26}
"""LAS keeps 1e-4 steps here; KITTI and pye57's writer keep single precision; the rest everything."""


def make(folder: Path, kind: str, points: np.ndarray) -> Path:
    """Write `points` as a file of this kind; skips the test when a package is missing."""
    name = kind.split("_")[0]
    path = folder / f"cloud.{name}"
    match name:
        case "ply":
            _ply(path, kind, points)
        case "pcd":
            pypcd4 = pytest.importorskip("pypcd4")
            cloud = pypcd4.PointCloud.from_points(points, ("x", "y", "z"), (np.float64,) * 3)
            cloud.save(path, pypcd4.Encoding(kind[4:]))
        case "las" | "laz":
            _las(path, kind, points)
        case "e57":
            pye57 = pytest.importorskip("pye57")
            file = pye57.E57(str(path), mode="w")
            file.write_scan_raw({f"cartesian{a}": points[:, i].copy() for i, a in enumerate("XYZ")})
            file.close()
        case "npy" if kind == "npy_fields":
            np.save(path, _fields(points, "zxy"))
        case "npy":
            np.save(path, np.asfortranarray(points) if kind == "npy_fortran" else points)
        case "npz":
            np.savez_compressed(path, other=np.arange(3), points=points)
        case "bin":
            np.column_stack([points, points[:, 0]]).astype("<f4").tofile(path)
        case _:
            _text(path, name, points)
    return path


def _ply(path: Path, kind: str, points: np.ndarray) -> None:
    encoding = {"ply_ascii": "ascii", "ply_big": "binary_big_endian"}.get(kind, "binary_little_endian")
    order = ">" if kind == "ply_big" else "<"
    vertices = points.astype(f"{order}f8").tobytes()
    faces = 4 * (b"\x03" + np.array([0, 1, 2], f"{order}i4").tobytes())
    if kind == "ply_ascii":
        vertices = "".join(f"{x!r} {y!r} {z!r}\n" for x, y, z in points.tolist()).encode()
        faces = 4 * b"3 0 1 2\n"
    parts = [
        (f"element vertex {len(points)}\n" + "".join(f"property double {axis}\n" for axis in "xyz"), vertices),
        ("element face 4\nproperty list uchar int vertex_indices\n", faces),
    ]
    if kind == "ply_faces_first":
        parts.reverse()
    header = f"ply\nformat {encoding} 1.0\n{parts[0][0]}{parts[1][0]}end_header\n"
    path.write_bytes(header.encode() + parts[0][1] + parts[1][1])


def _las(path: Path, kind: str, points: np.ndarray) -> None:
    laspy = pytest.importorskip("laspy")
    if kind != "las":
        pytest.importorskip("lazrs")
    new = kind == "laz_14"
    header = laspy.LasHeader(point_format=6 if new else 3, version="1.4" if new else "1.2")
    header.scales, header.offsets = [1e-4] * 3, np.round(points.mean(axis=0))
    las = laspy.LasData(header)
    las.x, las.y, las.z = points.T
    las.write(path)


def _text(path: Path, name: str, points: np.ndarray) -> None:
    first = {"csv": "x,y,z\n", "pts": f"{len(points)}\n", "obj": "# a mesh\nvn 0 0 1\n", "xyz": ""}[name]
    separator = "," if name == "csv" else " "
    lines = [separator.join(repr(float(v)) for v in row) for row in points]
    mark = "v " if name == "obj" else ""
    last = "f 1 2 3\n" if name == "obj" else ""
    path.write_text(first + "".join(f"{mark}{line}\n" for line in lines) + last)


def _fields(points: np.ndarray, names: str) -> np.ndarray:
    rows = np.empty(len(points), dtype=[(name, "f8") for name in names])
    for i, name in enumerate("xyz"):
        rows[name] = points[:, i]
    return rows


@pytest.mark.parametrize("kind", KINDS)
def test_reads_what_others_wrote(tmp_path, kind):
    points = read_cloud(make(tmp_path, kind, POINTS))
    assert points.dtype == np.float64
    assert points.flags.c_contiguous
    np.testing.assert_allclose(points, POINTS, rtol=0, atol=TOLERANCE.get(kind, 0))
