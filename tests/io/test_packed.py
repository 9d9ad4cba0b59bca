"""Files compressed by gzip, and PTX."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from tear3d import Cloud, read_cloud, write_cloud
from tear3d.errors import FileFormatError, InputError
from tests.io.clouds import PTX, rich_cloud
from tests.io.test_cloud_files import same


@pytest.mark.parametrize("suffix", [".ply.gz", ".pcd.gz", ".xyz.gz"])
def test_compressed_files(tmp_path, suffix):
    if suffix == ".pcd.gz":
        pytest.importorskip("pypcd4")
    cloud = rich_cloud(30)
    cloud.write(tmp_path / f"a{suffix}")
    found = Cloud.read(tmp_path / f"a{suffix}")
    assert found.format == suffix
    assert gzip.decompress((tmp_path / f"a{suffix}").read_bytes())[:3] in (b"ply", b"VER", b"# x")
    off = 1e-5 if suffix == ".pcd.gz" else 0.0
    np.testing.assert_allclose(read_cloud(tmp_path / f"a{suffix}"), cloud.points, rtol=0, atol=off)
    if suffix != ".xyz.gz":
        same(found, cloud)
    assert found.write(tmp_path / "b") == tmp_path / f"b{suffix}"


def test_no_more_is_unpacked_than_allowed(tmp_path):
    path = tmp_path / "a.ply.gz"
    path.write_bytes(gzip.compress(bytes(10**7)))
    with pytest.raises(FileFormatError, match=r"a\.ply\.gz: its unpacked contents would take .* 900000 are allowed"):
        read_cloud(path, max_bytes=900_000)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"ply\nformat ascii 1.0\n"), "no end_header"),
        (gzip.compress(b"nothing")[:-6], "damaged or not a gzip"),
        (gzip.compress(gzip.compress(b"ply\n")), "compressed twice"),
        (b"", "damaged|not a gzip|is compressed|does not start"),
    ],
)
def test_damaged_contents_name_the_file(tmp_path, content, message):
    path = tmp_path / "a.ply.gz"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=message) as caught:
        Cloud.read(path)
    assert str(path) in str(caught.value)


def test_unknown_contents(tmp_path):
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(b"anything"))
    with pytest.raises(InputError, match=r"a\.tar\.gz: unknown format"):
        read_cloud(tmp_path / "a.tar.gz")
    with pytest.raises(InputError, match=r"cannot write \.gz"):
        write_cloud(tmp_path / "a.las.gz", np.eye(3))


def test_ptx(tmp_path):
    path = tmp_path / "a.ptx"
    path.write_text(PTX)
    found = Cloud.read(path, keep_invalid=True)
    assert np.isnan(found.points[0]).all()
    np.testing.assert_allclose(found.points[1:4], [[10, 21, 30], [9, 20, 30], [10, 20, 31]])
    np.testing.assert_array_equal(found.attributes["colors"][1], [255, 0, 1])
    assert found.attributes["colors"].dtype == np.uint8
    np.testing.assert_array_equal(found.attributes["intensity"][:3], [0.5, 0.25, 1])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found.viewpoint, [10, 20, 30, half, 0, 0, half])
    path.write_text(2 * PTX)
    assert len(Cloud.read(path)) == len(read_cloud(path)) == 10


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2\n3\n", "2\n900000000000\n", "needs at least"),
        ("2\n3\n", "2 3\n", "two counts"),
        ("2\n3\n", "-2\n3\n", "whole number"),
        ("2\n3\n", "0\n3\n", "damaged|two counts|no points"),
        ("0 0 1 0\n10", "0 0 1\n10", "4×4 pose"),
        ("3 0 0 0 1 1 1\n", "", "holds 5 points"),
        ("10 20 30 1", "10 nan 30 1", "4×4 pose"),
    ],
)
def test_damaged_ptx(tmp_path, old, new, message):
    path = tmp_path / "a.ptx"
    path.write_text(PTX.replace(old, new, 1))
    with pytest.raises(FileFormatError, match=message) as caught:
        read_cloud(path)
    assert str(path) in str(caught.value)
