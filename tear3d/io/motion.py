"""A cloud and its attributes in another place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tear3d.errors import InputError
from tear3d.io.cloud import Cloud
from tear3d.problem.arrays import FloatArray

ROUNDING = 1e-5
"""How far a rotation may be from orthonormal: poses are also written with six digits."""


def moved(cloud: Cloud, pose: ArrayLike) -> Cloud:
    matrix, rotation, scale = _parts(pose)
    attributes = dict(cloud.attributes)
    normals = attributes.get("normals")
    if normals is not None:
        attributes["normals"] = (normals @ rotation.T).astype(normals.dtype)
    viewpoint = None if cloud.viewpoint is None else _moved_viewpoint(cloud.viewpoint, matrix, rotation)
    points = cloud.points @ matrix[:3, :3].T + matrix[:3, 3]
    return replace(cloud, points=points, attributes=attributes, viewpoint=viewpoint, las=_scaled(cloud.las, scale))


def _scaled(header: Any, scale: float) -> Any:
    """The steps of a LAS file become as much finer or coarser as its coordinates: no digit is lost."""
    if header is None or abs(scale - 1.0) <= ROUNDING:
        return header
    header = header.copy()
    header.scales, header.offsets = np.array(header.scales) * scale, np.array(header.offsets) * scale
    return header


def _parts(pose: ArrayLike) -> tuple[FloatArray, FloatArray, float]:
    """The pose, its rotation without the scale, and that."""
    try:
        matrix = np.asarray(pose, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"pose cannot be turned into numbers ({error}): pass a 4×4 array") from error
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all() or not np.array_equal(matrix[3], [0, 0, 0, 1]):
        raise InputError("pose: expected 4×4 finite numbers with the last row 0 0 0 1")
    scale = float(np.cbrt(np.linalg.det(matrix[:3, :3])))
    if not scale > 0.0:
        raise InputError("pose has a 3×3 part that is no rotation (determinant not positive)")
    rotation = matrix[:3, :3] / scale
    if np.abs(rotation @ rotation.T - np.eye(3)).max() > ROUNDING:
        raise InputError("pose has a 3×3 part that is no rotation times a scale")
    return matrix, rotation, scale


def _moved_viewpoint(viewpoint: FloatArray, matrix: FloatArray, rotation: FloatArray) -> FloatArray:
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_matrix(rotation) * Rotation.from_quat(viewpoint[[4, 5, 6, 3]])
    place = matrix[:3, :3] @ viewpoint[:3] + matrix[:3, 3]
    return np.concatenate([place, turned.as_quat()[[3, 0, 1, 2]]])
