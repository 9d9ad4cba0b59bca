"""What the searches of one call proved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import relative_gap
from tear3d.problem.objective import Scored
from tear3d.problem.pose import Pose

POSE = "pose"
"""The name of the stage in which the whole pose is proven."""


@dataclass(frozen=True, eq=False)
class StageCertificate:
    """What one search proved.

    The objective is Σ w·min(loss, threshold); the saving is what it lies below the all-outlier
    value Σ w·threshold. No solution of this stage saves more than `saving_bound`.
    """

    name: str
    objective: float
    lower_bound: float
    saving: float
    saving_bound: float
    cells: int
    closed: bool
    ended_by: str
    """`gap`, `time_limit`, `node_limit`, `interrupted`, `resolution`, `set_aside` (pairs set aside may save more) or
    `memory_limit` (there was no room to search on)."""
    history: FloatArray = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    """Rows of (seconds, saving, saving bound) as the search went on."""
    visited: FloatArray = field(default_factory=lambda: np.empty((0, 6)), repr=False)
    """A bounded sample of cells: centre x, y, z, angular radius, depth, fate (0 split or searched, 1 pruned, 2 open).

    Of rows the centre is a direction; of the pose a rotation vector, axis times angle, from the pose found.
    """
    elsewhere: float | None = None
    """No pose that puts some point of the source more than three noise bounds (their median) from where the pose found
    puts it saves more; None for rows."""
    memory_wanted: int | None = None
    """About how many bytes of `memory_limit` would hold what there was no room for; None unless it ended the search."""

    scope: str = ""
    """The poses that were searched, as words after "of the poses", when something was known of the pose; empty for
    all."""

    @property
    def none(self) -> str:
        """Whom the bound is about."""
        return "no allowed pose" if self.scope else "no pose"

    @property
    def gap(self) -> float:
        """Relative gap: (saving_bound - saving) / saving."""
        return relative_gap(self.saving, self.saving_bound)

    def scaled(self, factor: float) -> StageCertificate:
        """The same search when every saving is multiplied by `factor`."""
        if factor == 1.0:
            return self
        return replace(
            self,
            objective=factor * self.objective,
            lower_bound=factor * self.lower_bound,
            saving=factor * self.saving,
            saving_bound=factor * self.saving_bound,
            elsewhere=None if self.elsewhere is None else factor * self.elsewhere,
            history=self.history * [1.0, factor, factor],
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "name": self.name,
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "saving": self.saving,
            "saving_bound": self.saving_bound,
            "elsewhere": self.elsewhere,
            "gap": self.gap if np.isfinite(self.gap) else None,
            "cells": self.cells,
            "closed": self.closed,
            "ended_by": self.ended_by,
            "memory_wanted": self.memory_wanted,
            "scope": self.scope,
        }


@dataclass(frozen=True, eq=False)
class Attempt:
    """One try at a proof: the stages it went through, and whether what they found is the pose that is returned."""

    stages: tuple[StageCertificate, ...]
    agrees: bool
    """The solutions of the stages are the returned pose, up to a few noise bounds."""
    axis: tuple[float, float, float] | None = None
    """The direction along which the first row was torn off; None for the whole pose."""
    swapped: bool = False
    """Source and target were in each other's role: `axis` is a direction of the source."""
    rows: tuple[tuple[float, ...], ...] = ()
    """The rows found as (r₁, r₂, r₃, t): along the axis, target ≈ r · source + t in the coordinates given."""
    complete: bool = True
    """Whether all stages that belong to the proof were begun."""

    @property
    def closed(self) -> bool:
        """True when every stage was proven optimal within its gap, and none is missing."""
        return self.complete and bool(self.stages) and all(stage.closed for stage in self.stages)

    def scaled(self, factor: float) -> Attempt:
        """The same when every saving is multiplied by `factor`."""
        return replace(self, stages=tuple(stage.scaled(factor) for stage in self.stages))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "agrees": self.agrees,
            "axis": None if self.axis is None else list(self.axis),
            "swapped": self.swapped,
            "complete": self.complete,
            "rows": [list(row) for row in self.rows],
            "stages": [stage.to_dict() for stage in self.stages],
        }


@dataclass(frozen=True, eq=False)
class Certificate:
    """Everything that was tried to prove the pose, also what disagreed."""

    attempts: tuple[Attempt, ...] = ()

    @classmethod
    def of(cls, *stages: StageCertificate, agrees: bool = True) -> Certificate:
        """With one attempt, if there were any stages."""
        return cls((Attempt(tuple(stages), agrees),) if stages else ())

    @property
    def attempt(self) -> Attempt | None:
        """The one that counts: the first that agrees with the returned pose, else the first."""
        agreeing = (attempt for attempt in self.attempts if attempt.agrees)
        return next(agreeing, self.attempts[0] if self.attempts else None)

    @property
    def stages(self) -> tuple[StageCertificate, ...]:
        """Those of the attempt that counts."""
        return () if self.attempt is None else self.attempt.stages

    @property
    def scope(self) -> str:
        """The poses that were searched, as words after "of the poses"; empty for all."""
        return self.stages[0].scope if self.stages else ""

    @property
    def closed(self) -> bool:
        """True when every stage was proven optimal within its gap, and none is missing."""
        return self.attempt is not None and self.attempt.closed

    @property
    def agrees(self) -> bool:
        """True when the solutions of the stages are the returned pose."""
        return self.attempt is not None and self.attempt.agrees

    @property
    def gap(self) -> float:
        """The largest relative gap of the stages; infinite when nothing was proven."""
        return max((stage.gap for stage in self.stages), default=float("inf"))

    @property
    def runner_up(self) -> float | None:
        """The most that a pose elsewhere can save, as a share of what this one does; None unless the pose was proven.

        An upper bound, as the gap is: such a pose need not exist. `StageCertificate.elsewhere` says what elsewhere is.
        """
        for stage in self.stages:
            if stage.elsewhere is not None and stage.saving > 0.0:
                return stage.elsewhere / stage.saving
        return None

    @property
    def cells(self) -> int:
        """Cells visited, in all attempts."""
        return sum(stage.cells for attempt in self.attempts for stage in attempt.stages)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "closed": self.closed,
            "agrees": self.agrees,
            "scope": self.scope,
            "runner_up": self.runner_up,
            "stages": [stage.to_dict() for stage in self.stages],
            "attempts": [attempt.to_dict() for attempt in self.attempts],
        }


class Proof(NamedTuple):
    """The best pose by the full objective, what is proven about it, and the best other one."""

    best: Scored
    attempts: tuple[Attempt, ...] = ()
    elsewhere: Pose | None = None
    """The best pose met that is not near it, made better."""

    def about(self, start: Scored) -> bool:
        """Whether it is about the pose that it began with."""
        return self.best.pose is start.pose
