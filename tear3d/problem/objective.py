"""The full objective Σ w·min(loss, cap) of a pose over all pairs, as the saving below the all-outlier value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import LOSSES, Loss, point_saving
from tear3d.problem.pairs import COPY_LIMIT, Pairs
from tear3d.problem.pose import Pose


@njit(cache=True, nogil=True, error_model="numpy")
def _mark_near(columns, rotation, t, widest, flags):
    """flags[i] = 1 where a pair is within √widest·ξ, and nothing else: that can be vectorised."""
    x0, x1, x2, y0, y1, y2, xi = columns
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    t0, t1, t2 = t[0], t[1], t[2]
    for i in range(xi.shape[0]):
        a, b, c = x0[i], x1[i], x2[i]
        e0 = y0[i] - (r00 * a + r01 * b + r02 * c + t0)
        e1 = y1[i] - (r10 * a + r11 * b + r12 * c + t1)
        e2 = y2[i] - (r20 * a + r21 * b + r22 * c + t2)
        flags[i] = e0 * e0 + e1 * e1 + e2 * e2 <= widest * (xi[i] * xi[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _find_near(columns, rotation, t, widest):
    """The pairs within √widest·ξ, in order."""
    n, c = columns.shape[1], columns
    flags = np.empty(-(-n // 8) * 8, np.uint8)
    _mark_near((c[0], c[1], c[2], c[3], c[4], c[5], c[6]), rotation, t, widest, flags)
    flags[n:] = 0
    octets, near, count = flags.view(np.uint64), np.empty(n, np.int64), 0
    for k in range(octets.shape[0]):
        if octets[k] != 0:
            for i in range(8 * k, 8 * k + 8):
                if flags[i] != 0:
                    near[count] = i
                    count += 1
    return near[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def _survey(x, y, columns, rotation, t, xi, w, loss, factor, rows):
    """The saving of a pose, how many pairs agree with it, and which are within factor·ξ (none when it is negative)."""
    xi_step = 0 if xi.shape[0] == 1 else 1
    w_step = 0 if w.shape[0] == 1 else 1
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    t0, t1, t2 = t[0], t[1], t[2]
    reach = factor * abs(factor)
    widest = max(1.0, reach)
    known = columns.shape[1] > 0
    near = _find_near(columns, rotation, t, widest)
    total = 0.0
    count, found = 0, 0
    for k in range(near.shape[0] if known else x.shape[0]):
        i = near[k] if known else k
        a, b, c = x[i, 0], x[i, 1], x[i, 2]
        e0 = y[i, 0] - (r00 * a + r01 * b + r02 * c + t0)
        e1 = y[i, 1] - (r10 * a + r11 * b + r12 * c + t1)
        e2 = y[i, 2] - (r20 * a + r21 * b + r22 * c + t2)
        bound = xi[i * xi_step]
        square, limit = e0 * e0 + e1 * e1 + e2 * e2, bound * bound
        if square <= widest * limit:
            if square <= limit:
                count += 1
                total += w[i * w_step] * point_saving(loss, bound, abs(e0) + abs(e1) + abs(e2), square)
            if square <= reach * limit:
                rows[found] = i
                found += 1
    return total, count, found


class Scored(NamedTuple):
    """A pose and what it saves over some pairs."""

    pose: Pose
    saving: float


class Surveyed(NamedTuple):
    """A pose, what it saves over some pairs, how many agree with it, and which are near."""

    pose: Pose
    saving: float
    num_inliers: int
    rows: NDArray[np.int64]


_NONE, _NO_COLUMNS = np.empty(0, np.int64), np.empty((7, 0))


def survey(pairs: Pairs, pose: Pose, loss: Loss, factor: float = -1.0) -> Surveyed:
    """All that one pass over the pairs tells of a pose; `rows` are those within `factor`·ξ of it."""
    rows = np.empty(len(pairs), np.int64) if factor >= 0.0 else _NONE
    columns = pairs.columns if len(pairs) <= COPY_LIMIT else _NO_COLUMNS
    saving, count, found = _survey(
        pairs.x, pairs.y, columns, pose.rotation, pose.translation, pairs.xi, pairs.w, loss.code, factor, rows
    )
    if found < len(rows):
        rows.resize(found, refcheck=False)  # a view would keep room for all pairs
    return Surveyed(pose, saving, count, rows)


def saving_and_count(pairs: Pairs, pose: Pose, loss: Loss) -> tuple[float, int]:
    """The saving of a pose and the number of pairs within ξ (Euclidean), in one pass."""
    return survey(pairs, pose, loss)[1:3]


def full_saving(pairs: Pairs, pose: Pose, loss: Loss) -> float:
    """Σ w·max(0, cap − loss): what the pose saves compared with calling every pair an outlier."""
    return survey(pairs, pose, loss).saving


def residuals(pairs: Pairs, pose: Pose) -> FloatArray:
    """‖y − Rx − t‖₂ of every pair."""
    apart = pairs.y - pose.apply(pairs.x)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", apart, apart)))


def near_rows(pairs: Pairs, pose: Pose, factor: float = 1.0) -> NDArray[np.int64]:
    """Pairs whose Euclidean residual is at most `factor`·ξ, in order."""
    return survey(pairs, pose, LOSSES["cm"], factor).rows


def inlier_mask(pairs: Pairs, pose: Pose, factor: float = 1.0) -> NDArray[np.bool_]:
    """The same as a mask."""
    out = np.zeros(len(pairs), dtype=np.bool_)
    out[near_rows(pairs, pose, factor)] = True
    return out
