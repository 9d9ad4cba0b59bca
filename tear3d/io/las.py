"""LAS and LAZ, through laspy and lazrs."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.errors import FileFormatError
from tear3d.io.checks import MAX_POINTS_PER_BYTE, check_declared, load_package
from tear3d.io.laz import VLR_HEADER, check_laz

KIND = "LAS"
SHORTEST_HEADER = 227
COMPRESSED = 0x80
CHUNK = 1_000_000


def read(path: Path) -> NDArray[Any]:
    laspy = load_package("laspy", "las", "reading LAS files")
    if _check(path):
        load_package("lazrs", "las", "reading LAZ files")
    # One thread: the parallel decoder allocates whole chunks of a size that the file declares.
    with laspy.open(path, read_evlrs=False, laz_backend=laspy.LazBackend.Lazrs) as reader:
        declared = reader.header.point_count
        chunks = [np.column_stack([c.x, c.y, c.z]) for c in reader.chunk_iterator(CHUNK)]
    points = np.concatenate(chunks) if chunks else np.empty((0, 3))
    if len(points) != declared:
        raise FileFormatError(f"{path}: declares {declared} points but holds {len(points)}")
    return points


def _check(path: Path) -> bool:
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
        if not point_format & COMPRESSED:
            check_declared(path, what, record * count, size - offset)
            return False
        check_declared(path, what, count // MAX_POINTS_PER_BYTE, size - offset)
        if count:
            check_laz(path, handle, (header_size, vlrs), offset, record, size)
    return True
