"""What a batch shows while it runs: a table that changes on a terminal, a line for each pair elsewhere."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tear3d.cli import batch_rows
from tear3d.cli.batch_rows import Row

_LAST = 8
"""Rows on the screen; free choice."""
_COLOURS = {"confirmed": "green", "optimal": "green", "doubtful": "yellow", "rejected": "red", "failed": "red"}


class Board(logging.Handler):
    """Draws on stderr; what the library warns of comes above it."""

    def __init__(self, *, quiet: bool, console: Console | None = None) -> None:
        super().__init__(logging.WARNING)
        self._console = console or Console(stderr=True)
        self._quiet = quiet
        self._began = time.perf_counter()
        self._fresh = 0
        self._last: deque[Row] = deque(maxlen=_LAST)
        self.look: Callable[[], tuple[list[Row], int]] = lambda: ([], 0)
        self._live = Live(console=self._console, get_renderable=self._draw, transient=True, refresh_per_second=4)

    def __enter__(self) -> Board:
        logging.getLogger("tear3d").addHandler(self)
        if not self._quiet and self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        logging.getLogger("tear3d").removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if not self._quiet:
            self._console.print(Text(f"{record.levelname.lower()}: {record.getMessage()}"), soft_wrap=True)

    def tell(self, row: Row, settled: int, every: int) -> None:
        """A pair is done, was done already, or failed."""
        self._last.append(row)
        self._fresh += not row["earlier"]
        if not self._quiet and not self._live.is_started:
            self._console.print(Text(f"[{settled}/{every}] {row['name']}: {in_words(row)}"), soft_wrap=True)

    def _draw(self) -> RenderableType:
        rows, running = self.look()
        found = batch_rows.counts(rows)
        settled = found["pairs"] - found["waiting"]
        parts = [f"{settled} of {found['pairs']} pairs", f"{found['registered']} registered"]
        parts += [f"{found[name]} {text}" for name, text in _BESIDES if found[name]]
        parts += [f"{running} under way", *self._rest(found["waiting"])]
        bar = ProgressBar(total=max(1, found["pairs"]), completed=settled)
        return Group(Text(" · ".join(parts)), bar, table(list(self._last), self._console.width))

    def _rest(self, waiting: int) -> list[str]:
        if not self._fresh or not waiting:
            return []
        minutes = (time.perf_counter() - self._began) / self._fresh * waiting / 60.0
        return [f"about {minutes:.0f} min left" if minutes >= 1.5 else f"about {max(1.0, 60 * minutes):.0f} s left"]


_BESIDES = (("not_registered", "not"), ("failed", "failed"), ("earlier", "from before"))


def table(rows: list[Row], width: int) -> Table:
    """Some rows on so many columns: names give way, the rest does not."""
    cells = [(row["name"], batch_rows.word(row), _agree(row), _time(row)) for row in rows]
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    heads = ("verdict", "agree", "time")
    widest = [max(len(head), *(len(row[k]) for row in cells), 0) for k, head in enumerate(heads, 1)]
    # Besides the cells there are two blanks in each of four columns, three lines between them, and one at each end.
    shown.add_column("pair", overflow="ellipsis", no_wrap=True, max_width=max(4, width - sum(widest) - 13))
    for head, cell in zip(heads, widest, strict=True):
        shown.add_column(head, no_wrap=True, min_width=cell, justify="left" if head == "verdict" else "right")
    for name, said, agree, seconds in cells:
        shown.add_row(Text(name), Text(said, _COLOURS.get(said, "")), agree, seconds)
    return shown


def in_words(row: Row) -> str:
    if row["state"] != batch_rows.DONE:
        return f"failed, {row['reason']}"
    earlier = "found by an earlier run" if row["earlier"] else f"{row['seconds']:.1f} s"
    return f"{batch_rows.word(row)}, {_agree(row)} agree, {earlier}"


def _time(row: Row) -> str:
    return "" if row["seconds"] is None else f"{row['seconds']:.1f} s"


def _agree(row: dict[str, Any]) -> str:
    return "" if row["num_pairs"] is None else f"{row['num_inliers']} of {row['num_pairs']}"
