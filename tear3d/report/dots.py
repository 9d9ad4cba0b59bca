"""Dots in a few colours as a small PNG with a clear ground, written without any package."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

import numpy as np

from tear3d.problem.arrays import FloatArray

REACH = 2
"""Radius of a dot in pixels."""


def png(clouds: Sequence[FloatArray], colours: Sequence[str], side: int) -> bytes:
    """A square picture.

    Parameters
    ----------
    clouds : sequence of (N, 2) array
        Coordinates from −1 to 1, to the right and up; what lies outside is left out. Later ones lie above.
    colours : sequence of str
        Of each, `#rrggbb`.
    side : int
        Pixels.
    """
    sheet = np.zeros((side + 2 * REACH, side + 2 * REACH), dtype=np.uint8)  # with room for dots at the edge
    steps = range(-REACH, REACH + 1)
    disc = [(i, j) for i in steps for j in steps if i * i + j * j <= REACH * REACH + 1]
    for number, cloud in enumerate(clouds, 1):
        inside = cloud[np.abs(cloud).max(axis=1) <= 1.0] * [1.0, -1.0]
        x, y = np.rint(0.5 * (side - 1) * (1.0 + inside)).astype(int).T + REACH
        for i, j in disc:
            sheet[y + i, x + j] = number
    rows = sheet[REACH:-REACH, REACH:-REACH]
    palette = bytes(3) + b"".join(bytes.fromhex(colour.removeprefix("#")) for colour in colours)
    lines = np.column_stack([np.zeros(side, dtype=np.uint8), rows])  # each begins with its filter: none
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"tRNS", b"\0"),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
