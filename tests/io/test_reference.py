"""A cloud that was moved into the frame of another has the coordinate reference of that one."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tear3d.io.cloud import Cloud
from tear3d.io.reference import differing, in_frame_of, name_of

POINTS = np.random.default_rng(0).normal(size=(20, 3))
ONE, OTHER = (f'PROJCS["WGS 84 / UTM zone {zone}N",GEOGCS["WGS 84"]]' for zone in (32, 33))


def cloud_with(crs, folder, suffix):
    """Through a file of that format."""
    pytest.importorskip("laspy")
    cloud = Cloud(POINTS, {"intensity": np.arange(20, dtype=np.uint16)}, crs=crs)
    return Cloud.read(cloud.write(folder / f"a{suffix}"))


def test_the_name_of_a_reference():
    assert name_of(ONE) == "WGS 84 / UTM zone 32N"
    assert name_of("EPSG:4326") == "EPSG:4326"


@pytest.mark.parametrize("suffix", [".las", ".npz"])
@pytest.mark.parametrize(("own", "new"), [(ONE, OTHER), (ONE, None), (None, ONE), (ONE, ONE), (None, None)])
def test_it_is_that_of_the_target(tmp_path, caplog, suffix, own, new):
    (tmp_path / "target").mkdir()
    source, target = cloud_with(own, tmp_path, suffix), cloud_with(new, tmp_path / "target", suffix)
    assert (source.crs, target.crs) == (own, new)
    with caplog.at_level(logging.WARNING):
        moved = in_frame_of(source, target)
    again = Cloud.read(moved.write(tmp_path / f"b{suffix}"))
    assert again.crs == new
    assert np.array_equal(again.attributes["intensity"], source.attributes["intensity"])
    assert source.crs == own
    told = [record.message for record in caplog.records]
    assert len(told) == (own is not None and own != new)
    assert not told or "32N" in told[0]


def test_a_target_that_knows_of_none(tmp_path):
    moved = in_frame_of(cloud_with(ONE, tmp_path, ".las"), Cloud(POINTS))
    assert Cloud.read(moved.write(tmp_path / "b.las")).crs is None


@pytest.mark.parametrize("suffix", [".ply", ".xyz", ".pcd", ".ply.gz"])
def test_a_format_without_a_place_for_it_is_named(tmp_path, caplog, suffix):
    with caplog.at_level(logging.WARNING):
        Cloud(POINTS, crs=ONE).write(tmp_path / f"a{suffix}")
        assert "no place for the coordinate reference WGS 84 / UTM zone 32N" in caplog.text
        caplog.clear()
        Cloud(POINTS).write(tmp_path / f"a{suffix}")
        assert not caplog.text


def wkt(name, code=None):
    return f'PROJCS["{name}",GEOGCS["WGS 84",AUTHORITY["EPSG","4326"]]' + (
        f',AUTHORITY["EPSG","{code}"]]' if code else "]"
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (wkt("A", 32632), wkt("B", 32632), True),
        (wkt("A", 32632), wkt("A", 32633), False),
        (wkt("A", 32632), wkt("A"), True),
        (wkt("A", 32632), 'PROJCRS["B",ID["EPSG",32632]]', True),
        (wkt("A"), wkt("A").replace(",", " ,\n") + "\0", True),
        (wkt("unknown"), wkt("unknown").replace("4326", "4258"), False),
        (wkt("A"), wkt("B"), False),
        ("EPSG:32632", wkt("A", 32632), True),
    ],
)
def test_which_references_are_the_same(one, other, same):
    clouds = [("one", Cloud(POINTS, crs=one)), ("other", Cloud(POINTS, crs=other))]
    assert (differing(clouds) == "") == same
    assert (Cloud.joined([cloud for _, cloud in clouds]).crs == one) == same


def test_a_joined_cloud_says_no_reference_that_is_not_that_of_all(tmp_path, caplog):
    a, b = (cloud_with(crs, tmp_path, ".las") for crs in (ONE, OTHER))
    assert Cloud.read(Cloud.joined([a, b]).write(tmp_path / "c.las")).crs is None
    assert "zone 32N" in caplog.text
    assert "zone 33N: the joined cloud has none" in caplog.text
    caplog.clear()
    assert Cloud.read(Cloud.joined([a, Cloud(POINTS)]).write(tmp_path / "c.las")).crs is None
    assert "cloud 2 does not say the coordinate reference: the joined cloud has none" in caplog.text
    caplog.clear()
    assert Cloud.read(Cloud.joined([a, a]).write(tmp_path / "c.las")).crs == ONE
    assert not caplog.text
