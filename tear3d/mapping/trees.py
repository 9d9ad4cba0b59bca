"""What holds a graph together: its parts, trees that span it, edges without which it falls apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree, shortest_path

from tear3d.mapping.graph import IntArray, Measured
from tear3d.mapping.residuals import Poses
from tear3d.problem.arrays import FloatArray


def parts(count: int, i: IntArray, j: IntArray) -> list[IntArray]:
    """Which scans hang together, the largest part first, then by their first scan."""
    graph = coo_matrix((np.ones(len(i)), (i, j)), shape=(count, count))
    labels = connected_components(graph, directed=False)[1]
    found = [np.flatnonzero(labels == label) for label in range(int(labels.max(initial=-1)) + 1)]
    return sorted(found, key=lambda scans: (-len(scans), int(scans[0])))


def bridges(count: int, i: IntArray, j: IntArray) -> NDArray[np.bool_]:
    """Edges without which the graph falls apart: no loop goes through them."""
    touching: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for edge, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        touching[a].append((b, edge))
        touching[b].append((a, edge))
    found = np.zeros(len(i), bool)
    entered, low = [-1] * count, [0] * count
    clock = 0
    for root in range(count):
        if entered[root] >= 0:
            continue
        entered[root] = low[root] = clock
        clock += 1
        path = [(root, -1, iter(touching[root]))]
        while path:
            node, came, rest = path[-1]
            for other, edge in rest:
                if edge == came:
                    continue
                if entered[other] < 0:
                    entered[other] = low[other] = clock
                    clock += 1
                    path.append((other, edge, iter(touching[other])))
                    break
                low[node] = min(low[node], entered[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                    found[came] = low[node] > entered[above]
    return found


def hops(count: int, i: IntArray, j: IntArray) -> FloatArray:
    """N×N: how many edges the shortest way between two scans has; infinite where there is none."""
    graph = coo_matrix((np.ones(len(i)), (i, j)), shape=(count, count)).tocsr()
    graph.data[:] = 1.0
    return np.asarray(shortest_path(graph, directed=False, unweighted=True))


def spanning(count: int, edges: Measured, price: FloatArray) -> Poses:
    """Poses along the cheapest tree, from the first scan; the graph must hang together."""
    best: dict[tuple[int, int], int] = {}
    for edge in np.argsort(price, kind="stable")[::-1]:
        a, b = int(edges.i[edge]), int(edges.j[edge])
        best[min(a, b), max(a, b)] = int(edge)
    chosen = np.array(list(best.values()))
    graph = coo_matrix((price[chosen], (edges.i[chosen], edges.j[chosen])), shape=(count, count))
    tree = minimum_spanning_tree(graph.tocsr())
    order, before = breadth_first_order(tree, 0, directed=False)
    rotations, shifts = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    for node in order[1:]:
        known = int(before[node])
        edge = best[min(known, int(node)), max(known, int(node))]
        turn, way = edges.rotations[edge], edges.shifts[edge]
        if edges.i[edge] != known:
            turn, way = turn.T, -turn.T @ way
        rotations[node] = rotations[known] @ turn
        shifts[node] = rotations[known] @ way + shifts[known]
    return Poses(rotations, shifts)
