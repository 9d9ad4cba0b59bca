"""RANSAC of Open3D on given pairs: every triple is fitted and counted. Open3D is under the MIT licence."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, needs, nowhere

NAME = "RANSAC 100k"
PACKAGE = "open3d-cpu"
PAPER = "M. Fischler, R. Bolles: Random sample consensus. CACM 1981; Q.-Y. Zhou et al.: Open3D. 2018"
SETTINGS = (
    "Open3D's registration_ransac_based_on_correspondence as it comes: three pairs a sample, 100 000 iterations at "
    "most (which is also the TEAR paper's limit), confidence 0.999. Open3D counts the moved points that have any "
    "target point within the noise bound, by nearest neighbours: slow when every triple is counted"
)
ITERATIONS, CONFIDENCE, SAMPLE = 100_000, 0.999, 3


def missing() -> str | None:
    return needs("open3d", "peers")


def prepare() -> None:
    import open3d  # noqa: F401


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    return sampled(source, target, noise_bound, [])


def sampled(source: FloatArray, target: FloatArray, noise_bound: float, checkers: list) -> FloatArray:
    """Open3D's RANSAC with checkers that a triple has to pass before it is counted."""
    import open3d as o3d

    if len(source) < SAMPLE:
        return nowhere()
    registration = o3d.pipelines.registration
    o3d.utility.random.seed(0)
    result = registration.registration_ransac_based_on_correspondence(
        cloud(source),
        cloud(target),
        matches(len(source)),
        noise_bound,
        ransac_n=SAMPLE,
        checkers=checkers,
        criteria=registration.RANSACConvergenceCriteria(ITERATIONS, CONFIDENCE),
    )
    # Without a single inlier the pose is the identity it started from.
    return np.array(result.transformation) if result.fitness > 0.0 else nowhere()


def cloud(points: FloatArray):
    """An Open3D cloud of the points."""
    import open3d as o3d

    return o3d.geometry.PointCloud(o3d.utility.Vector3dVector(np.ascontiguousarray(points)))


def matches(n: int):
    """Point i of one cloud belongs to point i of the other."""
    import open3d as o3d

    return o3d.utility.Vector2iVector(np.repeat(np.arange(n, dtype=np.int32)[:, None], 2, axis=1))
