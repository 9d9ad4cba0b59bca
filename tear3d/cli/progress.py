"""The progress bar of a search: which stage, how far its gap has closed, how many cells."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from tear3d.search.limits import Progress as Report


class SearchBar:
    """A callback for `register` that draws on stderr; silent unless that is a terminal."""

    def __init__(self, rel_gap: float, *, enabled: bool = True, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self._rel_gap = rel_gap
        self._first_gap = math.inf
        self._stage: str | None = None
        self._task: TaskID | None = None
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not (enabled and console.is_terminal),
        )

    def __enter__(self) -> SearchBar:
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None, state="")
        return self

    def __exit__(self, *exception: Any) -> None:
        self._bar.stop()

    def __call__(self, report: Report) -> None:
        assert self._task is not None
        if report.stage != self._stage:
            self._stage, self._first_gap = report.stage, math.inf
            self._bar.reset(self._task, description=report.stage, total=1.0)
        gap = f"gap {100 * report.gap:.3g} %" if math.isfinite(report.gap) else "no bound yet"
        self._bar.update(
            self._task,
            completed=max(report.done, self._closed(report.gap)),
            state=f"{gap} · {report.cells:,} cells",
        )

    def _closed(self, gap: float) -> float:
        """How far the gap has come from its first value to the wanted one, in orders of magnitude."""
        if not math.isfinite(gap):
            return 0.0
        if not math.isfinite(self._first_gap):
            self._first_gap = gap
        if gap <= self._rel_gap:
            return 1.0
        if self._rel_gap <= 0.0 or self._first_gap <= self._rel_gap:
            return 0.0
        return max(0.0, math.log(self._first_gap / gap) / math.log(self._first_gap / self._rel_gap))
