"""Which runs of a file belong to which figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import figures
from benchmarks.figures import NAMES, Scope
from benchmarks.runs.process import ROOT
from benchmarks.runs.task import Row, Task


def by_figure(rows: list[Row], quick: bool = False) -> dict[str, list[Row]]:
    """Rows of every figure that has any; of a run that was not finished, those that are there."""
    synthetic = {Task.of(row).key: row for row in rows if "folder" not in row["problem"]}
    found = {}
    for name in NAMES:
        if name == "tables":
            mine = [row for row in rows if "folder" in row["problem"]]
        else:
            wanted = figures.figure(name).tasks(Scope(quick))
            mine = [synthetic[task.key] for task in wanted if task.key in synthetic]
        if any(row["outcome"] != "missing" for row in mine):
            found[name] = mine
    return found


def anonymous(row: Row) -> Row:
    """Without paths of the machine."""
    problem = dict(row["problem"])
    if "folder" in problem:
        problem["folder"] = Path(problem["folder"]).name
    named: dict[str, Any] = {"problem": problem}
    if "reason" in row:
        named["reason"] = row["reason"].replace(str(ROOT), ".")
    return row | named
