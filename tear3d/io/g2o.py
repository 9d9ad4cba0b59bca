"""Edges of pose graphs in g2o's text format."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from tear3d.errors import InputError

_UPPER = np.triu_indices(6)
# The error of an edge has the vector part of a unit quaternion for its rotation: half the rotation vector.
_TO_ERROR = np.diag([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])

_SINGULAR = (
    "the covariance is not positive definite: it has no information matrix (what a prior forbids has no variance: "
    "add to the covariance what the prior may be off by, and call tear3d.io.g2o.g2o_edge)"
)


def g2o_edge(transformation: ArrayLike, covariance: ArrayLike, i: int = 0, j: int = 1) -> str:
    """One line `EDGE_SE3:QUAT i j x y z qx qy qz qw` and the upper triangle of the information, 21 numbers.

    The measurement of such an edge is the pose of vertex j in the frame of vertex i. A registration maps the source
    into the frame of the target: the target is i, the source j.

    Parameters
    ----------
    transformation : (4, 4) array
        Target ← source.
    covariance : (6, 6) array
        Rotation first, in the frame of the source, as `Result.covariance`. The line has the translation first, and
        the vector part of a quaternion, which is half the rotation vector, where this has the rotation vector:
        the rotation's block of the information is 4 times, the mixed blocks 2 times the inverse of the covariance.
    i, j : int
        Numbers of the vertices.

    Returns
    -------
    str
        The line, without its end.

    Raises
    ------
    InputError
        When the covariance is not known or not positive definite: it has no information matrix. When the pose has a
        scale.
    """
    pose = np.asarray(transformation, np.float64)
    if pose.shape != (4, 4) or not np.isfinite(pose).all():
        raise InputError("transformation: expected 4×4 finite numbers")
    if np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() > 1e-6:
        raise InputError("transformation has a scale or shear, which an edge of a pose graph cannot hold")
    measured = [*pose[:3, 3], *Rotation.from_matrix(pose[:3, :3]).as_quat(canonical=True)]
    upper = _information(np.asarray(covariance, np.float64))[_UPPER]
    return " ".join(["EDGE_SE3:QUAT", f"{i:d}", f"{j:d}", *(f"{value:.17g}" for value in (*measured, *upper))])


def _information(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    if covariance.shape != (6, 6):
        raise InputError(f"covariance has shape {covariance.shape}: expected 6×6")
    if not np.isfinite(covariance).all():
        raise InputError("the covariance of this pose is not known: an edge needs one")
    order = [3, 4, 5, 0, 1, 2]
    scaled = _TO_ERROR @ covariance[np.ix_(order, order)] @ _TO_ERROR
    # Radians and lengths may be of very different sizes: the inverse is taken of the correlations.
    deviations = np.sqrt(np.maximum(np.diag(scaled), 0.0))
    if not deviations.all():
        raise InputError(_SINGULAR)
    outer = np.outer(deviations, deviations)
    try:
        factor = np.linalg.inv(np.linalg.cholesky(scaled / outer))
    except np.linalg.LinAlgError:
        raise InputError(_SINGULAR) from None
    return np.asarray(factor.T @ factor / outer)
