"""Weighted least squares over poses: Levenberg-Marquardt on sparse normal equations, the first pose held fixed."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from tear3d.mapping.graph import Measured
from tear3d.mapping.residuals import Linear, Poses, linearise, squares
from tear3d.problem.arrays import FloatArray

# Free choices, part of no result: damping at the start and its factor, steps at most, and relative gain of the cost
# from which on nothing is worth another step.
_DAMPING, _FACTOR, _STEPS, _TRIES, _GAIN = 1e-6, 10.0, 50, 12, 1e-9


def descend(edges: Measured, poses: Poses, weights: FloatArray, steps: int = _STEPS) -> Poses:
    """A local minimum of Σ w r², starting from poses; those that no edge reaches stay where they are."""
    damping = _DAMPING
    cost = float(weights @ squares(edges, poses))
    for _ in range(steps):
        normal, gradient = _equations(edges, linearise(edges, poses), weights, len(poses.shifts))
        diagonal = normal.diagonal()
        # Poses of edges without weight have nothing that holds them.
        floor = max(float(diagonal.max(initial=0.0)) * 1e-12, 1e-300)
        for _ in range(_TRIES):
            shifted = normal + sparse.diags(damping * diagonal + floor)
            change = np.zeros((len(poses.shifts), 6))
            change[1:] = -splu(shifted.tocsc()).solve(gradient).reshape(-1, 6)
            ahead = poses.moved(change)
            after = float(weights @ squares(edges, ahead))
            if after <= cost:
                break
            damping *= _FACTOR
        else:
            return poses
        damping = max(damping / _FACTOR, 1e-12)
        gain, cost, poses = cost - after, after, ahead
        if gain <= _GAIN * max(cost, 1e-12):
            break
    return poses


def marginals(edges: Measured, poses: Poses) -> FloatArray:
    """Covariances of (ω, v), N×6×6, of all poses with respect to the first, which has none."""
    count = len(poses.shifts)
    out = np.zeros((count, 6, 6))
    if count == 1:
        return out
    normal, _ = _equations(edges, linearise(edges, poses), np.ones(len(edges)), count)
    factors = splu(normal.tocsc())
    size = 6 * (count - 1)
    for k in range(count - 1):
        unit = np.zeros((size, 6))
        unit[6 * k : 6 * k + 6] = np.eye(6)
        block = factors.solve(unit)[6 * k : 6 * k + 6]
        out[k + 1] = 0.5 * (block + block.T)
    return out


def _equations(edges: Measured, at: Linear, weights: FloatArray, count: int) -> tuple[sparse.csc_matrix, FloatArray]:
    """Of all poses but the first, in blocks of six."""
    ends = (edges.i, at.by_i), (edges.j, at.by_j)
    gradient = np.zeros((count, 6))
    rows, columns, values = [], [], []
    inner = np.arange(6)
    for one, slope in ends:
        weighted = weights[:, None, None] * slope
        np.add.at(gradient, one, np.einsum("eab,ea->eb", weighted, at.errors))
        for other, beside in ends:
            blocks = np.einsum("eab,eac->ebc", weighted, beside)
            rows.append(np.broadcast_to(6 * one[:, None, None] + inner[:, None], blocks.shape).ravel())
            columns.append(np.broadcast_to(6 * other[:, None, None] + inner, blocks.shape).ravel())
            values.append(blocks.ravel())
    place = np.concatenate(rows) - 6, np.concatenate(columns) - 6
    free = (place[0] >= 0) & (place[1] >= 0)
    size = 6 * (count - 1)
    entries = np.concatenate(values)[free], (place[0][free], place[1][free])
    return sparse.csc_matrix(entries, shape=(size, size)), gradient[1:].ravel()
