"""PTX: scans as grids of text lines, each with its pose; put together in their common frame."""

from __future__ import annotations

import logging
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared, check_memory, whole_number
from tear3d.io.cloud import Parts
from tear3d.io.columns import COLOURS, grouped

KIND = "PTX"
LONGEST_LINE = 1000
COLUMNS = {3: (), 4: ("intensity",), 6: COLOURS, 7: ("intensity", *COLOURS)}
SHORTEST_ROW = 6
"""Three digits and what separates them."""


logger = logging.getLogger(__name__)


class Scan(NamedTuple):
    pose: NDArray[np.float64]
    """4×4."""
    rows: NDArray[np.float64]


def read(path: Path, limit: int) -> NDArray[Any]:
    return _points(_scans(path, limit))


def read_all(path: Path, limit: int) -> Parts:
    scans = _scans(path, limit)
    held = [COLUMNS[scan.rows.shape[1]] for scan in scans]
    names = held[0] if len(set(held)) == 1 else ()
    if not names and any(held):
        logger.warning("%s: its scans carry different numbers; all but the coordinates are left out", path)
    table = np.concatenate([scan.rows[:, 3 : 3 + len(names)] for scan in scans])
    found = grouped(dict(zip(names, table.T, strict=True)))
    return Parts(_points(scans), found, {"viewpoint": _viewpoint(scans[0].pose)} if len(scans) == 1 else {})


def _points(scans: list[Scan]) -> NDArray[np.float64]:
    """NaN where nothing was measured: such rows have three zeros."""
    parts = []
    for pose, rows in scans:
        points = rows[:, :3] @ pose[:3, :3].T + pose[:3, 3]
        points[~rows[:, :3].any(axis=1)] = np.nan
        parts.append(points)
    return np.concatenate(parts)


def _scans(path: Path, limit: int) -> list[Scan]:
    found: list[Scan] = []
    size, total = path.stat().st_size, 0
    with path.open("rb") as handle:
        while words := _words(handle):
            counts = [words, _words(handle)]
            if any(len(each) != 1 for each in counts):
                raise FileFormatError(f"{path}: scan {len(found) + 1} does not start with two counts in two lines")
            columns, rows = (whole_number(path, "the size of a scan", each[0].decode("latin-1")) for each in counts)
            what, count = f"its scan {len(found) + 1} ({columns} by {rows} points)", columns * rows
            lines = [[float(word) for word in _words(handle)] for _ in range(8)]
            if [len(line) for line in lines] != [3] * 4 + [4] * 4 or not np.isfinite(np.concatenate(lines)).all():
                raise FileFormatError(f"{path}: {what} needs a position, three axes and a 4×4 pose")
            check_declared(path, what, SHORTEST_ROW * count - 1, size - handle.tell())
            total += count
            check_memory(path, what, total * 8 * (3 + max(COLUMNS)), limit)
            if count:
                found.append(Scan(np.array(lines[4:]).T, _rows(path, what, handle, count)))
    if not found:
        raise FileFormatError(f"{path}: holds no points")
    return found


def _rows(path: Path, what: str, handle: BinaryIO, count: int) -> NDArray[np.float64]:
    rows = np.loadtxt(islice(handle, count), comments=None, ndmin=2)
    if len(rows) != count:
        raise FileFormatError(f"{path}: {what} holds {len(rows)} points")
    if rows.shape[1] not in COLUMNS:
        raise FileFormatError(f"{path}: {what} has {rows.shape[1]} numbers in a line; expected 4 or 7")
    return rows


def _words(handle: BinaryIO) -> list[bytes]:
    """Of the next line that is not empty; none at the end."""
    while line := handle.readline(LONGEST_LINE):
        if words := line.split():
            return words
    return []


def _viewpoint(pose: NDArray[np.float64]) -> NDArray[np.float64] | None:
    from scipy.spatial.transform import Rotation

    if np.abs(pose[:3, :3] @ pose[:3, :3].T - np.eye(3)).max() > 1e-3 or np.linalg.det(pose[:3, :3]) < 0:
        return None
    return np.concatenate([pose[:3, 3], Rotation.from_matrix(pose[:3, :3]).as_quat()[[3, 0, 1, 2]]])
