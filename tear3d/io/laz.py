"""What must hold in a LAZ file before its decoder may see it.

lazrs allocates what the file declares, and ends the process or takes many seconds when that is absurd.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from tear3d.errors import FileFormatError
from tear3d.io.checks import check_declared

VLR_HEADER = 54
LASZIP_ID = (b"laszip encoded", 22204)
LAYERED = 3
LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}
"""Separately compressed layers per item: point, colour, colour with infrared, wave packet."""
EXTRA_BYTES = 14
"""The item of extra bytes, one layer each."""


def check_laz(path: Path, handle: BinaryIO, vlrs: tuple[int, int], offset: int, points: tuple[int, int]) -> None:
    """Check the LASzip record, the chunk table and the chunks.

    Parameters
    ----------
    vlrs
        Where the variable length records start, and how many there are.
    offset
        Where the points start.
    points
        How many there are, and the bytes of one uncompressed.
    """
    size, (count, record) = path.stat().st_size, points
    layers, chunk_size = _layers(path, _laszip_record(path, handle, *vlrs, offset), record)
    check_declared(path, "the position of the chunk table", 8, size - offset)
    handle.seek(offset)
    (table,) = struct.unpack("<q", handle.read(8))
    if table == -1:
        # Written to a stream: the position is in the last bytes instead.
        handle.seek(size - 8)
        (table,) = struct.unpack("<q", handle.read(8))
    if not offset + 8 <= table <= size - 8:
        raise FileFormatError(f"{path}: its chunk table is declared at byte {table} of {size}; file truncated?")
    handle.seek(table)
    _, chunks = struct.unpack("<II", handle.read(8))
    if chunks * chunk_size < count:
        raise FileFormatError(f"{path}: {count} points do not fit in {chunks} chunks of {chunk_size}")
    # Every chunk starts with one point as it is.
    check_declared(path, f"the chunk table ({chunks} chunks)", chunks * record, table - offset - 8)
    if layers:
        _check_layers(path, handle, offset + 8, table, chunks, record, layers)


def _laszip_record(path: Path, handle: BinaryIO, start: int, count: int, offset: int) -> bytes:
    for _ in range(count):
        handle.seek(start)
        header = handle.read(VLR_HEADER)
        check_declared(path, "a variable length record", VLR_HEADER, len(header))
        user, number, length = struct.unpack_from("<16sHH", header, 2)
        start += VLR_HEADER + length
        check_declared(path, "the variable length records", start, offset)
        if (user.rstrip(b"\0"), number) == LASZIP_ID:
            return handle.read(length)
    raise FileFormatError(f"{path}: says that its points are compressed but has no LASzip record")


def _layers(path: Path, laszip: bytes, record: int) -> tuple[int, int]:
    """How many layers a chunk has (0 when it is one stream), and how many points at most."""
    check_declared(path, "the LASzip record", 34, len(laszip))
    compressor, (chunk_size,) = laszip[0], struct.unpack_from("<I", laszip, 12)
    (count,) = struct.unpack_from("<H", laszip, 32)
    check_declared(path, f"the LASzip record ({count} items)", 34 + 6 * count, len(laszip))
    items = [struct.unpack_from("<HHH", laszip, 34 + 6 * i) for i in range(count)]
    if not items or chunk_size == 0 or sum(length for _, length, _ in items) != record or record == 0:
        raise FileFormatError(f"{path}: the LASzip record does not describe points of {record} bytes")
    layers = sum(length if kind == EXTRA_BYTES else LAYERS.get(kind, 0) for kind, length, _ in items)
    if (compressor == LAYERED) != (layers > 0):
        raise FileFormatError(f"{path}: the LASzip record names compressor {compressor}, which its items do not use")
    return layers, chunk_size


def _check_layers(path: Path, handle: BinaryIO, start: int, table: int, chunks: int, record: int, layers: int) -> None:
    """A layered chunk is a point, a count, the layers' sizes and the layers; the next one follows."""
    for index in range(chunks):
        handle.seek(start + record + 4)
        sizes = handle.read(4 * layers)
        start += record + 4 + 4 * layers
        check_declared(path, f"chunk {index} of its points", start, table)
        start += sum(struct.unpack(f"<{layers}I", sizes))
        check_declared(path, f"chunk {index} of its points", start, table)
