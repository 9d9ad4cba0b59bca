"""KITTI velodyne scans: float32 x, y, z, intensity without a header."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_memory
from tear3d.io.cloud import Parts

KIND = "KITTI .bin"
RECORD = 16
FARTHEST = 1e9


def read(path: Path, limit: int) -> NDArray[Any]:
    return _rows(path, limit)[:, :3]


def read_all(path: Path, limit: int) -> Parts:
    rows = _rows(path, limit)
    return Parts(rows[:, :3], {"intensity": rows[:, 3]})


def _rows(path: Path, limit: int) -> NDArray[Any]:
    size = path.stat().st_size
    if size % RECORD:
        raise FileFormatError(
            f"{path}: {size} bytes are not a multiple of {RECORD} (float32 x y z intensity); "
            "truncated, or not a KITTI scan"
        )
    check_memory(path, "its points", size + size // RECORD * 24, limit)
    rows = np.fromfile(path, dtype="<f4").reshape(-1, 4)
    # Without a header only the values can tell that this is something else.
    finite = rows[:, :3][np.isfinite(rows[:, :3])]
    if finite.size and np.abs(finite).max() > FARTHEST:
        raise FileFormatError(f"{path}: coordinates beyond {FARTHEST:g}; not float32 x y z intensity")
    return rows
