"""The voxel size for two clouds of which none was given, also for a scan and the map it lies in."""

from __future__ import annotations

import math
from typing import NamedTuple

from tear3d.clouds.prepared import Prepared
from tear3d.clouds.region import WIDE
from tear3d.features.steps import Tick
from tear3d.features.voxel import FEWEST_POINTS, Voxels, choose_voxels, occupied_voxels, sampling
from tear3d.features.work import aside
from tear3d.problem.arrays import FloatArray

MAP_POINTS = 1_000_000
"""Of a map, thinned, at most: more would take minutes to describe. Free choice."""
UNLIKE, ABOUT = 2.0, 1.1
"""How much more coarsely a cloud must be sampled to be named, and what counts as the size that it supports (free
choices)."""
_SERIES = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0, 10.0)
"""Sizes of a decade (R10 of ISO 3): scans of one sensor get the same one, and find what is kept of a prepared map."""


class Size(NamedTuple):
    """A voxel size, and whether the target is a map at it."""

    voxel_size: float
    wide: bool
    note: str = ""
    """Why it is as large as it is, in words, where that may surprise."""


def choose_size(source: FloatArray, target: Prepared, tick: Tick) -> Size:
    """The usual size for clouds of similar size. A scan in a map keeps about 2 000 points, as far as its sampling and
    the map's have them and the map then has no more than `MAP_POINTS`."""
    chosen = choose_voxels(source, target.points, tick=tick)
    usual = chosen.size
    if _count(target.points, usual, tick) <= WIDE * _count(source, usual, tick):
        return Size(usual, False, follows(chosen))
    finest = max(aside(lambda: sampling(source)[1], tick), target.finest(tick))
    size = _size_for(source, FEWEST_POINTS, finest, usual, tick)
    return Size(_snapped(_size_for(target.points, MAP_POINTS, size, usual, tick)), True)


def follows(chosen: Voxels) -> str:
    """That the voxels are those of a cloud which is sampled more coarsely; empty when they are not."""
    coarse = chosen.finest.index(max(chosen.finest))
    ratio = chosen.finest[coarse] / max(chosen.finest[1 - coarse], 1e-300)
    if ratio < UNLIKE or chosen.size > ABOUT * chosen.finest[coarse]:
        return ""
    names = ("source", "target")
    return (
        f"{names[coarse]} is sampled {ratio:.2g} times as coarsely as {names[1 - coarse]}: the voxel size "
        f"{chosen.size:g} is the smallest that it supports"
    )


def _size_for(cloud: FloatArray, count: int, least: float, most: float, tick: Tick) -> float:
    """The smallest size (within 5 %) from `least` to `most` that leaves at most `count` voxels."""
    if least >= most or _count(cloud, least, tick) <= count:
        return min(least, most)
    low, high = math.log(least), math.log(most)
    while high - low > 0.05:
        middle = 0.5 * (low + high)
        if _count(cloud, math.exp(middle), tick) > count:
            low = middle
        else:
            high = middle
    return math.exp(high)


def _count(cloud: FloatArray, voxel_size: float, tick: Tick) -> int:
    return aside(lambda: occupied_voxels(cloud, voxel_size), tick)


def _snapped(size: float) -> float:
    """The nearest of the series."""
    decade = math.floor(math.log10(size))
    nearest = min(_SERIES, key=lambda step: abs(math.log10(size) - decade - math.log10(step)))
    return float(f"{nearest}e{decade}")
