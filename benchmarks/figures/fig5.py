"""Figure 5: the first row by truncated absolute residuals and by truncated squares; one thread, as in the paper."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.figures import Scope
from benchmarks.figures.cells import Cell, Table, absent, curve, grid, group, systems
from benchmarks.figures.rows import NOTES, iterations, row_text
from benchmarks.figures.systems import runs
from benchmarks.output import count
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Panel, figure

TITLE = "TEAR-1 and TLS-1 (Figure 5)"
SYSTEMS = ("tear1", "tls1")
RATIO = 0.99
SIZES, QUICK_SIZES = (1_000, 2_000, 5_000, 10_000), (500, 1_000)
SEEDS = 3


def tasks(scope: Scope) -> list[Task]:
    sizes, seeds = (QUICK_SIZES, 1) if scope.quick else (SIZES, SEEDS)
    return list(runs(scope, (Problem(n, RATIO, seed=seed) for seed in range(seeds) for n in sizes), SYSTEMS, threads=1))


def tables(rows: list[Row]) -> list[Table]:
    table = grid("99 % wrong: iterations, time, F1", rows, lambda p: p.n, count, _text)
    return [replace(table, notes=(*NOTES, *absent(rows)))]


def _text(cell: Cell) -> str:
    number = iterations(cell)
    return cell.ended if number is None else f"{number:,.0f}, {row_text(cell)}".replace(",", " ", number >= 1000)


def pictures(rows: list[Row]) -> dict[str, str]:
    cells, keys = group(rows, lambda p: p.n), systems(rows)
    panels = [
        Panel("iterations", "pairs", "", [curve(cells, key, iterations) for key in keys]),
        Panel("time", "pairs", "seconds", [curve(cells, key, lambda c: c.middle("wall")) for key in keys]),
        Panel("F1 of the row", "pairs", "", [curve(cells, key, lambda c: c.middle("f1")) for key in keys], log_y=False),
    ]
    return {"fig5": figure("99 % of wrong pairs, one thread", panels)}
