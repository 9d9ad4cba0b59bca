"""Several motions on the command line."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

from tear3d.cli.motions import motions
from tear3d.cli.session import NOT_PROVEN, exit_code
from tear3d.io.poses import read_pose
from tear3d.synthetic import make_scene
from tests.cli.support import run
from tests.report.motions import two_motions

SCENE = make_scene(600, (0.3, 0.2), seed=1)


@pytest.fixture
def scene_file(tmp_path):
    path = tmp_path / "scene.npz"
    np.savez(path, source=SCENE.source, target=SCENE.target, noise_bound=SCENE.noise_bound)
    return path


def test_folder_table_and_json(scene_file, tmp_path):
    out = tmp_path / "run"
    printed = run("register", scene_file, "--instances", 3, "--certify", "none", "--out", out)
    assert printed.exit_code == 0
    assert "2 motions of up to 3 that were asked for" in printed.stdout
    names = {path.name for path in out.iterdir()}
    assert {"pose.txt", "pose_2.txt"} <= names
    assert "pose_3.txt" not in names
    for name, truth in zip(("pose.txt", "pose_2.txt"), SCENE.transformations, strict=True):
        np.testing.assert_allclose(read_pose(out / name), truth, atol=0.02)
    rows, labels = np.loadtxt(out / "inliers.txt", dtype=int).T
    np.testing.assert_array_equal(SCENE.labels[rows], labels)
    found = json.loads((out / "result.json").read_text())
    assert [one["num_inliers"] for one in found["instances"]] == [180, 120]
    assert found["instances"][0]["instances"] == []
    assert "The motions" in (out / "report.html").read_text(encoding="utf-8")


def test_a_folder_without_any_motion(tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", source=rng.normal(size=(50, 3)), target=rng.normal(size=(50, 3)), noise_bound=0.05)
    run("register", tmp_path / "a.npz", "--instances", 2, "--out", tmp_path / "run", code=NOT_PROVEN)
    assert (tmp_path / "run" / "inliers.txt").read_text().count("\n") == 1  # the header


@pytest.mark.parametrize("width", [60, 96])
def test_the_table_fits(width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(motions(two_motions(), narrow=width < 72))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    rows = [line.split() for line in lines if line.strip()[:1] in "12" and "motions" not in line]
    assert [row[1] for row in rows if len(row) > 3] == ["60", "40"]
    assert "…" not in "".join(lines)


def test_the_exit_code_is_that_of_the_worst():
    good = two_motions()
    assert exit_code(good) == 0
    assert exit_code(two_motions(second="time_limit")) == NOT_PROVEN
