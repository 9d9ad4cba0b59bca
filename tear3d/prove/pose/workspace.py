"""What a thread works with in the search for the whole pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from tear3d.prove.pose.boxes import Scratch, make_scratch
from tear3d.prove.pose.cells import CellScratch, make_cell_scratch
from tear3d.prove.pose.home import padded
from tear3d.prove.pose.points import Packed

FEW = 500_000
"""There is room for copies of so many pairs, or half as many again as there are, ..."""
SHARE = 16
"""... and for one in so many (memory; free choices, part of no bound)."""


class Workspace:
    """Work space for votes, and for boxes as large as was needed so far."""

    def __init__(self, packed: Packed | None, dtype: Any = np.float32) -> None:
        self._boxes: Scratch | None = None
        self.dtype = dtype
        if packed is not None:
            n = packed.size
            room = max(min(FEW, n + n // 2 + 1024), n // SHARE)
            self.cells: CellScratch = make_cell_scratch(
                packed.voters, room, packed.ballot.many, groups=len(packed.groups.centres) > 1
            )

    def boxes(self, n: int) -> Scratch:
        """Work space for boxes of n points."""
        if self._boxes is None or self._boxes.points.shape[1] < padded(n):
            self._boxes = None  # before a larger one is made
            self._boxes = make_scratch(n + n // 4 + 256, self.dtype)
        return self._boxes
