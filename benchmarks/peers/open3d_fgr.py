"""Open3D's Fast Global Registration on given pairs, in absolute units."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import FloatArray, installed
from benchmarks.baselines.open3d_ransac import cloud, matches

NAME = "Open3D FGR"


def available() -> bool:
    return installed("open3d")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import open3d as o3d

    registration = o3d.pipelines.registration
    o3d.utility.random.seed(0)
    option = registration.FastGlobalRegistrationOption(
        use_absolute_scale=True, maximum_correspondence_distance=noise_bound
    )
    result = registration.registration_fgr_based_on_correspondence(
        cloud(source), cloud(target), matches(len(source)), option
    )
    return np.asarray(result.transformation)
