"""Cells that lie together, so that a piece looks once for the pairs that can matter in any of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.prove.pose.nodes import EVERYWHERE, FACE, HIGH, LOW

WORTH = 0.6
"""A family is one when the pairs that matter in it are at most this share of those of the family it is in (free choice:
copying a pair takes less than half of what its vote about one cell does)."""


@dataclass
class Family:
    """Cells with all that lies between them, which is a cell too."""

    hull: FloatArray
    share: float = 1.0
    """Of all pairs that matter in it, roughly."""
    nodes: list[int] = field(default_factory=list)
    """Members that belong to no smaller family."""
    families: list[Family] = field(default_factory=list)

    def visits(self) -> tuple[float, float]:
        """How many votes, or marks, a pair casts on average, and how often it is looked at for a smaller family."""
        below = np.array([child.visits() for child in self.families]).reshape(-1, 2).sum(axis=0)
        votes, picks = below + self.share * np.array([len(self.nodes), len(self.families)])
        return float(votes), float(picks)


def find_families(nodes: FloatArray, share: Callable[[FloatArray], float]) -> Family:
    """All nodes as a family; its own hull is of no use. `share` says how many pairs matter in a cell, roughly."""
    found = Family(nodes[0])
    for face in np.unique(nodes[:, FACE]).tolist():
        members = np.flatnonzero(nodes[:, FACE] == face)
        if face == EVERYWHERE:
            found.nodes += members.tolist()
        else:
            _sort_in(nodes, members, found, share)
    return found


def _sort_in(
    nodes: FloatArray, members: NDArray[np.int64], family: Family, share: Callable[[FloatArray], float]
) -> None:
    """Halve members of a family until there are families among them."""
    if len(members) == 1:
        family.nodes += members.tolist()
        return
    hull = _hull(nodes[members])
    child = Family(hull, share(hull))
    if child.share <= WORTH * family.share:
        family.families.append(child)
        family = child
    for half in _halves(nodes, members):
        _sort_in(nodes, half, family, share)


def _hull(nodes: FloatArray) -> FloatArray:
    hull = nodes[0].copy()
    hull[LOW : LOW + 6] = nodes[:, LOW : LOW + 6].min(axis=0)
    hull[HIGH : HIGH + 6] = nodes[:, HIGH : HIGH + 6].max(axis=0)
    return hull


def _halves(nodes: FloatArray, members: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Two halves, apart along the side of g along which they reach farthest."""
    middles = nodes[members, LOW : LOW + 3] + nodes[members, HIGH : HIGH + 3]
    side = int(np.argmax(np.ptp(middles, axis=0)))
    order = members[np.argsort(middles[:, side], kind="stable")]
    return [order[: len(order) // 2], order[len(order) // 2 :]]
