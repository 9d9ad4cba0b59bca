"""Local maximisation of the full saving from a given pose."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.problem.losses import TEAR, Loss, point_saving
from tear3d.problem.objective import full_saving, inlier_mask
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

BAND = 4.0
"""Only pairs within this many noise bounds of the start take part in one ascent."""
GRADES = (3.0, 2.6, 2.2, 1.8, 1.4, 1.0)
"""Widths of the graduated start, in noise bounds."""
STRIDE_SIZE = 32768
"""Larger bands are ascended on an even subsample first and finished on all of it, ..."""
STEPS, FINAL_STEPS = 20, 4
"""... by so many Gauss-Newton steps, and then so many."""
ROUNDS = 3
"""How often the band is collected anew, at most."""
FRACTIONS = (1.0, 0.4, 0.15, 0.05)
"""Of a step, tried in turn. All free choices: an ascent is part of no bound."""
LONGER = (6.0, 2.0)
"""Tried before those for absolute values: their weights 1/|e| are about six times the curvature of their sum."""


@njit(cache=True, nogil=True, error_model="numpy")
def _normal_equations(x, y, xi, w, rotation, t, loss, squares, scale, h, g):
    """Gauss-Newton system of the pairs within scale·ξ at a pose, and the saving there.

    A small motion (ω, τ) changes the residual e of a point p = Rx + t to e − ω×p − τ. With `squares`
    all weights are w; without, coordinate c weighs w/|e_c|, which turns squares into the absolute
    values of tear. Only the lower triangle of h is written.
    """
    r00, r01, r02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    r10, r11, r12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    r20, r21, r22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    for k in range(36):
        h[k // 6, k % 6] = 0.0
    for k in range(6):
        g[k] = 0.0
    saving = 0.0
    for i in range(x.shape[0]):
        a, b, c = x[i, 0], x[i, 1], x[i, 2]
        p0 = r00 * a + r01 * b + r02 * c + t[0]
        p1 = r10 * a + r11 * b + r12 * c + t[1]
        p2 = r20 * a + r21 * b + r22 * c + t[2]
        e0, e1, e2 = y[i, 0] - p0, y[i, 1] - p1, y[i, 2] - p2
        bound = xi[i]
        square = e0 * e0 + e1 * e1 + e2 * e2
        absolute = abs(e0) + abs(e1) + abs(e2)
        if square <= bound * bound:
            saving += w[i] * point_saving(loss, bound, absolute, square)
        if squares:
            if square > scale * scale * bound * bound:
                continue
            w0 = w1 = w2 = w[i]
        else:
            if absolute >= scale * bound:
                continue
            least = 1e-3 * bound
            w0 = w[i] / max(abs(e0), least)
            w1 = w[i] / max(abs(e1), least)
            w2 = w[i] / max(abs(e2), least)
        h[0, 0] += w1 * p2 * p2 + w2 * p1 * p1
        h[1, 0] -= w2 * p0 * p1
        h[1, 1] += w0 * p2 * p2 + w2 * p0 * p0
        h[2, 0] -= w1 * p0 * p2
        h[2, 1] -= w0 * p1 * p2
        h[2, 2] += w0 * p1 * p1 + w1 * p0 * p0
        h[3, 1] += w0 * p2
        h[3, 2] -= w0 * p1
        h[3, 3] += w0
        h[4, 0] -= w1 * p2
        h[4, 2] += w1 * p0
        h[4, 4] += w1
        h[5, 0] += w2 * p1
        h[5, 1] -= w2 * p0
        h[5, 5] += w2
        g[0] += w2 * p1 * e2 - w1 * p2 * e1
        g[1] += w0 * p2 * e0 - w2 * p0 * e2
        g[2] += w1 * p0 * e1 - w0 * p1 * e0
        g[3] += w0 * e0
        g[4] += w1 * e1
        g[5] += w2 * e2
    return saving


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(h, g):
    """Solve h·s = g in place by Cholesky; a whisper of damping keeps degenerate systems solvable."""
    trace = 0.0
    for i in range(6):
        trace += h[i, i]
    for i in range(6):
        h[i, i] += 1e-10 * trace + 1e-300
        for j in range(i + 1):
            total = h[i, j]
            for k in range(j):
                total -= h[i, k] * h[j, k]
            if i == j:
                h[i, i] = np.sqrt(max(total, 1e-300))
            else:
                h[i, j] = total / h[j, j]
    for i in range(6):
        for k in range(i):
            g[i] -= h[i, k] * g[k]
        g[i] /= h[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            g[i] -= h[k, i] * g[k]
        g[i] /= h[i, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _moved(rotation, t, step):
    """The pose turned by step[:3] (a rotation vector) about the origin and shifted by step[3:]."""
    wx, wy, wz = step[0], step[1], step[2]
    angle = np.sqrt(wx * wx + wy * wy + wz * wz)
    s = np.sin(angle) / angle if angle > 1e-12 else 1.0
    c = (1.0 - np.cos(angle)) / (angle * angle) if angle > 1e-6 else 0.5
    new_r, new_t = np.empty((3, 3)), np.empty(3)
    for k in range(4):
        if k < 3:
            a, b, d = rotation[0, k], rotation[1, k], rotation[2, k]
        else:
            a, b, d = t[0], t[1], t[2]
        ca, cb, cd = wy * d - wz * b, wz * a - wx * d, wx * b - wy * a
        a += s * ca + c * (wy * cd - wz * cb)
        b += s * cb + c * (wz * ca - wx * cd)
        d += s * cd + c * (wx * cb - wy * ca)
        if k < 3:
            new_r[0, k], new_r[1, k], new_r[2, k] = a, b, d
        else:
            new_t[0], new_t[1], new_t[2] = a + step[3], b + step[4], d + step[5]
    return new_r, new_t


class _Band(NamedTuple):
    """Some pairs, all with their own ξ and w, as the kernels want them."""

    x: FloatArray
    y: FloatArray
    xi: FloatArray
    w: FloatArray

    def thinned(self, stride: int) -> _Band:
        return _Band(*(np.ascontiguousarray(values[::stride]) for values in self))


def _ascend(pairs: _Band, pose: Pose, loss: int, graduated: bool, max_iter: int) -> Pose:
    """Improve the pose on these pairs, never accepting less."""
    h, g = np.empty((6, 6)), np.empty(6)
    squares = loss != TEAR
    fractions = FRACTIONS if squares else LONGER + FRACTIONS
    best_r, best_t = pose.rotation, pose.translation
    best = _normal_equations(*pairs, best_r, best_t, loss, squares, 1.0, h, g)
    if graduated:  # from a wide least-squares band down to ξ: pulls a rough start in
        r, shift = best_r, best_t
        for scale in GRADES:
            _normal_equations(*pairs, r, shift, loss, True, scale, h, g)
            _solve(h, g)
            r, shift = _moved(r, shift, g)
        saving = _normal_equations(*pairs, r, shift, loss, squares, 1.0, h, g)
        if saving > best:
            best, best_r, best_t = saving, r, shift
        else:
            _normal_equations(*pairs, best_r, best_t, loss, squares, 1.0, h, g)
    for _ in range(max_iter):
        _solve(h, g)
        step, before = g.copy(), best
        for fraction in fractions:
            r, shift = _moved(best_r, best_t, fraction * step)
            saving = _normal_equations(*pairs, r, shift, loss, squares, 1.0, h, g)
            if saving > best:  # h and g are already those of the next step
                best, best_r, best_t = saving, r, shift
                break
        if best <= before * (1.0 + 1e-7):
            if fractions is FRACTIONS:
                break
            fractions = FRACTIONS  # a long step may only just improve
    return Pose(best_r, best_t)


def climb(
    pairs: Pairs, pose: Pose, loss: Loss, *, graduated: bool = True, limits: Limits | None = None
) -> tuple[Pose, float]:
    """Climb from a pose to a local maximum of the full saving over all pairs.

    A graduated truncated least-squares start (3ξ to ξ), then reweighted Gauss-Newton on the loss itself; only
    improvements are kept, so the result never saves less than the start. The work is done on the pairs in a band around
    the start; the rest is read once or twice per round.

    Parameters
    ----------
    pairs : Pairs
    pose : Pose
        The start.
    loss : Loss
    graduated : bool
        Start wide; not needed from a pose that is already refined.
    limits : Limits, optional
        The best so far is returned when they are over.

    Returns
    -------
    pose, saving
        The pose and its saving over all pairs.
    """
    best, saving = pose, full_saving(pairs, pose, loss)
    for number in range(ROUNDS):
        band = np.flatnonzero(inlier_mask(pairs, best, BAND))
        if len(band) < 3 or (limits is not None and limits.over()):
            break
        new = _climb_band(pairs.take(band), best, loss, graduated and number == 0)
        reached = full_saving(pairs, new, loss)
        if not reached > saving:
            break
        gained = reached - saving
        best, saving = new, reached
        if gained <= 1e-3 * saving:
            break
    return best, saving


def _climb_band(pairs: Pairs, pose: Pose, loss: Loss, graduated: bool) -> Pose:
    """One ascent on a few pairs, in coordinates centred on them."""
    n = len(pairs)
    x_mean, y_mean = pairs.x.mean(axis=0), pairs.y.mean(axis=0)
    own = (np.ascontiguousarray(np.broadcast_to(values, n)) for values in (pairs.xi, pairs.w))
    band = _Band(pairs.x - x_mean, pairs.y - y_mean, *own)
    local = pose.between(x_mean, y_mean)
    stride = -(-n // STRIDE_SIZE)
    steps = STEPS
    if stride > 1:
        local = _ascend(band.thinned(stride), local, loss.code, graduated, steps)
        graduated, steps = False, FINAL_STEPS
    local = _ascend(band, local, loss.code, graduated, steps).orthonormal()
    return local.between(-x_mean, -y_mean)
