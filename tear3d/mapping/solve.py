"""A pose graph solved: poses, which edges they rest on, and what the graph cannot decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.judge.uncertainty import carried
from tear3d.mapping.descent import marginals
from tear3d.mapping.graph import Graph, IntArray, Measured
from tear3d.mapping.residuals import Poses, squares
from tear3d.mapping.robust import fit
from tear3d.mapping.settle import from_first, renumbered, settle
from tear3d.mapping.trees import bridges, parts
from tear3d.problem.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Solution:
    """Poses of the parts of a graph, each in the frame of its first scan."""

    components: tuple[tuple[int, ...], ...]
    """Scans that kept edges join, the largest part first."""
    poses: FloatArray
    """N×4×4, from each scan into the frame of the first scan of its component."""
    covariances: FloatArray
    """N×6×6, of (ω, v) in the frame of each scan, as that of a result; zero for the first scan of a component."""
    weighed: FloatArray
    """E×6×6: the covariance of each edge, about the centre of its source, that poses and covariances rest on."""
    squares: FloatArray
    """r² = eᵀ C⁻¹ e of every edge by which it was kept or dropped: with the allowance of `tear3d.mapping.graph.FLOOR`
    in C, and against the poses that go with it; NaN between components."""
    kept: NDArray[np.bool_]
    """Edges that the poses rest on."""
    alone: NDArray[np.bool_]
    """Kept edges that no loop goes through: nothing else bears them out."""
    undecided: NDArray[np.bool_]
    """Dropped edges that contradict an edge which is alone: either may be the wrong one."""

    def hanging(self, graph: Graph) -> dict[int, tuple[int, ...]]:
        """For every edge that is alone, the scans beyond it: the smaller side."""
        found = {}
        i, j = (np.array([getattr(edge, end) for edge in graph.edges], np.int64) for end in "ij")
        for edge in np.flatnonzero(self.alone):
            rest = self.kept.copy()
            rest[edge] = False
            sides = parts(graph.count, i[rest], j[rest])
            ends = [side for side in sides if i[edge] in side or j[edge] in side]
            found[int(edge)] = tuple(int(scan) for scan in ends[-1])
        return found


def solve(graph: Graph, *, seed: int = 0, settled: bool = False) -> Solution:
    """Robust least squares of all poses.

    Parameters
    ----------
    graph : Graph
    seed : int
        Of the trees that the search starts from.
    settled : bool
        Once it is known which edges are kept, weigh them as their loops say, see `tear3d.mapping.settle`. Else they are
        weighed as they were for the choice, which makes the covariances wide.

    Returns
    -------
    Solution
        The best local minimum of Σ min(r², c²) that was found, with c² = `TRUNCATION`.
    """
    edges, count = graph.measured(), graph.count
    centred = Poses(np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)))
    covariances, kept = np.zeros((count, 6, 6)), np.zeros(len(edges), bool)
    for scans in parts(count, edges.i, edges.j):
        if len(scans) == 1:
            continue
        rows = np.isin(edges.i, scans)
        own = renumbered(edges[rows], scans)
        fitted = fit(len(scans), own, seed)
        kept[rows] = fitted.kept
        for inner in parts(len(scans), own.i[fitted.kept], own.j[fitted.kept]):
            inside = fitted.kept & np.isin(own.i, inner)
            placed = from_first(Poses(fitted.poses.rotations[inner], fitted.poses.shifts[inner]))
            centred.rotations[scans[inner]], centred.shifts[scans[inner]] = placed
            covariances[scans[inner]] = marginals(renumbered(own[inside], inner), placed)
    components = parts(count, edges.i[kept], edges.j[kept])
    alone = np.zeros(len(edges), bool)
    alone[kept] = bridges(count, edges.i[kept], edges.j[kept])
    left = squares(edges, centred)
    left[_apart(components, edges)] = np.nan
    weighed = graph.covariances()
    for scans in components if settled else []:
        rows = kept & np.isin(edges.i, scans)
        found = settle(graph, rows, scans, Poses(centred.rotations[scans], centred.shifts[scans]))
        if found is not None:
            centred.rotations[scans], centred.shifts[scans] = found.poses
            covariances[scans], weighed[rows] = found.covariances, found.weighed
    return Solution(
        components=tuple(tuple(int(scan) for scan in scans) for scans in components),
        poses=_outside(graph, centred, components),
        covariances=np.array([carried(c, 1.0, centre) for c, centre in zip(covariances, graph.centres, strict=True)]),
        weighed=weighed,
        squares=left,
        kept=kept,
        alone=alone,
        undecided=_undecided(count, edges, kept, alone),
    )


def _apart(components: list[IntArray], edges: Measured) -> NDArray[np.bool_]:
    """Edges between components."""
    label = np.empty(sum(map(len, components)), np.int64)
    for number, scans in enumerate(components):
        label[scans] = number
    return np.asarray(label[edges.i] != label[edges.j])


def _outside(graph: Graph, centred: Poses, components: list[IntArray]) -> FloatArray:
    """In the coordinates of the scans, the first of a component having the identity."""
    poses = np.tile(np.eye(4), (graph.count, 1, 1))
    poses[:, :3, :3] = centred.rotations
    # c_first + t − R c
    poses[:, :3, 3] = centred.shifts - np.einsum("nab,nb->na", centred.rotations, graph.centres)
    for scans in components:
        poses[scans, :3, 3] += graph.centres[scans[0]]
        poses[scans[0]] = np.eye(4)
    return poses


def _undecided(count: int, edges: Measured, kept: NDArray[np.bool_], alone: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Dropped edges whose ends fall apart without the edges that are alone."""
    firm = kept & ~alone
    return ~kept & _apart(parts(count, edges.i[firm], edges.j[firm]), edges)
