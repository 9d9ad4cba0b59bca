"""Intrinsic Shape Signature keypoints (Zhong, 2009): points on shapes that vary in all directions."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.neighbours import rows_at_once, search, tree_of
from tear3d.features.normals import neighbourhood_covariances
from tear3d.features.steps import Tick, part_of
from tear3d.features.work import in_chunks
from tear3d.problem.arrays import FloatArray

# More neighbours than this add nothing to the shape of a neighbourhood of a downsampled cloud.
_MAX_NN = 500
# Below this ratio of eigenvalues a neighbourhood is a plane up to rounding.
_FLAT = 1e-9


def iss_keypoints(
    points: FloatArray,
    *,
    salient_radius: float,
    non_max_radius: float,
    gamma_21: float = 0.975,
    gamma_32: float = 0.975,
    min_neighbours: int = 5,
    threads: int | None = None,
    tick: Tick | None = None,
) -> NDArray[np.int64]:
    """Indices of the ISS keypoints, ascending.

    Parameters
    ----------
    points : (N, 3) array
    salient_radius : float
        Neighbourhood whose covariance is taken; customary is 6 times the spacing of the points.
    non_max_radius : float
        A keypoint has the largest smallest eigenvalue within this radius; customary is 4 times the spacing.
    gamma_21, gamma_32 : float
        Largest ratio of the second to the first and of the third to the second eigenvalue.
    min_neighbours : int
        A keypoint has at least this many points within either radius, itself included.
    threads : int, optional
    tick : callable, optional
        Told the fraction that is done, now and then; what it raises ends the call.
    """
    if not (salient_radius > 0.0 and non_max_radius > 0.0):
        raise InputError(
            f"salient_radius {salient_radius} and non_max_radius {non_max_radius}: expected positive lengths"
        )
    points = np.asarray(points, dtype=np.float64)
    if len(points) < min_neighbours:
        return np.empty(0, dtype=np.int64)
    tree = tree_of(points, tick)
    saliency = np.zeros(len(points))
    is_keypoint = np.zeros(len(points), dtype=np.bool_)

    def measure(start: int, stop: int) -> None:
        indices, _ = search(tree, start, stop, salient_radius, _MAX_NN)
        third, second, first = np.linalg.eigvalsh(neighbourhood_covariances(tree.data, indices)).T
        distinct = (second < gamma_21 * first) & (third < gamma_32 * second) & (third > _FLAT * first)
        enough = np.count_nonzero(indices >= 0, axis=1) >= min_neighbours
        saliency[start:stop] = np.where(distinct & enough, third, 0.0)

    def suppress(start: int, stop: int) -> None:
        indices, _ = search(tree, start, stop, non_max_radius, _MAX_NN)
        _local_maxima(saliency, start, indices, min_neighbours, is_keypoint[start:stop])

    rows = rows_at_once(_MAX_NN)
    in_chunks(measure, len(points), threads, chunk=rows, tick=part_of(tick, 0.0, 0.7))
    in_chunks(suppress, len(points), threads, chunk=rows, tick=part_of(tick, 0.7, 1.0))
    return np.flatnonzero(is_keypoint)


@njit(cache=True, nogil=True)
def _local_maxima(saliency, start, indices, min_neighbours, out):
    rows, k = indices.shape
    for row in range(rows):
        own = saliency[start + row]
        count = 0
        largest = own > 0.0
        while count < k and indices[row, count] >= 0:
            j = indices[row, count]
            # Of equal neighbours the first one stays.
            if saliency[j] > own or (saliency[j] == own and j < start + row):
                largest = False
            count += 1
        out[row] = largest and count >= min_neighbours
