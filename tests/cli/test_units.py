"""Units, and clouds of which voxels leave nothing: what is said, and that it helps."""

import json
import re

import numpy as np
import pytest

import tear3d
from tests.bumpy import apply, bumpy_cloud, pose
from tests.cli.support import run

POSE = pose([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tear3d.write_cloud("a.ply", bumpy_cloud(1500, 0))
    tear3d.write_cloud("mm.ply", 1000.0 * bumpy_cloud(1500, 1))
    tear3d.write_cloud("inch.ply", bumpy_cloud(1500, 1) / 0.0254)
    tear3d.write_cloud("two.ply", bumpy_cloud(1500, 0)[:2])
    np.savetxt("pose.txt", POSE)
    return tmp_path


@pytest.mark.parametrize("command", ["compare", "refine"])
def test_what_a_note_on_units_advises_solves_it(place, command):
    said = run(command, "a.ply", "mm.ply", "--json", code=None)
    told = said.stderr or json.loads(said.stdout)["notes"][0]
    advised = re.search(r"`tear3d (transform mm.ply --scale .* -o NEW)`", " ".join(told.split()))[1]
    run(*advised.replace("NEW", "m.ply").split())
    np.testing.assert_allclose(tear3d.read_cloud("m.ply"), bumpy_cloud(1500, 1), rtol=1e-12)
    assert json.loads(run(command, "a.ply", "m.ply", "--json").stdout)["notes"] == []


def test_align_names_the_command_that_changes_a_unit(place):
    assert "tear3d transform FILE --scale FACTOR -o NEW" in run("align", "a.ply", "mm.ply", code=2).stderr


def test_a_thing_and_its_scene_may_differ(place):
    assert json.loads(run("compare", "a.ply", "inch.ply", "--json").stdout)["notes"] == []


def test_a_scale_comes_before_the_pose_and_is_undone_after_it(place):
    run("transform", "a.ply", "pose.txt", "--scale", "2.5", "-o", "there.ply")
    np.testing.assert_allclose(
        tear3d.read_cloud("there.ply"), apply(POSE, 2.5 * tear3d.read_cloud("a.ply")), atol=1e-12
    )
    run("transform", "there.ply", "pose.txt", "--scale", "2.5", "--inverse", "-o", "back.ply")
    np.testing.assert_allclose(tear3d.read_cloud("back.ply"), tear3d.read_cloud("a.ply"), atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("transform", "a.ply", "-o", "x.ply"), "nothing to do: pass a POSE, --scale, or both"),
        (("transform", "a.ply", "-o", "x.ply", "--scale", "0"), "--scale is 0: expected a number from 1e-12 to 1e+12"),
        (("transform", "a.ply", "-o", "x.ply", "--scale", "nan"), "--scale is nan: expected a number from 1e-12"),
        (("refine", "two.ply", "a.ply"), "two.ply has 2 points: expected a cloud of at least 3"),
        (("refine", "a.ply", "a.ply", "--voxel-size", "50"), "pass a smaller --voxel-size"),
        (("refine", "a.ply", "a.ply", "--voxel-size", "-1"), "--voxel-size is -1.0: expected"),
    ],
)
def test_what_cannot_be_done_is_one_line(place, arguments, error):
    failed = run(*arguments, code=2)
    assert error in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


def test_a_scale_costs_a_las_file_no_digits(place):
    laspy = pytest.importorskip("laspy")
    header = laspy.LasHeader(point_format=3, version="1.2")
    header.scales = [1.0, 1.0, 1.0]
    las = laspy.LasData(header)
    las.x, las.y, las.z = np.random.default_rng(0).integers(0, 5000, (3, 100)).astype(float)
    las.write("mm.las")
    run("transform", "mm.las", "--scale", "0.001", "-o", "m.las")
    np.testing.assert_allclose(tear3d.read_cloud("m.las"), 0.001 * tear3d.read_cloud("mm.las"), atol=1e-9)


def test_align_warns_of_limits_about_an_origin_far_away(place):
    far = np.array([5e5, 5e6, 300.0])
    for name in ("a", "b"):
        tear3d.write_cloud(f"{name}.npy", bumpy_cloud(1500, 0) + far)
    np.savetxt("here.txt", np.eye(4))
    asked = ("align", "a.npy", "b.npy", "--initial", "here.txt", "--certify", "none", "--quiet", "--out", "x.json")
    loud = [word for word in asked if word != "--quiet"]
    assert "which is the way of the origin" in " ".join(run(*loud, "--within", "5,10", code=None).stderr.split())
    assert "origin" not in run(*loud, "--within", "5,none", code=None).stderr
