"""`tear3d info`, `transform`, `merge`, `refine`: what is done with clouds around a registration."""

import json
import os

import numpy as np
import pytest

import tear3d
from tear3d.io.poses import read_pose, write_pose
from tests.bumpy import apply, bumpy_cloud, pose
from tests.cli.support import run

POSE = pose([0.1, 0.2, 0.3], [1.0, 2.0, 3.0])


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Two clouds of the same surface, the pose between them, and one nearly right."""
    monkeypatch.chdir(tmp_path)
    tear3d.write_cloud("a.ply", bumpy_cloud(1500, 0))
    np.savetxt("b.asc", apply(POSE, bumpy_cloud(1500, 1)))
    write_pose("pose.txt", POSE)
    write_pose("near.txt", pose([0.12, 0.2, 0.29], [1.02, 2.0, 3.0]))
    (tmp_path / "folder").mkdir()
    return tmp_path


def test_info_says_how_many_where_and_how_dense(place):
    facts = json.loads(run("info", "b.asc", "--json").stdout)
    points = tear3d.read_cloud("b.asc")
    assert list(facts)[:2] == ["schema", "kind"]
    assert (facts["schema"], facts["kind"], facts["format"], facts["num_points"]) == (1, "info", "text", 1500)
    np.testing.assert_array_equal([facts["low"], facts["high"]], [points.min(axis=0), points.max(axis=0)])
    np.testing.assert_allclose(facts["centre"], points.mean(axis=0))
    # Of N random points of a surface of area A, each takes up A / N: here it is about a sphere.
    assert facts["spacing"] == pytest.approx(np.sqrt(4.0 * np.pi / 1500), rel=0.2)
    assert facts["notes"] == []


def test_info_reads_well_on_sixty_columns(place, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("info", "a.ply").stdout
    assert "1\u202f500" in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 60


@pytest.mark.parametrize(
    ("points", "note"),
    [
        (bumpy_cloud(200, 0) * 1e4, "millimetres"),
        (bumpy_cloud(200, 0) * 1e-3, "does not say its unit"),
        (bumpy_cloud(200, 0) + np.array([5e5, 5e6, 0.0]), "far from the origin"),
        (bumpy_cloud(200, 0) * [1.0, 1.0, 0.0], "flat"),
        (np.ones((3, 3)), "coincide"),
    ],
)
def test_info_remarks_on_what_is_odd(place, points, note):
    tear3d.write_cloud("odd.npy", points)
    facts = json.loads(run("info", "odd.npy", "--json").stdout)
    assert sum(note in each for each in facts["notes"]) == 1
    assert note in " ".join(run("info", "odd.npy").stdout.split())


def test_transform_there_and_back(place):
    assert run("transform", "a.ply", "pose.txt", "-o", "new/moved.ply").stdout == "wrote new/moved.ply: 1500 points\n"
    moved = tear3d.read_cloud("new/moved.ply")
    np.testing.assert_allclose(moved, apply(POSE, tear3d.read_cloud("a.ply")), atol=1e-12)
    assert run("transform", "new/moved.ply", "pose.txt", "--inverse", "-o", "back.xyz", "--quiet").stdout == ""
    np.testing.assert_allclose(tear3d.read_cloud("back.xyz"), tear3d.read_cloud("a.ply"), atol=1e-12)


def test_merge_moves_joins_and_thins(place):
    run("merge", "a.ply", "b.asc", "--pose", "pose.txt", "-o", "both.ply")
    both = tear3d.read_cloud("both.ply")
    a, b = tear3d.read_cloud("a.ply"), tear3d.read_cloud("b.asc")
    np.testing.assert_allclose(both, np.concatenate([apply(POSE, a), b]), atol=1e-12)
    shown = run("merge", "a.ply", "b.asc", "--voxel-size", "0.5", "-o", "thin.ply").stdout
    kept = len(tear3d.read_cloud("thin.ply"))
    assert kept < 300
    assert shown == f"wrote thin.ply: {kept} points of 3000\n"


def test_refine_improves_a_pose(place):
    tear3d.write_cloud("a.ply", bumpy_cloud(4000, 0))
    np.savetxt("b.asc", apply(POSE, bumpy_cloud(4000, 1)))
    found = json.loads(
        run("refine", "a.ply", "b.asc", "--initial", "near.txt", "--pose", "r.txt", "-o", "m.ply", "--json").stdout
    )
    assert (found["schema"], found["kind"], found["converged"]) == (1, "refinement", True)
    np.testing.assert_array_equal(read_pose("r.txt"), found["transformation"])
    before, after = (np.abs(T - POSE).max() for T in (read_pose("near.txt"), read_pose("r.txt")))
    assert after < 0.3 * before
    assert 0.01 < found["mean_shift"] < 0.06
    np.testing.assert_allclose(tear3d.read_cloud("m.ply"), apply(read_pose("r.txt"), tear3d.read_cloud("a.ply")))


def test_refine_says_when_it_could_not(place, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    shown = run("refine", "a.ply", "b.asc", code=3).stdout
    assert "the start was kept" in shown
    assert "   1.000000   0.000000   0.000000  0.000000" in shown


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("info", "none.ply"), "no such file"),
        (("info", "folder"), "folder: is a folder"),
        (("transform", "a.ply", "pose.txt", "-o", "a.ply"), "is one of the inputs"),
        (("transform", "a.ply", "pose.txt", "-o", "x.jpg"), "cannot write .jpg"),
        (("transform", "a.ply", "pose.txt", "-o", "folder"), "is a folder"),
        (("transform", "a.ply", "folder", "-o", "x.ply"), "is a folder"),
        (("transform", "a.ply", "b.asc", "-o", "x.ply"), "expected"),
        (("merge", "a.ply", "-o", "x.ply", "--pose", "pose.txt", "--pose", "near.txt"), "given 2 times, for 1 files"),
        (("merge", "a.ply", "b.asc", "-o", "b.asc"), "is one of the inputs"),
        (("merge", "a.ply", "-o", "x.ply", "--voxel-size", "-1"), "--voxel-size is"),
        (("refine", "a.ply", "b.asc", "--pose", "a.ply"), "is one of the inputs"),
        (("refine", "a.ply", "b.asc", "--pose", "x.ply", "-o", "x.ply"), "is one of the inputs"),
        (("refine", "a.ply", "b.asc", "--max-distance", "-1"), "--max-distance is"),
        (("refine", "a.ply", "folder"), "is a folder"),
    ],
)
def test_what_cannot_be_done_is_one_line(place, arguments, error):
    before = {path: path.read_bytes() for path in place.iterdir() if path.is_file()}
    failed = run(*arguments, code=2)
    assert error in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1
    assert "Traceback" not in failed.output
    assert {path: path.read_bytes() for path in place.iterdir() if path.is_file()} == before


def test_a_link_to_an_input_is_that_input(place):
    os.symlink("a.ply", "link.ply")
    assert "is one of the inputs" in run("transform", "a.ply", "pose.txt", "-o", "link.ply", code=2).stderr
