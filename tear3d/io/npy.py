"""Clouds as NumPy arrays, plain (N×3 or more columns) or with the fields x, y, z."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.arrays import npy_header, read_npy
from tear3d.io.cloud import Cloud, Parts
from tear3d.io.columns import Columns, grouped, warn_dropped
from tear3d.io.npy_header import ArrayHeader

KIND = "NPY"
MAX_COLUMNS = 32


def read(path: Path, limit: int) -> NDArray[Any]:
    header = npy_header(path)
    check_points(path, "the array", header)
    return points_of(read_npy(path, limit, header))


def read_all(path: Path, limit: int) -> Parts:
    header = npy_header(path)
    check_points(path, "the array", header)
    array = read_npy(path, limit, header)
    return Parts(points_of(array), attributes_of(array))


def check_points(path: Path, name: str, header: ArrayHeader) -> None:
    """Refuse an array that cannot be points before it is read."""
    shape, dtype = header.shape, header.dtype
    if dtype.names:
        if len(shape) != 1 or not {"x", "y", "z"} <= set(dtype.names):
            raise FileFormatError(f"{path}: {name} with fields needs one axis and the fields x, y, z")
        for axis in "xyz":
            if dtype[axis].kind not in "fiu":
                raise FileFormatError(f"{path}: the field {axis} of {name} has type {dtype[axis]}; expected numbers")
    elif not header.is_real:
        raise FileFormatError(f"{path}: {name} has type {dtype}; expected numbers")
    elif len(shape) != 2 or not 3 <= shape[1] <= MAX_COLUMNS or (shape[0] == 3 and shape[1] > 3):
        raise FileFormatError(f"{path}: {name} has shape {shape}: points must be rows (N×3)")


def points_of(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.names:
        return np.column_stack([array[axis].astype(np.float64) for axis in "xyz"])
    return array[:, :3]


def attributes_of(array: NDArray[Any]) -> Columns:
    """The fields that are no coordinates, or the columns after them, which have no names."""
    if array.dtype.names:
        return grouped({name: array[name] for name in array.dtype.names if name not in ("x", "y", "z")})
    return {f"column{i + 1}": array[:, i] for i in range(3, array.shape[1])}


def write(handle: BinaryIO, cloud: Cloud, suffix: str) -> None:
    warn_dropped("NPY", cloud.attributes)
    npy_format.write_array(handle, cloud.points, allow_pickle=False)
