"""The colours of a PLY file's vertices."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from tear3d.io.checks import check_declared, format_errors, header_lines
from tear3d.io.ply import KIND
from tear3d.io.ply_header import Header, parse

NAMES = ("red", "green", "blue")
_FIRST = (b"ply\n", b"ply\r")


def read_colours(path: Path) -> NDArray[np.uint8] | None:
    """N×3 bytes, one row for each vertex of the file; None if it is no PLY file or has no such colours.

    They must be bytes (`uchar`) named red, green and blue, in a vertex element without lists, before which no element
    has lists. A file whose points could be read is not refused for its colours.
    """
    with path.open("rb") as handle:
        if not handle.read(4).startswith(_FIRST):
            return None
        handle.seek(0)
        with format_errors(path, KIND):
            header = parse(path, header_lines(handle, path, KIND, b"end_header"))
            if not _has_colours(header):
                return None
            if not header.order:
                return _from_text(handle, header)
            return _from_bytes(path, handle.tell(), header)


def _has_colours(header: Header) -> bool:
    types = {p.name: p.type for p in header.vertices.properties}
    lists = any(element.has_lists for element in (*header.before, header.vertices))
    return not lists and all(types.get(name) == "u1" for name in NAMES)


def _from_bytes(path: Path, start: int, header: Header) -> NDArray[np.uint8]:
    vertices = header.vertices
    size = vertices.least_bytes(False)
    start += sum(element.count * element.least_bytes(False) for element in header.before)
    check_declared(path, "its vertices", start + vertices.count * size, path.stat().st_size)
    rows = np.memmap(path, np.uint8, mode="r", offset=start, shape=(vertices.count, size))
    ends = np.cumsum([p.least_bytes for p in vertices.properties])
    places = {p.name: int(end) - 1 for p, end in zip(vertices.properties, ends, strict=True)}
    return np.array(rows[:, [places[name] for name in NAMES]])


def _from_text(handle: BinaryIO, header: Header) -> NDArray[np.uint8]:
    skipped = sum(element.count for element in header.before)
    lines = (line for line in handle if not line.isspace())
    names = [p.name for p in header.vertices.properties]
    columns = [names.index(name) for name in NAMES]
    chosen = islice(lines, skipped, skipped + header.vertices.count)
    return np.loadtxt(chosen, comments=None, ndmin=2, usecols=columns).astype(np.uint8)
