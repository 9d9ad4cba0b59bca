"""Gauss-Newton steps on the full saving of a few pairs."""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.losses import TEAR, TLS, point_saving

GRADES = (3.0, 2.6, 2.2, 1.8, 1.4, 1.0)
"""Widths of the graduated start, in noise bounds."""
STRIDE_SIZE = 32768
"""Larger bands are ascended on an even subsample first and finished on all of it, piece by piece, ..."""
STEPS, FINAL_STEPS = 20, 4
"""... by so many Gauss-Newton steps, and then so many."""
FRACTIONS = (1.0, 0.4, 0.15, 0.05)
"""Of a step, tried in turn. All free choices: an ascent is part of no bound."""
LONGER = (6.0, 2.0)
"""Tried before those for absolute values: their weights 1/|e| are about six times the curvature of their sum."""
STEP_LENGTHS = LONGER + FRACTIONS
STIFF = 1e6
"""Directions that are not free are so much stiffer than the others together."""


@njit(cache=True, nogil=True, error_model="numpy")
def _add_equations(band, pose, loss, scale, h, g):
    """Add the Gauss-Newton system of the pairs within scale·ξ at a pose; return the saving there.

    A small motion (ω, τ) changes the residual e of a point p = Rx + t to e − ω×p − τ. All weights are w, but for tear
    coordinate c weighs w/|e_c|, which turns squares into absolute values. Only the lower triangle of h is written.
    """
    r00, r01, r02, r10, r11, r12, r20, r21, r22, t0, t1, t2 = pose
    saving = 0.0
    for i in range(band.shape[0]):
        a, b, c = band[i, 0], band[i, 1], band[i, 2]
        p0 = r00 * a + r01 * b + r02 * c + t0
        p1 = r10 * a + r11 * b + r12 * c + t1
        p2 = r20 * a + r21 * b + r22 * c + t2
        e0, e1, e2 = band[i, 3] - p0, band[i, 4] - p1, band[i, 5] - p2
        bound, weight = band[i, 6], band[i, 7]
        square = e0 * e0 + e1 * e1 + e2 * e2
        absolute = abs(e0) + abs(e1) + abs(e2)
        if square <= bound * bound:
            saving += weight * point_saving(loss, bound, absolute, square)
        if loss != TEAR:
            if square > scale * scale * bound * bound:
                continue
            w0 = w1 = w2 = weight
        else:
            if absolute >= scale * bound:
                continue
            least = 1e-3 * bound
            w0 = weight / max(abs(e0), least)
            w1 = weight / max(abs(e1), least)
            w2 = weight / max(abs(e2), least)
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
def _load(pairs, stride, first, band):
    """Copy every stride-th of the chosen pairs, from the first-th on, as far as they go; return how many."""
    x, y, xi, w, rows, mean = pairs
    xi_step = 0 if xi.shape[0] == 1 else 1
    w_step = 0 if w.shape[0] == 1 else 1
    count = min(band.shape[0], (rows.shape[0] - 1) // stride + 1 - first)
    for k in range(count):
        i = rows[(first + k) * stride]
        for c in range(3):
            band[k, c], band[k, 3 + c] = x[i, c] - mean[c], y[i, c] - mean[3 + c]
        band[k, 6], band[k, 7] = xi[i * xi_step], w[i * w_step]
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _normal_equations(pairs, stride, band, pose, loss, scale, h, g):
    """The system of every stride-th pair; `band` holds them all, or is filled with one piece after the other."""
    for k in range(36):
        h[k // 6, k % 6] = 0.0
    for k in range(6):
        g[k] = 0.0
    count = (pairs[4].shape[0] - 1) // stride + 1
    saving = 0.0
    for first in range(0, count, band.shape[0]):
        filled = count if count <= band.shape[0] else _load(pairs, stride, first, band)
        saving += _add_equations(band[:filled], pose, loss, scale, h, g)
    return saving


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(h, g, free):
    """Solve h·s = g in place by Cholesky, for steps that `free` projects onto; a whisper of damping keeps degenerate
    systems solvable."""
    trace = 0.0
    for i in range(6):
        trace += h[i, i]
    for i in range(6):
        for j in range(i + 1):
            h[i, j] += STIFF * trace * ((1.0 if i == j else 0.0) - free[i, j])
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
    old = (g[0], g[1], g[2], g[3], g[4], g[5])
    for i in range(6):
        g[i] = 0.0
        for j in range(6):
            g[i] += free[i, j] * old[j]


@njit(cache=True, nogil=True, error_model="numpy")
def _moved(pose, step, fraction):
    """The pose turned by fraction·step[:3] (a rotation vector) about the origin and shifted by fraction·step[3:]."""
    wx, wy, wz = fraction * step[0], fraction * step[1], fraction * step[2]
    angle = np.sqrt(wx * wx + wy * wy + wz * wz)
    s = np.sin(angle) / angle if angle > 1e-12 else 1.0
    c = (1.0 - np.cos(angle)) / (angle * angle) if angle > 1e-6 else 0.5
    a00, a01, a02 = 1.0 - c * (wy * wy + wz * wz), c * wx * wy - s * wz, c * wx * wz + s * wy
    a10, a11, a12 = c * wx * wy + s * wz, 1.0 - c * (wx * wx + wz * wz), c * wy * wz - s * wx
    a20, a21, a22 = c * wx * wz - s * wy, c * wy * wz + s * wx, 1.0 - c * (wx * wx + wy * wy)
    r00, r01, r02, r10, r11, r12, r20, r21, r22, t0, t1, t2 = pose
    return (
        a00 * r00 + a01 * r10 + a02 * r20,
        a00 * r01 + a01 * r11 + a02 * r21,
        a00 * r02 + a01 * r12 + a02 * r22,
        a10 * r00 + a11 * r10 + a12 * r20,
        a10 * r01 + a11 * r11 + a12 * r21,
        a10 * r02 + a11 * r12 + a12 * r22,
        a20 * r00 + a21 * r10 + a22 * r20,
        a20 * r01 + a21 * r11 + a22 * r21,
        a20 * r02 + a21 * r12 + a22 * r22,
        a00 * t0 + a01 * t1 + a02 * t2 + fraction * step[3],
        a10 * t0 + a11 * t1 + a12 * t2 + fraction * step[4],
        a20 * t0 + a21 * t1 + a22 * t2 + fraction * step[5],
    )


@njit(cache=True, nogil=True, error_model="numpy")
def _ascend(pairs, stride, band, pose, loss, graduated, max_iter, free):
    """Improve the pose on these pairs, never accepting less."""
    h, g, step = np.empty((6, 6)), np.empty(6), np.empty(6)
    count = _load(pairs, stride, np.int64(0), band)
    grades = len(GRADES) if graduated else 0  # from a wide least-squares band down to ξ: pulls a rough start in
    first = 0 if loss == TEAR else len(LONGER)  # of the lengths to try
    best, best_pose, before = -1.0, pose, 0.0
    number, taken, length = 0, 0, 0
    while count > 0:  # one place that evaluates a pose: every other would have to be compiled as well
        wide = 0 < number <= grades
        scale = GRADES[number - 1] if wide else 1.0
        saving = _normal_equations(pairs, stride, band, pose, TLS if wide else loss, scale, h, g)
        if wide:
            _solve(h, g, free)
            pose = _moved(pose, g, 1.0)
            number += 1
            continue
        better = saving > best
        if better:
            best, best_pose = saving, pose
        if number == 0 and grades > 0:
            number = 1
            continue
        if number == grades + 1 and not better and taken == 0 and length == 0:
            pose, length = best_pose, -1  # what was gained by the grades is nothing: back to the start
            continue
        if taken > 0:
            if not better and length + 1 < len(STEP_LENGTHS):
                length += 1
                pose = _moved(best_pose, step, STEP_LENGTHS[length])
                continue
            if best <= before * (1.0 + 1e-7):
                if first == len(LONGER):
                    break
                first = len(LONGER)  # a long step may only just improve
        if taken == max_iter:
            break
        taken += 1
        _solve(h, g, free)  # where h and g were found last: at the best pose, or where the shortest step led
        for k in range(6):
            step[k] = g[k]
        before, length = best, first
        pose = _moved(best_pose, step, STEP_LENGTHS[length])
    return best_pose


@njit(cache=True, nogil=True, error_model="numpy")
def climb_band(x, y, xi, w, rows, rotation, t, loss, graduated, free):
    """One ascent on some of the pairs, in coordinates centred on them, by turns and shifts that the 6×6 projection
    `free` leaves; twelve numbers."""
    n = rows.shape[0]
    mean = np.empty(6)
    for c in range(6):  # zeros of NumPy would take long to compile
        mean[c] = 0.0
    for k in range(n):
        for c in range(3):
            mean[c] += x[rows[k], c]
            mean[3 + c] += y[rows[k], c]
    for c in range(6):
        mean[c] /= n
    out = np.empty(12)
    for c in range(9):
        out[c] = rotation[c // 3, c % 3]
    for c in range(3):
        out[9 + c] = t[c] - mean[3 + c] + _turned(out, mean, c)
    pose = (out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7], out[8], out[9], out[10], out[11])
    pairs = (x, y, xi, w, rows, mean)
    band = np.empty((min(n, STRIDE_SIZE), 8))
    stride = -(-n // STRIDE_SIZE)
    steps = STEPS
    while True:
        pose = _ascend(pairs, stride, band, pose, loss, graduated, steps, free)
        if stride == 1:
            break
        stride, graduated, steps = 1, False, FINAL_STEPS
    for c in range(12):
        out[c] = pose[c]
    _orthonormalise(out)
    for c in range(3):
        out[9 + c] += mean[3 + c] - _turned(out, mean, c)
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _turned(pose, point, row):
    return pose[3 * row] * point[0] + pose[3 * row + 1] * point[1] + pose[3 * row + 2] * point[2]


@njit(cache=True, nogil=True, error_model="numpy")
def _orthonormalise(pose):
    """Many small turns drift off the rotations by rounding: Newton's steps R·(3 − RᵀR)/2 lead to the nearest."""
    old = np.empty(9)
    for _ in range(3):
        for k in range(9):
            old[k] = pose[k]
        for k in range(9):
            i, j = 3 * (k // 3), k % 3
            total = 1.5 * old[k]
            for m in range(3):
                dot = old[m] * old[j] + old[3 + m] * old[3 + j] + old[6 + m] * old[6 + j]
                total -= 0.5 * old[i + m] * dot
            pose[k] = total
