"""Tables 1 to 3: rules beside recalls, several rules side by side, proofs counted, and scans made up where none are."""

from __future__ import annotations

import numpy as np

from benchmarks import datasets, problems
from benchmarks.figures import Scope, made_up, tables
from benchmarks.figures.systems import ALL, SLOW
from benchmarks.runs.task import Problem, Task
from tear3d.synthetic import make_problem
from tests.benchmarks.figures.made import FULL, made


def rows_of(dataset, keys=("tear3d_pose", "here", FULL), pairs=4, **more):
    tasks = [Task(k, Problem(folder="data", layout="pairs", name=f"{dataset}_{j}")) for j in range(pairs) for k in keys]
    rows = [made(task, dataset) for task in tasks]
    return [row | (more if row["outcome"] == "done" else {}) for row in rows]


def cells(table, system):
    line = next(line for line in table.rows if line[0].startswith(system))
    return dict(zip(table.columns, line, strict=True))


def test_the_rule_stands_beside_every_recall():
    found = tables.tables([*rows_of("3DMatch"), *rows_of("KITTI"), *rows_of("other")])
    assert [table.title for table in found] == ["3DMatch, 4 pairs", "KITTI, 4 pairs", "other, 4 pairs", "all, 12 pairs"]
    assert "at most 15° and translation error at most 30 cm" in found[0].notes[0]
    assert "not RMSE" in found[0].notes[0]
    assert "5° and translation error at most 60 cm" in found[1].notes[0]
    assert "3ξ" in found[2].notes[0]
    assert found[3].notes[0] == "right by the rule of each data set"


def test_what_ran_out_of_memory_is_not_right():
    (table,) = tables.tables(rows_of("KITTI"))
    assert cells(table, "HERE")["right"] == "4/4"
    full = cells(table, "MAC")
    assert (full["right"], full["recall"], full["F1"], full["ended early"]) == ("0/4", "0 %", "–", "4 out of memory")


def test_proofs_are_counted_where_a_system_gives_them():
    rows = rows_of("ETH")
    for k, row in enumerate(row for row in rows if row["peer"] == "tear3d_pose"):
        row["notes"] = {"closed": k > 0}
    (table,) = tables.tables(rows)
    assert cells(table, "tear3d, pose")["proven"] == "3/4"
    assert cells(table, "HERE")["proven"] == "–"


def test_a_second_rule_has_a_column_of_its_own():
    rows = rows_of("3DMatch", rules={"15° and 30 cm": True, "RMSE ≤ 0.2 m": False})
    (table,) = tables.tables(rows)
    assert cells(table, "HERE")["right"] == "4/4"
    assert cells(table, "HERE")["right by RMSE ≤ 0.2 m"] == "0/4"


def test_every_decidable_pair_is_tried_the_slow_systems_on_some(tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    for k in range(8):
        p = make_problem(50, 0.5, seed=k)
        np.savez(folder / f"kitti_{k}.npz", src=p.source, dst=p.target, T_gt=p.transformation, xi=p.noise_bound)
    (tmp_path / "README.md").write_text("| pair | undecidable |\n|---|---|\n| kitti_3 | yes |\n", encoding="utf-8")
    tasks = tables.tasks(Scope(data=tmp_path))
    names = {task.problem.name for task in tasks}
    assert names == {f"kitti_{k}" for k in range(8) if k != 3}
    tried = {key: sum(task.peer == key for task in tasks) for key in ALL}
    assert {tried[key] for key in ALL if key not in SLOW} == {7}
    assert {tried[key] for key in SLOW} == {2}
    given = problems.make(tasks[0].problem)
    assert (given.dataset, len(given.source)) == ("KITTI", 50)


def test_without_real_pairs_scans_are_made_up(tmp_path):
    tasks = tables.tasks(Scope(quick=True, out=tmp_path))
    pairs = {task.problem.name for task in tasks}
    assert len(pairs) == len(made_up.SHAPES)
    assert {task.peer for task in tasks} == set(ALL)
    for name in pairs:
        pair = datasets.load(tmp_path / "made-up", "pairs", name)
        assert len(pair.source) > 1000
        assert 0.01 < pair.inlier_mask.mean() < 0.5
    before = [path.stat().st_mtime_ns for path in (tmp_path / "made-up").iterdir()]
    assert tables.tasks(Scope(quick=True, out=tmp_path)) == tasks
    assert [path.stat().st_mtime_ns for path in (tmp_path / "made-up").iterdir()] == before
