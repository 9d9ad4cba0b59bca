"""COLMAP's robust rigid alignment: RANSAC with local optimisation, through pycolmap (BSD 3-clause)."""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, Found, needs, nowhere
from benchmarks.peers.rigid import pose

NAME = "LO-RANSAC (COLMAP)"
PACKAGE = "pycolmap"
PAPER = (
    "O. Chum, J. Matas, J. Kittler: Locally optimized RANSAC. DAGM 2003; J. Schönberger, J.-M. Frahm: COLMAP. CVPR 2016"
)
SETTINGS = (
    "pycolmap.estimate_rigid3d_robust with COLMAP's own options (confidence 0.9999, 1000 to 100 000 trials, an "
    "inlier ratio of 1 % assumed at least); max_error is the noise bound, the seed fixed"
)
TRIALS = 100_000
"""COLMAP's own limit, and the TEAR paper's for RANSAC; written out because older releases know no limit."""


def missing() -> str | None:
    absent = needs("pycolmap", "peers")
    if absent:
        return absent
    import pycolmap

    known = hasattr(pycolmap, "estimate_rigid3d_robust")
    return None if known else f"pycolmap {pycolmap.__version__} has no estimate_rigid3d_robust (pip install '.[peers]')"


def prepare() -> None:
    import pycolmap  # noqa: F401


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    import pycolmap

    if len(source) < 3:
        return Found(nowhere())
    options = pycolmap.RANSACOptions(max_error=noise_bound, max_num_trials=TRIALS, random_seed=0)
    found = pycolmap.estimate_rigid3d_robust(source, target, options)
    if found is None:
        return Found(nowhere())
    rotation, translation = np.split(np.asarray(found["tgt_from_src"].matrix()), [3], axis=1)
    return Found(pose(rotation, translation), np.asarray(found["inlier_mask"], dtype=bool))
