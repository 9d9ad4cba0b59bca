"""What is to be run: a system, a problem, and the caps."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

Row = dict[str, Any]
"""A task with what came of it, as it stands in the file."""
STOPPED = ("time", "memory")
"""Outcomes of a run that reached one of its caps."""


@dataclass(frozen=True)
class Problem:
    """Names a problem; `benchmarks.problems.make` makes it.

    Synthetic unless `folder` is given: then `name` is a pair of that folder (see benchmarks/datasets).
    """

    n: int = 0
    outlier_ratio: float = 0.0
    cloud: str = "gaussian"
    outliers: str = "gaussian"
    seed: int = 0
    keep: int | None = None
    """So many of the pairs, drawn at random, are given to the system."""
    folder: str | None = None
    layout: str | None = None
    name: str | None = None

    @property
    def size(self) -> int:
        """Pairs that the system is given; 0 for real ones, whose number is not known yet."""
        return self.n if self.keep is None else min(self.n, self.keep)


@dataclass(frozen=True)
class Task:
    """One run."""

    peer: str
    """Its file in benchmarks/peers."""
    problem: Problem
    threads: int = 2
    seconds: float = 120.0
    """The most that the registration may take."""
    gigabytes: float = 12.0
    """The most memory of the process."""

    @property
    def key(self) -> str:
        """The same for the same run, whatever figure asks for it."""
        return json.dumps(self.to_dict(), sort_keys=True)

    def to_dict(self) -> Row:
        """Without what has its default, so that results outlive new fields."""
        problem = {k: v for k, v in asdict(self.problem).items() if v != getattr(Problem, k)}
        return asdict(self) | {"problem": problem}

    @classmethod
    def of(cls, row: Row) -> Task:
        """The task that a row was made for."""
        fields = {key: row[key] for key in ("peer", "threads", "seconds", "gigabytes")}
        return cls(problem=Problem(**row["problem"]), **fields)

    @property
    def series(self) -> str:
        """Everything but size and seed: if a system ran out of something, more pairs will not help it."""
        problem = {k: v for k, v in asdict(self.problem).items() if k not in ("n", "keep", "seed")}
        return json.dumps(self.to_dict() | {"problem": problem}, sort_keys=True)
