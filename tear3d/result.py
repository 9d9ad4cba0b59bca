"""The result of a registration and its certificate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.prove.certificate import Certificate, StageCertificate

Status = Literal["optimal", "time_limit", "node_limit", "interrupted", "uncertified", "no_consensus"]

__all__ = ["Certificate", "Result", "StageCertificate", "Status"]


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
