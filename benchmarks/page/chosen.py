"""Which runs of a file belong to which figure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import figures
from benchmarks.figures import NAMES, Scope
from benchmarks.runs.task import Row, Task

_PATH = re.compile(r"(?<![\w.:/])/(?:[^\s/:'\"]+/)+")


def by_figure(rows: list[Row], quick: bool = False) -> dict[str, list[Row]]:
    """Rows of every figure that has any, whatever seeds and caps they were run with.

    Of a run that was not finished, those that are there; of a run that was repeated with another cap, the longest.
    """
    cores = max((row["threads"] for row in rows), default=1)
    found = {}
    for name in NAMES:
        mine = _real(rows) if name == "tables" else _synthetic(rows, name, quick, cores)
        if any(row["outcome"] != "missing" for row in mine):
            found[name] = mine
    return found


def _synthetic(rows: list[Row], name: str, quick: bool, cores: int) -> list[Row]:
    wanted = {_kind(task): k for k, task in enumerate(figures.figure(name).tasks(Scope(quick, threads=cores)))}
    longest: dict[tuple[Any, int], Row] = {}
    for row in rows:
        task = Task.of(row)
        at = (_kind(task), task.problem.seed)
        if at[0] in wanted and (at not in longest or row["seconds"] > longest[at]["seconds"]):
            longest[at] = row
    return [longest[at] for at in sorted(longest, key=lambda at: (at[1], wanted[at[0]]))]


def _kind(task: Task) -> tuple[Any, ...]:
    """What a figure tells runs apart by: not the seed, not the caps."""
    return task.peer, replace(task.problem, seed=0), task.threads


def _real(rows: list[Row]) -> list[Row]:
    """Those of one folder, the one with the most runs."""
    folders = Counter(row["problem"]["folder"] for row in rows if "folder" in row["problem"])
    if not folders:
        return []
    chosen = folders.most_common(1)[0][0]
    longest: dict[tuple[str, str], Row] = {}
    for row in rows:
        at = (row["peer"], row["problem"].get("name", ""))
        if row["problem"].get("folder") == chosen and row["seconds"] >= longest.get(at, row)["seconds"]:
            longest[at] = row
    return list(longest.values())


def anonymous(row: Row) -> Row:
    """Without paths of the machine."""
    problem = dict(row["problem"])
    if "folder" in problem:
        problem["folder"] = Path(problem["folder"]).name
    named: dict[str, Any] = {"problem": problem}
    if "reason" in row:
        named["reason"] = _PATH.sub("…/", row["reason"])
    return row | named
