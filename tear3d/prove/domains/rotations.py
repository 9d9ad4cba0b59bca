"""Cells of the rotation group: a cube map of the unit quaternions.

A rotation is R = C(g) F_face with C(g) the rotation of the quaternion (1, g)/√(1 + |g|²), g in the cube [−1, 1]³, and
F_face the identity or half a turn about an axis: four cubes that cover SO(3) once. A cell is a box of g with centre c
and half sides h. With d = g − c, the rotation from the centre has the Gibbs vector (quaternion product)

    v = M d / (1 + ε),   M d = (d − d×c) / (1 + |c|²),   ε = d·c / (1 + |c|²),

and moves a point p by 2/(1 + |v|²)·(v×p + v×(v×p)). The first part is 2 (M d)×p, linear in g, up to a remainder of
second order; the second lies in the ball of radius μ|p| around −μp, μ = V²/(1 + V²), for all |v| ≤ V. So the middle of
what R x can be is nearer to (1 − μ) p than to p.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tear3d.problem.arrays import FloatArray

FACES = 4
# Layout of the frame of a cell: (1 − μ) times the rotation of the centre by rows, columns of 2M/(1 − μ), half sides,
# remainder per unit of |p|, cosine and sine of the largest angle to the centre, 1 − μ.
ROTATION, AXES, HALF, REMAINDER, COSINE, SINE, INWARD, FRAME = 0, 9, 18, 21, 22, 23, 24, 25
_UP = 1.0 + 1e-13


@njit(cache=True, nogil=True)
def cell_frame(face, box, out):
    """Write the frame of the cell box[0:3] ≤ g ≤ box[3:6] of a face into `out`; False when the cell is too large."""
    c0, c1, c2 = 0.5 * (box[0] + box[3]), 0.5 * (box[1] + box[4]), 0.5 * (box[2] + box[5])
    c = (c0, c1, c2)
    square = c0 * c0 + c1 * c1 + c2 * c2
    scale = 1.0 / (1.0 + square)
    diagonal, tilt = 0.0, 0.0
    for j in range(3):
        h = 0.5 * (box[3 + j] - box[j]) * _UP + 1e-16
        out[HALF + j] = h
        diagonal += h * h
        tilt += h * abs(c[j])
    length = np.sqrt(diagonal * scale) * _UP
    tilt *= scale * _UP
    if tilt >= 0.9:
        return False
    v = length / (1.0 - tilt)
    mu = v * v / (1.0 + v * v)
    uneven = max(1.0 / (1.0 - tilt) - 1.0, 1.0 - 1.0 / ((1.0 + v * v) * (1.0 + tilt)))
    out[REMAINDER] = (2.0 * length * uneven + mu) * _UP + 1e-15
    angle = min(np.pi, 2.0 * np.arctan(v) * _UP + 1e-15)
    out[COSINE] = np.cos(angle)
    out[SINE] = np.sin(angle) if angle < 0.5 * np.pi else 1.0
    out[INWARD] = 1.0 - mu
    for k in range(3):
        for m in range(3):
            sign = 1.0 if face == 0 or face - 1 == m else -1.0
            value = 2.0 * c[k] * c[m]
            if k == m:
                value += 1.0 - square
            elif m == (k + 1) % 3:
                value -= 2.0 * c[(k + 2) % 3]
            else:
                value += 2.0 * c[(k + 1) % 3]
            out[ROTATION + 3 * k + m] = sign * scale * value * (1.0 - mu)
    # Columns of 2M: 2 (e_j − e_j×c) / (1 + |c|²).
    scale *= 2.0 / (1.0 - mu)
    for j in range(3):
        out[AXES + 3 * j + j] = scale
        out[AXES + 3 * j + (j + 1) % 3] = scale * c[(j + 2) % 3]
        out[AXES + 3 * j + (j + 2) % 3] = -scale * c[(j + 1) % 3]
    return True


def rotation_at(face: int, g: FloatArray) -> FloatArray:
    """The rotation at chart point g of a face."""
    frame = np.empty(FRAME)
    cell_frame(face, np.concatenate([g, g]).astype(np.float64), frame)
    return frame[:9].reshape(3, 3).copy()


def chart_of(rotation: FloatArray) -> tuple[int, FloatArray]:
    """The face and the chart point of a rotation."""
    r = np.asarray(rotation, np.float64)
    trace = float(np.trace(r))
    face = int(np.argmax([trace, r[0, 0], r[1, 1], r[2, 2]]))
    if face:
        r = r * np.where(np.arange(3) == face - 1, 1.0, -1.0)
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    return face, skew / (1.0 + np.trace(r))
