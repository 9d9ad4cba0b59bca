"""The page says what the runs say, ours and others', and the page in the docs is that of the runs kept with it."""

from __future__ import annotations

import json

import pytest

from benchmarks import figures, peers
from benchmarks.figures import NAMES, Scope
from benchmarks.page import write
from benchmarks.page.chosen import anonymous, by_figure
from benchmarks.page.losses import losses
from benchmarks.page.readme import END, START, table
from benchmarks.page.text import page
from benchmarks.runs.store import read
from benchmarks.runs.task import Problem, Task
from tests.benchmarks.figures.made import FAILS, made

ABOUT = {"processor": "a chip", "cores": 2, "system": "Linux", "tear3d": "1", "python": "3", "numpy": "2", "numba": "1"}


def some_rows():
    names = tuple(name for name in NAMES if name != "tables")
    rows = [made(task) for task in figures.tasks(names, Scope(quick=True))]
    keys = ("tear3d_answer", FAILS)
    real = [
        Task(k, Problem(folder="some/where/data", layout="pairs", name=f"kitti_{j}")) for j in range(4) for k in keys
    ]
    return rows + [made(task, "KITTI") for task in real]


def test_every_figure_finds_its_runs():
    chosen = by_figure(some_rows(), quick=True)
    assert tuple(chosen) == NAMES
    for name in chosen:
        if name != "tables":
            assert len(chosen[name]) == len(figures.figure(name).tasks(Scope(quick=True)))
    assert by_figure([]) == {}


def test_more_seeds_and_longer_caps_are_found_too():
    scope = Scope(quick=True, seeds=2, cap=33.0, threads=3)
    long = [made(task) for task in figures.figure("fig6").tasks(scope)]
    short = [made(task) for task in figures.figure("fig6").tasks(Scope(quick=True, threads=3))]
    found = by_figure([*long, *short], quick=True)["fig6"]
    assert len(found) == len(long)
    assert {row["seconds"] for row in found} == {33.0}
    assert {row["problem"].get("seed", 0) for row in found} == {0, 1}


def test_one_folder_is_chosen():
    rows = some_rows()
    other = made(Task(FAILS, Problem(folder="elsewhere", layout="pairs", name="kitti_9")), "KITTI")
    assert {row["problem"]["folder"] for row in by_figure([*rows, other], quick=True)["tables"]} == {"some/where/data"}


def test_where_others_are_ahead_is_said():
    chosen = by_figure(some_rows(), quick=True)
    said = "\n".join(losses(chosen))
    name = peers.peer(FAILS).name
    assert f"90 % wrong: {name} takes 5.00 ms, we 10.0 ms" in said
    assert f"(4): {name} has a median time of" in said
    assert "99 % wrong: " + name not in said
    for row in chosen["answers"]:
        if row["peer"] == "tear3d_answer":
            row["wall"] *= 1e-3
    for row in chosen["tables"]:
        if row["peer"] == "tear3d_answer":
            row["right"] = False
    for row in chosen["table4"]:
        if row["peer"] == "here":
            row["rotation_error"] = 0.05
    said = "\n".join(losses(chosen))
    assert "Rotation error, 10⁵ pairs with 99 % wrong, 1 problem: HERE has 0.050°, we 0.100°" in said
    assert "Time to the answer" not in said
    assert f"Real pairs: {name} has 4 of 4 right, we 0" in said


def test_the_page_has_every_part_and_no_path():
    chosen = by_figure([anonymous(row) for row in some_rows()], quick=True)
    text = page(ABOUT, chosen)
    for name in chosen:
        assert figures.figure(name).TITLE in text
    assert "a chip, 2 cores" in text
    assert "Right: rotation error at most 5° and translation error at most 60 cm" in text
    assert "some/where" not in text
    assert "## Where we lose" in text
    assert "Not measured:" in text


def test_paths_are_taken_out_of_rows():
    row = made(Task("ransac", Problem(folder="/data/of/mine", layout="pairs", name="a")))
    row["reason"] = "exit code 1: /somebody/house/benchmarks/x.py failed, see https://a.org/b/c"
    clean = anonymous(row)
    assert clean["problem"]["folder"] == "mine"
    assert clean["reason"] == "exit code 1: …/x.py failed, see https://a.org/b/c"


def test_writing_keeps_the_runs_beside_the_benchmarks(tmp_path, monkeypatch):
    monkeypatch.setattr(write, "ROOT", tmp_path)
    for name, file in (("RESULTS", "results.jsonl"), ("PAGE", "results.md"), ("PICTURES", "pictures")):
        monkeypatch.setattr(write, name, tmp_path / file)
    monkeypatch.setattr(write, "README", tmp_path / "README.md")
    (tmp_path / "README.md").write_text(f"a\n{START}\nold\n{END}\nb\n", encoding="utf-8")
    runs = tmp_path / "runs.jsonl"
    lines = [{"about": ABOUT}, *some_rows()]
    runs.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    write.write_page(runs, quick=True)
    assert "some/where" not in (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    first = (tmp_path / "results.md").read_text(encoding="utf-8")
    write.write_page(tmp_path / "results.jsonl", quick=True)
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == first
    assert (tmp_path / "pictures" / "fig1.svg").exists()
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith(f"a\n{START}\n| ")
    assert readme.endswith(f"{END}\nb\n")
    assert "| tear3d" in readme
    assert "old" not in readme


def test_the_page_in_the_docs_is_that_of_the_runs_kept_with_it():
    about, rows = read(write.RESULTS)
    chosen = by_figure(rows)
    assert write.PAGE.read_text(encoding="utf-8") == page(about, chosen)
    assert table(chosen) in write.README.read_text(encoding="utf-8")


def test_a_file_that_is_no_benchmark_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"peer": "ransac"}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="expected JSON lines of a benchmark"):
        read(tmp_path / "a.jsonl")
