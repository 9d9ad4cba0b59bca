"""TEASER written from its paper: the largest clique of pairs that keep lengths, then rotation, then translation.

Runs where TEASER++'s package does not. Its memory is quadratic in the number of pairs: N²/4 bytes here.
"""

from __future__ import annotations

import numpy as np

from benchmarks.peers import FloatArray, Found, nowhere
from benchmarks.peers.cliques import largest, same_lengths
from benchmarks.peers.rigid import pose

NAME = "TEASER"
PAPER = "H. Yang, J. Shi, L. Carlone: TEASER: fast and certifiable point cloud registration. T-RO 2021"
SETTINGS = (
    "those of the authors' examples: cbar² 1, no scale, exact clique, rotation by GNC-TLS on the chain of the clique, "
    "factor 1.4, 100 iterations, cost threshold 1e-12. The limit of the clique search (theirs: an hour) counts words "
    "instead of seconds, so that answers repeat: about a minute"
)
MEMORY = "quadratic"
THREADS = 1
GNC_FACTOR = 1.4
GNC_ITERATIONS = 100
GNC_THRESHOLD = 1e-12
CLIQUE_BUDGET = 100_000_000_000
"""Words of bits that the search of cliques may read; the largest found so far is taken then."""


def register(source: FloatArray, target: FloatArray, noise_bound: float) -> Found:
    """Sections V (rotation), VI (translation) and VII (cliques) of the paper, without scale."""
    graph = same_lengths(source, target, 2.0 * noise_bound)
    clique, proven = largest(graph, CLIQUE_BUDGET)
    notes = {"clique": len(clique), "cut": not proven}
    if len(clique) < 3:
        return Found(nowhere(), np.zeros(len(source), dtype=bool), notes)
    chain = np.roll(clique, -1)
    weights, rotation = turn(source[chain] - source[clique], target[chain] - target[clique], 2.0 * noise_bound)
    kept = clique[weights >= 0.5]
    if not len(kept):
        return Found(nowhere(), np.zeros(len(source), dtype=bool), notes)
    shifts = target[kept] - source[kept] @ rotation.T
    translation = np.array([vote(shifts[:, axis], noise_bound) for axis in range(3)])
    inliers = np.zeros(len(source), dtype=bool)
    inliers[kept] = (np.abs(shifts - translation) <= noise_bound).all(axis=1)
    return Found(pose(rotation, translation), inliers, notes)


def turn(a: FloatArray, b: FloatArray, bound: float) -> tuple[FloatArray, FloatArray]:
    """Weights and rotation of truncated least squares b = R a, by graduated non-convexity (Yang et al., RA-L 2020)."""
    weights, cost, mu = np.ones(len(a)), np.inf, 0.0
    for step in range(GNC_ITERATIONS):
        rotation = aligned(a, b, weights)
        squares = ((b - a @ rotation.T) ** 2).sum(axis=1) / bound**2
        if step == 0:
            worst = 2.0 * squares.max() - 1.0
            if worst <= 0.0:
                break
            mu = 1.0 / worst
        before, cost = cost, bound**2 * weights @ squares
        middle = np.sqrt(mu * (mu + 1.0) / np.maximum(squares, np.finfo(float).tiny)) - mu
        weights = np.where(squares >= (mu + 1.0) / mu, 0.0, np.where(squares <= mu / (mu + 1.0), 1.0, middle))
        mu *= GNC_FACTOR
        if abs(cost - before) < GNC_THRESHOLD:
            break
    return weights, rotation


def aligned(a: FloatArray, b: FloatArray, weights: FloatArray) -> FloatArray:
    """The rotation that takes a to b best, without a translation."""
    u, _, vt = np.linalg.svd((b * weights[:, None]).T @ a)
    return u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt


def vote(values: FloatArray, bound: float) -> float:
    """Adaptive voting: the number that minimises Σ min((value - number)² / bound², 1)."""
    middle = np.median(values)
    values = np.sort(values - middle)
    ends = np.sort(np.concatenate([values - bound, values + bound]))
    centres = 0.5 * (ends[1:] + ends[:-1])
    first = np.searchsorted(values, centres - bound, side="left")
    last = np.searchsorted(values, centres + bound, side="right")
    count = np.maximum(last - first, 1)
    one, two = (np.concatenate([[0.0], np.cumsum(power)]) for power in (values, values**2))
    means = (one[last] - one[first]) / count
    spread = two[last] - two[first] - count * means**2
    cost = np.where(last > first, spread / bound**2 - count, np.inf)
    return float(means[np.argmin(cost)] + middle)


def prepare() -> None:
    """Compile the search of cliques."""
    points = np.random.default_rng(0).normal(size=(40, 3))
    register(points, points, 0.1)
