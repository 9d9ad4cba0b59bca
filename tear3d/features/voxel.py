"""Thin a cloud to one point per cubic voxel, and choose the voxel's size."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import InputError
from tear3d.features.steps import Tick
from tear3d.features.tree import Tree
from tear3d.features.work import aside, each
from tear3d.problem.arrays import FloatArray

IntArray = NDArray[np.int64]

# A cloud of this many points describes a scene well and is matched within a second.
WANTED_POINTS = 10_000
FEWEST_POINTS = 2_000
MOST_POINTS = 50_000
# Sparse clouds: with fewer points than that left, voxels shrink to the spacing of the points, then to half of it, where
# nearly every point stays. Free choices, measured on samples of two surfaces (docs/clouds.md).
SPARSE_POINTS = 500
TINY_POINTS = 130
_SAMPLE = 200_000
_LARGEST_INDEX = 2.0**52


def check_voxel_size(voxel_size: float) -> None:
    number = isinstance(voxel_size, int | float | np.number) and not isinstance(voxel_size, bool)
    if not (number and np.isfinite(voxel_size) and voxel_size > 0.0):
        raise InputError(f"voxel_size is {voxel_size!r}: expected a positive number in the unit of the points")


def voxel_downsample(points: FloatArray, voxel_size: float, *, tick: Tick | None = None) -> FloatArray:
    """Replace the points of every occupied voxel by their centroid.

    Parameters
    ----------
    points : (N, 3) array
    voxel_size : float
        Edge of a voxel, in the unit of the points.
    tick : callable, optional
        Called now and then; what it raises ends the call.

    Returns
    -------
    (M, 3) array
        Ordered by voxel; the grid starts at the smallest coordinates of the cloud.
    """
    points = np.asarray(points, dtype=np.float64)
    if len(points) == 0:
        return points.reshape(0, 3)
    return aside(lambda: _centroids(points, voxel_size), tick)


def _centroids(points: FloatArray, voxel_size: float) -> FloatArray:
    # Sums are taken relative to the corner so that large (UTM) coordinates lose no digits.
    corner = points.min(axis=0)
    local = points - corner
    order, first = group(local, voxel_size)
    counts = np.diff(first, append=len(points))
    return corner + np.add.reduceat(local[order], first, axis=0) / counts[:, None]


def occupied_voxels(points: FloatArray, voxel_size: float) -> int:
    """How many points `voxel_downsample` would return."""
    return _Counter(points)(voxel_size)


class _Counter:
    """`occupied_voxels` of one cloud at many sizes."""

    def __init__(self, points: FloatArray) -> None:
        columns = np.ascontiguousarray(points.T)
        low = columns.min(axis=1, keepdims=True, initial=np.inf)
        self._columns = columns - low if len(points) else columns
        self._spans = self._columns.max(axis=1, initial=0.0)

    @property
    def extent(self) -> float:
        return float(self._spans.max())

    def __call__(self, voxel_size: float) -> int:
        if self._columns.shape[1] == 0:
            return 0
        keys: NDArray[Any] | None = _keys(self._columns, self._spans, voxel_size)
        if keys is None:
            return len(group(np.ascontiguousarray(self._columns.T), voxel_size)[1])
        keys = keys.astype(np.int32) if keys.max() < 2**31 else keys  # half the time to sort
        keys.sort()
        return 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))


def _keys(columns: FloatArray, spans: FloatArray, voxel_size: float) -> IntArray | None:
    """One number for each point, smaller in voxels that come first; None when there are too many for that."""
    check_voxel_size(voxel_size)
    if spans.max() / voxel_size >= _LARGEST_INDEX:
        raise InputError(
            f"voxel_size {voxel_size:g} is too small for a cloud that extends over {spans.max():g}: "
            "use a larger one, or remove far outlying points"
        )
    shape = (spans / voxel_size).astype(np.int64) + 1
    if np.prod(shape.astype(np.float64)) >= 2.0**62:
        return None
    x, y, z = ((column / voxel_size).astype(np.int64) for column in columns)
    return np.asarray((x * shape[1] + y) * shape[2] + z)


def group(local: FloatArray, voxel_size: float) -> tuple[IntArray, IntArray]:
    """The order that sorts points by voxel, and where each voxel starts in it."""
    columns = np.ascontiguousarray(local.T)
    keys = _keys(columns, columns.max(axis=1), voxel_size)
    if keys is not None:
        order = np.argsort(keys, kind="stable")
        changes = np.diff(keys[order]) != 0
    else:
        cells = np.floor(columns / voxel_size)
        order = np.lexsort(cells[::-1])
        changes = np.any(np.diff(cells[:, order]) != 0.0, axis=0)
    return order, np.concatenate(([0], np.flatnonzero(changes) + 1))


class Voxels(NamedTuple):
    """A voxel size for two clouds, and the smallest that the sampling of each supports."""

    size: float
    finest: tuple[float, float]


def choose_voxel_size(source: FloatArray, target: FloatArray, *, tick: Tick | None = None) -> float:
    """The size of `choose_voxels`."""
    return choose_voxels(source, target, tick=tick).size


def choose_voxels(source: FloatArray, target: FloatArray, *, tick: Tick | None = None) -> Voxels:
    """A voxel size that suits both clouds.

    The larger cloud keeps about `WANTED_POINTS` points; a much smaller one is given finer voxels, as long as
    the larger one then has at most `MOST_POINTS`. Never finer than the sampling of the surface supports, but for
    clouds so sparse that too few points would be left; the very smallest keep nearly all.
    Counting occupied voxels instead of measuring the extent makes it indifferent to far outlying points. `tick` is
    called now and then; what it raises ends the call.
    """
    clouds = [_sample(np.asarray(cloud, dtype=np.float64)) for cloud in (source, target)]
    samplings = each(sampling, clouds, tick)
    spacing = max(spacing for spacing, _ in samplings)
    counters = [_Counter(cloud) for cloud in clouds]
    extent = max(counter.extent for counter in counters)
    if spacing == 0.0 or extent == 0.0:
        raise InputError("source and target: all points coincide, expected surfaces")

    def sizes_for(count: int, least: float) -> list[float]:
        return each(partial(size_for, count, least), counters, tick)

    def size_for(count: int, least: float, occupied: _Counter) -> float:
        """The smallest size (within 2 %) that leaves at most `count` voxels; not below `least`."""
        if occupied(least) <= count:
            return least
        low, high = np.log(least), np.log(max(extent, least) * 2.0)
        while high - low > 0.02:
            middle = 0.5 * (low + high)
            if occupied(float(np.exp(middle))) > count:
                low = middle
            else:
                high = middle
        return float(np.exp(high))

    each_finest = samplings[0][1], samplings[1][1]
    finest = max(each_finest)
    for few, least in ((SPARSE_POINTS, spacing), (TINY_POINTS, 0.5 * spacing)):
        if min(occupied(finest) for occupied in counters) < few:
            finest = min(finest, *sizes_for(few, least))
    wanted = max(sizes_for(WANTED_POINTS, finest))
    if all(occupied(wanted) >= FEWEST_POINTS for occupied in counters):
        return Voxels(_round(wanted), each_finest)
    finer = max(min(sizes_for(FEWEST_POINTS, finest)), max(sizes_for(MOST_POINTS, finest)))
    return Voxels(_round(min(wanted, finer)), each_finest)


def _sample(points: FloatArray) -> FloatArray:
    return points[:: -(-len(points) // _SAMPLE)] if len(points) > _SAMPLE else points


def sampling(points: FloatArray) -> tuple[float, float]:
    """The spacing of a surface's points, and the smallest voxel worth having: one point of a regularly sampled surface,
    four of a random one.

    From the median distances to the nearest and to the 8th nearest other point, duplicates aside.
    """
    ordered = points[_order(points)]
    distinct = ordered[np.any(np.diff(ordered, axis=0, prepend=np.nan) != 0.0, axis=1)]
    if len(distinct) < 2:
        return 0.0, 0.0
    count = min(8, len(distinct) - 1)
    probes = distinct[:: max(1, len(distinct) // 2000)]
    squared, _ = Tree(distinct).query(probes, count + 1)
    nearest, eighth = np.median(np.sqrt(squared[:, [1, count]]), axis=0)
    # n points of a surface lie within r when each takes up an area of pi r^2 / n.
    spacing = float(eighth * np.sqrt(np.pi / count))
    return spacing, spacing / float(np.clip(nearest / spacing, 0.5, 1.0))


def _order(points: FloatArray) -> IntArray:
    """That of `np.lexsort(points.T)`, which takes several times as long where few points share a z."""
    order = np.argsort(points[:, 2], kind="stable")
    same = np.diff(points[order, 2]) == 0.0
    tied = np.zeros(len(points), np.bool_)
    tied[1:] |= same
    tied[:-1] |= same
    order[tied] = order[tied][np.lexsort(points[order[tied]].T)]
    return order


def _round(size: float) -> float:
    """Two significant digits: easy to read, to repeat and to type."""
    return float(f"{size:.1e}")
