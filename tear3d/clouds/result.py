"""What `register_clouds` returns."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.refine import RefineResult
from tear3d.clouds.tries import Try
from tear3d.clouds.verdict import CloudEvidence, CloudVerdict
from tear3d.judge.ambiguity import Ambiguity
from tear3d.judge.passed_on import PassedOn
from tear3d.judge.uncertain import Uncertain
from tear3d.problem.arrays import FloatArray
from tear3d.problem.strict import strict
from tear3d.result import PLOTTING, Result, known, matrix_text, shift_of


@dataclass(frozen=True, eq=False)
class CloudResult(Uncertain, PassedOn):
    """The pose between two clouds and everything it came from. Compares by identity; the arrays are read-only."""

    kind: ClassVar[str] = "clouds"

    result: Result
    """The registration of the matches: its pose, certificate and status."""
    transformation: FloatArray
    """4×4, target ← source: refined, or that of `result` without refinement."""
    refinement: RefineResult | None
    """None when not asked for, or when the clouds do not confirm the pose."""
    pairs: NDArray[np.int64] = field(repr=False)
    """Matches: rows of `source_points` and `target_points`."""
    source_points: FloatArray = field(repr=False)
    target_points: FloatArray = field(repr=False)
    voxel_size: float
    noise_bound: float
    seconds: dict[str, float]
    evidence: CloudEvidence
    """What the clouds themselves say about the pose."""
    verdict: CloudVerdict
    """Whether the clouds bear the pose out: `confirmed`, `doubtful` or `rejected`."""
    reasons: tuple[str, ...]
    """Why, in words."""
    tries: tuple[Try, ...] = ()
    """What was tried, first to last; the result is that of the try whose best pose the clouds bear out best."""
    ambiguity: Ambiguity | None = None
    """Why another pose may be meant just as well. None when none was found; also when the clouds were not asked, which
    `reasons` says: a limit was over, or they are too small, and the matches know of none."""
    covariance: FloatArray = field(default_factory=lambda: np.full((6, 6), np.nan), repr=False)
    """Of the pose, as that of a result: from the refinement, or from the matches without one."""
    dropped: tuple[int, int] = (0, 0)
    """Points of the source and of the target that were left out because they are not finite."""
    notes: tuple[str, ...] = ()
    """What was noticed about the clouds before any work, in words."""

    def __post_init__(self) -> None:
        for array in (self.transformation, self.pairs, self.source_points, self.target_points, self.covariance):
            array.setflags(write=False)

    @property
    def success(self) -> bool:
        """The clouds confirm the pose; where the matches could be chance, they must do so all the more."""
        return self.verdict == "confirmed"

    @property
    def centre(self) -> FloatArray:
        """Mean of the source cloud, thinned."""
        return np.asarray(self.source_points.mean(axis=0))

    @property
    def centre_shift(self) -> FloatArray:
        """How far `centre` moves. Far from the origin the translation says little: it is what the origin moves by."""
        return shift_of(self.centre, self.transformation)

    @property
    def source_matches(self) -> FloatArray:
        """Row i is matched to row i of `target_matches`; what `result` was found from."""
        return self.source_points[self.pairs[:, 0]]

    @property
    def target_matches(self) -> FloatArray:
        return self.target_points[self.pairs[:, 1]]

    def plot(self, source: Any = None, target: Any = None, *, kind: str | None = None, **options: Any) -> Any:
        """A plotly figure for notebooks, with a still picture (PNG) beside it; drawn by `tear3d.report.plots`.

        Parameters
        ----------
        source, target : (N, 3) arrays, optional
            Clouds to show; by default those that were compared, thinned.
        kind : {"clouds", "residuals", "search", "cells", "noise"}, optional
            By default "clouds": the source under the pose, over the target. The others are about the matches, as those
            of `Result.plot`.
        **options
            Passed on to the function of `tear3d.report.plots`.
        """
        return importlib.import_module(PLOTTING).plot(self, source, target, kind=kind, **options)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays per point, ready for strict JSON.

        First the fields that a `Result` has, in the same order: transformation, covariance, success, ambiguity, centre
        and seconds are those of the clouds, the rest is about the matches. Then what only clouds have; `matches` is
        the pose before the clouds changed it. `docs/cli.md` has a table of the fields.
        """
        of_matches = self.result.to_dict()
        own = {
            "kind": self.kind,
            "transformation": self.transformation,
            "success": self.success,
            "ambiguity": None if self.ambiguity is None else self.ambiguity.to_dict(),
            "covariance": known(self.covariance),
            "centre": known(self.centre),
            "centre_shift": known(self.centre_shift),
            "seconds": self.seconds,
        }
        return of_matches | strict(
            own
            | {
                "verdict": self.verdict,
                "reasons": self.reasons,
                "evidence": self.evidence.to_dict(),
                "tries": [each.to_dict() for each in self.tries],
                "voxel_size": self.voxel_size,
                "noise_bound": self.noise_bound,
                "num_source_points": len(self.source_points),
                "num_target_points": len(self.target_points),
                "dropped": self.dropped,
                "notes": self.notes,
                "matches": {name: of_matches[name] for name in own if name != "kind"},
                "refinement": None if self.refinement is None else self.refinement.to_dict(),
            }
        )

    def __str__(self) -> str:
        return (
            f"{len(self.pairs)} matches of {len(self.source_points)} and {len(self.target_points)} points, "
            f"voxel size {self.voxel_size:g}, noise bound {self.noise_bound:g}\n{self._posed()}{self._refined()}\n"
            f"{self.verdict}: {'; '.join(self.reasons)}"
        )

    def _posed(self) -> str:
        """What is known of the matches, and the pose of the clouds."""
        matches = str(self.result).removesuffix(matrix_text(self.result.transformation))
        return matches + matrix_text(self.transformation)

    def _refined(self) -> str:
        if self.refinement is None:
            return ""
        if np.isnan(self.refinement.fitness):
            return "\nnot refined on the clouds: stopped before"
        return (
            f"\nrefined on the clouds: {100.0 * self.refinement.fitness:.1f} % of the source points "
            f"within {self.refinement.max_distance:.3g} of the target, rmse {self.refinement.rmse:.3g}"
        )
