"""Which pairs of scans to try."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.spatial import cKDTree

from tear3d.judge.uncertainty import carried
from tear3d.mapping.graph import Graph
from tear3d.mapping.solve import Solution
from tear3d.mapping.trees import hops, parts
from tear3d.problem.arrays import FloatArray

Pair = tuple[int, int]

OVERLAP = 0.3
"""Share of a scan that must lie near the other one, as far as the poses tell, for the pair to be tried: free choice;
pairs of less overlap are rarely confirmed."""
WIDE = 3.0
"""Standard deviations by which poses may be off."""
LOOP = 4
"""Edges between two scans from which on a new one between them closes a loop that is worth the time: free choice."""
BATCH = 8
"""Pairs that are tried before the poses are computed anew, which rules others out. Free choice."""
ROUND = 24
"""Pairs that are looked at before those which have become joined are left out: free choice."""
NEAR = 2.0
"""Voxels within which a point counts as near a surface of points a voxel apart."""


def by_order(count: int, reach: int) -> list[Pair]:
    """Every scan with those before it, nearest first."""
    return [(k, k + step) for step in range(1, reach + 1) for k in range(count - step)]


def by_distance_in_order(count: int) -> Iterator[list[Pair]]:
    """All pairs, neighbours first, in rounds of at least `ROUND` but for the last."""
    pairs: list[Pair] = []
    for step in range(1, count):
        pairs += [(k, k + step) for k in range(count - step)]
        if len(pairs) >= ROUND or step == count - 1:
            yield pairs
            pairs = []


class Foreseen:
    """What the poses so far say about pairs that were not tried."""

    def __init__(
        self, graph: Graph, solution: Solution, sketch: Callable[[int], FloatArray], voxel_size: float
    ) -> None:
        self.graph, self.solution, self.sketch, self.voxel_size = graph, solution, sketch, voxel_size
        count, firm = graph.count, solution.kept & ~solution.alone
        ends = np.array([(edge.i, edge.j) for edge in graph.edges], np.int64).reshape(-1, 2)
        self._steps = hops(count, *ends[solution.kept].T)
        self._block = np.empty(count, np.int64)
        for number, scans in enumerate(parts(count, *ends[firm].T)):
            self._block[scans] = number
        self._spread = np.array([self._deviation(scan) for scan in range(count)])

    def loops(self, tried: set[Pair]) -> list[Pair]:
        """The next pairs that may overlap and would close a loop or give a second hold to what hangs on one edge.

        Those whose centres lie nearest come first; of pairs side by side one is enough for now.
        """
        chosen: list[Pair] = []
        for i, j in self._candidates(tried):
            beside = any(self._steps[a, i] <= 1 and self._steps[b, j] <= 1 for a, b in chosen)
            if not beside and self.overlap(i, j) >= OVERLAP:
                chosen.append((i, j))
                if len(chosen) == BATCH:
                    break
        return chosen

    def overlap(self, i: int, j: int) -> float:
        """Share of a scan near the other one, if the poses are off in the best way; the larger of both directions."""
        one, other = (self._placed(scan) for scan in (i, j))
        reach = NEAR * self.voxel_size + self._tolerance(i, j)
        there = np.isfinite(cKDTree(other).query(one, distance_upper_bound=reach)[0])
        back = np.isfinite(cKDTree(one).query(other, distance_upper_bound=reach)[0])
        return float(max(there.mean(), back.mean()))

    def _candidates(self, tried: set[Pair]) -> list[Pair]:
        found = []
        for component in self.solution.components:
            scans = np.array(component)
            centres = np.einsum("nab,nb->na", self.solution.poses[scans, :3, :3], self.graph.centres[scans])
            centres += self.solution.poses[scans, :3, 3]
            for a, i in enumerate(component):
                for b, j in enumerate(component[a + 1 :], a + 1):
                    if (i, j) in tried or not self._wanted(i, j):
                        continue
                    distance = float(np.linalg.norm(centres[a] - centres[b]))
                    # Twice the root mean square distance: beyond it lies next to nothing of most scans.
                    if distance <= 2.0 * (self.graph.radii[i] + self.graph.radii[j]) + self._tolerance(i, j):
                        found.append((distance, i, j))
        return [(i, j) for _, i, j in sorted(found)]

    def _wanted(self, i: int, j: int) -> bool:
        return bool(self._steps[i, j] >= LOOP or self._block[i] != self._block[j])

    def _tolerance(self, i: int, j: int) -> float:
        return WIDE * float(self._spread[i] + self._spread[j])

    def _placed(self, scan: int) -> FloatArray:
        pose = self.solution.poses[scan]
        return np.asarray(self.sketch(scan) @ pose[:3, :3].T + pose[:3, 3])

    def _deviation(self, scan: int) -> float:
        """Of where the pose puts points of the scan."""
        about = carried(self.solution.covariances[scan], 1.0, -self.graph.centres[scan])
        turn, shift = (np.sqrt(max(0.0, np.linalg.eigvalsh(block)[-1])) for block in (about[:3, :3], about[3:, 3:]))
        return float(shift + self.graph.radii[scan] * turn)
