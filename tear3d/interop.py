"""To and from Open3D's objects."""

from tear3d.clouds.open3d import fpfh_open3d, to_open3d
from tear3d.problem.arrays import as_correspondences, as_points

__all__ = ["as_correspondences", "as_points", "fpfh_open3d", "to_open3d"]
