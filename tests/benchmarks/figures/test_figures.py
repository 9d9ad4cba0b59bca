"""Every figure asks for runs that exist, and shows what came of them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from benchmarks import figures, peers
from benchmarks.figures import NAMES, Scope
from benchmarks.figures.answers import compare
from benchmarks.figures.cells import absent, group, systems
from benchmarks.runs.task import Problem, Task
from tests.benchmarks.figures.made import FAILS, FULL, MISSING, made

SYNTHETIC = [name for name in NAMES if name != "tables"]


def rows_of(name, scope=None):
    return [made(task) for task in figures.figure(name).tasks(scope or Scope(quick=True))]


@pytest.mark.parametrize("name", SYNTHETIC)
@pytest.mark.parametrize("quick", [True, False])
def test_runs_are_of_known_systems_which_take_turns(name, quick):
    tasks = figures.figure(name).tasks(Scope(quick))
    assert tasks
    assert {task.peer for task in tasks} <= set(peers.keys())
    assert len(set(tasks)) == len(tasks)
    per_problem = [task.problem for task in tasks]
    starts = [k for k in range(len(tasks)) if k == 0 or per_problem[k] != per_problem[k - 1]]
    assert len(starts) == len(set(per_problem)), "a problem is left and taken up again"


@pytest.mark.parametrize("name", SYNTHETIC)
def test_tables_and_pictures_show_every_system_that_ran(name):
    rows, figure = rows_of(name), figures.figure(name)
    tables = figure.tables(rows)
    text = "\n".join(" ".join(line) for table in tables for line in table.rows)
    for table in tables:
        assert all(len(line) == len(table.columns) for line in table.rows)
        assert all(len(note) > 1 for note in table.notes)
    if name != "answers":
        for key in systems(rows):
            assert peers.peer(key).name in text
    for svg in figure.pictures(rows).values():
        ElementTree.fromstring(svg)
    assert any("teaserpp_python" in line for line in absent(rows)) == any(row["peer"] == MISSING for row in rows)
    if any(row["peer"] == FULL for row in rows) and name != "answers":
        assert "out of memory" in text


def test_quick_is_a_small_part_of_all():
    quick, whole = (figures.tasks(tuple(SYNTHETIC), Scope(q)) for q in (True, False))
    assert len(quick) < len(whole)
    assert max(task.problem.size for task in quick) < max(task.problem.size for task in whole)
    assert sum(task.seconds for task in quick) < 0.25 * sum(task.seconds for task in whole)


def test_a_system_can_be_chosen():
    tasks = figures.figure("fig6").tasks(Scope(quick=True, only=("kiss_gnc",)))
    assert {task.peer for task in tasks} == {"kiss_gnc"}


def test_cells_count_right_answers_and_name_what_ended_them():
    tasks = [Task(key, Problem(100, r, seed=s)) for key in (FAILS, FULL) for r in (0.9, 0.99) for s in range(2)]
    cells = group([made(task) for task in tasks], lambda p: p.outlier_ratio)
    assert cells[FAILS, 0.9].text() == "2/2 500 µs"
    assert cells[FAILS, 0.99].text() == "0/2 500 µs"
    assert not cells[FAILS, 0.99].succeeds
    assert cells[FULL, 0.9].text() == cells[FULL, 0.9].errors() == "out of memory"
    assert absent([made(Task(MISSING, Problem(1, 0.0)))]) == ("TEASER++ is not here: teaserpp_python is not installed",)


def test_the_fastest_that_succeeds_is_compared_with_us():
    found = {(p.n, p.outlier_ratio): (key, mine, other) for p, mine, key, other in compare(rows_of("answers"))}
    key, mine, other = found[1000, 0.9]
    assert key == FAILS
    assert other.middle("wall") == pytest.approx(0.5 * mine.middle("wall"))
    assert found[1000, 0.99][0] != FAILS
    (table,) = figures.figure("answers").tables(rows_of("answers"))
    assert any(f"{peers.peer(FAILS).name} is faster" in note for note in table.notes)


def test_the_corner_of_figure_4_is_on_both_sides():
    rows = rows_of("fig4")
    over_n, over_ratio = figures.figure("fig4").parts(rows)
    assert {row["problem"]["outlier_ratio"] for row in over_n} == {0.95}
    assert len({row["problem"]["outlier_ratio"] for row in over_ratio}) > 1
    assert len({row["problem"]["n"] for row in over_ratio}) == 1
