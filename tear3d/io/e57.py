"""E57, through pye57; the scans of a file are put together in its common frame."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_POINTS_PER_BYTE, check_declared, check_memory, load_package

KIND = "E57"
HEADER = 48
INVALID = ("cartesianInvalidState", "sphericalInvalidState")


def read(path: Path, limit: int) -> NDArray[Any]:
    pye57 = load_package("pye57", "e57", "reading E57 files")
    size = path.stat().st_size
    _check(path, size)
    file = pye57.E57(str(path))
    try:
        headers = [file.get_header(i) for i in range(file.scan_count)]
        counts = [header.point_count for header in headers]
        check_declared(path, f"its header ({sum(counts)} points)", sum(counts) // MAX_POINTS_PER_BYTE, size)
        # Every field of a scan is unpacked, into eight bytes at most.
        needed = sum(8 * (3 + len(header.point_fields)) * header.point_count for header in headers)
        check_memory(path, f"its header ({sum(counts)} points)", needed, limit)
        scans = [_scan(file, i, count) for i, count in enumerate(counts) if count > 0]
    finally:
        file.close()
    return np.concatenate(scans) if scans else np.empty((0, 3))


def _scan(file: Any, index: int, count: int) -> NDArray[np.float64]:
    """All points of a scan, NaN where the file marks them as invalid."""
    data = file.read_scan(index, ignore_missing_fields=True)
    points = np.column_stack([data[f"cartesian{axis}"] for axis in "XYZ"])
    if len(points) == count:
        return points
    # The package leaves marked points out without saying which.
    header = file.get_header(index)
    mark = next(name for name in INVALID if name in header.point_fields)
    marks, buffers = file.make_buffers([mark], count)
    header.points.reader(buffers).read()
    every = np.full((count, 3), np.nan)
    every[marks[mark] == 0] = points
    return every


def _check(path: Path, size: int) -> None:
    with path.open("rb") as handle:
        head = handle.read(HEADER)
    if not head.startswith(b"ASTM-E57"):
        raise FileFormatError(f"{path}: does not start with 'ASTM-E57'; not an E57 file")
    check_declared(path, "the E57 header", HEADER, len(head))
    length, xml_offset, xml_length = struct.unpack_from("<QQQ", head, 16)
    check_declared(path, "the length in its header", length, size)
    check_declared(path, "its XML section", xml_offset + xml_length, size)
