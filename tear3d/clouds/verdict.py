"""Whether two clouds bear out a pose: what is measured, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

CloudVerdict = Literal["confirmed", "doubtful", "rejected"]


@dataclass(frozen=True)
class CloudEvidence:
    """How two clouds fit under a pose; NaN for what was not measured."""

    overlap_source: float = math.nan
    """Share of the source points with a target point within a voxel."""
    overlap_target: float = math.nan
    """Share of the target points with a source point within a voxel."""
    normals: float = math.nan
    """Share of those points whose surfaces face the same way, or the opposite."""
    contradicted: float = math.nan
    """Share of the points that lie where the other scan saw through, among those it could have seen."""
    drift: float = math.nan
    """How far the refinement moved the points, in noise bounds."""
    residual: float = math.nan
    """Root mean square distance of the overlapping points, in voxels."""

    @property
    def overlap(self) -> float:
        """The smaller of both directions."""
        return min(self.overlap_source, self.overlap_target)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: None instead of NaN."""
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}
