"""Figure 7 and the appendix's: what it costs the others to be given ten thousand of ten million pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from benchmarks.figures import Scope
from benchmarks.figures.cells import CUT, Cell, Table, curve, grid, group, name, systems
from benchmarks.figures.systems import ALL, OURS, runs
from benchmarks.figures.table4 import CLOUD
from benchmarks.output import count, percent
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Panel, figure

TITLE = "Downsampling instead (Figure 7)"
RATIOS = (0.998, 0.95)
N, KEEP = 10_000_000, 10_000
QUICK_N, QUICK_KEEP = 1_000_000, 4_000


def tasks(scope: Scope) -> list[Task]:
    n, keep = (QUICK_N, QUICK_KEEP) if scope.quick else (N, KEEP)
    return [task for seed in range(scope.seeds) for ratio in RATIOS for task in _turn(scope, n, keep, ratio, seed)]


def _turn(scope: Scope, n: int, keep: int, ratio: float, seed: int) -> Iterator[Task]:
    whole = Problem(n, ratio, CLOUD, seed=seed)
    yield from runs(scope, [whole], OURS[:1])
    yield from runs(scope, [replace(whole, keep=keep)], ALL)


def tables(rows: list[Row]) -> list[Table]:
    whole = [row for row in rows if "keep" not in row["problem"]]
    few = [row for row in rows if "keep" in row["problem"]]
    columns = {"by": lambda p: p.outlier_ratio, "label": lambda r: f"{percent(r)} wrong"}
    n, keep = rows[0]["problem"]["n"], next((row["problem"]["keep"] for row in few), 0)
    notes = (
        f"{count(keep)} pairs drawn at random: the share of wrong ones stays; it grew in the paper's way of drawing",
        CUT,
    )
    title = "rotation error, translation error, time"
    return [
        grid(f"all {count(n)} pairs: {title}", whole, text=lambda cell: cell.errors(), **columns),
        replace(grid(f"{count(keep)} of them: {title}", few, text=lambda cell: cell.errors(), **columns), notes=notes),
    ]


def pictures(rows: list[Row]) -> dict[str, str]:
    cells, keys = group([row for row in rows if "keep" in row["problem"]], _wrong), systems(rows)
    whole = group([row for row in rows if "keep" not in row["problem"]], _wrong)
    panels = []
    for title, unit, what in (
        ("rotation error", "degrees", "rotation_error"),
        ("translation error", "in units of the cube", "translation_error"),
    ):
        ours = replace(curve(whole, OURS[0], _middle(what)), name=f"{name(OURS[0])}, all pairs", dashed=True)
        lines = [ours, *(curve(cells, key, _middle(what)) for key in keys)]
        panels.append(Panel(title, "wrong pairs, %", unit, lines, log_x=False))
    return {"fig7": figure("Given a few of the pairs", panels)}


def _wrong(problem: Problem) -> float:
    return 100.0 * problem.outlier_ratio


def _middle(what: str) -> Callable[[Cell], float | None]:
    return lambda cell: cell.middle(what)
