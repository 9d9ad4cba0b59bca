"""The full objective Σ w·min(loss, cap) of a pose over all pairs, as the saving below the all-outlier value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import Loss, point_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose


@njit(cache=True, nogil=True)
def _saving(x, y, rotation, t, xi, w, loss):
    xi_step = 0 if xi.shape[0] == 1 else 1
    w_step = 0 if w.shape[0] == 1 else 1
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    total = 0.0
    count = 0
    for i in range(x.shape[0]):
        a, b, c = x[i, 0], x[i, 1], x[i, 2]
        e0 = y[i, 0] - (r00 * a + r01 * b + r02 * c + t[0])
        e1 = y[i, 1] - (r10 * a + r11 * b + r12 * c + t[1])
        e2 = y[i, 2] - (r20 * a + r21 * b + r22 * c + t[2])
        bound = xi[i * xi_step]
        square = e0 * e0 + e1 * e1 + e2 * e2
        if square <= bound * bound:
            count += 1
            total += w[i * w_step] * point_saving(loss, bound, abs(e0) + abs(e1) + abs(e2), square)
    return total, count


@njit(cache=True, nogil=True)
def _within(x, y, rotation, t, xi, factor, out):
    xi_step = 0 if xi.shape[0] == 1 else 1
    for i in range(x.shape[0]):
        square = 0.0
        for k in range(3):
            e = y[i, k] - (rotation[k, 0] * x[i, 0] + rotation[k, 1] * x[i, 1] + rotation[k, 2] * x[i, 2] + t[k])
            square += e * e
        bound = factor * xi[i * xi_step]
        out[i] = square <= bound * bound


class Scored(NamedTuple):
    """A pose and what it saves over some pairs."""

    pose: Pose
    saving: float


def saving_and_count(pairs: Pairs, pose: Pose, loss: Loss) -> tuple[float, int]:
    """The saving of a pose and the number of pairs within ξ (Euclidean), in one pass."""
    saving, count = _saving(pairs.x, pairs.y, pose.rotation, pose.translation, pairs.xi, pairs.w, loss.code)
    return float(saving), int(count)


def full_saving(pairs: Pairs, pose: Pose, loss: Loss) -> float:
    """Σ w·max(0, cap − loss): what the pose saves compared with calling every pair an outlier."""
    return saving_and_count(pairs, pose, loss)[0]


def residuals(pairs: Pairs, pose: Pose) -> FloatArray:
    """‖y − Rx − t‖₂ of every pair."""
    return np.asarray(np.linalg.norm(pairs.y - pose.apply(pairs.x), axis=1))


def inlier_mask(pairs: Pairs, pose: Pose, factor: float = 1.0) -> NDArray[np.bool_]:
    """Pairs whose Euclidean residual is at most `factor`·ξ."""
    out = np.empty(len(pairs), dtype=np.bool_)
    _within(pairs.x, pairs.y, pose.rotation, pose.translation, pairs.xi, factor, out)
    return out
