"""SC²-PCR: sets of pairs that share compatible pairs with a seed, one pose each, the pose with the most inliers.

As in the authors' code only the first 8000 pairs are looked at; the rest takes no part, not even in the last fit.
With ten inliers of a thousand (99 % outliers) half of every set of 20 is wrong: synthetic problems of ξ = 0.055 come
out right more often when they are not scaled, so that the thresholds of 0.1 are wider than their noise.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, Found, nowhere
from benchmarks.peers.hypotheses import judge, reweighted
from benchmarks.peers.rigid import fit_all, residuals
from benchmarks.peers.sc2pcr_kernels import compatibility, consensus_sets, local_maxima, second_order

NAME = "SC²-PCR"
PAPER = "Z. Chen, K. Sun, F. Yang, W. Tao: SC²-PCR: a second order spatial compatibility. CVPR 2022"
SETTINGS = (
    "config_3DMatch.json of the authors' repository: inlier threshold and compatibility distance ξ = 0.1 m, seeds at "
    "most 20 % of the pairs and suppressed within 0.1 m, sets of 30 and 20, ten power iterations, the first 8000 "
    "pairs, at most 20 refinements; every problem scaled so that ξ = 0.1 m, with which small synthetic ones with 99 % "
    "wrong come out right less often; the authors' own lengths for KITTI are not used"
)
METRES = True
MEMORY = "quadratic"
THREADS = 1
MOST_PAIRS = 8000
SEED_RATIO = 0.2
SUPPRESSION_RADIUS = 0.1
FIRST_SET, SECOND_SET = 30, 20
POWER_ITERATIONS = 10
REFINEMENTS = 20


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    x, y = source[:MOST_PAIRS], target[:MOST_PAIRS]
    n = len(x)
    if n < 3:
        return Found(nowhere())
    soft, loose, tight = compatibility(x, y, noise_bound)
    seeds = _seeds(x, _leading_eigenvector(soft))
    del soft
    counts = second_order(seeds, loose, tight)
    sizes = (min(FIRST_SET, n), min(SECOND_SET, n))
    members, weights = consensus_sets(counts, x, y, noise_bound, sizes, POWER_ITERATIONS)
    poses = fit_all(x[members], y[members], weights)
    votes, _ = judge(poses, x, y, noise_bound)
    best = int(np.argmax(votes))
    if votes[best] < 1:
        return Found(nowhere(), notes={"seeds": len(seeds)})
    pose = _refine(poses[best], x, y, noise_bound)
    return Found(pose, residuals(pose, source, target) < noise_bound, {"seeds": len(seeds), "pairs": n})


def prepare() -> None:
    points = np.random.default_rng(0).normal(size=(40, 3))
    register(points, points, 0.1)


def _leading_eigenvector(matrix: np.ndarray) -> np.ndarray:
    vector = np.ones(len(matrix), np.float32)
    for _ in range(POWER_ITERATIONS):
        last, vector = vector, matrix @ vector
        vector = vector / (np.linalg.norm(vector) + np.float32(1e-6))
        if np.allclose(vector, last):
            break
    return vector


def _seeds(points: FloatArray, confidence: np.ndarray) -> np.ndarray:
    """The pairs of highest confidence among those highest around (Sec. 3.3); the others follow if these are too few."""
    score = confidence * local_maxima(points, confidence, SUPPRESSION_RADIUS)
    return np.argsort(-score, kind="stable")[: max(1, int(SEED_RATIO * len(points)))]


def _refine(pose: FloatArray, x: FloatArray, y: FloatArray, noise_bound: float) -> FloatArray:
    """Refit until the number of inliers stays."""
    before = 0
    for _ in range(REFINEMENTS):
        inliers = int(np.sum(residuals(pose, x, y) < noise_bound))
        if inliers == before:
            break
        before = inliers
        pose = reweighted(pose, x, y, noise_bound)
    return pose
