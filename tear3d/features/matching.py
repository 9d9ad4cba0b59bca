"""Match descriptors by distance: exact nearest neighbours, blockwise, in bounded memory."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.steps import Tick, part_of
from tear3d.features.work import aside, in_chunks
from tear3d.problem.arrays import spread_rows

IntArray = NDArray[np.int64]

# A tile of descriptors that stays in the cache.
_ROWS, _COLUMNS = 512, 1024
# A chunk of rows is compared with this many tiles at once: less than a tenth of a second.
_TILES = 16
# Directions that hold so much of the variance tell nearly all rows apart: of FPFH 8 to 12 of 33 do, and leave one pair
# in a hundred to be measured in full. Free choice: the answer does not depend on it.
_VARIANCE, _SAMPLE = 0.95, 2000
# Scores that are looked at together.
_BLOCK = 16


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

    All distances are computed in float32 as ½‖b‖² − a·b, along the few directions in which `data` varies most: they are
    no larger than the whole ones. Only what is then, up to the rounding error, as near as the k best is measured in
    float64, so the answer is exact. Both are ordered by the first of these directions, and tiles that lie too far along
    it are passed over.
    """
    near, far, half, slack = aside(lambda: _centred(queries, data), tick)
    asked, order = (np.argsort(rows[:, 0], kind="stable") for rows in (near, far))
    near, slack, queries = near[asked], slack[asked], queries[asked]
    far, half, data = far[order], half[order], data[order]
    indices = np.zeros((len(queries), k), dtype=np.int64)
    squared = np.full((len(queries), k), np.inf)
    width = _TILES * _COLUMNS
    for first in range(0, len(data), width):
        last = min(first + width, len(data))
        tiles = [(left, min(left + _COLUMNS, last)) for left in range(first, last, _COLUMNS)]
        columns = [np.ascontiguousarray(far[left:right].T) for left, right in tiles]
        middles = np.array([float(tile[0].mean()) for tile in columns])

        def work(start: int, stop: int, tiles=tiles, columns=columns, middles=middles) -> None:
            rows = slice(start, stop)
            for place in np.argsort(np.abs(middles - near[(start + stop) // 2, 0]), kind="stable"):
                left, right = tiles[place]
                _keep_nearest(
                    near[rows], columns[place], half[left:right], slack[rows],
                    queries[rows], data[left:right], order[left:right], indices[rows], squared[rows],
                )  # fmt: skip

        part = part_of(tick, first / len(data), last / len(data))
        in_chunks(work, len(queries), threads, chunk=_ROWS, tick=part)
    found, distances = np.empty_like(indices), np.empty_like(squared)
    found[asked], distances[asked] = indices, squared
    return found, distances


def _centred(
    queries: NDArray[np.float32], data: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """Both around the centroid of `data`, along its main directions, padded; ½‖b‖² of `data` there, and by how much a
    score may be off."""
    centre = data.mean(axis=0, dtype=np.float64)
    around = [rows - centre for rows in (queries, data)]
    sample = around[1][spread_rows(len(data), _SAMPLE)]
    # By einsum: matrix products start threads, which wait for each other when cores are busy.
    variances, directions = np.linalg.eigh(np.einsum("ij,ik->jk", sample, sample))
    held = np.cumsum(variances[::-1])
    enough = 1 + int(np.searchsorted(held, _VARIANCE * held[-1]))
    main = directions[:, ::-1][:, : enough + -enough % 4]
    padding = ((0, 0), (0, -main.shape[1] % 4))
    near, far = (np.pad(np.einsum("ij,jk->ik", rows, main).astype(np.float32), padding) for rows in around)
    own, half = (0.5 * np.einsum("ij,ij->i", rows, rows) for rows in (near, far))
    # Rounding of a dot product of D terms, of the coordinates and of the norms, in half squared distances.
    largest = 2.0 * float(max(half.max(), own.max()))
    slack = largest * (near.shape[1] + 8) * float(np.finfo(np.float32).eps) - own.astype(np.float64)
    return near, far, half, slack


@njit(cache=True, nogil=True)
def _keep_nearest(near, columns, half, slack, queries, data, numbers, indices, squared):
    """Update the k nearest of each query with the rows of `data`, which have these numbers."""
    k = squared.shape[1]
    blocks = -(-len(half) // _BLOCK)
    score = np.full(blocks * _BLOCK, np.inf, dtype=np.float32)
    for i in range(len(queries)):
        limit = _limit(squared[i, k - 1], slack[i])
        gap = max(columns[0, 0] - near[i, 0], near[i, 0] - columns[0, len(half) - 1], np.float32(0.0))
        # As a score: without ½‖a‖², which is in the slack. The gap is rounded by less than the slack allows for.
        own = 0.0
        for d in range(near.shape[1]):
            own += np.float64(near[i, d]) * np.float64(near[i, d])
        if 0.5 * np.float64(gap) * np.float64(gap) - 0.5 * own > limit:
            continue
        for j in range(len(half)):
            score[j] = half[j]
        for d in range(0, len(columns), 4):
            a, b, c, e = near[i, d], near[i, d + 1], near[i, d + 2], near[i, d + 3]
            for j in range(len(half)):
                score[j] -= (a * columns[d, j] + b * columns[d + 1, j]) + (
                    c * columns[d + 2, j] + e * columns[d + 3, j]
                )
        for first in range(0, blocks * _BLOCK, _BLOCK):
            near_ones = 0
            for j in range(_BLOCK):
                near_ones += score[first + j] <= limit
            if near_ones == 0:
                continue
            for j in range(first, min(first + _BLOCK, len(half))):
                if score[j] > limit:
                    continue
                distance = 0.0
                for d in range(queries.shape[1]):
                    difference = np.float64(queries[i, d]) - np.float64(data[j, d])
                    distance += difference * difference
                row = numbers[j]
                if distance > squared[i, k - 1] or (distance == squared[i, k - 1] and row > indices[i, k - 1]):
                    continue
                place = k - 1
                while place > 0 and (
                    squared[i, place - 1] > distance
                    or (squared[i, place - 1] == distance and indices[i, place - 1] > row)
                ):
                    squared[i, place] = squared[i, place - 1]
                    indices[i, place] = indices[i, place - 1]
                    place -= 1
                squared[i, place] = distance
                indices[i, place] = row
                limit = _limit(squared[i, k - 1], slack[i])


@njit(cache=True, nogil=True)
def _limit(worst, slack):
    """The largest score that may be of a row nearer than the worst, in float32 and not below what it is."""
    limit = 0.5 * worst + slack
    return np.float32(limit + abs(limit) * 1.2e-7)
