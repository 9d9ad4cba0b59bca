"""Which files a folder of scans has, in which order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.io.clouds import write_cloud
from tear3d.mapping.scans import Given, Scans, scans_of


def test_numbers_in_names_count_as_numbers(tmp_path):
    for name in ("scan10.ply", "scan9.ply", "scan1.ply", "a2b10.xyz", "a2b9.xyz", "notes.md", ".hidden.ply"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "folder.ply").mkdir()
    assert [path.name for path in scans_of(tmp_path)] == [
        "a2b9.xyz",
        "a2b10.xyz",
        "scan1.ply",
        "scan9.ply",
        "scan10.ply",
    ]


def test_digits_that_are_no_numbers_are_letters(tmp_path):
    for name in ("a².ply", "a1.ply", "a①.ply", "a٣.ply"):
        (tmp_path / name).touch()
    assert sorted(path.name for path in scans_of(tmp_path)) == sorted(["a².ply", "a1.ply", "a①.ply", "a٣.ply"])


def test_notes_beside_scans_are_none(tmp_path):
    for name in ("b.ply", "a.ply.gz", "notes.txt", "list.csv", "list.csv.gz", "poses.npz"):
        (tmp_path / name).write_text("-")
    assert [path.name for path in scans_of(tmp_path)] == ["a.ply.gz", "b.ply"]
    for name in ("b.ply", "a.ply.gz"):
        (tmp_path / name).unlink()
    assert {path.name for path in scans_of(tmp_path)} == {"list.csv", "list.csv.gz", "notes.txt", "poses.npz"}


def test_no_folder_is_no_folder(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        scans_of(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="not a folder"):
        scans_of(tmp_path / "file")


def test_thinned_copies_go_with_the_block():
    rng = np.random.default_rng(0)
    cloud = rng.uniform(0.0, 4.0, (3000, 3))
    cloud[5] = np.nan
    with Scans.of(Given.of([cloud, cloud + 100.0]), None, lambda k: None) as scans:
        folder = scans.folder
        thinned = np.load(scans.path(1))
        assert np.isfinite(thinned).all()
        np.testing.assert_allclose(scans.centres[1], [102.0] * 3, atol=0.2)
        # Of a cube: half its edge.
        np.testing.assert_allclose(scans.radii, 2.0, rtol=0.1)
        assert scans.counts == [2999, 2999]
        assert 0.0 < scans.voxel_size < 1.0
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scans": [np.zeros((10, 3))]}, "at least two"),
        ({"scans": 7}, "scans is of type int"),
        ({"scans": [np.zeros((10, 2)), np.zeros((10, 3))]}, r"scans\[0\]"),
        ({"scans": [np.full((10, 3), np.nan)] * 2}, "no finite points"),
        ({"scans": [np.zeros((10, 3))] * 2}, "coincide"),
        ({"scans": [np.random.default_rng(0).random((50, 3))] * 2, "voxel_size": 5.0}, "within one voxel"),
        ({"voxel_size": -1.0}, "voxel_size is -1.0"),
        ({"noise_bound": 0.0}, "noise_bound is 0.0"),
        ({"reach": 0}, "reach"),
        ({"max_tries": 0}, "max_tries"),
        ({"processes": 0}, "processes"),
        ({"certify": "all"}, "certify"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_registration(options, words):
    scans = options.pop("scans", [np.random.default_rng(0).random((50, 3))] * 2)
    with pytest.raises(InputError, match=words):
        tear3d.build_map(scans, **options)


def test_a_damaged_file_is_named(tmp_path):
    write_cloud(tmp_path / "a.ply", np.random.default_rng(0).random((50, 3)))
    (tmp_path / "b.ply").write_text("ply\nnothing")
    with pytest.raises(InputError, match=r"b\.ply"):
        tear3d.build_map(tmp_path, voxel_size=0.1)
