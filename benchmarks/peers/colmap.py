"""COLMAP's robust rigid alignment (LO-RANSAC) through pycolmap."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import FloatArray, installed, pose

NAME = "pycolmap"


def available() -> bool:
    if not installed("pycolmap"):
        return False
    import pycolmap

    return hasattr(pycolmap, "estimate_rigid3d_robust")


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    import pycolmap

    options = pycolmap.RANSACOptions()
    options.max_error = noise_bound
    found = pycolmap.estimate_rigid3d_robust(source, target, options)
    if found is None:
        return np.full((4, 4), np.nan)
    return pose(*np.split(np.asarray(found["tgt_from_src"].matrix()), [3], axis=1))
