"""What a batch refuses before any work, and in what words."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.cli import batch_rows
from tear3d.cli.batch_store import Store
from tear3d.cli.manifest import natural, read_manifest
from tests.cli.support import run


@pytest.fixture
def place(tmp_path):
    for name in ("a.npy", "b.npy", "c.npy"):
        np.save(tmp_path / name, np.eye(3))
    return tmp_path


def refused(place, text, *options):
    (place / "m.csv").write_text(text)
    return run("batch", place / "m.csv", "--out", place / "out", *options, code=2).stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected source and target, or pairs"),
        ("source\na.npy\n", "has the columns source; expected source and target"),
        ("source,target,voxel\n", "unknown column 'voxel'"),
        ("source,target,source\n", "there twice"),
        ("source,target\n", "has no rows"),
        ("source;target\na.npy;b.npy\n", "'source;target'; expected columns with commas between them"),
        ('source,target\na.npy,"b.npy\nc.npy,b.npy\n', "line 3: unexpected end of data"),
        ('"source,target\n', "unexpected end of data"),
        ("source,target\na.npy,\0\n", "not a text file"),
        ("source,target\na.npy,.\n", "is no file"),
        ("source,target\na.npy\n", "line 2: expected source and target, or pairs"),
        ("source,target,pairs\na.npy,b.npy,c.npy\n", "line 2: expected source and target, or pairs"),
        ("source,target\na.npy,b.npy,3\n", "line 2: has more cells"),
        ("source,target\na.npy,none.npy\n", "none.npy is not there"),
        ("source,target\na.npy,a.npy\n", "the same file"),
        ("source,target,voxel_size\na.npy,b.npy,big\n", "line 2: voxel_size is 'big': expected a number"),
        ("source,target,certify\na.npy,b.npy,all\n", "certify is 'all': expected pose, rows, none"),
        ("source,target,mutual\na.npy,b.npy,perhaps\n", "mutual is 'perhaps': expected yes or no"),
        ("source,target,voxel_size\na.npy,b.npy,-1\n", "line 2: voxel_size is -1"),
        ("source,target,top_k\na.npy,b.npy,0\n", "line 2: top_k is 0"),
        ("source,target,noise_bound\na.npy,b.npy,0\n", "line 2: noise_bound is 0.0"),
        ("source,target,rel_gap\na.npy,b.npy,2\n", "line 2: rel_gap is 2"),
        ("pairs,voxel_size\na.npy,3\n", "voxel_size is for clouds"),
        ("source,target\na.npy,b.npy\nc.npy,b.npy\na.npy,b.npy\n", "line 4: the same files with the same options"),
        ("name,source,target\nx,a.npy,b.npy\nx,b.npy,c.npy\n", "the name 'x' as line 2"),
    ],
)
def test_manifests(place, text, words):
    assert words in " ".join(refused(place, text).split())
    assert not (place / "out").exists()


def test_files_that_are_no_manifest(place):
    assert "no such file or folder" in run("batch", place / "nothing", "--out", place / "out", code=2).stderr
    assert "not a text file" in run("batch", place / "a.npy", "--out", place / "out", code=2).stderr
    assert "--all-pairs is for a folder" in refused(place, "source,target\na.npy,b.npy\n", "--all-pairs")


def test_folders(place, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    assert "has no scans: expected at least two" in run("batch", empty, "--out", place / "out", code=2).stderr
    assert "the folder of the scans" in run("batch", place, "--out", place, code=2).stderr
    np.save(empty / "only.npy", np.eye(3))
    assert "has 1 scan: expected at least two" in run("batch", empty, "--out", place / "out", code=2).stderr
    (empty / "mine.txt").touch()
    assert "not written by a batch" in run("batch", place, "--out", empty, code=2).stderr
    assert "is a file" in run("batch", place, "--out", place / "a.npy", code=2).stderr
    assert "--rel-gap is 0" in run("batch", place, "--out", place / "out", "--rel-gap", "0", code=2).stderr


def test_scans_of_a_folder_in_their_natural_order(tmp_path):
    for name in ("scan10.ply", "scan2.ply", "scan1.ply", "poses.txt", "summary.csv", ".hidden.ply", "notes.md"):
        (tmp_path / name).touch()
    (tmp_path / "out.ply").mkdir()
    jobs = read_manifest(tmp_path, tmp_path / "out", {}, all_pairs=False)
    assert [job.name for job in jobs] == ["scan2--scan1", "scan10--scan2"]
    assert sorted(["b10", "B2", "a", "10", "9"], key=natural) == ["9", "10", "a", "B2", "b10"]


def test_a_link_to_nothing_is_not_passed_over(tmp_path):
    """Its neighbours would be taken for a pair."""
    for name in ("scan1.ply", "scan3.ply"):
        (tmp_path / name).touch()
    (tmp_path / "scan2.ply").symlink_to(tmp_path / "gone.ply")
    jobs = read_manifest(tmp_path, tmp_path / "out", {}, all_pairs=False)
    assert [job.name for job in jobs] == ["scan2--scan1", "scan3--scan2"]
    with pytest.raises(OSError) as caught:
        Store(tmp_path / "out").inputs(jobs[0])
    assert batch_rows.failed(jobs[0], caught.value)["reason"] == f"{tmp_path / 'scan2.ply'}: No such file or directory"


def test_text_files_are_scans_where_there_is_nothing_else(tmp_path):
    for name in ("a.txt", "b.txt", "c.csv"):
        (tmp_path / name).touch()
    assert len(read_manifest(tmp_path, tmp_path / "out", {}, all_pairs=True)) == 3


def test_names_tell_scans_apart_that_differ_in_their_suffix_only(tmp_path):
    for name in ("a.ply", "a.pcd"):
        (tmp_path / name).touch()
    (job,) = read_manifest(tmp_path, tmp_path / "out", {}, all_pairs=False)
    assert job.name == "a.ply--a.pcd"


def test_names_of_files_are_safe(tmp_path):
    for name in ("../x", "über & so", "", "." * 9, "y" * 300):
        (tmp_path / "a.npy").touch()
        (tmp_path / "b.npy").touch()
        (tmp_path / "m.csv").write_text(f'name,source,target\n"{name}",a.npy,b.npy\n', encoding="utf-8")
        (job,) = read_manifest(tmp_path / "m.csv", tmp_path / "out", {}, all_pairs=False)
        assert job.slug.replace("_", "").replace("-", "").replace(".", "").isalnum()
        assert len(job.slug) <= 60
