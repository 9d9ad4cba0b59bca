"""A pose graph: scans and the registrations between them.

Conventions, those of the results. An edge (i, j) is a registration of the source scan j to the target scan i: its
transformation maps points of j into the frame of i. Poses map points of a scan into the frame of the map, so an edge
measures P_i⁻¹ P_j. Its covariance is of (ω, v) in T_true = T · Exp(ω, v): a point x of scan j first moves to
exp(ω) x + v.

Inside, every scan has its own centre as origin. Far from it, as in map coordinates, v would be large and so tightly
correlated with ω that the information matrix loses its digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from tear3d.errors import InputError
from tear3d.judge.uncertainty import carried
from tear3d.problem.arrays import FloatArray

IntArray = NDArray[np.int64]

TRUNCATION = float(chi2.ppf(0.999, 6))
"""Of an edge's r² = eᵀ C⁻¹ e, beyond which it counts as wrong: one right edge in a thousand has more. Free choice."""
FLOOR = float(1.0 / np.sqrt(TRUNCATION))
"""Standard deviation, in noise bounds, that every edge is allowed until the loops tell: where its covariance is
negligible, an edge is called wrong when it puts the typical point of its scan about one noise bound elsewhere. The
covariance of a refinement is often a few thousandths of that, and knows nothing of how a scan is distorted."""
UNKNOWN = 1.0
"""The same of an edge without a covariance of its own: free choice."""
_ORTHONORMAL = 1e-6


@dataclass(frozen=True, eq=False)
class Edge:
    """A registration of scan `j`, the source, to scan `i`, the target."""

    i: int
    j: int
    transformation: FloatArray
    """4×4, i ← j."""
    covariance: FloatArray = field(default_factory=lambda: np.full((6, 6), np.nan))
    """6×6, of (ω, v) in the frame of j; NaN where it is not known."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Edges between scans 0, 1, …, each with the centre of its points and how far they lie from it."""

    edges: tuple[Edge, ...]
    centres: FloatArray
    """N×3: the mean of each scan's points, in its own coordinates."""
    radii: FloatArray
    """N: root mean square distance of a scan's points from its centre."""
    noise_bound: float

    @classmethod
    def of(cls, edges: Sequence[Edge], centres: FloatArray, radii: FloatArray, noise_bound: float) -> Graph:
        """Checked."""
        centres, radii = np.asarray(centres, np.float64), np.asarray(radii, np.float64)
        count = len(centres)
        if centres.shape != (count, 3) or radii.shape != (count,):
            raise InputError(f"centres and radii have shapes {centres.shape} and {radii.shape}: expected N×3 and N")
        if not (np.isfinite(centres).all() and np.isfinite(radii).all() and (radii > 0.0).all()):
            raise InputError("centres and radii: expected finite numbers, radii above 0")
        if not 0.0 < noise_bound < np.inf:
            raise InputError(f"noise_bound is {noise_bound}: expected a positive number in the unit of the points")
        for number, edge in enumerate(edges):
            _check(edge, number, count)
        return cls(tuple(edges), centres, radii, float(noise_bound))

    @property
    def count(self) -> int:
        """Of scans."""
        return len(self.centres)

    def measured(self, covariances: FloatArray | None = None) -> Measured:
        """The edges as arrays, between scans whose origins are their centres, weighed by `covariances`, or these."""
        if not self.edges:
            nothing = np.empty(0, np.int64)
            return Measured(nothing, nothing, np.empty((0, 3, 3)), np.empty((0, 3)), np.empty((0, 6, 6)))
        i, j = (np.array([getattr(edge, end) for edge in self.edges]) for end in "ij")
        matrices = np.array([edge.transformation for edge in self.edges], np.float64)
        rotations = _nearest_rotations(matrices[:, :3, :3])
        # R c_j + t − c_i
        shifts = np.einsum("eab,eb->ea", rotations, self.centres[j]) + matrices[:, :3, 3] - self.centres[i]
        return Measured(
            i, j, rotations, shifts, self._whitening(self.covariances() if covariances is None else covariances)
        )

    def covariances(self, allowance: float = FLOOR) -> FloatArray:
        """E×6×6: of all edges; see `covariance`."""
        return np.array([self.covariance(edge, allowance) for edge in self.edges]).reshape(-1, 6, 6)

    def covariance(self, edge: Edge, allowance: float = FLOOR) -> FloatArray:
        """Of an edge about the centre of its source, with so many noise bounds added to its standard deviations."""
        turn = np.diag([1.0 / self.radii[edge.j]] * 3 + [1.0] * 3) * self.noise_bound
        spread = turn @ turn
        if not np.isfinite(edge.covariance).all():
            return np.asarray(UNKNOWN**2 * spread)
        # A point c moves by v + ω × c.
        about = carried(np.asarray(edge.covariance, np.float64), 1.0, -self.centres[edge.j])
        return about + allowance**2 * spread

    def _whitening(self, covariances: FloatArray) -> FloatArray:
        """W with Wᵀ W = C⁻¹."""
        scales = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 1e-300))
        found = np.empty_like(covariances)
        for number, (edge, covariance, scale) in enumerate(zip(self.edges, covariances, scales, strict=True)):
            try:
                lower = np.linalg.cholesky(covariance / np.outer(scale, scale))
            except np.linalg.LinAlgError:
                raise InputError(f"the covariance of edge {edge.i}-{edge.j} is not positive definite") from None
            found[number] = np.linalg.inv(lower) / scale
        return found


@dataclass(frozen=True, eq=False)
class Measured:
    """Edges as arrays, between centred scans."""

    i: IntArray
    j: IntArray
    rotations: FloatArray
    shifts: FloatArray
    whitening: FloatArray

    def __len__(self) -> int:
        return len(self.i)

    def __getitem__(self, rows: NDArray[np.bool_] | IntArray) -> Measured:
        return Measured(self.i[rows], self.j[rows], self.rotations[rows], self.shifts[rows], self.whitening[rows])


def _check(edge: Edge, number: int, count: int) -> None:
    name = f"edges[{number}]"
    if not (0 <= edge.i < count and 0 <= edge.j < count) or edge.i == edge.j:
        raise InputError(f"{name} joins scans {edge.i} and {edge.j}: expected two different ones of 0 to {count - 1}")
    pose = np.asarray(edge.transformation, np.float64)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise InputError(f"{name} has a transformation of shape {pose.shape}: expected 4×4 finite numbers")
    turn = pose[:3, :3]
    if np.abs(turn @ turn.T - np.eye(3)).max() > _ORTHONORMAL or np.linalg.det(turn) < 0.0:
        raise InputError(f"{name} has a transformation that is no rotation and translation")
    if np.asarray(edge.covariance).shape != (6, 6):
        raise InputError(f"{name} has a covariance of shape {np.asarray(edge.covariance).shape}: expected 6×6")


def _nearest_rotations(matrices: FloatArray) -> FloatArray:
    u, _, vt = np.linalg.svd(matrices)
    return np.asarray(u @ vt)
