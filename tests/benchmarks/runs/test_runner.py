"""Runs are kept, resumed after a kill, interleaved, and not repeated where they are hopeless."""

from __future__ import annotations

import json

import pytest

from benchmarks import peers
from benchmarks.runs import runner
from benchmarks.runs.store import Store, read
from benchmarks.runs.task import Problem, Task


def answer(task: Task, **more):
    return task.to_dict() | {"outcome": "done", "wall": 0.1, "right": True, "notes": {}} | more


def tasks(*sizes, peer="ransac", seeds=1):
    return [Task(peer, Problem(n, 0.9, seed=seed)) for seed in range(seeds) for n in sizes]


def test_a_task_survives_json():
    task = Task("ransac", Problem(1000, 0.95, "ellipsoid", seed=3, keep=100), threads=1, seconds=5.0)
    again = Task.of(json.loads(json.dumps(task.to_dict())))
    assert again == task
    assert again.key == task.key
    assert Task("ransac", Problem(1000, 0.95)).key != task.key


def test_what_is_in_the_file_is_not_run_again(tmp_path):
    path, ran = tmp_path / "runs.jsonl", []

    def run(task):
        ran.append(task.problem.n)
        return answer(task)

    runner.run_all(tasks(10, 20), path, run)
    rows = runner.run_all(tasks(20, 30, 10), path, run)
    assert ran == [10, 20, 30]
    assert [row["problem"]["n"] for row in rows] == [20, 30, 10]


def test_a_killed_benchmark_goes_on_where_it_was(tmp_path):
    """Ctrl-C while the third runs, and a line that was half written."""
    path, ran = tmp_path / "runs.jsonl", []

    def run(task):
        if len(ran) == 2:
            raise KeyboardInterrupt
        ran.append(task.problem.n)
        return answer(task)

    with pytest.raises(KeyboardInterrupt):
        runner.run_all(tasks(10, 20, 30), path, run)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"peer": "ransac", "prob')
    ran.append(None)
    runner.run_all(tasks(10, 20, 30), path, run)
    assert ran == [10, 20, None, 30]
    about, rows = read(path)
    assert about["cores"] >= 1
    assert len(rows) == 3


def test_runs_of_another_version_are_moved_aside(tmp_path):
    path = tmp_path / "runs.jsonl"
    runner.run_all(tasks(10), path, answer)
    lines = path.read_text(encoding="utf-8").splitlines()
    other = json.loads(lines[0])
    other["about"]["tear3d"] = "0.0.1"
    path.write_text("\n".join([json.dumps(other), *lines[1:]]) + "\n", encoding="utf-8")
    store = Store(path)
    assert store.moved is not None
    assert len(read(store.moved)[1]) == 1
    assert not store.rows


def test_a_system_that_ran_out_of_memory_is_not_given_more_pairs(tmp_path):
    ran = []

    def run(task):
        ran.append((task.problem.n, task.problem.seed))
        full = task.problem.n >= 20
        return answer(task, outcome="memory", reason="more than 12 GiB") if full else answer(task)

    rows = runner.run_all(tasks(10, 20, 30, seeds=2), tmp_path / "runs.jsonl", run)
    assert ran == [(10, 0), (20, 0), (10, 1)]
    assert [row["outcome"] for row in rows] == ["done", "memory", "memory"] * 2
    assert rows[2]["reason"] == "more than 12 GiB with 20 pairs"


def test_more_wrong_pairs_or_another_cap_are_tried_all_the_same(tmp_path):
    ran = []

    def run(task):
        ran.append((task.problem.outlier_ratio, task.seconds))
        return answer(task, outcome="time", reason="more than 5 s")

    wanted = [Task("ransac", Problem(10, r), seconds=s) for r in (0.9, 0.95) for s in (5.0, 50.0)]
    runner.run_all(wanted, tmp_path / "runs.jsonl", run)
    assert len(ran) == 4


def test_a_missing_system_has_a_reason_and_is_tried_once_it_is_there(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    monkeypatch.setattr(peers.Peer, "missing", lambda self: "no such package")
    rows = runner.run_all(tasks(10), path, lambda task: pytest.fail("ran"))
    assert (rows[0]["outcome"], rows[0]["reason"]) == ("missing", "no such package")
    monkeypatch.undo()
    rows = runner.run_all(tasks(10), path, answer)
    assert rows[0]["outcome"] == "done"
    assert len(Store(path).rows) == 1
