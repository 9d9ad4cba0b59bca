"""LAS and LAZ, through laspy and lazrs."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_POINTS_PER_BYTE, check_declared, check_memory, load_package
from tear3d.io.cloud import Parts
from tear3d.io.columns import grouped
from tear3d.io.las_records import add_references
from tear3d.io.laz import VLR_HEADER, check_laz

KIND = "LAS"
SHORTEST_HEADER = 227
COMPRESSED = 0x80
POINT_BYTES = 24
UNPACKED = 2
"""Flags of one bit become bytes: a point takes this many times what it takes in the file, about."""
CHUNK_BYTES = 1 << 26
WKT = ("LASF_Projection", 2112)


def read(path: Path, limit: int) -> NDArray[Any]:
    chunks = [np.column_stack([c.x, c.y, c.z]) for c in _chunks(path, limit, [], everything=False)]
    return np.concatenate(chunks) if chunks else np.empty((0, 3))


def read_all(path: Path, limit: int) -> Parts:
    headers: list[Any] = []
    points: list[NDArray[Any]] = []
    columns: dict[str, list[NDArray[Any]]] = {}
    for chunk in _chunks(path, limit, headers, everything=True):
        points.append(np.column_stack([chunk.x, chunk.y, chunk.z]))
        for name in chunk.point_format.dimension_names:
            if name not in ("X", "Y", "Z"):
                columns.setdefault(name, []).append(np.array(chunk[name]))
    found = {name: np.concatenate(parts) for name, parts in columns.items()}
    add_references(path, load_package("laspy", "las", "reading LAS files"), headers[0])
    facts: dict[str, Any] = {"las": headers[0]}
    wkt = [vlr for vlr in headers[0].vlrs if (vlr.user_id, vlr.record_id) == WKT]
    text: Any = getattr(wkt[0], "string", None) if wkt else None
    if text:
        facts["crs"] = str(text)
    return Parts(np.concatenate(points) if points else np.empty((0, 3)), grouped(found), facts)


def _chunks(path: Path, limit: int, headers: list[Any], *, everything: bool) -> Iterator[Any]:
    """Some points at a time; the header is added to `headers` first."""
    laspy = load_package("laspy", "las", "reading LAS files")
    if _check(path, limit, everything):
        load_package("lazrs", "las", "reading LAZ files")
    # One thread: the parallel decoder allocates whole chunks of a size that the file declares.
    with laspy.open(path, read_evlrs=False, laz_backend=laspy.LazBackend.Lazrs) as reader:
        headers.append(reader.header)
        declared, held = reader.header.point_count, 0
        for chunk in reader.chunk_iterator(max(1, CHUNK_BYTES // reader.header.point_format.size)):
            held += len(chunk)
            yield chunk
    if held != declared:
        raise FileFormatError(f"{path}: declares {declared} points but holds {held}")


def _check(path: Path, limit: int, everything: bool) -> bool:
    """Compare the header with the file's size; True when the points are compressed."""
    size = path.stat().st_size
    with path.open("rb") as handle:
        head = handle.read(375)
        if not head.startswith(b"LASF"):
            raise FileFormatError(f"{path}: does not start with 'LASF'; not a LAS file")
        check_declared(path, "the LAS header", SHORTEST_HEADER, len(head))
        header_size, offset, vlrs, point_format, record, count = struct.unpack_from("<HIIBHI", head, 94)
        if head[25] >= 4:
            check_declared(path, "the LAS 1.4 header", 375, len(head))
            count = struct.unpack_from("<Q", head, 247)[0] or count
        check_declared(path, f"the header ({vlrs} VLRs)", header_size + VLR_HEADER * vlrs, offset)
        check_declared(path, "the header", offset, size)
        what = f"its header ({count} points)"
        compressed = bool(point_format & COMPRESSED)
        least = count // MAX_POINTS_PER_BYTE if compressed else record * count
        check_declared(path, what, least, size - offset)
        if compressed and count:
            check_laz(path, handle, (header_size, vlrs), offset, (count, record))
    check_memory(path, what, (POINT_BYTES + UNPACKED * record * everything) * count, limit)
    return compressed
