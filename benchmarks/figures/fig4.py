"""Figure 4: the first row by truncated absolute residuals, by counting, and TR-DE; one thread, as in the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figures import Scope
from benchmarks.figures.cells import Table, curve, grid, group, systems
from benchmarks.figures.rows import NOTES, row_text
from benchmarks.figures.systems import runs
from benchmarks.output import count, percent
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Panel, figure

TITLE = "TEAR-1, CM-1 and TR-DE (Figure 4)"
SYSTEMS = ("tear1", "cm1", "trde")
RATIO, N = 0.95, 10_000
SIZES, RATIOS = (1_000, 2_000, 5_000, 10_000), (0.5, 0.8, 0.9, 0.95, 0.98)
QUICK_N, QUICK_SIZES, QUICK_RATIOS = 1_000, (500, 1_000), (0.8, 0.95)


def problems(scope: Scope) -> Iterator[Problem]:
    n, sizes, ratios = (QUICK_N, QUICK_SIZES, QUICK_RATIOS) if scope.quick else (N, SIZES, RATIOS)
    for seed in range(scope.seeds):
        for size in sizes:
            yield Problem(size, RATIO, seed=seed)
        for ratio in ratios:
            yield Problem(n, ratio, seed=seed)


def tasks(scope: Scope) -> list[Task]:
    return list(runs(scope, dict.fromkeys(problems(scope)), SYSTEMS, threads=1))


def parts(rows: list[Row]) -> tuple[list[Row], list[Row]]:
    """Those over the number of pairs, and those over the share of wrong ones; the corner is in both."""
    n = max(row["problem"]["n"] for row in rows)
    over_n = [row for row in rows if row["problem"]["outlier_ratio"] == RATIO]
    return over_n, [row for row in rows if row["problem"]["n"] == n]


def tables(rows: list[Row]) -> list[Table]:
    over_n, over_ratio = parts(rows)
    first = grid(f"{percent(RATIO)} wrong: time, F1", over_n, lambda p: p.n, count, row_text)
    second = grid(
        "most pairs: time, F1", over_ratio, lambda p: p.outlier_ratio, lambda r: f"{percent(r)} wrong", row_text
    )
    return [first, replace(second, notes=NOTES)]


def pictures(rows: list[Row]) -> dict[str, str]:
    keys = systems(rows)
    panels = []
    for part, by, label, log in zip(
        parts(rows),
        (lambda p: p.n, lambda p: 100.0 * p.outlier_ratio),
        ("pairs", "wrong pairs, %"),
        (True, False),
        strict=True,
    ):
        cells = group(part, by)
        for title, unit, what in (("time", "seconds", "wall"), ("F1 of the row", "", "f1")):
            lines = [curve(cells, key, lambda c, k=what: c.middle(k), log=what == "wall") for key in keys]
            panels.append(Panel(title, label, unit, lines, log_x=log, log_y=what == "wall"))
    return {"fig4": figure("One thread", panels)}
