"""What the paper reports, for the columns and curves named after it (its Table 4; 8 cores)."""

from __future__ import annotations

from typing import NamedTuple

CORES = 8


class Published(NamedTuple):
    """One column of the paper's Table 4: Stanford models resized into the unit cube."""

    n: int
    outlier_ratio: float
    seconds: float
    rotation_error: float
    """Degrees."""
    translation_error: float
    """In units of the cube (the paper prints centimetres for a cube of one metre)."""


TABLE_4 = (
    Published(100_000, 0.99, 12.7, 0.51, 0.0025),
    Published(500_000, 0.992, 119.0, 0.23, 0.0013),
    Published(1_000_000, 0.994, 356.0, 0.14, 0.0012),
    Published(4_000_000, 0.996, 1013.0, 0.11, 0.0008),
    Published(10_000_000, 0.998, 1972.0, 0.07, 0.0006),
)


def published(n: int, outlier_ratio: float) -> Published | None:
    """The paper's figures for this problem, if it has any."""
    return next((row for row in TABLE_4 if (row.n, row.outlier_ratio) == (n, outlier_ratio)), None)
