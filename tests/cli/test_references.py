"""Commands that take several clouds, and the coordinate references that these say."""

import json

import numpy as np
import pytest

import tear3d
from tear3d.io.poses import write_pose
from tests.bumpy import bumpy_cloud, pose
from tests.cli.support import run

CRS = {zone: f'PROJCS["UTM zone {zone}N",AUTHORITY["EPSG","326{zone}"]]' for zone in (32, 33)}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Two clouds of one zone, one of the next, one that does not say."""
    monkeypatch.chdir(tmp_path)
    for name, crs in (("a", CRS[32]), ("b", CRS[32]), ("c", CRS[33]), ("d", None)):
        tear3d.Cloud(bumpy_cloud(200, 0), crs=crs).write(f"{name}.npz")
    write_pose("pose.txt", pose([0, 0, 0.1], [1.0, 0, 0]))
    return tmp_path


def merged(*arguments, code=0):
    """What is said, and the reference of the file."""
    done = run("merge", *arguments, "-o", "m.npz", code=code)
    return done.stderr, None if code else tear3d.Cloud.read("m.npz").crs


def test_one_reference_stays_silently(place):
    assert merged("a.npz", "b.npz") == ("", CRS[32])
    assert merged("d.npz", "d.npz") == ("", None)


def test_two_references_are_refused_unless_that_is_asked_for(place):
    said, _ = merged("a.npz", "c.npz", code=2)
    assert "a.npz has its coordinates in UTM zone 32N (EPSG:32632), c.npz in UTM zone 33N (EPSG:32633)" in said
    assert "--ignore-crs" in said
    assert not (place / "m.npz").exists()
    said, crs = merged("a.npz", "c.npz", "--ignore-crs")
    assert "the file says UTM zone 32N" in said
    assert crs == CRS[32]


def test_files_that_do_not_say_it(place):
    said, crs = merged("a.npz", "d.npz")
    assert "d.npz does not say the coordinate reference: neither does the merged file" in said
    assert crs is None
    said, crs = merged("d.npz", "c.npz", "--ignore-crs")
    assert "the merged file says UTM zone 33N" in said
    assert crs == CRS[33]


def test_what_a_pose_moved_is_in_the_frame_of_the_others(place):
    assert merged("a.npz", "c.npz", "--pose", "pose.txt") == ("", CRS[33])
    assert merged("a.npz", "d.npz", "--pose", "pose.txt") == ("", None)
    said, crs = merged("a.npz", "b.npz", "--pose", "pose.txt", "--pose", "pose.txt")
    assert "all files were moved" in said
    assert crs is None


def test_a_refined_cloud_has_that_of_the_target(place):
    run("refine", "a.npz", "c.npz", "-o", "m.npz", code=None)
    assert tear3d.Cloud.read("m.npz").crs == CRS[33]


def test_transform_says_what_stays(place):
    pytest.importorskip("laspy")
    shown = run("transform", "a.npz", "pose.txt", "-o", "m.las").stdout
    assert shown == "wrote m.las: 200 points; it still says the coordinate reference UTM zone 32N\n"
    assert tear3d.Cloud.read("m.las").crs == CRS[32]


def test_info_names_it(place):
    assert "UTM zone 32N" in run("info", "a.npz").stdout
    facts = json.loads(run("info", "a.npz", "--json").stdout)
    assert (facts["crs"], facts["crs_name"]) == (CRS[32], "UTM zone 32N")
    facts = json.loads(run("info", "d.npz", "--json").stdout)
    assert (facts["crs"], facts["crs_name"]) == (None, None)
    assert np.isfinite(facts["spacing"])
