"""Runs of one system on the same problem with several seeds, and how a table or a curve shows them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchmarks import peers
from benchmarks.figures.systems import ALL, ROWS
from benchmarks.output import seconds
from benchmarks.runs.task import Problem, Row, Task
from benchmarks.svg import Line

ENDED = {"time": "out of time", "memory": "out of memory", "crashed": "crashed", "missing": "not installed"}
CUT = "cut: it ended for want of time with what it had; of ours, with an open proof"


@dataclass(frozen=True)
class Table:
    """Cells of text, for a terminal and for a page."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    words: int = 1


@dataclass(frozen=True)
class Cell:
    """All seeds of one system on one problem."""

    rows: tuple[Row, ...]

    @cached_property
    def done(self) -> list[Row]:
        return [row for row in self.rows if row["outcome"] == "done"]

    @property
    def right(self) -> int:
        return sum(row["right"] for row in self.done)

    @property
    def succeeds(self) -> bool:
        """Right on more than half of the seeds."""
        return 2 * self.right > len(self.rows)

    def middle(self, key: str) -> float | None:
        """The median of what was measured."""
        values = [row[key] for row in self.done if row.get(key) is not None]
        return statistics.median(values) if values else None

    def mean_note(self, key: str) -> float | None:
        values = [row["notes"][key] for row in self.done if row["notes"].get(key) is not None]
        return statistics.fmean(values) if values else None

    @property
    def ended(self) -> str:
        """How it ended, if no seed came to an answer."""
        return ENDED[self.rows[0]["outcome"]] if not self.done else ""

    @property
    def mark(self) -> str:
        """What to put beside a time at which a system was cut short."""
        return " cut" if any(row["notes"].get("cut") for row in self.done) else ""

    def errors(self) -> str:
        """Median errors and time as the paper prints them, or how it ended."""
        values = [self.middle(key) for key in ("rotation_error", "translation_error", "wall")]
        if self.ended or None in values:
            return self.ended or "no pose"
        turn, shift, wall = values
        return f"{turn:.2f}° {shift:.4f} {seconds(wall)}{self.mark}"

    def text(self) -> str:
        """Right of seeds and the median time, or how it ended."""
        if self.ended:
            return self.ended
        wall = self.middle("wall")
        assert wall is not None
        return f"{self.right}/{len(self.rows)} {seconds(wall)}{self.mark}"


Text = Callable[[Cell], str]


def name(key: str) -> str:
    return peers.peer(key).name


def group(rows: Iterable[Row], by: Callable[[Problem], Any]) -> dict[tuple[str, Any], Cell]:
    """Cells by system and by what tells problems apart."""
    found: dict[tuple[str, Any], list[Row]] = {}
    for row in rows:
        found.setdefault((row["peer"], by(Task.of(row).problem)), []).append(row)
    return {key: Cell(tuple(cells)) for key, cells in found.items()}


def systems(rows: Iterable[Row]) -> list[str]:
    """Those that ran, ourselves first; what is not installed is left out."""
    ran = {row["peer"] for row in rows if row["outcome"] != "missing"}
    return sorted(ran, key=(*ALL, *ROWS, *ran).index)


def absent(rows: Iterable[Row]) -> tuple[str, ...]:
    """A sentence for every system that could not run here."""
    reasons = {row["peer"]: row["reason"] for row in rows if row["outcome"] == "missing"}
    return tuple(f"{name(key)} is not here: {reason}" for key, reason in reasons.items())


def grid(
    title: str, rows: list[Row], by: Callable[[Problem], Any], label: Callable[[Any], str], text: Text = Cell.text
) -> Table:
    """A line for every system, a column for every value of `by`."""
    cells = group(rows, by)
    columns = sorted({at for _, at in cells})
    lines = tuple(
        (name(key), *(text(cells[key, at]) if (key, at) in cells else "–" for at in columns)) for key in systems(rows)
    )
    return Table(title, ("system", *map(label, columns)), lines)


def curve(
    cells: dict[tuple[str, Any], Cell], key: str, value: Callable[[Cell], float | None], log: bool = True
) -> Line:
    """One system's line over whatever the cells are told apart by; a logarithmic axis has no place for zero."""
    found = [(float(at), value(cell)) for (peer, at), cell in cells.items() if peer == key]
    points = [(at, y) for at, y in found if y is not None and (y > 0.0 or not log)]
    return Line(name(key), sorted(points))
