"""Figure 5: the first row by truncated absolute residuals and by truncated squares; one thread, as in the paper."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.figures import Scope
from benchmarks.figures.cells import Cell, Table, curve, grid, group, systems
from benchmarks.figures.rows import NOTES, iterations, row_text
from benchmarks.figures.systems import runs
from benchmarks.output import count, percent
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Panel, figure

TITLE = "TEAR-1 and TLS-1 (Figure 5)"
SYSTEMS = ("tear1", "tls1")
RATIO, SIZES = 0.99, (1_000, 2_000, 5_000)
QUICK_RATIO, QUICK_SIZES = 0.95, (500, 1_000)


def tasks(scope: Scope) -> list[Task]:
    ratio, sizes = (QUICK_RATIO, QUICK_SIZES) if scope.quick else (RATIO, SIZES)
    problems = (Problem(n, ratio, seed=seed) for seed in range(scope.seeds) for n in sizes)
    return list(runs(scope, problems, SYSTEMS, threads=1))


def tables(rows: list[Row]) -> list[Table]:
    table = grid(f"{_wrong(rows)}: iterations, time, F1", rows, lambda p: p.n, count, _text)
    return [replace(table, notes=NOTES)]


def _wrong(rows: list[Row]) -> str:
    return f"{percent(rows[0]['problem']['outlier_ratio'])} wrong"


def _text(cell: Cell) -> str:
    number = iterations(cell)
    return cell.ended if number is None else f"{number:,.0f}".replace(",", " ") + f", {row_text(cell)}"


def _f1(cell: Cell) -> float | None:
    return cell.middle("f1")


def pictures(rows: list[Row]) -> dict[str, str]:
    cells, keys = group(rows, lambda p: p.n), systems(rows)
    panels = [
        Panel("iterations", "pairs", "", [curve(cells, key, iterations) for key in keys]),
        Panel("time", "pairs", "seconds", [curve(cells, key, lambda c: c.middle("wall")) for key in keys]),
        Panel(
            "F1 of the row",
            "pairs",
            "",
            [curve(cells, key, _f1, log=False) for key in keys],
            log_y=False,
        ),
    ]
    return {"fig5": figure(f"{_wrong(rows)}, one thread", panels)}
