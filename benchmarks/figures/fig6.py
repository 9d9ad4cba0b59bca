"""Figure 6: errors and time of 10 000 pairs against the share of wrong ones."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.figures import Scope
from benchmarks.figures.cells import CUT, Table, curve, grid, group, systems
from benchmarks.figures.systems import ALL, runs
from benchmarks.output import count, percent
from benchmarks.problems import SYNTHETIC_RULE
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Panel, figure

TITLE = "Errors and time against the share of wrong pairs (Figure 6)"
N, QUICK_N = 10_000, 4_000
RATIOS, QUICK_RATIOS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99), (0.9, 0.95, 0.99)


def tasks(scope: Scope) -> list[Task]:
    n, ratios = (QUICK_N, QUICK_RATIOS) if scope.quick else (N, RATIOS)
    problems = (Problem(n, ratio, seed=seed) for seed in range(scope.seeds) for ratio in ratios)
    return list(runs(scope, problems, ALL))


def tables(rows: list[Row]) -> list[Table]:
    title = f"{count(rows[0]['problem']['n'])} pairs: right of seeds, median time"
    table = grid(title, rows, lambda p: p.outlier_ratio, lambda r: f"{percent(r)} wrong")
    return [replace(table, notes=(SYNTHETIC_RULE, CUT))]


def pictures(rows: list[Row]) -> dict[str, str]:
    cells, keys = group(rows, lambda p: 100.0 * p.outlier_ratio), systems(rows)
    panels = [
        Panel(
            title,
            "wrong pairs, %",
            unit,
            [curve(cells, key, lambda c, k=what: c.middle(k)) for key in keys],
            log_x=False,
        )
        for title, unit, what in (
            ("rotation error", "degrees", "rotation_error"),
            ("translation error", "in units of the cloud", "translation_error"),
            ("time", "seconds", "wall"),
        )
    ]
    return {"fig6": figure(f"{count(rows[0]['problem']['n'])} pairs", panels)}
