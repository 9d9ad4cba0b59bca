"""What a search proved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import relative_gap


@dataclass(frozen=True)
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
    """`gap`, `time_limit`, `node_limit`, `interrupted` or `resolution`."""
    history: FloatArray = field(default_factory=lambda: np.empty((0, 3)), repr=False)
    """Rows of (seconds, saving, saving bound) as the search went on."""
    visited: FloatArray = field(default_factory=lambda: np.empty((0, 6)), repr=False)
    """A bounded sample of cells: centre x, y, z, angular radius, depth, fate (0 split, 1 pruned, 2 open)."""

    @property
    def gap(self) -> float:
        """Relative gap: (saving_bound - saving) / saving."""
        return relative_gap(self.saving, self.saving_bound)

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "saving": self.saving,
            "saving_bound": self.saving_bound,
            "gap": self.gap if np.isfinite(self.gap) else None,
            "cells": self.cells,
            "closed": self.closed,
            "ended_by": self.ended_by,
        }


@dataclass(frozen=True)
class Certificate:
    """One certificate per stage of the search."""

    stages: tuple[StageCertificate, ...] = ()

    @property
    def closed(self) -> bool:
        """True when every stage was proven optimal within its gap."""
        return bool(self.stages) and all(stage.closed for stage in self.stages)

    @property
    def gap(self) -> float:
        """The largest relative gap of the stages; infinite when nothing was proven."""
        return max((stage.gap for stage in self.stages), default=float("inf"))

    @property
    def cells(self) -> int:
        return sum(stage.cells for stage in self.stages)

    def to_dict(self) -> dict[str, Any]:
        return {"closed": self.closed, "stages": [stage.to_dict() for stage in self.stages]}
