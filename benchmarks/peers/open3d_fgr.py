"""Fast Global Registration of Open3D on given pairs, in absolute units."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, nowhere
from benchmarks.peers.open3d_ransac import cloud, matches, missing, prepare

__all__ = ["NAME", "PAPER", "SETTINGS", "missing", "prepare", "register"]

NAME = "FGR"
PACKAGE = "open3d-cpu"
PAPER = "Q.-Y. Zhou, J. Park, V. Koltun: Fast global registration. ECCV 2016"
SETTINGS = (
    "Open3D's registration_fgr_based_on_correspondence with the constants of the authors' own program: mu divided "
    "by 1.4 and made smaller as it goes (which Open3D leaves out unless decrease_mu asks for it), 64 iterations, "
    "tuple test with scale 0.95 and 1000 tuples; maximum_correspondence_distance is the noise bound, in absolute "
    "units"
)


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import open3d as o3d

    if len(source) < 3:
        return nowhere()
    registration = o3d.pipelines.registration
    o3d.utility.random.seed(0)
    option = registration.FastGlobalRegistrationOption(
        division_factor=1.4,
        use_absolute_scale=True,
        decrease_mu=True,
        maximum_correspondence_distance=noise_bound,
        iteration_number=64,
        tuple_scale=0.95,
        maximum_tuple_count=1000,
        tuple_test=True,
    )
    result = registration.registration_fgr_based_on_correspondence(
        cloud(source), cloud(target), matches(len(source)), option
    )
    return np.array(result.transformation)
