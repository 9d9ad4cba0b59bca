"""E57, through pye57; the scans of a file are put together in its common frame."""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_POINTS_PER_BYTE, check_declared, check_memory, load_package
from tear3d.io.cloud import Parts
from tear3d.io.columns import grouped

KIND = "E57"
HEADER = 48
INVALID = ("cartesianInvalidState", "sphericalInvalidState")
ATTRIBUTES = ("colorRed", "colorGreen", "colorBlue", "intensity", "rowIndex", "columnIndex")

logger = logging.getLogger(__name__)


def read(path: Path, limit: int) -> NDArray[Any]:
    with _opened(path, limit) as (file, counts):
        scans = [_scan(file, i, count) for i, count in enumerate(counts) if count > 0]
    return np.concatenate(scans) if scans else np.empty((0, 3))


def read_all(path: Path, limit: int) -> Parts:
    facts: dict[str, Any] = {}
    with _opened(path, limit) as (file, counts):
        numbers = [i for i, count in enumerate(counts) if count > 0]
        scans = [_scan(file, i, counts[i]) for i in numbers]
        found = [_attributes(path, file, i, counts[i]) for i in numbers]
        names = [name for name in (found[0] if found else {}) if all(name in each for each in found)]
        uncommon = sorted({name for each in found for name in each} - set(names))
        if uncommon:
            logger.warning("%s: not all scans have %s; left out", path, ", ".join(uncommon))
        columns = {name: np.concatenate([each[name] for each in found]) for name in names}
        viewpoint = _viewpoint(file, numbers[0]) if len(numbers) == 1 else None
        if viewpoint is not None:
            facts["viewpoint"] = viewpoint
    return Parts(np.concatenate(scans) if scans else np.empty((0, 3)), grouped(columns), facts)


@contextmanager
def _opened(path: Path, limit: int) -> Iterator[tuple[Any, list[int]]]:
    """The file, compared with its size, and how many points its scans have."""
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
        yield file, counts
    finally:
        file.close()


def _attributes(path: Path, file: Any, index: int, count: int) -> dict[str, NDArray[Any]]:
    """What the package can read of a scan besides its coordinates, for all of its rows."""
    header = file.get_header(index)
    names = [name for name in ATTRIBUTES if name in header.point_fields]
    if not names:
        return {}
    try:
        found, buffers = file.make_buffers(names, count)
        header.points.reader(buffers).read()
    except Exception as error:  # numbers that do not fit in the types which the package has for them
        logger.warning("%s: %s cannot be read (%s); left out", path, ", ".join(names), str(error).split("\n")[0][:100])
        return {}
    return dict(found)


def _viewpoint(file: Any, index: int) -> NDArray[np.float64] | None:
    header = file.get_header(index)
    if not header.has_pose():
        return None
    found = np.concatenate([np.ravel(header.translation), np.ravel(header.rotation)]).astype(np.float64)
    return found if found.shape == (7,) and np.isfinite(found).all() and found[3:].any() else None


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
