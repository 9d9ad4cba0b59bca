"""Local maximisation of the full saving from a given pose."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.losses import CM, TEAR
from tear3d.problem.objective import full_saving, inlier_mask, per_pair, take

FloatArray = NDArray[np.float64]

BAND = 4.0
"""Only pairs within this many noise bounds of the start take part in one ascent."""
GRADES = (3.0, 2.6, 2.2, 1.8, 1.4, 1.0)
STRIDE_SIZE = 32768
"""Larger bands are ascended on an even subsample first and finished on all of it."""


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
            if loss == TEAR:
                saving += w[i] * max(0.0, bound - absolute)
            elif loss == CM:
                saving += w[i]
            else:
                saving += w[i] * (bound * bound - square)
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


def _ascend(x, y, xi, w, rotation, t, loss, graduated, max_iter):
    """Improve the pose on these pairs, never accepting less."""
    pairs = (x, y, xi, w)
    h, g = np.empty((6, 6)), np.empty(6)
    squares = loss != TEAR
    best, best_r, best_t = _normal_equations(*pairs, rotation, t, loss, squares, 1.0, h, g), rotation, t
    if graduated:  # from a wide least-squares band down to ξ: pulls a rough start in
        r, shift = rotation, t
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
        for fraction in (1.0, 0.4, 0.15, 0.05):
            r, shift = _moved(best_r, best_t, fraction * step)
            saving = _normal_equations(*pairs, r, shift, loss, squares, 1.0, h, g)
            if saving > best:  # h and g are already those of the next step
                best, best_r, best_t = saving, r, shift
                break
        if best <= before * (1.0 + 1e-5):
            break
    return best_r, best_t


def refine_pose(
    x, y, xi, w, rotation, t, loss: int = TEAR, *, graduated: bool = True, max_iter: int = 20, outer: int = 3
) -> tuple[FloatArray, FloatArray, float]:
    """Climb from a pose to a local maximum of the full saving over all pairs.

    A graduated truncated least-squares start (3ξ to ξ), then reweighted Gauss-Newton on the loss
    itself; only improvements are kept, so the result never saves less than the start. The work is
    done on the pairs in a band around the start; the rest is read once or twice per outer round.

    Parameters
    ----------
    x, y : N×3 arrays, float64 or float32
    xi, w : a number or one per pair (`w` may be None)
    rotation, t : the start
    loss : a code of `tear3d.problem.losses`
    graduated : start wide; not needed from a pose that is already refined
    max_iter : Gauss-Newton iterations per ascent
    outer : how often the band is collected anew, at most

    Returns
    -------
    rotation, t, saving : the pose and its saving over all pairs
    """
    bounds, weights = per_pair(xi), per_pair(w)
    best_r = np.array(rotation, dtype=np.float64)
    best_t = np.array(t, dtype=np.float64)
    best = full_saving(x, y, best_r, best_t, bounds, weights, loss)
    for number in range(outer):
        band = np.flatnonzero(inlier_mask(x, y, best_r, best_t, bounds, BAND))
        if len(band) < 3:
            break
        new_r, new_t = _ascend_band(
            x, y, bounds, weights, band, best_r, best_t, loss, graduated and number == 0, max_iter
        )
        saving = full_saving(x, y, new_r, new_t, bounds, weights, loss)
        if not saving > best:
            break
        gained = saving - best
        best_r, best_t, best = new_r, new_t, saving
        if gained <= 1e-3 * best:
            break
    return best_r, best_t, best


def _ascend_band(x, y, bounds, weights, band, rotation, t, loss, graduated, max_iter):
    """One ascent on the pairs of `band`, in coordinates centred on them."""
    xb = np.asarray(x[band], dtype=np.float64)
    yb = np.asarray(y[band], dtype=np.float64)
    x_mean, y_mean = xb.mean(axis=0), yb.mean(axis=0)
    xb -= x_mean
    yb -= y_mean
    xib = np.ascontiguousarray(np.broadcast_to(take(bounds, band), len(band)))
    wb = np.ascontiguousarray(np.broadcast_to(take(weights, band), len(band)))
    r = rotation
    shift = t + rotation @ x_mean - y_mean
    stride = -(-len(band) // STRIDE_SIZE)
    if stride > 1:
        thin = [np.ascontiguousarray(values[::stride]) for values in (xb, yb, xib, wb)]
        r, shift = _ascend(thin[0], thin[1], thin[2], thin[3], r, shift, loss, graduated, max_iter)
        graduated, max_iter = False, 4
    r, shift = _ascend(xb, yb, xib, wb, r, shift, loss, graduated, max_iter)
    u, _, vt = np.linalg.svd(r)  # many small turns drift off the group by rounding
    r = u @ vt
    return r, shift + y_mean - r @ x_mean
