"""The merged cloud of a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.features.voxel import check_voxel_size, voxel_downsample
from tear3d.mapping.scans import Given
from tear3d.problem.arrays import FloatArray

_LIGHTNESS, _SATURATION = 0.55, 0.65
_GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)


class Merged(NamedTuple):
    """A cloud in the frame of the map."""

    points: FloatArray
    """N×3."""
    colours: NDArray[np.uint8]
    """N×3, red, green, blue: those of the file, if it is PLY and has them, else one colour for each scan."""
    scans: NDArray[np.int64]
    """N: the scan that each point is from."""


def merge(given: Given, placed: Sequence[tuple[int, FloatArray]], voxel_size: float) -> Merged:
    """One point to a voxel: that of the first scan which has one there."""
    check_voxel_size(voxel_size)
    tints = colours(len(given))
    merged = Merged(np.empty((0, 3)), np.empty((0, 3), np.uint8), np.empty(0, np.int64))
    corner: FloatArray | None = None
    for number, pose in placed:
        points, own = _thinned(given, number, voxel_size)
        points = points @ pose[:3, :3].T + pose[:3, 3]
        corner = points.min(axis=0) if corner is None else corner
        shown = np.broadcast_to(tints[number], points.shape) if own is None else own
        joined = Merged(
            np.concatenate([merged.points, points]),
            np.concatenate([merged.colours, shown]),
            np.concatenate([merged.scans, np.full(len(points), number)]),
        )
        rows = _first_in_voxels((joined.points - corner) / voxel_size)
        merged = Merged(joined.points[rows], joined.colours[rows], joined.scans[rows])
    return merged


def _thinned(given: Given, number: int, voxel_size: float) -> tuple[FloatArray, NDArray[np.uint8] | None]:
    """The middles of a scan's voxels; with colours, one point of each as it is."""
    points, own = given.read_coloured(number)
    if own is None:
        return voxel_downsample(points, voxel_size), None
    rows = _first_in_voxels((points - points.min(axis=0)) / voxel_size)
    return points[rows], own[rows]


def _first_in_voxels(points: FloatArray) -> NDArray[np.intp]:
    """In units of a voxel."""
    cells = np.floor(points)
    order = np.lexsort(cells.T)
    new = np.any(np.diff(cells[order], axis=0, prepend=np.nan) != 0.0, axis=1)
    # lexsort is stable: the first of a group is the first of the cloud.
    return np.sort(order[new])


def colours(count: int) -> NDArray[np.uint8]:
    """So many colours, neighbours far apart on the circle of hues."""
    hue = (_GOLDEN * np.arange(count)) % 1.0
    chroma = (1.0 - abs(2.0 * _LIGHTNESS - 1.0)) * _SATURATION
    # Six sixths of the circle: red, green and blue are a third apart.
    wave = np.abs((hue[:, None] * 6.0 + np.array([0.0, 4.0, 2.0])) % 6.0 - 3.0) - 1.0
    levels = _LIGHTNESS + chroma * (np.clip(wave, 0.0, 1.0) - 0.5)
    return np.round(255.0 * levels).astype(np.uint8)
