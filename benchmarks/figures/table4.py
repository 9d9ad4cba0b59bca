"""Table 4: huge numbers of pairs of a surface in the unit cube, with the paper's own figures beside ours."""

from __future__ import annotations

from dataclasses import replace

from benchmarks import paper
from benchmarks.figures import Scope
from benchmarks.figures.cells import CUT, Table, curve, grid, group, systems
from benchmarks.figures.systems import LINEAR, PAPER, runs
from benchmarks.output import count, percent, seconds
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Line, Panel, figure

TITLE = "Huge numbers of pairs (Table 4)"
CLOUD = "ellipsoid"
MORE = paper.CORES


def tasks(scope: Scope) -> list[Task]:
    known = paper.TABLE_4[:1] if scope.quick else paper.TABLE_4
    problems = (Problem(row.n, row.outlier_ratio, CLOUD, seed=seed) for seed in range(scope.seeds) for row in known)
    return [
        replace(task, seconds=MORE * task.seconds) if task.peer in PAPER and task.problem.n == known[0].n else task
        for task in runs(scope, problems, LINEAR)
    ]


def tables(rows: list[Row]) -> list[Table]:
    table = grid("rotation error, translation error, time", rows, _by, _label, lambda cell: cell.errors())
    columns = sorted({_by(Problem(**row["problem"])) for row in rows})
    printed = ("TEAR, figures of the paper, 8 cores", *(_printed(*column) for column in columns))
    notes = (
        "the surface of an ellipsoid in the unit cube in place of the Stanford models",
        f"one thread of the paper's method gets {MORE} times as long at the smallest size; the paper had {MORE} cores",
        CUT,
    )
    return [replace(table, rows=(*table.rows, printed), notes=notes)]


def _by(problem: Problem) -> tuple[int, float]:
    return problem.n, problem.outlier_ratio


def _label(column: tuple[int, float]) -> str:
    return f"{count(column[0])}, {percent(column[1])}"


def _printed(n: int, outlier_ratio: float) -> str:
    row = paper.published(n, outlier_ratio)
    return f"{row.rotation_error:.2f}° {row.translation_error:.4f} {seconds(row.seconds)}" if row else "–"


def pictures(rows: list[Row]) -> dict[str, str]:
    cells = group(rows, lambda p: p.n)
    sizes = {n for _, n in cells}
    printed = [(row.n, row.seconds) for row in paper.TABLE_4 if row.n in sizes]
    time = [curve(cells, key, lambda c: c.middle("wall")) for key in systems(rows)]
    error = [curve(cells, key, lambda c: c.middle("rotation_error")) for key in systems(rows)]
    theirs = Line("TEAR, figures of the paper, 8 cores", printed, dashed=True)
    turned = Line(theirs.name, [(row.n, row.rotation_error) for row in paper.TABLE_4 if row.n in sizes], dashed=True)
    panels = [
        Panel("time", "pairs", "seconds", [*time, theirs]),
        Panel("rotation error", "pairs", "degrees", [*error, turned]),
    ]
    return {"table4": figure("Huge numbers of pairs", panels)}
