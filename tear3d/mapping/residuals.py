"""What edges say against poses, and how that changes when the poses do.

The error of an edge is e = (log E_R, E_t) with E = T⁻¹ P_i⁻¹ P_j: the motion (ω, v) of the source that would make the
measurement true. Poses move as P ← P · (exp ω, v). With A = P_i⁻¹ P_j and φ = log E_R, to first order

    of P_j:  d log E_R =  J(φ)⁻¹ ω            d E_t = E_R v
    of P_i:  d log E_R = −J(φ)⁻¹ A_Rᵀ ω       d E_t = T_Rᵀ ([A_t] ω − v)

where [a] b = a × b and J is the right Jacobian of SO(3), J⁻¹ = 1 + [φ]/2 + (1 − θ/2 cot θ/2) [φ]²/θ², θ = |φ|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from tear3d.mapping.graph import Measured
from tear3d.problem.arrays import FloatArray

# Below, θ²/12-terms are rounding errors of 1.
_SMALL = 1e-4


class Poses(NamedTuple):
    """Map ← centred scan, as arrays."""

    rotations: FloatArray
    """N×3×3."""
    shifts: FloatArray
    """N×3: where the centres lie."""

    def moved(self, change: FloatArray) -> Poses:
        """P · (exp ω, v) for N×6 changes (ω, v)."""
        turns = Rotation.from_rotvec(change[:, :3]).as_matrix()
        return Poses(self.rotations @ turns, self.shifts + np.einsum("nab,nb->na", self.rotations, change[:, 3:]))


class Linear(NamedTuple):
    """Whitened errors of edges, E×6, and their slopes for the poses of i and j, E×6×6."""

    errors: FloatArray
    by_i: FloatArray
    by_j: FloatArray


def squares(edges: Measured, poses: Poses) -> FloatArray:
    """r² = eᵀ C⁻¹ e of every edge."""
    errors = np.einsum("eab,eb->ea", edges.whitening, errors_of(edges, poses)[0])
    return np.asarray(np.einsum("ea,ea->e", errors, errors))


def errors_of(edges: Measured, poses: Poses) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """e, and E_R, A_R, A_t on the way to it."""
    turn = np.swapaxes(poses.rotations[edges.i], 1, 2)
    relative = turn @ poses.rotations[edges.j]
    shift = np.einsum("eab,eb->ea", turn, poses.shifts[edges.j] - poses.shifts[edges.i])
    back = np.swapaxes(edges.rotations, 1, 2)
    left = back @ relative
    away = np.einsum("eab,eb->ea", back, shift - edges.shifts)
    phi = Rotation.from_matrix(left).as_rotvec() if len(left) else np.empty((0, 3))
    return np.column_stack([phi, away]), left, relative, shift


def linearise(edges: Measured, poses: Poses) -> Linear:
    """Errors and slopes, whitened."""
    errors, left, relative, shift = errors_of(edges, poses)
    inverse = _inverse_jacobian(errors[:, :3])
    by_i, by_j = np.zeros((2, len(edges), 6, 6))
    back = np.swapaxes(edges.rotations, 1, 2)
    by_j[:, :3, :3] = inverse
    by_j[:, 3:, 3:] = left
    by_i[:, :3, :3] = -inverse @ np.swapaxes(relative, 1, 2)
    by_i[:, 3:, :3] = back @ _cross(shift)
    by_i[:, 3:, 3:] = -back
    whiten = edges.whitening
    return Linear(np.einsum("eab,eb->ea", whiten, errors), whiten @ by_i, whiten @ by_j)


def _inverse_jacobian(phi: FloatArray) -> FloatArray:
    theta = np.linalg.norm(phi, axis=1)
    small = theta < _SMALL
    half = 0.5 * np.where(small, 1.0, theta)
    factor = np.where(small, 1.0 / 12.0, (1.0 - half / np.tan(half)) / (4.0 * half**2))
    cross = _cross(phi)
    return np.asarray(np.eye(3) + 0.5 * cross + factor[:, None, None] * (cross @ cross))


def _cross(a: FloatArray) -> FloatArray:
    """a × b as a matrix times b, of many."""
    out = np.zeros((len(a), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -a[:, 2], a[:, 1], -a[:, 0]
    out[:, 1, 0], out[:, 2, 0], out[:, 2, 1] = a[:, 2], -a[:, 1], a[:, 0]
    return out
