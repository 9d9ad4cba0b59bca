"""The result of a registration."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.judge.ambiguity import Alternative, Ambiguity, FreeMotion
from tear3d.judge.bound import NoiseEstimate
from tear3d.judge.passed_on import PassedOn
from tear3d.judge.uncertain import Uncertain
from tear3d.judge.verdict import Status, could_be_chance
from tear3d.problem.arrays import FloatArray
from tear3d.problem.strict import strict
from tear3d.prove.certificate import Attempt, Certificate, StageCertificate

__all__ = [
    "Alternative",
    "Ambiguity",
    "Attempt",
    "Certificate",
    "FreeMotion",
    "NoiseEstimate",
    "Result",
    "StageCertificate",
    "Status",
]

LEVEL = 1e-9
"""What rounding may leave of a motion out of the plane."""
PLOTTING = "tear3d.report.plots"
"""The module whose function `plot` draws results."""


@dataclass(frozen=True, eq=False)
class Result(Uncertain, PassedOn):
    """A pose that maps source points onto target points, and how good it provably is.

    Results compare by identity, as what holds arrays does. The arrays are read-only.
    """

    schema: ClassVar[int] = 1
    """Of the JSON: grows when a field changes its meaning or goes."""
    kind: ClassVar[str] = "pairs"

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
    """log10 of the probability that data without a true pose show one that stands out like this; below −2 is a find."""
    seconds: dict[str, float]
    settings: dict[str, Any] = field(default_factory=dict, repr=False)
    alternatives: tuple[Alternative, ...] = field(default=(), repr=False)
    """Other poses that were found, the one that saves most first."""
    ambiguity: Ambiguity | None = None
    """Why another pose may be meant just as well; None when none of those that were found is."""
    covariance: FloatArray = field(default_factory=lambda: np.full((6, 6), np.nan), repr=False)
    """6×6, of the pose; NaN where it is not known. See `covariance_of` for its order and frame."""
    centre: FloatArray = field(default_factory=lambda: np.full(3, np.nan), repr=False)
    """Mean of the source points, without the pairs set aside; NaN where it is not known."""
    saving: float = float("nan")
    """What the objective lies below that of calling every pair wrong; as that of an alternative."""
    scale: float = 1.0
    """Target over source; 1 unless it was estimated. `transformation` has it in its 3×3 part, `rotation` has not."""
    scale_std: float = float("nan")
    """Standard deviation of the scale, about the middle of the pairs that agree; NaN unless it was estimated."""
    instances: tuple[Result, ...] = field(default=(), repr=False)
    """With `max_instances`: the results of all motions that stand out from chance, this one first. Each is about the
    pairs that those before it leave, and has no instances itself. Empty unless asked for, or when there is none."""
    noise: NoiseEstimate | None = field(default=None, repr=False)
    """The noise bound, its uncertainty and what others would have made of the pairs; None when it was given."""

    def __post_init__(self) -> None:
        for array in (self.transformation, self.inlier_mask, self.covariance, self.centre):
            array.setflags(write=False)

    @property
    def rotation(self) -> FloatArray:
        turned = self.transformation[:3, :3]
        return turned if self.scale == 1.0 else turned / self.scale

    @property
    def translation(self) -> FloatArray:
        return self.transformation[:3, 3]

    @property
    def transformation_2d(self) -> FloatArray:
        """3×3, of a pose that turns about z and does not move along it, as those of N×2 points do."""
        pose = self.transformation
        level = np.concatenate([pose[2] - [0.0, 0.0, self.scale, 0.0], pose[:2, 2]])
        if not np.abs(level).max() <= LEVEL * max(1.0, self.scale, float(np.abs(pose[:3, 3]).max())):
            raise InputError("transformation_2d: this pose is not one of the plane; it leaves z = 0")
        return np.asarray(pose[np.ix_([0, 1, 3], [0, 1, 3])])

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
    def labels(self) -> NDArray[np.int64]:
        """Which of the instances a pair agrees with, from 1 on, 0 for none; with no instances, 1 for the inliers."""
        out = np.zeros(self.num_pairs, np.int64)
        for number, one in enumerate(self.instances or (self,), 1):
            out[one.inlier_mask] = number
        return out

    @property
    def success(self) -> bool:
        """The pose stands out from chance (a significance of at most −2), however the search ended.

        That is a test, and it errs: `docs/verdict.md` says how often and where. Whether the pose is proven optimal is
        `status`; whether another may be meant just as well, `ambiguous`.
        """
        return self.status != "no_consensus" and not could_be_chance(self.significance)

    @property
    def ambiguous(self) -> bool:
        """Another pose was found that may be meant just as well, or a turn is free; `ambiguity` says which."""
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
        ambiguous = ", ambiguous" if self.ambiguous else ""
        return (
            f"{self.status}{ambiguous} ({proof}): {self.num_inliers} inliers of {self.num_pairs} pairs, "
            f"rmse {self.inlier_rmse:.4g}, {sum(self.seconds.values()):.2f} s\n{self.message}\n"
            f"{matrix_text(self.transformation)}"
        )

    def plot(self, source: Any = None, target: Any = None, *, kind: str | None = None, **options: Any) -> Any:
        """A plotly figure for notebooks, with a still picture (PNG) beside it; drawn by `tear3d.report.plots`.

        Parameters
        ----------
        source, target : (N, 3) array, optional
            The pairs this result is about; needed for the kinds "clouds" and "residuals".
        kind : {"clouds", "residuals", "search", "cells", "noise"}, optional
            The aligned clouds, the histogram of residuals, the bound closing in on what was found, the cells visited,
            or what other noise bounds make of the pairs. By default "clouds" when the pairs are given, else "search".
        **options
            Passed on to the function of `tear3d.report.plots`.
        """
        return importlib.import_module(PLOTTING).plot(self, source, target, kind=kind, **options)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays per pair, ready for strict JSON; `docs/cli.md` has a table of the fields."""
        found: dict[str, Any] = strict(
            {
                "schema": self.schema,
                "kind": self.kind,
                "transformation": self.transformation,
                "success": self.success,
                "status": self.status,
                "message": self.message,
                "significance": self.significance,
                "ambiguity": None if self.ambiguity is None else self.ambiguity.to_dict(),
                "alternatives": [other.to_dict() for other in self.alternatives],
                "covariance": known(self.covariance),
                "scale": self.scale,
                "scale_std": self.scale_std,
                "num_pairs": self.num_pairs,
                "num_inliers": self.num_inliers,
                "fitness": self.fitness,
                "inlier_rmse": self.inlier_rmse,
                "objective": self.objective,
                "saving": self.saving,
                "certificate": self.certificate.to_dict(),
                "centre": known(self.centre),
                "centre_shift": known(self.centre_shift),
                "seconds": self.seconds,
                "settings": self.settings,
                "instances": [one.to_dict() for one in self.instances],
                "noise": None if self.noise is None else self.noise.to_dict(),
            }
        )
        return found


def matrix_text(pose: FloatArray) -> str:
    """Four lines."""
    return "\n".join("  " + "  ".join(f"{value: .6f}" for value in row) for row in pose)


def shift_of(point: FloatArray, transformation: FloatArray) -> FloatArray:
    """How far a pose moves a point."""
    # (R − 1) p + t: the difference is taken before a large p can cost digits.
    return np.asarray((transformation[:3, :3] - np.eye(3)) @ point + transformation[:3, 3])


def known(values: FloatArray) -> FloatArray | None:
    """For JSON: None where it is not known."""
    return values if np.isfinite(values).all() else None
