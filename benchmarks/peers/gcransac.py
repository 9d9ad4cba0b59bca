"""Graph-cut RANSAC through pygcransac (MIT; wheels for Python 3.8 to 3.11 only)."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, needs, nowhere

NAME = "GC-RANSAC"
PACKAGE = "pygcransac"
PAPER = "D. Barath, J. Matas: Graph-cut RANSAC. CVPR 2018; D. Barath, J. Matas, TPAMI 2022"
SETTINGS = (
    "findRigidTransform with the authors' example for rigid transformations: confidence 0.999, 1000 iterations at "
    "least, no spatial coherence, space partitioning on a grid of 4 cells an axis, no SPRT; 100 000 iterations at "
    "most instead of 5000, as for every RANSAC here, and uniform samples, because the pairs are in no order that "
    "PROSAC could use"
)
ITERATIONS = 100_000
OPTIONS = {
    "conf": 0.999,
    "min_iters": 1_000,
    "max_iters": ITERATIONS,
    "spatial_coherence_weight": 0.0,
    "neighborhood": 0,
    "neighborhood_size": 4.0,
    "use_space_partitioning": True,
    "use_sprt": False,
    "sampler": 0,
}


def missing() -> str | None:
    return needs("pygcransac", "peers")


def prepare() -> None:
    import pygcransac  # noqa: F401


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import pygcransac

    if len(source) < 3:
        return nowhere()
    # The grid over the points wants coordinates that are not negative.
    pairs = np.hstack([source, target])
    corner = pairs.min(axis=0)
    # The mask that comes with it is not of the inliers: in 0.1.1 it is all false or all true.
    found, _ = pygcransac.findRigidTransform(
        np.ascontiguousarray(pairs - corner), np.zeros(0), threshold=noise_bound, **OPTIONS
    )
    if found is None:
        return nowhere()
    # It acts on rows: p → p @ found.
    pose = np.asarray(found).T.copy()
    pose[:3, 3] += corner[3:] - pose[:3, :3] @ corner[:3]
    return pose
