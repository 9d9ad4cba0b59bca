"""Open3D's RANSAC on given pairs, with its edge-length and distance checks and 100 000 iterations at most."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import FloatArray, installed

NAME = "Open3D RANSAC"


def available() -> bool:
    return installed("open3d")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import open3d as o3d

    registration = o3d.pipelines.registration
    o3d.utility.random.seed(0)
    result = registration.registration_ransac_based_on_correspondence(
        cloud(source),
        cloud(target),
        matches(len(source)),
        noise_bound,
        ransac_n=3,
        checkers=[
            registration.CorrespondenceCheckerBasedOnEdgeLength(0.9),
            registration.CorrespondenceCheckerBasedOnDistance(noise_bound),
        ],
        criteria=registration.RANSACConvergenceCriteria(100_000, 0.999),
    )
    return np.asarray(result.transformation)


def cloud(points: FloatArray):
    """An Open3D cloud of the points."""
    import open3d as o3d

    return o3d.geometry.PointCloud(o3d.utility.Vector3dVector(np.ascontiguousarray(points)))


def matches(n: int):
    """Point i of one cloud belongs to point i of the other."""
    import open3d as o3d

    return o3d.utility.Vector2iVector(np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1))
