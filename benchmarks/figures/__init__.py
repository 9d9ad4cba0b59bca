"""The figures and tables of the paper, and those that came after: one file each.

A figure is a module with ``TITLE``, ``tasks(scope)``, the runs it needs in the order in which they run,
``tables(rows)`` and ``pictures(rows)``, a name and an SVG each. Runs are shared: what one figure has measured, another
does not measure again.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmarks.output import OUT
from benchmarks.runs.task import Task

SECONDS, QUICK_SECONDS = 15.0, 5.0
"""The most that a run may take (free choices: two hours for everything, a quarter of an hour when quick)."""
NAMES = ("fig1", "fig4", "fig5", "fig6", "table4", "fig7", "tables", "answers")


@dataclass(frozen=True)
class Scope:
    """How much of a figure is measured."""

    quick: bool = False
    data: Path | None = None
    """A folder of real pairs; without one they are made up."""
    out: Path = OUT
    threads: int = 2
    only: tuple[str, ...] = ()
    """Systems, by their files; all if empty."""
    seeds: int = 1
    """Problems of a kind."""
    cap: float | None = None
    """Seconds that a run may take; by default `SECONDS`, when quick `QUICK_SECONDS`."""

    @property
    def seconds(self) -> float:
        return self.cap or (QUICK_SECONDS if self.quick else SECONDS)

    def pick(self, systems: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(key for key in systems if not self.only or key in self.only)


def figure(name: str) -> ModuleType:
    """The module of a figure."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is not a figure: expected one of {', '.join(NAMES)}")
    return importlib.import_module(f"{__name__}.{name}")


def tasks(names: tuple[str, ...], scope: Scope) -> list[Task]:
    """All runs of some figures, each once."""
    return list(dict.fromkeys(task for name in names for task in figure(name).tasks(scope)))
