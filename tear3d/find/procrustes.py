"""The rigid motion that maps points onto points in the least-squares sense."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from tear3d.problem.pose import Pose


def procrustes(source: ArrayLike, target: ArrayLike, weights: ArrayLike | None = None) -> Pose:
    """The pose that minimises Σ w·‖target − R·source − t‖².

    Parameters
    ----------
    source, target : N×3 arrays
        Row i of one belongs to row i of the other.
    weights : N numbers ≥ 0, optional
        Ones if omitted.

    Returns
    -------
    Pose
        Its rotation has determinant +1, also for mirrored, flat, collinear or coincident points. The identity where
        nothing is determined: no weight at all, or numbers that are not finite.

    Notes
    -----
    Collinear or coincident points leave part of the rotation free; any optimal rotation is returned.
    """
    x = np.asarray(source, dtype=np.float64)
    y = np.asarray(target, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    largest = float(w.max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return Pose.identity()
    w = w / largest
    total = w.sum()
    x_mean = w @ x / total
    y_mean = w @ y / total
    covariance = (y - y_mean).T @ ((x - x_mean) * w[:, None])
    if not np.isfinite(covariance).all():  # LAPACK may never return from such numbers
        return Pose.identity()
    u, _, vt = np.linalg.svd(covariance)
    rotation = (u * [1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return Pose(rotation, y_mean - rotation @ x_mean)


@njit(cache=True, nogil=True, error_model="numpy")
def rotation_from_covariance(c, pose):
    """Write the rotation R that maximises trace(R cᵀ), c = Σ y xᵀ, into pose[:9], row by row.

    Horn's method: the eigenvector of the largest eigenvalue of a symmetric 4×4 matrix is the
    quaternion of R, never a mirror. Shifted to be positive and squared again and again, the matrix
    becomes the projector onto it; its longest column is the quaternion. Where the rotation is not
    unique (collinear points) the result is still a rotation.
    """
    m = np.empty((4, 4))
    m[0, 0] = c[0, 0] + c[1, 1] + c[2, 2]
    m[1, 1] = c[0, 0] - c[1, 1] - c[2, 2]
    m[2, 2] = c[1, 1] - c[0, 0] - c[2, 2]
    m[3, 3] = c[2, 2] - c[0, 0] - c[1, 1]
    m[0, 1] = m[1, 0] = c[2, 1] - c[1, 2]
    m[0, 2] = m[2, 0] = c[0, 2] - c[2, 0]
    m[0, 3] = m[3, 0] = c[1, 0] - c[0, 1]
    m[1, 2] = m[2, 1] = c[0, 1] + c[1, 0]
    m[1, 3] = m[3, 1] = c[0, 2] + c[2, 0]
    m[2, 3] = m[3, 2] = c[1, 2] + c[2, 1]
    size = 0.0
    for k in range(m.size):
        size += m[k >> 2, k & 3] ** 2
    size = np.sqrt(size)
    if size == 0.0:
        m[0, 0] = size = 1.0
    for k in range(4):  # no eigenvalue is below −size·√(3/4)
        m[k, k] += 0.87 * size
    square = np.empty((4, 4))
    four = c.shape[0] + 1  # no constant: loops that the compiler unrolls take it long
    for _ in range(16):
        trace = m[0, 0] + m[1, 1] + m[2, 2] + m[3, 3]
        scale = 1.0 / (trace * trace)
        for i in range(four):
            for j in range(i + 1):
                total = m[i, 0] * m[0, j] + m[i, 1] * m[1, j] + m[i, 2] * m[2, j] + m[i, 3] * m[3, j]
                square[i, j] = square[j, i] = total * scale
        m, square = square, m
        if m[0, 0] + m[1, 1] + m[2, 2] + m[3, 3] > 1.0 - 1e-14:  # nothing but the projector is left
            break
    best = 0
    for k in range(1, 4):
        if m[k, k] > m[best, best]:
            best = k
    q0, q1, q2, q3 = m[0, best], m[1, best], m[2, best], m[3, best]
    s = 2.0 / (q0 * q0 + q1 * q1 + q2 * q2 + q3 * q3)
    pose[0] = 1.0 - s * (q2 * q2 + q3 * q3)
    pose[4] = 1.0 - s * (q1 * q1 + q3 * q3)
    pose[8] = 1.0 - s * (q1 * q1 + q2 * q2)
    pose[1] = s * (q1 * q2 - q0 * q3)
    pose[3] = s * (q1 * q2 + q0 * q3)
    pose[2] = s * (q1 * q3 + q0 * q2)
    pose[6] = s * (q1 * q3 - q0 * q2)
    pose[5] = s * (q2 * q3 - q0 * q1)
    pose[7] = s * (q2 * q3 + q0 * q1)
