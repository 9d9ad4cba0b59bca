"""Figure 1: memory and time against the number of pairs, 95 % of them wrong."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.figures import Scope
from benchmarks.figures.cells import CUT, Cell, Table, curve, grid, group, systems
from benchmarks.figures.systems import ALL, LINEAR, runs
from benchmarks.output import count
from benchmarks.problems import SYNTHETIC_RULE
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Panel, figure

TITLE = "Memory and time against the number of pairs (Figure 1)"
RATIO = 0.95
SMALL, LARGE = (1_000, 3_000, 10_000, 30_000), (100_000, 1_000_000, 10_000_000)
QUICK_SMALL, QUICK_LARGE = (1_000, 4_000), (100_000,)


def tasks(scope: Scope) -> list[Task]:
    small, large = (QUICK_SMALL, QUICK_LARGE) if scope.quick else (SMALL, LARGE)
    found: list[Task] = []
    for seed in range(scope.seeds):
        found += runs(scope, (Problem(n, RATIO, seed=seed) for n in small), ALL)
        found += runs(scope, (Problem(n, RATIO, seed=seed) for n in large), LINEAR)
    return found


def tables(rows: list[Row]) -> list[Table]:
    time, memory = (
        grid(title, rows, lambda p: p.n, count, text)
        for title, text in (("right of seeds, median time", Cell.text), ("peak memory, MiB", _memory))
    )
    return [
        replace(time, notes=(SYNTHETIC_RULE, CUT)),
        replace(memory, notes=("the peak of the whole process, with all that was loaded before",)),
    ]


def _memory(cell: Cell) -> str:
    return cell.ended or f"{_mebibytes(cell):,.0f}".replace(",", " ")


def _mebibytes(cell: Cell) -> float | None:
    peak = cell.middle("peak_bytes")
    return None if peak is None else peak / 2**20


def pictures(rows: list[Row]) -> dict[str, str]:
    cells, keys = group(rows, lambda p: p.n), systems(rows)
    panels = [
        Panel("peak memory of the process", "pairs", "MiB", [curve(cells, key, _mebibytes) for key in keys]),
        Panel("time", "pairs", "seconds", [curve(cells, key, lambda c: c.middle("wall")) for key in keys]),
    ]
    return {"fig1": figure(f"{100 * RATIO:g} % of wrong pairs", panels)}
