"""HERE: heuristics-guided search of the pose in three stages, each with one sampled pair taken as exact.

Order
    Pairs are ranked by how many others agree with them in length, and only the best are sampled (`here_order`).
Translation, three degrees of freedom
    A sample puts t on a sphere: branch and bound over its height, stabbing of arcs at each height (`here_translation`).
    The pairs kept are verified by the angle that they span with the sample, seen from t.
Rotation axis, two degrees
    A sample puts it on a circle, arcs are stabbed (`here_rotation`).
Rotation angle, one degree
    Arcs are stabbed. The better half of the pairs kept gives the pose, which is refined on its consensus.

The stages are the paper's, read in its summary; steps, thresholds and numbers are facts of the released code, among
them that clouds are scaled but not centred, and that pairs after the first 17 000 are used in the refinement only. How
the paper's text fixes the radii searched and chooses among candidates could not be known. Five things differ:

- degrees count all neighbours, not only those with a higher index;
- a slab's bound is the larger of its two chords; half the chord of the whole slab is not always a bound;
- verification looks at every pair, also at the one after a pair rejected;
- of the two candidates the one with most inliers within 0.8 ξ wins, not the one that moves the source least;
- the shift of the radius is the sample's, the other pairs' shells stay where they are.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import FloatArray, Found, nowhere
from benchmarks.peers.here_order import agree_with, scores
from benchmarks.peers.here_rotation import find_angle, find_axis
from benchmarks.peers.here_translation import search
from benchmarks.peers.rigid import fit, residuals

NAME = "HERE"
PAPER = (
    "T. Huang, H. Li, L. Peng, Y. Liu, Y.-H. Liu: Efficient and robust point cloud registration via heuristics-guided "
    "parameter search. TPAMI 2024, arXiv:2404.06155"
)
SETTINGS = (
    "as released (github.com/tyhuang98/HERE-release), but for five things that its file names: 20 samples, the best "
    "15 % of the pairs vote, heights to 10⁻³ of the largest norm, lengths agree within ξ/2, angle within 1.5 ξ, five "
    "refits within ξ, 12 threads"
)
SAMPLES = 20
VOTING = 0.15
ACCURACY = 1e-3
MOST_RANKED = 17_000
RADII = (-0.5, 0.0)
"""The spheres searched, in noise bounds from the sample's length."""
THREADS = 12
Members = NDArray[np.int64]


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    scale = max(np.linalg.norm(source, axis=1).max(initial=0.0), np.linalg.norm(target, axis=1).max(initial=0.0))
    if scale == 0.0 or len(source) < 3:
        return Found(nowhere())
    x, y, width = source / scale, target / scale, noise_bound / scale
    with ThreadPoolExecutor(THREADS) as pool:
        best = _best_pose(x, y, width, pool)
    if best is None:
        return Found(nowhere())
    for _ in range(5):
        inliers = residuals(best, x, y) <= width
        if inliers.sum() < 3:
            break
        best = fit(x[inliers], y[inliers])
    best[:3, 3] *= scale
    return Found(best, residuals(best, source, target) <= noise_bound)


def prepare() -> None:
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3))
    register(points, points, 0.01)


def _best_pose(x: FloatArray, y: FloatArray, width: float, pool: Executor) -> FloatArray | None:
    """The candidate with most inliers, one candidate per radius."""
    p, q = (np.ascontiguousarray(points[:MOST_RANKED].T) for points in (x, y))
    score = scores(p, q, 0.5 * width, pool, THREADS)
    order = np.argsort(-score, kind="stable")
    voters = order[: max(int(VOTING * (len(x) - 1)), SAMPLES)]
    best, best_count = None, -1
    for radius in RADII:
        jobs = [pool.submit(_keep, x, y, width, int(k), voters, radius * width) for k in order[:SAMPLES]]
        kept = [job.result() for job in jobs]
        translation, members = max(kept, key=lambda pair: len(pair[1]))
        axis, members = find_axis(p, q, translation, members, width, 0.5 * width, SAMPLES)
        _, members = find_angle(p, q, translation, axis, members, 1.5 * width)
        if len(members) < 3:
            continue
        surest = members[np.argsort(-score[members], kind="stable")][: max(len(members) // 2, 3)]
        pose = fit(x[surest], y[surest])
        count = int((residuals(pose, x, y) < 0.8 * width).sum())
        if count > best_count:
            best, best_count = pose, count
    return best


def _keep(
    x: FloatArray, y: FloatArray, width: float, sample: int, voters: Members, shift: float
) -> tuple[FloatArray, Members]:
    """The translation for one sample and one radius, and the pairs that it keeps, the sample first."""
    others = voters[agree_with(x, y, sample, voters, 0.5 * width)]
    length = np.linalg.norm(x[sample])
    lengths = np.linalg.norm(x[others], axis=1)
    radius = max(length + shift, np.finfo(float).tiny)
    translation, kept = search(y[sample], radius, y[others], lengths, width, ACCURACY)
    others, lengths = others[kept], lengths[kept]
    allowed = 0.5 * (_opening(width, length) + _opening(width, lengths))
    seen = _angle(y[sample] - translation, y[others] - translation)
    verified = np.abs(seen - _angle(x[sample], x[others])) <= allowed
    return translation, np.concatenate([[sample], others[verified]])


def _opening(width: float, lengths):
    """Half the angle of a ball of that width at these lengths."""
    return np.arcsin(np.minimum(width / np.maximum(lengths, np.finfo(float).tiny), 1.0))


def _angle(u: FloatArray, v: FloatArray) -> FloatArray:
    """Angles between one vector and many."""
    return np.arctan2(np.linalg.norm(np.cross(u, v), axis=-1), v @ u)
