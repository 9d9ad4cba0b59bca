"""Other poses that explain the data about as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tear3d.problem.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another pose that was found: it puts some point of the cloud more than three noise bounds elsewhere."""

    transformation: FloatArray
    """4×4, target ← source."""
    saving: float
    """What its objective lies below the all-outlier value."""
    num_inliers: int
    significance: float
    """As that of a result: log10 of the probability that meaningless data show a pose that stands out like this one."""

    def __post_init__(self) -> None:
        self.transformation.setflags(write=False)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return vars(self) | {"transformation": self.transformation.tolist()}


@dataclass(frozen=True)
class FreeMotion:
    """A motion of the source, in its own coordinates, after which it fits as well as before."""

    kind: Literal["rotation", "translation"]
    axis: tuple[float, float, float]
    """A unit vector: what it turns about, or slides along."""
    through: tuple[float, float, float]
    """A point of the axis of rotation."""
    step: float | None
    """Degrees, or a length; None when any amount will do."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return vars(self) | {"axis": list(self.axis), "through": list(self.through)}


@dataclass(frozen=True)
class Ambiguity:
    """Why a pose is not the only one."""

    sentence: str
    free: tuple[FreeMotion, ...] = ()
    """Motions that lead from the returned pose to others as good, as far as they could be named."""

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"sentence": self.sentence, "free": [motion.to_dict() for motion in self.free]}
