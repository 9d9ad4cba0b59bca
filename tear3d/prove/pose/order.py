"""Which pairs voters are that were sorted into groups, in two bytes each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST_BLOCK = 1 << 16
"""Pairs of a block at most: what 16 bits tell apart."""


class Order(NamedTuple):
    """Pairs in blocks, sorted by groups: those of a group stay in order, so that each need only know its place in its
    block."""

    edges: NDArray[np.int64]
    """Where the pairs of the first group begin that are in the first block, in the second and so on, then those of the
    second group."""
    blocks: int
    size: int
    """So many blocks of so many pairs, but for the last."""
    within: NDArray[np.uint16]
    """For each voter its place in its block; empty when nothing was sorted."""

    def numbers(self, voters: NDArray[np.int32]) -> NDArray[np.int32]:
        """The numbers of the pairs that some voters are."""
        if not self.within.size:
            return voters.copy()
        block = (np.searchsorted(self.edges, voters, side="right") - 1) % self.blocks
        return (block * self.size + self.within[voters]).astype(np.int32)
