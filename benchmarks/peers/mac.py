"""MAC: maximal cliques of the compatibility graph, of every pair the heaviest it is in, a pose each, the best of all.

The authors' code keeps N×N floats and every clique; here compatibility takes N²/8 bytes, weights are kept for edges and
cliques only while they are the heaviest of a pair: memory grows as theirs does, from less. Normals, which the authors'
code leaves out as well, play no part.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, Found, nowhere
from benchmarks.peers.hypotheses import judge, reweighted
from benchmarks.peers.mac_cliques import best_cliques
from benchmarks.peers.mac_graph import Graph, compatible, reduced, row_counts, second_order_graph
from benchmarks.peers.rigid import fit_all, residuals

NAME = "MAC"
PAPER = "X. Zhang, J. Yang, S. Zhang, Y. Zhang: 3D registration with maximal cliques. CVPR 2023"
SETTINGS = (
    "second-order graph; d_cmp = ξ: the authors' code takes ten cloud resolutions, about ξ on 3DMatch, and ξ itself "
    "where it has no clouds; t_cmp = 0.99 for all data, as in their demo and for 3DLoMatch (3DMatch with FPFH: "
    "0.995), raised to 0.999 and 0.9999 only above 20 million edges, where they raise it for many pairs; their "
    "reduction of dense graphs; cliques of 3 and more, all members alike; MAE score with threshold ξ; at most 20 "
    "refinements; a cap of our own: 20 000 branches a node"
)
MEMORY = "quadratic"
THREADS = 1
THRESHOLDS = (0.99, 0.999, 0.9999)
MOST_EDGES = 20_000_000
LEAST_CLIQUE = 3
MOST_STEPS = 20_000
"""Branches of the search from one node; the authors list all cliques, and raise t_cmp where these are too many."""
REFINEMENTS = 20


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    if len(source) < LEAST_CLIQUE:
        return Found(nowhere())
    graph, threshold = _graph(source, target, noise_bound)
    members, ends, choice, listed, cut = best_cliques(
        (graph.starts, graph.indices, graph.weights), LEAST_CLIQUE, MOST_STEPS
    )
    kept = np.unique(choice[choice >= 0])
    notes = {
        "threshold": threshold,
        "edges": graph.edges,
        "cliques": int(listed),
        "nodes_cut": int(cut),
        "poses": len(kept),
    }
    if len(kept) == 0:
        return Found(nowhere(), notes=notes)
    poses = _poses(source, target, members, ends, kept)
    _, scores = judge(poses, source, target, noise_bound)
    best = int(np.argmax(scores))
    if scores[best] <= 0.0:
        return Found(nowhere(), notes=notes)
    pose = _refine(poses[best], source, target, noise_bound)
    return Found(pose, residuals(pose, source, target) < noise_bound, notes)


def prepare() -> None:
    points = np.random.default_rng(0).normal(size=(40, 3))
    register(points, points, 0.1)


def _graph(source: FloatArray, target: FloatArray, noise_bound: float) -> tuple[Graph, float]:
    for threshold in THRESHOLDS:
        limit = noise_bound * float(np.sqrt(-2.0 * np.log(threshold)))
        bits = compatible(source, target, limit)
        if row_counts(bits).sum() <= 2 * MOST_EDGES:
            break
    return reduced(second_order_graph(source, target, bits, noise_bound)), threshold


def _poses(
    source: FloatArray, target: FloatArray, members: np.ndarray, ends: np.ndarray, kept: np.ndarray
) -> FloatArray:
    """Least squares of every clique, all members alike."""
    begins = np.concatenate([[0], ends[:-1]])[kept]
    sizes = ends[kept] - begins
    poses = np.empty((len(kept), 4, 4))
    for size in np.unique(sizes):
        same = sizes == size
        rows = members[begins[same][:, None] + np.arange(size)]
        poses[same] = fit_all(source[rows], target[rows])
    return poses


def _refine(pose: FloatArray, source: FloatArray, target: FloatArray, noise_bound: float) -> FloatArray:
    """Refit as long as the score does not fall."""
    before = judge(pose[None], source, target, noise_bound)[1][0]
    for _ in range(REFINEMENTS):
        candidate = reweighted(pose, source, target, noise_bound)
        score = judge(candidate[None], source, target, noise_bound)[1][0]
        if score < before:
            break
        pose, before = candidate, score
    return pose
