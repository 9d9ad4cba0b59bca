"""Arrays from whatever holds points, Open3D's objects included, without importing Open3D."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError, MissingExtraError
from tear3d.result import Result


def as_points(obj: object, name: str) -> NDArray[np.float64]:
    """An (N, 3) float64 array of finite points.

    Parameters
    ----------
    obj : array-like or point cloud
        Anything NumPy understands, an Open3D point cloud (legacy or tensor), or any object with `points`.
    name : str
        What to call it in an error message.
    """
    raw: Any = obj
    if not isinstance(raw, np.ndarray):
        if hasattr(raw, "point") and "positions" in raw.point:
            raw = raw.point["positions"].cpu().numpy()
        elif hasattr(raw, "points"):
            raw = raw.points
    try:
        array = np.asarray(raw)
    except ValueError as error:
        raise InputError(f"{name} cannot be made an array ({error}): pass points as rows (N×3)") from error
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions: pass points as rows (N×3)")
    if array.shape[1] != 3:
        rows, columns = array.shape
        raise InputError(f"{name} has {rows} rows and {columns} columns: pass points as rows (N×3)")
    if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
        raise InputError(f"{name} has dtype {array.dtype}: expected real numbers")
    points = np.ascontiguousarray(array, dtype=np.float64)
    finite = np.isfinite(points).all(axis=1)
    if not finite.all():
        bad = len(points) - int(np.count_nonzero(finite))
        raise InputError(
            f"{name} has {bad} of {len(points)} points with NaN or infinite coordinates "
            f"(first at row {int(np.argmin(finite))}): remove them"
        )
    return points


def as_correspondences(obj: object, name: str = "correspondences") -> NDArray[np.int64]:
    """An (M, 2) int64 array of (source row, target row).

    Accepts array-likes, Open3D's `Vector2iVector` and any result with a `correspondence_set`.
    """
    array = np.asarray(getattr(obj, "correspondence_set", obj))
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{name} has shape {array.shape}: pass pairs of row numbers as rows (M×2)")
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} has dtype {array.dtype}: expected integer row numbers")
    pairs = array.astype(np.int64)
    if pairs.min() < 0:
        raise InputError(f"{name} has the row number {pairs.min()}: expected none below 0")
    return pairs


def to_open3d(obj: Any, pairs: object = None) -> Any:
    """The Open3D counterpart of a result or of points.

    Parameters
    ----------
    obj : Result or (N, 3) array
        A result becomes a `RegistrationResult`, points become a `PointCloud`.
    pairs : (M, 2) array, optional
        The matched rows the result was found from; by default pair i joins row i to row i.
    """
    try:
        import open3d
    except ImportError as error:
        raise MissingExtraError("open3d", "open3d", "conversion to Open3D") from error
    if not isinstance(obj, Result):
        return open3d.geometry.PointCloud(open3d.utility.Vector3dVector(as_points(obj, "points")))
    count = len(obj.inlier_mask)
    rows = as_correspondences(np.c_[:count, :count] if pairs is None else pairs, "pairs")
    if len(rows) != count:
        raise InputError(f"pairs has {len(rows)} rows: expected one per pair of the result, {count}")
    converted = open3d.pipelines.registration.RegistrationResult()
    converted.transformation = obj.transformation
    converted.fitness = obj.fitness
    converted.inlier_rmse = obj.inlier_rmse
    converted.correspondence_set = open3d.utility.Vector2iVector(rows[obj.inlier_mask].astype(np.int32))
    return converted


def fpfh_open3d(points: NDArray[Any], normals: NDArray[Any], radius: float, max_nn: int) -> NDArray[np.float32]:
    """FPFH descriptors by Open3D, one row per point; see `tear3d.features.fpfh` for the built-in ones."""
    try:
        import open3d
    except ImportError as error:
        raise MissingExtraError("open3d", "open3d", "FPFH by Open3D") from error
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    cloud.normals = open3d.utility.Vector3dVector(normals)
    neighbours = open3d.geometry.KDTreeSearchParamHybrid(radius=radius, max_nn=max_nn)
    feature = open3d.pipelines.registration.compute_fpfh_feature(cloud, neighbours)
    return np.ascontiguousarray(np.asarray(feature.data).T, dtype=np.float32)
