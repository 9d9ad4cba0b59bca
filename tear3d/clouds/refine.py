"""Refine a pose on the clouds themselves by ICP, point-to-plane ICP or GICP (small_gicp)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tear3d.errors import InputError, MissingExtraError
from tear3d.features.neighbours import thread_count
from tear3d.features.voxel import check_voxel_size, choose_voxel_size, voxel_downsample
from tear3d.problem.arrays import as_points

FloatArray = NDArray[np.float64]
Method = Literal["gicp", "icp", "plane"]

_TYPES = {"gicp": "GICP", "icp": "ICP", "plane": "PLANE_ICP"}
_ITERATIONS = 100
_NEIGHBOURS = 20
# Convergence per step: radians, and lengths in voxels.
_ROTATION_EPSILON = 2e-5
_TRANSLATION_EPSILON = 1e-3


@dataclass(frozen=True)
class RefineResult:
    """A refined pose and how well the clouds agree under it."""

    transformation: FloatArray
    """4×4, target ← source."""
    fitness: float
    """Fraction of the downsampled source points with a target point within `max_distance`."""
    rmse: float
    """Root mean square distance of those points to their nearest target points; NaN without any."""
    initial_fitness: float
    initial_rmse: float
    converged: bool
    """False when the iterations ran out, or when the start was better and has been kept."""
    iterations: int
    max_distance: float
    voxel_size: float


def refine_icp(
    source: object,
    target: object,
    T: FloatArray,
    *,
    method: Method = "gicp",
    max_distance: float | None = None,
    voxel_size: float | None = None,
    threads: int | None = None,
) -> RefineResult:
    """Refine the pose `T` by aligning the clouds.

    Parameters
    ----------
    source, target : (N, 3) and (M, 3) arrays or Open3D point clouds
    T : (4, 4) array
        Start: maps source onto target up to a few voxels.
    method : {"gicp", "icp", "plane"}
        Generalized ICP, point-to-point or point-to-plane.
    max_distance : float, optional
        Points farther apart are not matched; 3 voxels by default.
    voxel_size : float, optional
        The clouds are downsampled to it; chosen from the data by default.
    threads : int, optional
        For the preparation; the iterations run on one thread, so that the result is always the same.

    Returns
    -------
    RefineResult
    """
    source_points, target_points = as_points(source, "source"), as_points(target, "target")
    start = _checked_pose(T)
    if method not in _TYPES:
        raise InputError(f"method is {method!r}: expected one of {', '.join(map(repr, _TYPES))}")
    if voxel_size is None:
        voxel_size = choose_voxel_size(source_points, target_points)
    check_voxel_size(voxel_size)
    if max_distance is None:
        max_distance = 3.0 * voxel_size
    if not (np.isfinite(max_distance) and max_distance > 0.0):
        raise InputError(f"max_distance is {max_distance}: expected a positive length")
    library = small_gicp_or_raise()

    # small_gicp's tolerances and damping have a scale: give it centred coordinates in voxels.
    moving = voxel_downsample(source_points, voxel_size)
    fixed = voxel_downsample(target_points, voxel_size)
    from_centre, to_centre = moving.mean(axis=0), fixed.mean(axis=0)
    moving = (moving - from_centre) / voxel_size
    fixed = (fixed - to_centre) / voxel_size
    local = start.copy()
    local[:3, 3] = (start[:3, :3] @ from_centre + start[:3, 3] - to_centre) / voxel_size
    reach = max_distance / voxel_size

    moving_cloud = _prepare(library, moving, thread_count(threads))
    fixed_cloud = _prepare(library, fixed, thread_count(threads))
    found = library.align(
        fixed_cloud,
        moving_cloud,
        library.KdTree(fixed_cloud, num_threads=1),
        local,
        registration_type=_TYPES[method],
        max_correspondence_distance=reach,
        num_threads=1,
        max_iterations=_ITERATIONS,
        rotation_epsilon=_ROTATION_EPSILON,
        translation_epsilon=_TRANSLATION_EPSILON,
    )
    tree = cKDTree(fixed)
    before = _agreement(tree, moving, local, reach)
    refined = np.array(found.T_target_source)
    after = _agreement(tree, moving, refined, reach) if np.isfinite(refined).all() else (0.0, np.inf)
    worse = after[0] < 0.9 * before[0]
    if worse:
        refined, after = local, before
    pose = refined.copy()
    pose[:3, 3] = refined[:3, 3] * voxel_size + to_centre - refined[:3, :3] @ from_centre
    return RefineResult(
        transformation=pose,
        fitness=after[0],
        rmse=after[1] * voxel_size,
        initial_fitness=before[0],
        initial_rmse=before[1] * voxel_size,
        converged=bool(found.converged) and not worse,
        iterations=int(found.iterations),
        max_distance=float(max_distance),
        voxel_size=float(voxel_size),
    )


def small_gicp_or_raise() -> Any:
    """The module, or an error that says what to install."""
    try:
        import small_gicp
    except ImportError as error:
        raise MissingExtraError("small_gicp", "clouds", "refinement") from error
    return small_gicp


def _checked_pose(T: FloatArray) -> FloatArray:
    pose = np.array(T, dtype=np.float64)
    if pose.shape != (4, 4):
        raise InputError(f"T has shape {pose.shape}: expected a 4×4 pose")
    rotation = pose[:3, :3]
    if not np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-4) or np.linalg.det(rotation) < 0.0:
        raise InputError("T: its upper left 3×3 block is not a rotation")
    if not np.isfinite(pose).all() or not np.array_equal(pose[3], [0.0, 0.0, 0.0, 1.0]):
        raise InputError("T: expected finite numbers and a last row of 0 0 0 1")
    return pose


def _prepare(library, points: FloatArray, threads: int):
    cloud = library.PointCloud(points)
    library.estimate_normals_covariances(cloud, num_neighbors=_NEIGHBOURS, num_threads=threads)
    return cloud


def _agreement(tree: cKDTree, points: FloatArray, pose: FloatArray, reach: float) -> tuple[float, float]:
    distances, _ = tree.query(points @ pose[:3, :3].T + pose[:3, 3], distance_upper_bound=reach)
    near = np.extract(np.isfinite(distances), distances)
    rmse = float(np.sqrt(np.mean(near**2))) if len(near) else float("nan")
    return len(near) / len(points), rmse
