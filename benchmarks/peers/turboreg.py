"""TurboReg: cliques of three in a strict compatibility graph, searched around the edges with most common neighbours.

1. Graph: pairs whose lengths agree within τ and that are not too close; SC² scores of its edges (`turboreg_cliques`).
2. Pivots: the K₁ edges with the highest scores; for each the K₂ = 2 best third pairs.
3. A pose from each clique by least squares; the one with most inliers wins.
4. Refinement: up to 20 weighted refits with weights 1 / (1 + (r/ξ)²) on the inliers, until their number stays.

Two things differ from the released code, neither to change its answers: the graph is in bits and only edges
are scored, instead of a dense product of matrices; a pivot without a clique gives none, instead of three arbitrary
pairs. As there, pairs after the first 7000 are not looked at.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, Found, nowhere
from benchmarks.peers.rigid import fit, fit_all, residuals
from benchmarks.peers.turboreg_cliques import cliques, compatible, inlier_counts, pivots

NAME = "TurboReg"
PAPER = (
    "S. Yan, P. Shi, Z. Zhao, K. Wang, K. Cao, J. Wu, J. Li: TurboReg: TurboClique for robust and efficient point "
    "cloud registration. ICCV 2025, arXiv:2507.01439"
)
SETTINGS = (
    "The authors' command for 3DMatch with FPFH: the first 7000 pairs, τ 0.012 m, 2000 pivots, pairs whose distances "
    "sum to 0.15 m or less are not compared, most inliers within 0.1 m (IN), 20 refits; problems scaled to ξ = 0.1 m"
)
METRES = True
MEMORY = "quadratic"
THREADS = 1
MOST_PAIRS = 7000
LENGTHS_AGREE = 0.012
NEAREST = 0.15
PIVOTS = 2000
PER_PIVOT = 2
REFITS = 20


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    x, y = (np.ascontiguousarray(points[:MOST_PAIRS]) for points in (source, target))
    graph = compatible(x, y, LENGTHS_AGREE, NEAREST)
    triples = cliques(graph, pivots(graph, PIVOTS), PER_PIVOT)
    if len(triples) == 0:
        return Found(nowhere(), notes={"cliques": 0})
    poses = fit_all(x[triples], y[triples])
    best = poses[np.argmax(inlier_counts(poses, x, y, noise_bound))]
    best = refine(best, x, y, noise_bound)
    return Found(best, residuals(best, source, target) < noise_bound, {"cliques": len(triples)})


def refine(pose: FloatArray, x: FloatArray, y: FloatArray, width: float) -> FloatArray:
    """Weighted refits on the inliers until their number stays."""
    before = 0
    for _ in range(REFITS):
        errors = residuals(pose, x, y)
        inliers = errors < width
        if inliers.sum() in (0, before):
            break
        before = inliers.sum()
        pose = fit(x[inliers], y[inliers], 1.0 / (1.0 + (errors[inliers] / width) ** 2))
    return pose


def prepare() -> None:
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
    register(points, points, 0.1)
