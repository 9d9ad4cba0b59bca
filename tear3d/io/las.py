"""LAS and LAZ, through laspy and lazrs."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_POINTS_PER_BYTE, check_declared, check_memory, load_package
from tear3d.io.laz import VLR_HEADER, check_laz

KIND = "LAS"
SHORTEST_HEADER = 227
COMPRESSED = 0x80
POINT_BYTES = 24
CHUNK_BYTES = 1 << 26


def read(path: Path, limit: int) -> NDArray[Any]:
    laspy = load_package("laspy", "las", "reading LAS files")
    if _check(path, limit):
        load_package("lazrs", "las", "reading LAZ files")
    # One thread: the parallel decoder allocates whole chunks of a size that the file declares.
    with laspy.open(path, read_evlrs=False, laz_backend=laspy.LazBackend.Lazrs) as reader:
        declared = reader.header.point_count
        rows = max(1, CHUNK_BYTES // reader.header.point_format.size)
        chunks = [np.column_stack([c.x, c.y, c.z]) for c in reader.chunk_iterator(rows)]
    points = np.concatenate(chunks) if chunks else np.empty((0, 3))
    if len(points) != declared:
        raise FileFormatError(f"{path}: declares {declared} points but holds {len(points)}")
    return points


def _check(path: Path, limit: int) -> bool:
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
    check_memory(path, what, POINT_BYTES * count, limit)
    return compressed
