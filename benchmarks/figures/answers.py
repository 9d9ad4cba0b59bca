"""Our time to the answer against that of the fastest system that succeeds, over sizes and shares of wrong pairs."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Scope
from benchmarks.figures.cells import Cell, Table, group, name
from benchmarks.figures.systems import ALL, LINEAR, OURS, PAPER, runs
from benchmarks.output import count, percent, seconds
from benchmarks.problems import SYNTHETIC_RULE
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Line, Panel, figure

TITLE = "Time to the answer against the fastest that succeeds"
RATIOS = (0.9, 0.95, 0.99)
SMALL, LARGE = (1_000, 5_000, 10_000), (100_000, 1_000_000)
QUICK_SMALL, QUICK_LARGE = (1_000, 4_000), (100_000,)
MINE = OURS[0]


def tasks(scope: Scope) -> list[Task]:
    small, large = (QUICK_SMALL, QUICK_LARGE) if scope.quick else (SMALL, LARGE)
    return [
        task
        for seed in range(scope.seeds)
        for n, systems in [*((n, ALL) for n in small), *((n, LINEAR) for n in large)]
        for task in runs(scope, (Problem(n, ratio, seed=seed) for ratio in RATIOS), _others(systems))
    ]


def _others(systems: tuple[str, ...]) -> tuple[str, ...]:
    """Without our slower ways to the same answer."""
    return tuple(key for key in systems if key == MINE or key not in (*OURS, *PAPER))


def compare(rows: list[Row]) -> Iterator[tuple[Problem, Cell, str | None, Cell | None]]:
    """For every size and share: our cell, and the fastest other that succeeds, if there is one."""
    cells = group(rows, lambda p: Problem(p.n, p.outlier_ratio))
    for (peer, problem), mine in sorted(cells.items(), key=lambda item: (item[0][1].n, item[0][1].outlier_ratio)):
        if peer != MINE:
            continue
        rivals = [
            (c.middle("wall"), key) for (key, p), c in cells.items() if p == problem and key != MINE and c.succeeds
        ]
        fastest = min(rivals, default=(None, None))[1]
        yield problem, mine, fastest, cells[fastest, problem] if fastest else None


def tables(rows: list[Row]) -> list[Table]:
    lines, slower = [], []
    for problem, mine, key, other in compare(rows):
        where = f"{count(problem.n)} pairs, {percent(problem.outlier_ratio)} wrong"
        ours, theirs = mine.middle("wall"), other.middle("wall") if other else None
        if key is None or theirs is None:
            lines.append((where, mine.text(), "none succeeds", "–"))
            continue
        if ours is None or not mine.succeeds:
            lines.append((where, mine.text(), f"{name(key)} {other.text() if other else ''}", "–"))
            slower.append(f"{where}: {name(key)} succeeds, we do not")
            continue
        lines.append((where, mine.text(), f"{name(key)} {other.text() if other else ''}", f"{theirs / ours:.2g}"))
        if theirs < ours:
            slower.append(f"{where}: {name(key)} is faster, {seconds(theirs)} against {seconds(ours)}")
    columns = ("problem", name(MINE), "fastest other that succeeds", "its time / ours")
    notes = (SYNTHETIC_RULE, "to succeed: right on more than half of the seeds", *slower)
    return [Table("right of seeds, median time", columns, tuple(lines), notes)]


def pictures(rows: list[Row]) -> dict[str, str]:
    """Our time and that of the fastest other that succeeds, over the number of pairs, for each share of wrong ones."""
    found = list(compare(rows))
    panels = []
    for ratio in sorted({problem.outlier_ratio for problem, *_ in found}):
        here = [(p.n, mine.middle("wall"), other) for p, mine, _, other in found if p.outlier_ratio == ratio]
        ours = [(n, wall) for n, wall, _ in here if wall]
        theirs = [(n, wall) for n, _, other in here if other and (wall := other.middle("wall"))]
        lines = [Line(name(MINE), ours), Line("fastest other that succeeds", theirs)]
        panels.append(Panel(f"{percent(ratio)} wrong", "pairs", "seconds", lines))
    return {"answers": figure("Time to the answer", panels)}
