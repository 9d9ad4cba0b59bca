"""Matched points: from given descriptors, or from clouds with our own FPFH."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.real_pairs import FloatArray
from tear3d.clouds.describe import Description
from tear3d.errors import InputError
from tear3d.features.matching import match
from tear3d.features.voxel import voxel_downsample

SEED = 0
"""Of the sample that `Options.most` takes."""


class Described(NamedTuple):
    """Points of a cloud and the descriptor of each."""

    points: FloatArray
    descriptors: NDArray[np.float32]

    def sample(self, most: int | None) -> Described:
        """At most so many of them, the same ones every time."""
        if most is None or len(self.points) <= most:
            return self
        rows = np.sort(np.random.default_rng(SEED).permutation(len(self.points))[:most])
        return Described(self.points[rows], self.descriptors[rows])


def match_described(source: Described, target: Described, *, mutual: bool = False) -> tuple[FloatArray, FloatArray]:
    """Every source point with the target point of the nearest descriptor; if `mutual`, only where both agree."""
    rows = match(source.descriptors, target.descriptors, mutual=mutual)
    return source.points[rows[:, 0]], target.points[rows[:, 1]]


def describe(cloud: FloatArray, voxel: float, keypoints: str | None = None) -> Described:
    """FPFH of a cloud thinned to one point per voxel; of all its points, or of its ISS keypoints ("iss")."""
    points = voxel_downsample(cloud, voxel)
    description = Description(keypoints="iss" if keypoints == "iss" else None)
    rows, descriptors = description.of(points, voxel, lambda done: None)
    if len(rows) == 0:
        raise InputError(f"no point of {len(points)} has a descriptor with voxels of {voxel:g}: use larger ones")
    return Described(points[rows], descriptors)


def clouds_to_pairs(
    source: FloatArray,
    target: FloatArray,
    voxel: float,
    keypoints: str | None = None,
    *,
    mutual: bool = False,
    most: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Matched points of two clouds, by our own FPFH.

    Parameters
    ----------
    source, target : (N, 3) and (M, 3) arrays
    voxel : float
        Both are thinned to one point per voxel of this edge; normals take 3 and descriptors 7 voxels.
    keypoints : {"iss", "all"}, optional
        Which points are matched; all that have a descriptor by default.
    mutual : bool
        Keep only matches that are nearest both ways.
    most : int, optional
        At most so many points of each cloud.

    Returns
    -------
    two (P, 3) arrays
    """
    described = (describe(cloud, voxel, keypoints).sample(most) for cloud in (source, target))
    return match_described(*described, mutual=mutual)
