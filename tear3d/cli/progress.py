"""The progress bar of a run: which step, how far it is or how far its gap has closed, how many cells."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from tear3d.problem.limits import Progress as Report


class SearchBar:
    """A callback for `register` and `register_clouds` that draws on stderr if that is a terminal."""

    def __init__(self, rel_gap: float, *, enabled: bool = True, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._rel_gap = rel_gap
        self._first_gap = math.inf
        self._stage: str | None = None
        self._task: TaskID | None = None
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not (enabled and self._console.is_terminal),
        )

    def __enter__(self) -> SearchBar:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.stop()

    def stop(self) -> None:
        """Take the bar off the screen until the next step."""
        self._bar.stop()

    def say(self, text: str) -> None:
        """Print a line above the bar."""
        self._console.print(Text(text), soft_wrap=True)

    def show(self, step: str) -> None:
        """Start a step of unknown length."""
        self._bar.start()
        self._stage, self._first_gap = step, math.inf
        if self._task is not None:
            self._bar.remove_task(self._task)
        # Without a length the bar swings instead of standing still at zero.
        self._task = self._bar.add_task(step, total=None, state="")

    def __call__(self, report: Report) -> None:
        if report.stage != self._stage:
            self.show(report.stage)
        assert self._task is not None
        done = max(report.done, self._closed(report.gap))
        self._bar.update(
            self._task,
            completed=done,
            total=1.0 if done > 0.0 or math.isfinite(report.gap) else None,
            state=self._state(report),
        )

    def _state(self, report: Report) -> str:
        if math.isfinite(report.gap):
            gap = f"{100 * report.gap:.3g} %" if report.gap <= 10.0 else f"{report.gap:.3g}×"
            return f"gap {gap} · {report.cells:,} cells"
        return f"no bound yet · {report.cells:,} cells" if report.cells else ""

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
