"""LAS and LAZ keep dimensions, scale, offset, point format and coordinate reference."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d import Cloud, read_cloud
from tear3d.io.las_scale import fit_scaling
from tests.io.clouds import POSE, rich_cloud

laspy = pytest.importorskip("laspy")
pytest.importorskip("lazrs")
CRS = 'PROJCRS["ETRS89 / UTM zone 32N"]'


def las_file(path, point_format=7, count=30):
    rng = np.random.default_rng(1)
    header = laspy.LasHeader(point_format=point_format, version="1.4" if point_format > 5 else "1.2")
    header.add_extra_dim(laspy.ExtraBytesParams("Amplitude", "u2", offsets=[0.0], scales=[0.01]))
    header.add_extra_dim(laspy.ExtraBytesParams("pair", "2f4"))
    header.scales, header.offsets = [1e-3] * 3, [5e5, 5e6, 0]
    header.vlrs.append(laspy.vlrs.known.WktCoordinateSystemVlr(CRS))
    header.global_encoding.wkt = True
    las = laspy.LasData(header)
    las.x, las.y, las.z = (rng.random((count, 3)) * 100 + [5e5, 5e6, 10]).T
    las.intensity = rng.integers(0, 60000, count)
    las.classification = rng.integers(0, 20, count)
    las.return_number = rng.integers(1, 4, count)
    las.gps_time = rng.random(count) * 1e9
    las.point_source_id = rng.integers(0, 9, count)
    if "red" in las.point_format.dimension_names:
        las.red, las.green, las.blue = rng.integers(0, 65536, (3, count))
    las.Amplitude = np.round(rng.random(count) * 100, 2)
    las.pair = rng.random((count, 2))
    las.write(path)
    return las


@pytest.mark.parametrize("suffix", [".las", ".laz"])
@pytest.mark.parametrize("point_format", [1, 3, 6, 7])
def test_everything_is_read_and_written_back(tmp_path, suffix, point_format):
    las = las_file(tmp_path / f"a{suffix}", point_format)
    cloud = Cloud.read(tmp_path / f"a{suffix}")
    np.testing.assert_array_equal(cloud.points, read_cloud(tmp_path / f"a{suffix}"))
    assert cloud.crs == CRS
    np.testing.assert_array_equal(cloud.attributes["time"], las.gps_time)
    np.testing.assert_array_equal(cloud.attributes["intensity"], las.intensity)
    assert cloud.attributes["intensity"].dtype == np.uint16
    if point_format in (3, 7):
        np.testing.assert_array_equal(cloud.attributes["colors"], np.column_stack([las.red, las.green, las.blue]))
    back = laspy.read(cloud.write(tmp_path / "b"))
    assert (tmp_path / f"b{suffix}").exists()
    assert back.header.are_points_compressed == (suffix == ".laz")
    assert back.point_format == las.point_format
    assert str(back.header.version) == str(las.header.version)
    np.testing.assert_array_equal(back.header.scales, [1e-3] * 3)
    np.testing.assert_array_equal(back.header.offsets, [5e5, 5e6, 0])
    assert [vlr.string for vlr in back.header.vlrs.get("WktCoordinateSystemVlr")] == [CRS]
    for name in las.point_format.dimension_names:
        np.testing.assert_array_equal(np.array(back[name]), np.array(las[name]), err_msg=name)


def test_a_moved_cloud_keeps_the_scale_and_gets_another_offset_where_it_must(tmp_path):
    las_file(tmp_path / "a.laz")
    cloud = Cloud.read(tmp_path / "a.laz")
    moved = cloud.transformed(POSE)
    found = Cloud.read(moved.write(tmp_path / "b.laz"))
    np.testing.assert_allclose(found.points, moved.points, rtol=0, atol=5.01e-4)
    np.testing.assert_array_equal(found.las.scales, [1e-3] * 3)
    for name, values in cloud.attributes.items():
        np.testing.assert_array_equal(found.attributes[name], values)
    assert found.crs == CRS


def test_other_clouds_become_las(tmp_path):
    cloud = rich_cloud(50)
    found = Cloud.read(cloud.write(tmp_path / "a.las"))
    np.testing.assert_allclose(found.points, cloud.points, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(found.attributes["colors"], cloud.attributes["colors"].astype(int) * 257)
    np.testing.assert_array_equal(found.attributes["normals"], cloud.attributes["normals"])
    np.testing.assert_array_equal(found.attributes["scalar_intensity"], cloud.attributes["intensity"])
    for name in ("time", "classification", "ring", "depth"):
        np.testing.assert_array_equal(found.attributes[name], cloud.attributes[name])
        assert found.attributes[name].dtype == cloud.attributes[name].dtype
    again = Cloud.read(found.write(tmp_path / "b.las"))
    assert set(again.attributes) == set(found.attributes)


def test_colours_and_reference_that_a_file_had_not(tmp_path):
    las_file(tmp_path / "a.las", 6)
    cloud = Cloud.read(tmp_path / "a.las")
    del cloud.attributes["pair"]
    colours = np.tile(np.array([0.0, 0.5, 1.0]), (len(cloud), 1))
    other = Cloud(cloud.points, cloud.attributes | {"colors": colours}, crs="GEOGCRS[]", las=cloud.las)
    found = Cloud.read(other.write(tmp_path / "b.las"))
    assert found.las.point_format.id == 7
    assert found.crs == "GEOGCRS[]"
    assert "pair" not in found.attributes
    np.testing.assert_array_equal(found.attributes["colors"][0], [0, 32768, 65535])
    np.testing.assert_array_equal(found.attributes["Amplitude"], cloud.attributes["Amplitude"])


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e9, 1e100])
@pytest.mark.parametrize("place", [0.0, 1.0, 5e6])
def test_any_size_fits(tmp_path, size, place):
    points = np.random.default_rng(2).random((20, 3)) * size + place
    scales, offsets = fit_scaling(points)
    assert np.abs((points - offsets) / scales).max() < 2**31
    found = Cloud.read(Cloud(points).write(tmp_path / "a.las")).points
    np.testing.assert_allclose(found, points, rtol=1e-9, atol=max(1e-8 * size, 1e-20))
    single = Cloud.read(Cloud(points[:1]).write(tmp_path / "b.las")).points
    np.testing.assert_allclose(single, points[:1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["?", "i1", "u1", "i8", "u8", "f2", "f4", "f8"])
def test_types(tmp_path, kind):
    values = np.array([0, 1, 1], kind) if kind == "?" else -np.array([0, 1, 1], kind)
    found = Cloud.read(Cloud(np.eye(3), {"a name": values, "wide": values[:, None]}).write(tmp_path / "a.las"))
    np.testing.assert_array_equal(found.attributes["a_name"], values)
    np.testing.assert_array_equal(found.attributes["wide_0"], values)
