"""Results as JSON lines: appended one by one, read back after a kill."""

from __future__ import annotations

import json
import os
from pathlib import Path

from benchmarks.output import machine, plain
from benchmarks.runs.task import Row, Task


class Store:
    """The file of a benchmark's runs.

    Its first line names the machine and the versions; runs of another machine or version are moved aside, so that one
    table never mixes two.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.about: Row = plain(machine())
        self.rows: dict[str, Row] = {}
        self.moved: Path | None = None
        lines = _lines(path)
        if lines and lines[0] != {"about": self.about}:
            self.moved = path.with_suffix(".old.jsonl")
            path.replace(self.moved)
            lines = []
        for row in lines[1:]:
            self.rows[Task.of(row).key] = row
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write([{"about": self.about}, *self.rows.values()])

    def get(self, task: Task) -> Row | None:
        return self.rows.get(task.key)

    def add(self, row: Row) -> None:
        """Keep a row; on the disk before this returns."""
        row = plain(row)
        self.rows[Task.of(row).key] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(row))
            file.flush()
            os.fsync(file.fileno())

    def _write(self, rows: list[Row]) -> None:
        """All at once, without the line that a kill may have cut off."""
        fresh = self.path.with_suffix(".part")
        fresh.write_text("".join(map(_line, rows)), encoding="utf-8")
        fresh.replace(self.path)


def _line(row: Row) -> str:
    return json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n"


def read(path: Path) -> tuple[Row, list[Row]]:
    """The machine and the rows of a file, wherever it was made."""
    lines = _lines(path)
    if not lines or "about" not in lines[0]:
        raise ValueError(f"{path}: expected JSON lines of a benchmark, the first with the machine")
    return lines[0]["about"], lines[1:]


def _lines(path: Path) -> list[Row]:
    """Whole lines; what is not JSON was being written when the process was killed."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            break
    return found
