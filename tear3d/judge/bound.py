"""A noise bound that was estimated from the pairs, and what other bounds would have made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.problem.scales import ScaleRange, scale_of
from tear3d.problem.strict import strict
from tear3d.problem.turns import angle_of

FACTOR = 5.54
"""The noise bound in standard deviations of Gaussian noise along an axis, the paper's."""


class At(NamedTuple):
    """What the pairs say at one noise bound: the best pose near the one of the result."""

    noise_bound: float
    transformation: FloatArray
    """4×4, target ← source."""
    num_inliers: int
    significance: float
    """log10 of the probability that meaningless pairs show such a pose, as that of a result, over a sample of the pairs
    and against two rivals at most."""
    degrees: float = float("nan")
    """The angle between its rotation and that of the result, ..."""
    shift: float = float("nan")
    """... and the distance between where the two put the middle of the source."""
    scale: float = 1.0
    """Target over source; 1 unless it was sought."""


@dataclass(frozen=True, eq=False)
class NoiseEstimate:
    """The noise bound that a result was made with, when none was given."""

    noise_bound: float
    """In the units of the points."""
    sigma: float
    """Standard deviation of the noise along an axis; NaN when it could not be measured."""
    low: float
    high: float
    """Between which 5.54 `sigma` lies nine times in ten: two standard errors, and what windows of different widths make
    of it; NaN as `sigma`."""
    trusted: bool
    """Whether a pose stands out from chance at some noise bound: without one there is nothing to measure."""
    why: str
    """How the bound was chosen, in words."""
    curve: tuple[At, ...] = field(default=(), repr=False)
    """Noise bounds from a tenth to ten times the one chosen, smallest first, as far as the digits of the points and the
    limits of the call allow."""

    @property
    def sentence(self) -> str:
        """What was chosen, in one line."""
        chosen = f"noise bound {self.noise_bound:.3g}"
        if not self.trusted:
            return f"{chosen} from the pairs, not to be trusted: {self.why}"
        return f"{chosen} from the pairs: {self.why}"

    def about(self, transformation: FloatArray, centre: FloatArray) -> NoiseEstimate:
        """With the deviations of the curve from a pose, a `transformation`, and of where it puts a `centre`."""
        middle = centre if np.isfinite(centre).all() else np.zeros(3)
        curve = tuple(_compared(at, transformation, middle) for at in self.curve)
        return replace(self, curve=curve)

    def with_scales(self, allowed: ScaleRange) -> NoiseEstimate:
        """The same for the source as it was given, before it was multiplied as the scales allowed have it."""
        return replace(self, curve=tuple(_with_scale(at, allowed) for at in self.curve))

    def to_dict(self) -> dict[str, Any]:
        """Ready for strict JSON."""
        values = {name: getattr(self, name) for name in ("noise_bound", "sigma", "low", "high", "trusted", "sentence")}
        found: dict[str, Any] = strict(
            {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in values.items()}
            | {"curve": [at._asdict() for at in self.curve]}
        )
        return found


def _with_scale(at: At, allowed: ScaleRange) -> At:
    matrix = at.transformation.copy()
    matrix[:3, :3] *= allowed.applied
    return at._replace(transformation=matrix, scale=allowed.low if allowed.only else scale_of(matrix[:3, :3]))


def _compared(at: At, other: FloatArray, middle: FloatArray) -> At:
    """With its deviation from a pose."""
    pose = at.transformation
    # The difference is taken before a large middle can cost digits.
    shift = (pose[:3, :3] - other[:3, :3]) @ middle + pose[:3, 3] - other[:3, 3]
    turn = math.degrees(angle_of(_turn(pose).T @ _turn(other)))
    return at._replace(degrees=turn, shift=float(np.linalg.norm(shift)))


def _turn(pose: FloatArray) -> FloatArray:
    """The rotation, without a scale."""
    return np.asarray(pose[:3, :3] / scale_of(pose[:3, :3]))
