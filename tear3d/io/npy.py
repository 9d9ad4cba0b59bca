"""NumPy arrays; nothing is ever unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared

KIND = "NPY"
MAX_COLUMNS = 32
READERS = {(1, 0): npy_format.read_array_header_1_0, (2, 0): npy_format.read_array_header_2_0}


def read(path: Path) -> NDArray[Any]:
    with path.open("rb") as handle:
        return read_points(path, handle, path.stat().st_size)


def read_points(path: Path, handle: IO[bytes], size: int) -> NDArray[Any]:
    """The N×3 points of an array of at most `size` bytes, header included."""
    shape, columns_first, dtype = _header(path, handle)
    names = dtype.names or ()
    if dtype.hasobject or not (names or dtype.kind in "fiu"):
        raise FileFormatError(f"{path}: the array is of type {dtype}; expected numbers")
    if names and (len(shape) != 1 or not {"x", "y", "z"} <= set(names)):
        raise FileFormatError(f"{path}: a structured array needs one axis and the fields x, y, z")
    if not names and (len(shape) != 2 or not 3 <= shape[1] <= MAX_COLUMNS or (shape[0] == 3 and shape[1] > 3)):
        raise FileFormatError(f"{path}: the array has shape {shape}: points must be rows (N×3)")
    count = 1
    for length in shape:
        count *= int(length)
    check_declared(path, f"the array's shape {shape}", count * dtype.itemsize, size - handle.tell())
    raw = handle.read(count * dtype.itemsize)
    check_declared(path, f"the array's shape {shape}", count * dtype.itemsize, len(raw))
    array = np.frombuffer(raw, dtype=dtype).reshape(shape, order="F" if columns_first else "C")
    if names:
        return np.column_stack([array[axis].astype(np.float64) for axis in "xyz"])
    return array[:, :3]


def _header(path: Path, handle: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = npy_format.read_magic(handle)
    if version not in READERS:
        raise FileFormatError(f"{path}: NPY version {version} is not supported; expected 1.0 or 2.0")
    shape, columns_first, dtype = READERS[version](handle)
    if any(length < 0 for length in shape):
        raise FileFormatError(f"{path}: the array has shape {shape}")
    return shape, columns_first, dtype


def write(handle: BinaryIO, points: NDArray[np.float64]) -> None:
    npy_format.write_array(handle, points, allow_pickle=False)
