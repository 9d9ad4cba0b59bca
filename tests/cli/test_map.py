"""`tear3d map`: what it writes, prints and exits with."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tear3d
from tear3d.cli import session
from tear3d.io.clouds import read_cloud, write_cloud
from tests.cli.support import run, tear3d_command
from tests.mapping.made import loop, made_map
from tests.mapping.survey import farthest, survey

FILES = [
    "README.txt",
    "graph.g2o",
    "index.html",
    "map.json",
    "map.ply",
    "run.log",
    "settings.json",
    "trajectory.kitti",
    "trajectory.tum",
]


class FakeBuilder:
    """Stands in for `tear3d.build_map`: the scans are placed by edges that are made up."""

    def __init__(self):
        self.pairs = loop()
        self.options = {}

    def __call__(self, scans, *, progress, **options):
        self.options = options
        progress(tear3d.MapProgress("order", 1, 2, "b to a: confirmed"))
        return made_map(self.pairs, given=lambda made: scans)[0]


@pytest.fixture
def builder(monkeypatch):
    fake = FakeBuilder()
    monkeypatch.setattr(tear3d, "build_map", fake, raising=False)
    monkeypatch.setattr(session.kernels, "cold", lambda names: [])
    return fake


@pytest.fixture
def folder(tmp_path):
    scans = tmp_path / "scans"
    scans.mkdir()
    for number, scan in enumerate(survey(6, 600, radius=3.0)[0]):
        write_cloud(scans / f"scan{number}.ply", scan)
    return scans


def test_writes_everything(builder, folder, tmp_path):
    shown = run("map", folder, "--out", tmp_path / "map")
    assert sorted(path.name for path in (tmp_path / "map").iterdir()) == FILES
    assert "all 6 scans are in one map" in shown.stdout
    assert "none of the map as a whole" in shown.stdout
    assert "order 1/2  b to a: confirmed" in shown.stderr
    assert "b to a: confirmed" in (tmp_path / "map" / "run.log").read_text()
    told = json.loads((tmp_path / "map" / "map.json").read_text())
    assert [scan["name"] for scan in told["scans"]] == [f"scan{k}.ply" for k in range(6)]
    assert len(np.loadtxt(tmp_path / "map" / "trajectory.kitti")) == 6
    assert len(read_cloud(tmp_path / "map" / "map.ply")) > 100
    settings = json.loads((tmp_path / "map" / "settings.json").read_text())
    assert settings["command"] == "map"
    assert settings["files"] == FILES


def test_options_reach_the_library(builder, folder, tmp_path):
    run(
        "map", folder, "--out", tmp_path / "map", "--voxel-size", 0.5, "--noise-bound", 0.4, "--unordered", "--no-loop",
        "--reach", 3, "--max-tries", 40, "--certify", "rows", "--processes", 1, "--seed", 5, "--quiet",
    )  # fmt: skip
    assert builder.options == {
        "voxel_size": 0.5,
        "noise_bound": 0.4,
        "order": False,
        "loops": False,
        "reach": 3,
        "max_tries": 40,
        "certify": "rows",
        "processes": 1,
        "seed": 5,
    }


def test_voxels_of_the_merged_cloud(builder, folder, tmp_path):
    counts = []
    for size in (0.3, 1.0):
        run("map", folder, "--out", tmp_path / "map", "--map-voxel", size)
        counts.append(len(read_cloud(tmp_path / "map" / "map.ply")))
    assert counts[0] > 2 * counts[1]


def test_json_and_nothing_else(builder, folder, tmp_path):
    shown = run("map", folder, "--out", tmp_path / "map", "--json", "--quiet")
    assert json.loads(shown.stdout)["kind"] == "map"
    assert shown.stderr == ""


def test_scans_left_over_exit_with_3(builder, folder, tmp_path):
    builder.pairs = {(0, 1): "confirmed", (1, 2): "doubtful", (2, 3): "rejected", (3, 4): "failed"}
    shown = run("map", folder, "--out", tmp_path / "map", code=3)
    assert "2 of 6 scans are in the map" in shown.stdout
    assert "not in the map: scan2.ply" in shown.stdout
    assert "rejected as made up" in shown.stdout
    assert (tmp_path / "map" / "map.ply").exists()


def test_what_cannot_be_decided_exits_with_3(builder, folder, tmp_path):
    builder.pairs = loop(6, 1) | {(0, 1): "wrong"}
    shown = run("map", folder, "--out", tmp_path / "map", code=3)
    assert "not all decided" in shown.stdout


@pytest.mark.parametrize("case", ["none", "empty", "one", "file", "inside", "foreign", "voxel"])
def test_bad_input_exits_with_2_and_writes_nothing(case, builder, folder, tmp_path):
    out, more = tmp_path / "map", []
    if case == "none":
        folder = tmp_path / "nowhere"
    elif case == "empty":
        folder = tmp_path / "empty"
        folder.mkdir()
    elif case == "one":
        for path in sorted(folder.iterdir())[1:]:
            path.unlink()
    elif case == "file":
        folder = next(folder.iterdir())
    elif case == "inside":
        out = folder.parent
    elif case == "foreign":
        out.mkdir()
        (out / "mine.txt").write_text("keep")
    else:
        more = ["--map-voxel", "-1"]
    shown = run("map", folder, "--out", out, *more, code=2)
    assert shown.stderr.startswith("error: ")
    assert "Traceback" not in shown.stderr
    assert not (out / "map.json").exists()


def test_a_place_that_takes_no_folder_is_refused_before_the_work(builder, folder, monkeypatch, tmp_path):
    """Rights say that it can be written to, as they do for the administrator of any file system."""

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    shown = run("map", folder, "--out", tmp_path / "deep" / "map", code=2)
    assert f"nothing can be written to {tmp_path}: No space left on device" in " ".join(shown.stderr.split())
    assert builder.options == {}, "no pair was registered"
    assert not (tmp_path / "deep").exists()


def test_a_second_run_replaces_the_first(builder, folder, tmp_path):
    for _ in range(2):
        run("map", folder, "--out", tmp_path / "map")
    assert sorted(path.name for path in (tmp_path / "map").iterdir()) == FILES


def test_interrupted_writes_nothing(builder, folder, tmp_path, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tear3d, "build_map", stopped)
    shown = run("map", folder, "--out", tmp_path / "map", code=130)
    assert "nothing was written" in shown.stderr
    assert not (tmp_path / "map").exists()


@pytest.mark.slow
def test_from_files_to_map(tmp_path):
    scans, truth = survey(8, 5000, radius=2.0)
    folder = tmp_path / "scans"
    folder.mkdir()
    for number, scan in enumerate(scans[:3]):
        write_cloud(folder / f"{number}.ply", scan)
    done = tear3d_command("map", folder, "--out", tmp_path / "map", "--voxel-size", 0.2, "--processes", 1, "--no-loop")
    assert done.returncode == 0, done.stderr
    rows = np.loadtxt(tmp_path / "map" / "trajectory.kitti").reshape(-1, 3, 4)
    for scan, row, true in zip(scans[:3], rows, truth[:3], strict=True):
        assert farthest(scan, np.vstack([row, [0, 0, 0, 1]]), true) < 0.6
