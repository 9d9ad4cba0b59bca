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
    a00, a11 = c[0, 0] + c[1, 1] + c[2, 2], c[0, 0] - c[1, 1] - c[2, 2]
    a22, a33 = c[1, 1] - c[0, 0] - c[2, 2], c[2, 2] - c[0, 0] - c[1, 1]
    a01, a02, a03 = c[2, 1] - c[1, 2], c[0, 2] - c[2, 0], c[1, 0] - c[0, 1]
    a12, a13, a23 = c[0, 1] + c[1, 0], c[0, 2] + c[2, 0], c[1, 2] + c[2, 1]
    # Row by row, as the sums of the columns below.
    size = a00 * a00 + a01 * a01 + a02 * a02 + a03 * a03 + a01 * a01 + a11 * a11 + a12 * a12 + a13 * a13
    size = size + a02 * a02 + a12 * a12 + a22 * a22 + a23 * a23 + a03 * a03 + a13 * a13 + a23 * a23 + a33 * a33
    size = np.sqrt(size)
    if size == 0.0:
        a00 = size = 1.0
    shift = 0.87 * size  # no eigenvalue is below −size·√(3/4)
    a00, a11, a22, a33 = a00 + shift, a11 + shift, a22 + shift, a33 + shift
    for _ in range(16):
        trace = a00 + a11 + a22 + a33
        scale = 1.0 / (trace * trace)
        b00 = (a00 * a00 + a01 * a01 + a02 * a02 + a03 * a03) * scale
        b01 = (a01 * a00 + a11 * a01 + a12 * a02 + a13 * a03) * scale
        b11 = (a01 * a01 + a11 * a11 + a12 * a12 + a13 * a13) * scale
        b02 = (a02 * a00 + a12 * a01 + a22 * a02 + a23 * a03) * scale
        b12 = (a02 * a01 + a12 * a11 + a22 * a12 + a23 * a13) * scale
        b22 = (a02 * a02 + a12 * a12 + a22 * a22 + a23 * a23) * scale
        b03 = (a03 * a00 + a13 * a01 + a23 * a02 + a33 * a03) * scale
        b13 = (a03 * a01 + a13 * a11 + a23 * a12 + a33 * a13) * scale
        b23 = (a03 * a02 + a13 * a12 + a23 * a22 + a33 * a23) * scale
        b33 = (a03 * a03 + a13 * a13 + a23 * a23 + a33 * a33) * scale
        a00, a01, a02, a03, a11, a12, a13, a22, a23, a33 = b00, b01, b02, b03, b11, b12, b13, b22, b23, b33
        if a00 + a11 + a22 + a33 > 1.0 - 1e-14:  # nothing but the projector is left
            break
    largest, q0, q1, q2, q3 = a00, a00, a01, a02, a03
    if a11 > largest:
        largest, q0, q1, q2, q3 = a11, a01, a11, a12, a13
    if a22 > largest:
        largest, q0, q1, q2, q3 = a22, a02, a12, a22, a23
    if a33 > largest:
        q0, q1, q2, q3 = a03, a13, a23, a33
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
