"""Match descriptors by distance: exact nearest neighbours, blockwise, in bounded memory."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.steps import Tick, part_of
from tear3d.features.work import aside, in_chunks

IntArray = NDArray[np.int64]

# A tile of descriptors that stays in the cache.
_ROWS, _COLUMNS = 512, 1024
# A chunk of rows is compared with this many tiles at once: less than a tenth of a second.
_TILES = 16


def match(
    desc_source: NDArray[np.float32],
    desc_target: NDArray[np.float32],
    *,
    ratio: float | None = None,
    top_k: int = 1,
    mutual: bool = False,
    threads: int | None = None,
    tick: Tick | None = None,
) -> IntArray:
    """Pairs of similar descriptors.

    Parameters
    ----------
    desc_source, desc_target : (N, D) and (M, D) arrays
    ratio : float, optional
        Lowe's test: keep a source row only if its nearest target is nearer than `ratio` times the next
        (after the `top_k` nearest).
    top_k : int
        Pair every source row with this many nearest target rows.
    mutual : bool
        Keep a pair only if the source row is also among the `top_k` nearest of the target row.
    threads : int, optional
    tick : callable, optional
        Told the fraction that is done, now and then; what it raises ends the call.

    Returns
    -------
    (P, 2) int64 array
        Source row, target row; ordered by source row, then by distance (ties by target row).
    """
    source, target = _checked(desc_source, "desc_source"), _checked(desc_target, "desc_target")
    if source.shape[1] != target.shape[1]:
        raise InputError(
            f"desc_source has {source.shape[1]} columns and desc_target {target.shape[1]}: expected the same"
        )
    check_match_options(ratio, top_k)
    if len(source) == 0 or len(target) == 0:
        return np.empty((0, 2), dtype=np.int64)
    k = min(top_k, len(target))
    wanted = min(k + (ratio is not None), len(target))
    half_way = 0.5 if mutual else 1.0
    indices, squared = nearest(source, target, wanted, threads=threads, tick=part_of(tick, 0.0, half_way))
    rows = np.arange(len(source))
    if ratio is not None and indices.shape[1] > k:
        rows = rows[squared[:, 0] < ratio**2 * squared[:, k]]
    pairs = np.column_stack((np.repeat(rows, k), indices[rows, :k].ravel()))
    if mutual:
        wanted = min(top_k, len(source))
        back, _ = nearest(target, source, wanted, threads=threads, tick=part_of(tick, half_way, 1.0))
        pairs = pairs[np.any(back[pairs[:, 1]] == pairs[:, :1], axis=1)]
    return pairs


def check_match_options(ratio: float | None, top_k: int) -> None:
    if top_k < 1:
        raise InputError(f"top_k is {top_k}: expected at least 1")
    if ratio is not None and not 0.0 < ratio <= 1.0:
        raise InputError(f"ratio is {ratio}: expected a number above 0 and at most 1, or None")


def _checked(descriptors: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    array = np.ascontiguousarray(descriptors, dtype=np.float32)
    if array.ndim != 2:
        raise InputError(f"{name} has {array.ndim} dimensions: expected one descriptor per row")
    if not np.isfinite(array).all():
        raise InputError(f"{name} contains NaN or infinite values: expected finite descriptors")
    return array


def nearest(
    queries: NDArray[np.float32],
    data: NDArray[np.float32],
    k: int,
    *,
    threads: int | None = None,
    tick: Tick | None = None,
) -> tuple[IntArray, NDArray[np.float64]]:
    """The k rows of `data` nearest to each query and their squared distances, nearest first.

    All distances are computed in float32 as ½‖b‖² − a·b; only what is within the rounding error of the k best
    is then measured in float64, so the answer is exact.
    """
    near, far, half, slack = aside(lambda: _centred(queries, data), tick)
    indices = np.zeros((len(queries), k), dtype=np.int64)
    squared = np.full((len(queries), k), np.inf)
    width = _TILES * _COLUMNS
    for first in range(0, len(data), width):
        last = min(first + width, len(data))
        tiles = [(left, min(left + _COLUMNS, last)) for left in range(first, last, _COLUMNS)]
        columns = [np.ascontiguousarray(far[left:right].T) for left, right in tiles]

        def work(start: int, stop: int, tiles=tiles, columns=columns) -> None:
            rows = slice(start, stop)
            for (left, right), tile in zip(tiles, columns, strict=True):
                _keep_nearest(
                    near[rows], tile, half[left:right], slack[rows],
                    queries[rows], data[left:right], left, indices[rows], squared[rows],
                )  # fmt: skip

        part = part_of(tick, first / len(data), last / len(data))
        in_chunks(work, len(queries), threads, chunk=_ROWS, tick=part)
    return indices, squared


def _centred(
    queries: NDArray[np.float32], data: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Both around the centroid of `data` and padded, ½‖b‖² of `data`, and by how much a score may be off."""
    centre = data.mean(axis=0, dtype=np.float64).astype(np.float32)
    padding = ((0, 0), (0, -queries.shape[1] % 4))
    near, far = np.pad(queries - centre, padding), np.pad(data - centre, padding)
    own, half = (0.5 * np.einsum("ij,ij->i", rows, rows) for rows in (near, far))
    # Rounding of a dot product of D terms, of the centring and of the norms, in half squared distances.
    largest = 2.0 * float(max(half.max(), own.max()))
    slack = largest * (near.shape[1] + 8) * float(np.finfo(np.float32).eps) - own.astype(np.float64)
    return near, far, half, slack


@njit(cache=True, nogil=True)
def _keep_nearest(near, columns, half, slack, queries, data, left, indices, squared):
    """Update the k nearest of each query with the rows of `data`, which are numbered from `left`."""
    k = squared.shape[1]
    score = np.empty(len(half), dtype=np.float32)
    for i in range(len(queries)):
        for j in range(len(half)):
            score[j] = half[j]
        for d in range(0, len(columns), 4):
            a, b, c, e = near[i, d], near[i, d + 1], near[i, d + 2], near[i, d + 3]
            for j in range(len(half)):
                score[j] -= (a * columns[d, j] + b * columns[d + 1, j]) + (
                    c * columns[d + 2, j] + e * columns[d + 3, j]
                )
        limit = 0.5 * squared[i, k - 1] + slack[i]
        for j in range(len(half)):
            if score[j] > limit:
                continue
            distance = 0.0
            for d in range(queries.shape[1]):
                difference = np.float64(queries[i, d]) - np.float64(data[j, d])
                distance += difference * difference
            if distance >= squared[i, k - 1]:
                continue
            place = k - 1
            while place > 0 and squared[i, place - 1] > distance:
                squared[i, place] = squared[i, place - 1]
                indices[i, place] = indices[i, place - 1]
                place -= 1
            squared[i, place] = distance
            indices[i, place] = left + j
            limit = 0.5 * squared[i, k - 1] + slack[i]
