"""Registrations of pairs of scans, many at once: what is asked of a worker and what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tear3d.clouds.register import register_clouds
from tear3d.clouds.verdict import CloudVerdict
from tear3d.mapping.scans import Scans
from tear3d.problem.arrays import FloatArray
from tear3d.problem.options import Proof
from tear3d.scale.many import register_many

COARSER = 2.0
"""Voxels of the first, cheap look at a pair, in those of the map: free choice."""


@dataclass(frozen=True, eq=False)
class Found:
    """The registration of a pair, without the points it came from."""

    transformation: FloatArray
    """4×4, target ← source."""
    covariance: FloatArray
    verdict: CloudVerdict
    reasons: tuple[str, ...]
    fit: float
    overlap: float
    """Share of the surfaces that overlap, the smaller of both directions."""
    status: str
    """Of the registration of the matches: what was proven."""
    gap: float
    significance: float
    refined: bool

    @property
    def confirmed(self) -> bool:
        return self.verdict == "confirmed"


@dataclass(frozen=True)
class How:
    """What pairs are registered with."""

    voxel_size: float
    noise_bound: float
    certify: Proof | bool = False
    seed: int = 0
    processes: int | None = None


def register_pair(source: str, target: str, *, threads: int | None = None, **options: Any) -> Found:
    """What a worker does: read two thinned scans and register them."""
    found = register_clouds(np.load(source), np.load(target), threads=threads, **options)
    return Found(
        transformation=np.array(found.transformation),
        covariance=np.array(found.covariance),
        verdict=found.verdict,
        reasons=found.reasons,
        fit=found.evidence.fit,
        overlap=found.evidence.overlap,
        status=found.result.status,
        gap=float(found.result.certificate.gap),
        significance=float(found.result.significance),
        refined=found.refinement is not None,
    )


@dataclass(frozen=True, eq=False)
class Tried:
    """A pair that was tried: the source `j`, the target `i`."""

    i: int
    j: int
    stage: str
    """Why it was tried: "order", "pair", "bridge" or "loop"."""
    found: Found | None
    """None after an error, such as too few matches."""
    error: str
    seconds: float

    @property
    def confirmed(self) -> bool:
        return self.found is not None and self.found.confirmed


def register_pairs(
    scans: Scans, pairs: Sequence[tuple[int, int]], how: How, stage: str, *, coarse: bool = False
) -> Iterator[Tried]:
    """Register scan j to scan i for pairs (i, j), in their order."""
    outcomes = register_many(
        (_problem(scans, i, j, how, coarse) for i, j in pairs), function=register_pair, processes=how.processes
    )
    for (i, j), outcome in zip(pairs, outcomes, strict=True):
        error = "" if outcome.error is None else str(outcome.error) or type(outcome.error).__name__
        yield Tried(i, j, stage, outcome.result, error, outcome.seconds)


def _problem(scans: Scans, i: int, j: int, how: How, coarse: bool) -> dict[str, Any]:
    problem = {"source": str(scans.path(j)), "target": str(scans.path(i)), "seed": how.seed}
    if coarse:
        # Filtered matches are not tried again with more of them.
        size = COARSER * how.voxel_size
        return problem | {"voxel_size": size, "certify": False, "refine": None, "mutual": True}
    return problem | {"voxel_size": how.voxel_size, "noise_bound": how.noise_bound, "certify": how.certify}
