"""The result of a registration."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.judge.ambiguity import Alternative, Ambiguity, FreeMotion
from tear3d.judge.uncertain import Uncertain
from tear3d.judge.verdict import Status, could_be_chance
from tear3d.problem.arrays import FloatArray
from tear3d.prove.certificate import Attempt, Certificate, StageCertificate

__all__ = ["Alternative", "Ambiguity", "Attempt", "Certificate", "FreeMotion", "Result", "StageCertificate", "Status"]

PLOTTING = "tear3d.report.plots"
"""The module whose function `plot` draws results."""


@dataclass(frozen=True, eq=False)
class Result(Uncertain):
    """A pose that maps source points onto target points, and how good it provably is.

    Results compare by identity, as what holds arrays does. The arrays are read-only.
    """

    transformation: FloatArray
    """4×4, target ← source."""
    inlier_mask: NDArray[np.bool_] = field(repr=False)
    """Pairs whose Euclidean residual is within their noise bound."""
    inlier_rmse: float
    """Root mean square of the inliers' Euclidean residuals; NaN without inliers."""
    objective: float
    """The full loss of the pose: for TEAR, Σ w·min(‖y − Rx − t‖₁, ξ)."""
    status: Status
    """See `tear3d.judge.verdict` for what each means."""
    message: str
    certificate: Certificate
    significance: float
    """log10 of the expected number of poses with such a consensus in meaningless data; very negative is good."""
    seconds: dict[str, float]
    settings: dict[str, Any] = field(default_factory=dict, repr=False)
    alternatives: tuple[Alternative, ...] = field(default=(), repr=False)
    """Other poses that were found, the one that saves most first."""
    ambiguity: Ambiguity | None = None
    """Why another pose may be meant just as well; None when this one stands alone."""
    covariance: FloatArray = field(default_factory=lambda: np.full((6, 6), np.nan), repr=False)
    """6×6, of the pose; NaN where it is not known. See `covariance_of` for its order and frame."""
    centre: FloatArray = field(default_factory=lambda: np.full(3, np.nan), repr=False)
    """Mean of the source points, without the pairs set aside; NaN where it is not known."""

    def __post_init__(self) -> None:
        for array in (self.transformation, self.inlier_mask, self.covariance, self.centre):
            array.setflags(write=False)

    @property
    def rotation(self) -> FloatArray:
        return self.transformation[:3, :3]

    @property
    def translation(self) -> FloatArray:
        return self.transformation[:3, 3]

    @property
    def centre_shift(self) -> FloatArray:
        """How far `centre` moves. Far from the origin the translation says little: it is what the origin moves by."""
        return shift_of(self.centre, self.transformation)

    @property
    def num_pairs(self) -> int:
        return len(self.inlier_mask)

    @property
    def num_inliers(self) -> int:
        return int(np.count_nonzero(self.inlier_mask))

    @property
    def fitness(self) -> float:
        """Inliers divided by pairs."""
        return self.num_inliers / self.num_pairs

    @property
    def success(self) -> bool:
        """The consensus cannot be chance, however the search ended. Whether it is proven optimal is `status`."""
        return self.status != "no_consensus" and not could_be_chance(self.significance)

    @property
    def ambiguous(self) -> bool:
        """Another pose explains the pairs about as well."""
        return self.ambiguity is not None

    @property
    def proven(self) -> bool:
        """The proof is complete, and it is about this pose."""
        return self.status == "optimal"

    def __str__(self) -> str:
        gap = self.certificate.gap
        proof = f"gap {gap:.2g}" if np.isfinite(gap) else "no bound"
        if np.isfinite(gap) and not self.certificate.agrees:
            proof += " of other rows"
        rows = "\n".join("  " + "  ".join(f"{v: .6f}" for v in row) for row in self.transformation)
        return (
            f"{self.status} ({proof}): {self.num_inliers} inliers of {self.num_pairs} pairs, "
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
        return importlib.import_module(PLOTTING).plot(self, source, target, kind=kind, **options)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays per pair, ready for JSON."""
        return {
            "transformation": self.transformation.tolist(),
            "num_pairs": self.num_pairs,
            "num_inliers": self.num_inliers,
            "fitness": self.fitness,
            "inlier_rmse": self.inlier_rmse if np.isfinite(self.inlier_rmse) else None,
            "objective": self.objective,
            "status": self.status,
            "success": self.success,
            "message": self.message,
            "significance": self.significance if np.isfinite(self.significance) else None,
            "alternatives": [other.to_dict() for other in self.alternatives],
            "ambiguity": None if self.ambiguity is None else self.ambiguity.to_dict(),
            "centre": plain(self.centre),
            "centre_shift": plain(self.centre_shift),
            "covariance": self.covariance.tolist() if np.isfinite(self.covariance).all() else None,
            "certificate": self.certificate.to_dict(),
            "seconds": self.seconds,
            "settings": self.settings,
        }


def shift_of(point: FloatArray, transformation: FloatArray) -> FloatArray:
    """How far a pose moves a point."""
    # (R − 1) p + t: the difference is taken before a large p can cost digits.
    return np.asarray((transformation[:3, :3] - np.eye(3)) @ point + transformation[:3, 3])


def plain(vector: FloatArray) -> list[float] | None:
    """Ready for JSON: None where it is not known."""
    return [float(v) for v in vector] if np.isfinite(vector).all() else None
