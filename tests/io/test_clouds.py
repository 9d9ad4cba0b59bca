"""Every format gives back the points that were put in, with all the digits it can hold."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import numpy as np
import pytest

from tear3d.errors import FileFormatError, InputError, MissingExtraError
from tear3d.io import read_cloud, write_cloud
from tests.io import test_formats as formats
from tests.real_data import MISSING, clouds_dir

POINTS = formats.POINTS


@pytest.mark.parametrize("suffix", [".ply", ".pcd", ".npy", ".xyz"])
@pytest.mark.parametrize("count", [1, 50])
def test_round_trip_is_exact(tmp_path, suffix, count):
    write_cloud(tmp_path / f"cloud{suffix}", POINTS[:count])
    np.testing.assert_array_equal(read_cloud(tmp_path / f"cloud{suffix}"), POINTS[:count])
    assert [p.name for p in tmp_path.iterdir()] == [f"cloud{suffix}"]


def test_ply_is_little_endian_double(tmp_path):
    write_cloud(tmp_path / "a.ply", POINTS)
    data = (tmp_path / "a.ply").read_bytes()
    assert b"format binary_little_endian 1.0" in data
    assert data.endswith(POINTS.astype("<f8").tobytes())


@pytest.mark.parametrize("kind", ["ply_ascii", "pcd_ascii"])
def test_text_keeps_more_digits_than_its_declared_float(tmp_path, kind):
    path = formats.make(tmp_path, kind, POINTS)
    text = path.read_text().replace("double", "float").replace("SIZE 8 8 8", "SIZE 4 4 4")
    assert "float" in text or "SIZE 4 4 4" in text
    path.write_text(text)
    np.testing.assert_allclose(read_cloud(path), POINTS, rtol=0, atol=1e-9)


def test_pcd_with_padding_repeated_fields_and_other_types(tmp_path):
    dtype = [("x", "<f4"), ("p", "u1", 4), ("y", "<f8"), ("q", "u1"), ("z", "<i4"), ("h", "<f4", 3)]
    rows = np.zeros(5, dtype=dtype)
    rows["x"], rows["y"], rows["z"] = np.arange(5), np.arange(5) + 0.1, -np.arange(5)
    header = (
        "VERSION .7\n# made by hand\nFIELDS x _ y _ z h\nSIZE 4 1 8 1 4 4\nTYPE F U F U I F\n"
        "COUNT 1 4 1 1 1 3\nWIDTH 5\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 5\nDATA binary\n"
    )
    path = tmp_path / "a.pcd"
    path.write_bytes(header.encode() + rows.tobytes())
    np.testing.assert_array_equal(read_cloud(path), np.column_stack([rows["x"], rows["y"], rows["z"]]))


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n4 5 6\n",
        "\ufeff1\t2\t3\r\n4\t5\t6",
        "# a comment on x and y and z\n\n1, 2, 3, 9\n4, 5, 6, 9\n",
        "//X Y Z Intensity\n1 2 3 9\n4 5 6 9\n",
        "2\n1 2 3 9\n4 5 6 9\n",
        'id;"Z [m]";x;Y_m\n7;3;1;2\n8;6;4;5\n',
        "1 2 3 255 0 0\n4 5 6 0 0 255 # last\n",
    ],
)
def test_text_layouts(tmp_path, text):
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")
    np.testing.assert_array_equal(read_cloud(path), [[1, 2, 3], [4, 5, 6]])


def test_non_finite_points_are_dropped_and_counted(tmp_path, caplog):
    points = POINTS.copy()
    points[3, 1], points[7] = np.nan, np.inf
    np.save(tmp_path / "a.npy", points)
    with caplog.at_level(logging.WARNING):
        found = read_cloud(tmp_path / "a.npy")
    np.testing.assert_array_equal(found, np.delete(POINTS, [3, 7], axis=0))
    assert "dropped 2 of 50" in caplog.text
    np.save(tmp_path / "a.npy", np.full((4, 3), np.nan))
    with pytest.raises(FileFormatError, match="none of its 4 points"):
        read_cloud(tmp_path / "a.npy")


def test_content_wins_over_suffix(tmp_path):
    write_cloud(tmp_path / "a.ply", POINTS)
    (tmp_path / "a.ply").rename(tmp_path / "a.txt")
    np.testing.assert_array_equal(read_cloud(tmp_path / "a.txt"), POINTS)


def test_no_such_file_and_unknown_format(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_cloud(tmp_path / "a.ply")
    with pytest.raises(InputError, match="is a folder; pass a file"):
        read_cloud(tmp_path)
    (tmp_path / "a.docx").write_text("1 2 3")
    with pytest.raises(InputError, match=r"unknown format \.docx.*\.ply"):
        read_cloud(tmp_path / "a.docx")


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((3, 10)), r"shape \(3, 10\).*N×3"),
        (np.zeros((0, 3)), "at least one point"),
        ([[1, 2, np.nan]], "NaN"),
        ([["a", "b", "c"]], "numbers"),
    ],
)
def test_write_refuses(tmp_path, points, message):
    with pytest.raises(InputError, match=message):
        write_cloud(tmp_path / "a.ply", points)
    with pytest.raises(InputError, match=r"cannot write \.bin"):
        write_cloud(tmp_path / "a.bin", POINTS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("kind", "package", "extra"),
    [
        ("pcd", "pypcd4", "clouds"),
        ("las", "laspy", "las"),
        ("e57", "pye57", "e57"),
    ],
)
def test_missing_package_names_the_extra(tmp_path, monkeypatch, kind, package, extra):
    path = tmp_path / f"a.{kind}"
    path.write_bytes(b"anything")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"{package}.*tear3d\[{extra}\]"):
        read_cloud(path)


@pytest.mark.parametrize("point_format", [3, 7])
def test_laz_with_several_chunks_and_extra_bytes(tmp_path, point_format):
    laspy = pytest.importorskip("laspy")
    points = np.random.default_rng(2).uniform(-50, 50, (120_000, 3))
    header = laspy.LasHeader(point_format=point_format, version="1.4")
    header.add_extra_dim(laspy.ExtraBytesParams("confidence", "f4"))
    header.scales = [1e-3] * 3
    las = laspy.LasData(header)
    las.x, las.y, las.z = points.T
    las.write(tmp_path / "a.laz")
    np.testing.assert_allclose(read_cloud(tmp_path / "a.laz"), points, rtol=0, atol=5.01e-4)


def test_e57_scans_are_put_into_the_common_frame(tmp_path):
    pye57 = pytest.importorskip("pye57")
    points = np.float32(POINTS - [5e5, 4e6, 100]).astype(float)
    file = pye57.E57(str(tmp_path / "a.e57"), mode="w")
    quarter = np.array([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    for rotation, shift in ((np.array([1.0, 0, 0, 0]), [0.0, 0, 0]), (quarter, [5e5, 4e6, 100.0])):
        data = {f"cartesian{axis}": points[:, i].copy() for i, axis in enumerate("XYZ")}
        file.write_scan_raw(data, rotation=rotation, translation=np.array(shift))
    file.close()
    turned = points @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1.0]]) + [5e5, 4e6, 100]
    np.testing.assert_allclose(read_cloud(tmp_path / "a.e57"), np.vstack([points, turned]), rtol=0, atol=1e-8)


@pytest.mark.skipif(clouds_dir() is None, reason=f"{MISSING}: set TEAR3D_DATA")
def test_real_files():
    files = sorted((clouds_dir() or Path()).glob("*/source.*"))
    assert files
    for path in files:
        points = read_cloud(path)
        assert len(points) > 1000
        assert np.isfinite(points).all()
        assert np.ptp(points, axis=0).min() > 0
