"""The full objective Σ w·min(loss, cap) over all pairs, as the saving below the all-outlier value.

======  ====================  ======
loss    of a residual r       cap
======  ====================  ======
tear    ‖r‖₁                  ξ
tls     ‖r‖₂²                 ξ²
cm      0 if ‖r‖₂ ≤ ξ else 1  1
======  ====================  ======
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.losses import CM, TEAR

FloatArray = NDArray[np.float64]


def per_pair(values: float | NDArray | None) -> FloatArray:
    """One value per pair, or an array of length one that the kernels read as shared by all."""
    return np.ascontiguousarray(np.atleast_1d(1.0 if values is None else values), dtype=np.float64)


def take(values: FloatArray, index: NDArray | slice) -> FloatArray:
    """`values[index]` for what `per_pair` returned."""
    return values if len(values) == 1 else values[index]


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
        a, b, c = np.float64(x[i, 0]), np.float64(x[i, 1]), np.float64(x[i, 2])
        e0 = y[i, 0] - (r00 * a + r01 * b + r02 * c + t[0])
        e1 = y[i, 1] - (r10 * a + r11 * b + r12 * c + t[1])
        e2 = y[i, 2] - (r20 * a + r21 * b + r22 * c + t[2])
        bound = xi[i * xi_step]
        square = e0 * e0 + e1 * e1 + e2 * e2
        if square <= bound * bound:  # ‖r‖₁ ≥ ‖r‖₂, so beyond this nothing is saved by any loss
            count += 1
            if loss == TEAR:
                gain = max(0.0, bound - abs(e0) - abs(e1) - abs(e2))
            elif loss == CM:
                gain = 1.0
            else:
                gain = bound * bound - square
            total += w[i * w_step] * gain
    return total, count


@njit(cache=True, nogil=True)
def squared_residuals(x, y, rotation, t, out):
    """Write ‖y − Rx − t‖₂² of every pair into `out`."""
    for i in range(x.shape[0]):
        square = 0.0
        for k in range(3):
            e = y[i, k] - (rotation[k, 0] * x[i, 0] + rotation[k, 1] * x[i, 1] + rotation[k, 2] * x[i, 2] + t[k])
            square += e * e
        out[i] = square


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


def as_pose(rotation: NDArray, t: NDArray) -> tuple[FloatArray, FloatArray]:
    """Contiguous float64 arrays, as the kernels want them."""
    return np.ascontiguousarray(rotation, dtype=np.float64), np.ascontiguousarray(t, dtype=np.float64)


def saving_and_count(x, y, rotation, t, xi, w=None, loss: int = TEAR) -> tuple[float, int]:
    """The saving of a pose and the number of pairs within ξ (Euclidean), in one pass.

    Parameters
    ----------
    x, y : N×3 arrays, float64 or float32, read in place
    rotation, t : the pose, target ≈ x @ rotation.T + t
    xi, w : a number or one per pair
    loss : a code of `tear3d.problem.losses`
    """
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    saving, count = _saving(x, y, *as_pose(rotation, t), per_pair(xi), per_pair(w), int(loss))
    return float(saving), int(count)


def full_saving(x, y, rotation, t, xi, w=None, loss: int = TEAR) -> float:
    """Σ w·max(0, cap − loss): what the pose saves compared with calling every pair an outlier."""
    return saving_and_count(x, y, rotation, t, xi, w, loss)[0]


def full_objective(x, y, rotation, t, xi, w=None, loss: int = TEAR) -> float:
    """Σ w·min(loss, cap), the objective itself."""
    bound, weight = per_pair(xi), per_pair(w)
    caps = bound if loss == TEAR else np.ones_like(bound) if loss == CM else bound**2
    product = caps * weight
    ceiling = float(product[0]) * len(x) if len(product) == 1 else float(product.sum())
    return ceiling - full_saving(x, y, rotation, t, bound, weight, loss)


def residuals(x, y, rotation, t) -> FloatArray:
    """‖y − Rx − t‖₂ of every pair."""
    out = np.empty(len(x))
    squared_residuals(np.ascontiguousarray(x), np.ascontiguousarray(y), *as_pose(rotation, t), out)
    return np.sqrt(out, out=out)


def inlier_mask(x, y, rotation, t, xi, factor: float = 1.0) -> NDArray[np.bool_]:
    """Pairs whose Euclidean residual is at most `factor`·ξ."""
    out = np.empty(len(x), dtype=np.bool_)
    _within(np.ascontiguousarray(x), np.ascontiguousarray(y), *as_pose(rotation, t), per_pair(xi), factor, out)
    return out
