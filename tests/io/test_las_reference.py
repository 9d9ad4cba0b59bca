"""Where a LAS file says its coordinate reference: a WKT before or after the points, or GeoTIFF keys."""

from __future__ import annotations

import logging
import struct

import numpy as np
import pytest

from tear3d import Cloud
from tear3d.errors import FileFormatError
from tear3d.io.reference import reference_of

laspy = pytest.importorskip("laspy")
pytest.importorskip("lazrs")
from laspy.vlrs.known import WktCoordinateSystemVlr, vlr_factory  # noqa: E402
from laspy.vlrs.vlrlist import VLRList  # noqa: E402

POINTS = np.random.default_rng(0).random((40, 3)) * 50 + [5e5, 5e6, 0]
CRS = 'PROJCS["WGS 84 / UTM zone 32N",GEOGCS["WGS 84"],AUTHORITY["EPSG","32632"]]'


def las_file(path, *, after=(), before=(), version="1.4", point_format=6):
    header = laspy.LasHeader(point_format=point_format, version=version)
    header.scales, header.offsets = [1e-3] * 3, [5e5, 5e6, 0]
    header.vlrs.extend(before)
    las = laspy.LasData(header)
    las.x, las.y, las.z = POINTS.T
    if after:
        las.evlrs = VLRList(after)
        header.global_encoding.wkt = True
    las.write(path)
    return path


def geo_keys(*entries):
    words = [1, 1, 0, len(entries), *(word for key, value in entries for word in (key, 0, 1, value))]
    return vlr_factory(laspy.VLR("LASF_Projection", 34735, "keys", struct.pack(f"<{len(words)}H", *words)))


OTHER = laspy.VLR("somebody", 7, "else", b"12345")


@pytest.mark.parametrize("suffix", [".las", ".laz"])
@pytest.mark.parametrize("before_it", [[], [OTHER, OTHER]])
def test_a_wkt_after_the_points_is_read_and_written_back(tmp_path, suffix, before_it):
    path = las_file(tmp_path / f"a{suffix}", after=[*before_it, WktCoordinateSystemVlr(CRS), OTHER])
    cloud = Cloud.read(path)
    assert cloud.crs == CRS
    again = laspy.read(cloud.write(tmp_path / f"b{suffix}"))
    assert [vlr.string for vlr in again.header.vlrs.get("WktCoordinateSystemVlr")] == [CRS]
    assert again.header.global_encoding.wkt
    assert Cloud.read(tmp_path / f"b{suffix}").crs == CRS
    np.testing.assert_allclose(Cloud.read(tmp_path / f"b{suffix}").points, cloud.points, atol=1e-9)


def test_one_before_the_points_comes_first(tmp_path):
    other = CRS.replace("32", "33")
    path = las_file(tmp_path / "a.las", before=[WktCoordinateSystemVlr(CRS)], after=[WktCoordinateSystemVlr(other)])
    assert Cloud.read(path).crs == CRS


def test_what_is_too_long_is_named(tmp_path, caplog):
    path = las_file(tmp_path / "a.las", after=[WktCoordinateSystemVlr(CRS + " " * 70_000)])
    with caplog.at_level(logging.WARNING):
        assert Cloud.read(path).crs is None
    assert "more than can be kept" in caplog.text


@pytest.mark.parametrize("cut", [1, 40, 100])
def test_records_that_are_cut_off(tmp_path, cut):
    path = las_file(tmp_path / "a.las", after=[WktCoordinateSystemVlr(CRS)])
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(FileFormatError, match="records after the points"):
        Cloud.read(path)


@pytest.mark.parametrize(
    ("entries", "name"),
    [
        ([(1024, 1), (3072, 32632)], "EPSG:32632"),
        ([(1024, 2), (2048, 4326)], "EPSG:4326"),
        ([(3072, 25832), (4096, 7837)], "EPSG:25832+7837"),
        ([(3072, 32767)], "a reference in GeoTIFF keys"),
    ],
)
def test_geotiff_keys_are_named_kept_and_missed(tmp_path, caplog, entries, name):
    path = las_file(tmp_path / "a.las", before=[geo_keys(*entries)], version="1.2", point_format=1)
    cloud = Cloud.read(path)
    assert cloud.crs is None
    assert reference_of(cloud).name == name
    assert reference_of(Cloud.read(cloud.write(tmp_path / "b.las"))).text == reference_of(cloud).text
    for suffix in (".ply", ".npz"):
        caplog.clear()
        cloud.write(tmp_path / f"c{suffix}")
        assert f"{suffix} has no place for the coordinate reference {name}" in caplog.text
