"""A cloud with its attributes, thinned to one point per voxel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.features.voxel import group
from tear3d.io.cloud import Cloud
from tear3d.problem.arrays import check_finite, finite_rows

MEASURED = ("colors", "intensity")
"""Whole numbers that have a mean; of others, such as classes, one point's is taken."""


def downsample(cloud: Any, voxel_size: float) -> Cloud:
    """Replace the points of every occupied voxel by their centroid, and their attributes by what they have in common.

    Parameters
    ----------
    cloud
        A `Cloud`, or what `Cloud.of` makes one of. Points that are not finite are left out.
    voxel_size
        Edge of a voxel, in the unit of the points.

    Returns
    -------
    Cloud
        Ordered by voxel. Floats, colours and intensities are means, normals means of unit length; other whole numbers
        are those of the point that is nearest to the centroid.
    """
    cloud = Cloud.of(cloud)
    finite = finite_rows(cloud.points)
    cloud = cloud if finite.all() else cloud.take(finite)
    check_finite(cloud.points, "cloud")
    if len(cloud) == 0:
        return cloud
    # Sums are taken relative to the corner so that large (UTM) coordinates lose no digits.
    corner = cloud.points.min(axis=0)
    local = cloud.points - corner
    order, first = group(local, voxel_size)
    counts = np.diff(first, append=len(cloud))
    means = np.add.reduceat(local[order], first, axis=0) / counts[:, None]
    voxels = np.repeat(np.arange(len(first)), counts)
    nearest = order[np.lexsort((((local[order] - means[voxels]) ** 2).sum(axis=1), voxels))[first]]

    def thinned(name: str, values: NDArray[Any]) -> NDArray[Any]:
        if values.dtype.kind != "f" and name not in MEASURED:
            return values[nearest]
        sums = np.add.reduceat(values[order].astype(np.float64), first, axis=0)
        mean = sums / (counts[:, None] if values.ndim == 2 else counts)
        if name == "normals":
            lengths = np.linalg.norm(mean, axis=1, keepdims=True)
            mean = np.where(lengths > 0.0, mean / np.where(lengths > 0.0, lengths, 1.0), values[nearest])
        return (mean if values.dtype.kind == "f" else np.rint(mean)).astype(values.dtype)

    attributes = {name: thinned(name, values) for name, values in cloud.attributes.items()}
    return replace(cloud, points=corner + means, attributes=attributes)
