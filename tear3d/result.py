"""The result of a registration and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Status = Literal["optimal", "time_limit", "node_limit", "interrupted", "uncertified", "no_consensus"]
FloatArray = NDArray[np.float64]


def relative_gap(saving: float, bound: float) -> float:
    """How much more than `saving` any solution could save, as a fraction of `saving`."""
    excess = max(0.0, bound - saving)
    if excess == 0.0:
        return 0.0
    return excess / saving if saving > 0.0 else float("inf")


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


@dataclass(frozen=True)
class Result:
    """A pose that maps source points onto target points, and how good it provably is."""

    transformation: FloatArray
    """4×4, target ← source."""
    inlier_mask: NDArray[np.bool_] = field(repr=False)
    """Pairs whose Euclidean residual is within their noise bound."""
    inlier_rmse: float
    """Root mean square of the inliers' Euclidean residuals; NaN without inliers."""
    objective: float
    """The full loss of the pose: for TEAR, Σ w·min(‖y − Rx − t‖₁, ξ)."""
    status: Status
    message: str
    certificate: Certificate
    significance: float
    """log10 of the expected number of poses with such a consensus in meaningless data; very negative is good."""
    seconds: dict[str, float]
    settings: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def rotation(self) -> FloatArray:
        return self.transformation[:3, :3]

    @property
    def translation(self) -> FloatArray:
        return self.transformation[:3, 3]

    @property
    def num_inliers(self) -> int:
        return int(np.count_nonzero(self.inlier_mask))

    @property
    def fitness(self) -> float:
        """Inliers divided by pairs."""
        return self.num_inliers / len(self.inlier_mask)

    @property
    def success(self) -> bool:
        """The consensus cannot be chance. Whether it is proven optimal is `status`."""
        return self.status != "no_consensus"

    def __str__(self) -> str:
        gap = self.certificate.gap
        proof = f"gap {gap:.2g}" if np.isfinite(gap) else "no bound"
        rows = "\n".join("  " + "  ".join(f"{v: .6f}" for v in row) for row in self.transformation)
        return (
            f"{self.status} ({proof}): {self.num_inliers} inliers of {len(self.inlier_mask)} pairs, "
            f"rmse {self.inlier_rmse:.4g}, {sum(self.seconds.values()):.2f} s\n{self.message}\n{rows}"
        )

    def plot(self, source: Any = None, target: Any = None, *, kind: str | None = None, **options: Any) -> Any:
        """A plotly figure for notebooks, drawn by `tear3d.report.plots`.

        Parameters
        ----------
        source, target : (N, 3) array, optional
            The pairs this result is about; needed for the kinds "clouds" and "residuals".
        kind : {"clouds", "residuals", "search", "cells"}, optional
            The aligned clouds, the histogram of residuals, the bound closing in on what was found, or the
            cells visited. By default "clouds" when the pairs are given, else "search".
        **options
            Passed on to the function of `tear3d.report.plots`.
        """
        from tear3d.errors import InputError
        from tear3d.report import plots

        kind = kind or ("search" if source is None else "clouds")
        if kind in ("clouds", "residuals"):
            if source is None or target is None:
                raise InputError(f"kind {kind!r} needs the pairs: call plot(source, target, kind={kind!r})")
            draw = plots.aligned_clouds if kind == "clouds" else plots.residual_histogram
            return draw(self, source, target, **options)
        if kind == "search":
            return plots.search_progress(self, **options)
        if kind == "cells":
            return plots.sphere_cells(self, **options)
        raise InputError(f"kind is {kind!r}: expected 'clouds', 'residuals', 'search' or 'cells'")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays per pair, ready for JSON."""
        return {
            "transformation": self.transformation.tolist(),
            "num_pairs": len(self.inlier_mask),
            "num_inliers": self.num_inliers,
            "fitness": self.fitness,
            "inlier_rmse": self.inlier_rmse if np.isfinite(self.inlier_rmse) else None,
            "objective": self.objective,
            "status": self.status,
            "success": self.success,
            "message": self.message,
            "significance": self.significance if np.isfinite(self.significance) else None,
            "certificate": self.certificate.to_dict(),
            "seconds": self.seconds,
            "settings": self.settings,
        }
