"""The folder that `--out` writes: complete, or not there at all."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tear3d
from tear3d.cli import folder as output
from tear3d.errors import InputError
from tear3d.io.poses import read_pose
from tear3d.synthetic import make_problem
from tests.cli.support import FakeSolver, run

FILES = ["README.txt", "inliers.txt", "pose.txt", "report.html", "result.json", "run.log", "settings.json"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_has_everything_needed_to_repeat_the_run(solver, pairs_file, place):
    solver.transformation = np.eye(4)
    printed = run("register", pairs_file, "--out", place / "run", "--time-limit", 5)
    assert f"wrote {place / 'run'}" in printed.stdout.replace("\n", "")
    assert listing(place) == ["run"]
    assert listing(place / "run") == FILES
    np.testing.assert_array_equal(read_pose(place / "run" / "pose.txt"), solver.transformation)
    result = json.loads((place / "run" / "result.json").read_text())
    rows = np.loadtxt(place / "run" / "inliers.txt", dtype=int)
    assert len(rows) == result["num_inliers"] == 100
    source, target = solver.calls[0]["source"], solver.calls[0]["target"]
    assert (np.linalg.norm(source[rows] - target[rows], axis=1) < 0.06).all()
    settings = json.loads((place / "run" / "settings.json").read_text())
    assert settings["command"] == "register"
    assert settings["options"]["time_limit"] == 5.0
    assert settings["options"]["pairs"] == str(pairs_file)
    assert settings["inputs"] == [
        {
            "path": str(pairs_file),
            "bytes": pairs_file.stat().st_size,
            "sha256": output.sha256(pairs_file),
        }
    ]
    assert settings["versions"]["tear3d"] == tear3d.__version__
    assert settings["files"] == FILES
    assert "read pairs.npz" in (place / "run" / "run.log").read_text()
    assert "<html" in (place / "run" / "report.html").read_text("utf-8")


def test_an_earlier_run_and_an_empty_folder_are_replaced(solver, pairs_file, place):
    (place / "run").mkdir()
    for _ in range(2):
        run("register", pairs_file, "--out", place / "run", "--quiet")
        assert listing(place / "run") == FILES
        (place / "run" / "run.log").write_text("old")
    run("register", pairs_file, "--out", place / "run", "--quiet")
    assert (place / "run" / "run.log").read_text() != "old"
    assert listing(place) == ["run"]


def test_an_earlier_run_with_something_added_is_kept(solver, pairs_file, place):
    run("register", pairs_file, "--out", place / "run", "--quiet")
    (place / "run" / "notes.txt").write_text("mine")
    failed = run("register", pairs_file, "--out", place / "run", code=2)
    assert "notes.txt" in failed.stderr
    assert (place / "run" / "notes.txt").exists()


@pytest.mark.parametrize("content", ["{}", "[]", "not json", '{"tool": "other", "files": ["settings.json"]}'])
def test_settings_of_another_program_are_not_ours(solver, pairs_file, place, content):
    (place / "run").mkdir()
    (place / "run" / "settings.json").write_text(content)
    failed = run("register", pairs_file, "--out", place / "run", code=2)
    assert "not written by tear3d" in failed.stderr
    assert (place / "run" / "settings.json").read_text() == content


@pytest.mark.parametrize("crash", [RuntimeError("broken"), KeyboardInterrupt()])
@pytest.mark.parametrize("where", ["write_pose", "Run.write_report", "versions"])
def test_nothing_half_written_survives_a_crash(solver, pairs_file, place, monkeypatch, crash, where):
    def fail(*args, **kwargs):
        raise crash

    run("register", pairs_file, "--out", place / "old", "--quiet")
    before = {name: (place / "old" / name).read_bytes() for name in FILES}
    monkeypatch.setattr(f"{output.__name__}.{where}", fail)
    for name in ("old", "new"):
        code = 130 if isinstance(crash, KeyboardInterrupt) else 1
        run("register", pairs_file, "--out", place / name, "--quiet", code=code)
    assert listing(place) == ["old"]
    assert {name: (place / "old" / name).read_bytes() for name in FILES} == before


def test_the_old_folder_comes_back_when_the_new_one_cannot_take_its_name(solver, pairs_file, place, monkeypatch):
    run("register", pairs_file, "--out", place / "run", "--quiet")
    before = (place / "run" / "run.log").read_text()
    rename = Path.rename

    def refuse(self, target):
        if self.suffix == ".tmp" and Path(target).name == "run":
            raise OSError(5, "Input/output error", str(target))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    failed = run("register", pairs_file, "--out", place / "run", "--quiet", code=2)
    assert "Input/output error" in failed.stderr
    assert listing(place) == ["run"]
    assert (place / "run" / "run.log").read_text() == before


def test_a_link_to_a_folder_stays_a_link(solver, pairs_file, place):
    (place / "real").mkdir()
    os.symlink(place / "real", place / "link")
    run("register", pairs_file, "--out", place / "link", "--quiet")
    assert (place / "link").is_symlink()
    assert listing(place / "real") == FILES


def test_json_has_plain_and_finite_values_only():
    text = output.to_json({"a": [float("inf"), np.float64("nan"), np.bool_(True)], "b": (np.int64(3), "x")})
    assert json.loads(text) == {"a": [None, None, True], "b": [3, "x"]}


def test_demo_and_folder(solver, place):
    run("demo", "--pairs", 300, "--out", place / "run", "--quiet")
    assert listing(place / "run") == FILES
    assert json.loads((place / "run" / "settings.json").read_text())["inputs"] == []


@pytest.mark.parametrize(
    ("options", "function"),
    [
        ({}, "aligned_clouds"),
        ({"kind": "residuals"}, "residual_histogram"),
        ({"kind": "search"}, "search_progress"),
        ({"kind": "cells", "stage": 1}, "sphere_cells"),
    ],
)
def test_plot_calls_the_function_of_its_kind(monkeypatch, options, function):
    from tear3d.report import plots

    problem = make_problem(50, 0.5)
    result = FakeSolver()(problem.source, problem.target, noise_bound=problem.noise_bound)
    calls = []
    monkeypatch.setattr(plots, function, lambda *args, **kwargs: calls.append((args, kwargs)) or "figure")
    assert result.plot(problem.source, problem.target, **options) == "figure"
    ((about, *pairs), kwargs) = calls[0]
    assert about is result
    assert len(pairs) == (2 if function in ("aligned_clouds", "residual_histogram") else 0)
    assert kwargs == {name: value for name, value in options.items() if name != "kind"}


def test_plot_draws_and_says_what_it_needs():
    pytest.importorskip("plotly")
    problem = make_problem(50, 0.5)
    result = FakeSolver()(problem.source, problem.target, noise_bound=problem.noise_bound)
    assert len(result.plot(problem.source, problem.target).data) == 4
    with pytest.raises(InputError, match="needs the pairs"):
        result.plot(kind="residuals")
    with pytest.raises(InputError, match="expected 'clouds'"):
        result.plot(kind="pie")
