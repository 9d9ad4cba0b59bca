"""Point clouds drawn with braille characters: two by four dots per character."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]], dtype=np.int64)


def braille(
    points: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64], width: int, height: int
) -> str:
    """Draw 2-D points of the box from `low` to `high` into `width` × `height` characters, y up."""
    size = np.array([2 * width, 4 * height])
    scale = np.min(size / np.maximum(high - low, 1e-12))
    dots = np.floor((points - (low + high) / 2) * scale + size / 2).astype(np.int64)
    column, row = dots[np.all((dots >= 0) & (dots < size), axis=1)].T
    row = size[1] - 1 - row
    cells = np.zeros((height, width), dtype=np.int64)
    np.bitwise_or.at(cells, (row // 4, column // 2), _DOTS[row % 4, column % 2])
    return "\n".join("".join(chr(0x2800 + cell) for cell in line) for line in cells)
