"""Keypoints and descriptors as the evaluations of 3DMatch, 3DSmoothNet, FCGF, D3Feat and PointDSC store them.

Keypoints are N×3 coordinates or N row numbers of the cloud. Descriptors are N×D. Formats: text (commas or spaces), NPY,
NPZ, and the float32 files of the 3DMatch toolbox: `.keypts.bin` (N, then 3N numbers), `.desc.NAME.bin` (N, D, then ND
numbers). An NPZ may hold both, as `xyz` and `feature`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets.matching import Described
from benchmarks.real_pairs import FloatArray
from tear3d.errors import FileFormatError, InputError
from tear3d.io import read_cloud
from tear3d.io.checks import format_errors

POINT_KEYS = ("xyz", "keypoints", "keypts", "points")
DESCRIPTOR_KEYS = ("feature", "features", "descriptors", "desc", "data")
AXES = 3


def read_described(descriptors: Path, keypoints: Path | None, cloud: Path | None) -> Described:
    """Points with their descriptors; rows whose descriptor is not finite are left out."""
    values, points = _descriptors(descriptors)
    if keypoints is not None:
        points, origin = _keypoints(keypoints, cloud), keypoints
    elif points is not None:
        origin = descriptors
    elif cloud is not None:
        points, origin = read_cloud(cloud, keep_invalid=True), cloud
    else:
        raise InputError(f"{descriptors}: there are neither keypoints nor a cloud to go with these descriptors")
    if len(points) != len(values):
        raise FileFormatError(f"{descriptors}: {len(values)} descriptors, but {origin} has {len(points)} points")
    good = np.isfinite(values).all(axis=1) & np.isfinite(points).all(axis=1)
    if not good.any():
        raise FileFormatError(f"{descriptors}: none of its {len(values)} descriptors is finite")
    return Described(np.ascontiguousarray(points[good]), np.ascontiguousarray(values[good]))


def _descriptors(path: Path) -> tuple[NDArray[np.float32], FloatArray | None]:
    points = None
    with format_errors(path, "descriptor"):
        if path.suffix == ".npz":
            with np.load(path) as data:
                values = _named(path, data, DESCRIPTOR_KEYS)
                points = next((np.asarray(data[key], dtype=np.float64) for key in POINT_KEYS if key in data), None)
        elif path.suffix == ".bin":
            values = _binary(path, head=2)
        else:
            values = _array(path)
    if values.ndim != 2 or not values.size or values.dtype.kind not in "fiu":
        raise FileFormatError(f"{path}: an array of shape {values.shape} and type {values.dtype}: expected N×D numbers")
    if points is not None and (points.ndim != 2 or points.shape[1] != AXES):
        raise FileFormatError(f"{path}: points of shape {points.shape}: expected N×3")
    return values.astype(np.float32), points


def _keypoints(path: Path, cloud: Path | None) -> FloatArray:
    with format_errors(path, "keypoint"):
        if path.suffix == ".npz":
            with np.load(path) as data:
                values = _named(path, data, POINT_KEYS)
        else:
            values = _binary(path, head=1) if path.suffix == ".bin" else _array(path)
    if values.ndim == 2 and values.shape[1] == AXES:
        return values.astype(np.float64)
    rows = values.ravel()
    if values.size != len(values) or not np.array_equal(rows, np.floor(rows)):
        raise FileFormatError(f"{path}: an array of shape {values.shape}: expected N×3 coordinates or N row numbers")
    if cloud is None:
        raise InputError(f"{path}: row numbers of a cloud that is not there")
    points = read_cloud(cloud, keep_invalid=True)
    if rows.min(initial=0) < 0 or rows.max(initial=0) >= len(points):
        raise FileFormatError(f"{path}: names row {rows.max():g} of {cloud}, which has {len(points)} points")
    return points[rows.astype(np.int64)]


def _named(path: Path, data: np.lib.npyio.NpzFile, keys: tuple[str, ...]) -> NDArray:
    key = next((key for key in keys if key in data), None)
    if key is None:
        raise FileFormatError(f"{path}: holds {', '.join(data.files)[:80] or 'nothing'}: expected {', '.join(keys)}")
    return data[key]


def _array(path: Path) -> NDArray:
    if path.suffix == ".npy":
        return np.load(path)
    with path.open(encoding="utf-8-sig") as file:
        start = file.readline()
    return np.loadtxt(path, delimiter="," if "," in start else None, ndmin=2)


def _binary(path: Path, head: int) -> NDArray[np.float32]:
    """A file of the 3DMatch toolbox: float32 throughout, the counts too."""
    data = np.fromfile(path, dtype="<f4")
    if len(data) < head or path.stat().st_size % 4:
        raise FileFormatError(f"{path}: is truncated: expected float32 counts, then numbers")
    columns = data[1] if head == 2 else AXES
    if len(data) - head != data[0] * columns or columns < 1:
        raise FileFormatError(f"{path}: declares {data[0]:g}×{columns:g} numbers but holds {len(data) - head}")
    return data[head:].reshape(int(data[0]), int(columns))
