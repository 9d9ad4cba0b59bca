"""To and from Open3D, which is imported when first needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tear3d.errors import InputError, MissingExtraError
from tear3d.problem.arrays import FloatArray, Points, as_correspondences, as_points
from tear3d.result import Result


def to_open3d(obj: Result | Points, pairs: ArrayLike | None = None) -> Any:
    """The Open3D counterpart of a result or of points.

    Parameters
    ----------
    obj : Result, CloudResult or (N, 3) array
        A result becomes a `RegistrationResult`, points become a `PointCloud`. That of clouds has their pose, and the
        fitness, rmse and rows of its matches.
    pairs : (M, 2) array, optional
        The matched rows the result was found from; by default pair i joins row i to row i, and matches are those of
        the clouds as they were thinned.
    """
    try:
        import open3d
    except ImportError as error:
        raise MissingExtraError("open3d", "open3d", "conversion to Open3D") from error
    inner = getattr(obj, "result", None)
    if isinstance(inner, Result):
        of_clouds: Any = obj
        converted = to_open3d(inner, of_clouds.pairs if pairs is None else pairs)
        converted.transformation = of_clouds.transformation
        return converted
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


def fpfh_open3d(points: FloatArray, normals: FloatArray, radius: float, max_nn: int) -> NDArray[np.float32]:
    """FPFH descriptors by Open3D, one row per point; see `tear3d.features.fpfh` for the built-in ones.

    Parameters
    ----------
    points, normals : (N, 3) arrays
    radius, max_nn
        A neighbourhood is the nearest points within `radius`, `max_nn` at most.
    """
    try:
        import open3d
    except ImportError as error:
        raise MissingExtraError("open3d", "open3d", "FPFH by Open3D") from error
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    cloud.normals = open3d.utility.Vector3dVector(normals)
    neighbours = open3d.geometry.KDTreeSearchParamHybrid(radius=radius, max_nn=max_nn)
    feature = open3d.pipelines.registration.compute_fpfh_feature(cloud, neighbours)
    return np.ascontiguousarray(np.asarray(feature.data).T, dtype=np.float32)
