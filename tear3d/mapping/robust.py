"""Poses of edges of which some are wrong: truncated least squares, Σ min(r², c²).

Graduated non-convexity (Yang, Antonante, Tzoumas, Carlone, RA-L 2020): the truncated square is approached by a family
of smoother losses, each minimised by weighted least squares from the minimum of the one before. It finds a local
minimum, so several trees are started from and the lowest cost counts. There is no proof that none is lower.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.mapping.descent import descend
from tear3d.mapping.graph import TRUNCATION, Measured
from tear3d.mapping.residuals import Poses, squares
from tear3d.mapping.trees import parts, spanning
from tear3d.mapping.triangles import prices
from tear3d.problem.arrays import FloatArray

STARTS = 12
"""Trees to start from at most when not all edges agree: free choice."""
AGREE = 3
"""... and enough when so many have led to the same edges at the lowest cost: free choice."""
_SPREAD = 1.5
"""Of the logarithms of the prices by which the trees differ: free choice."""
_GROWTH = 2.0
"""Of the parameter that sharpens the loss: free choice; the paper has 1.4, which takes twice as long."""
_STEPS = 3
"""Of least squares for each loss on the way: free choice."""
_ROUNDS = 20
"""Of choosing edges and fitting poses at the end; in practice two or three suffice. Free choice."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Fitted:
    """Poses and the edges they rest on."""

    poses: Poses
    kept: Mask
    cost: float
    """Σ min(r², c²)."""


def fit(count: int, edges: Measured, seed: int = 0) -> Fitted:
    """The best of several starts; the graph must hang together, with the first scan at the identity."""
    price = prices(count, edges)
    start = spanning(count, edges, price)
    together = descend(edges, start, np.ones(len(edges)))
    if (squares(edges, together) <= TRUNCATION).all():
        return _fitted(edges, together, np.ones(len(edges), bool))
    rng = np.random.default_rng(seed)
    best, agree = _settled(count, edges, _graduated(edges, start)), 1
    for _ in range(STARTS - 1):
        tree = spanning(count, edges, price * np.exp(_SPREAD * rng.normal(size=len(price))))
        other = _settled(count, edges, _graduated(edges, tree))
        if np.array_equal(other.kept, best.kept):
            agree += 1
        elif other.cost < best.cost:
            best, agree = other, 1
        if agree == AGREE:
            break
    return best


def _graduated(edges: Measured, poses: Poses) -> Poses:
    """Through ever sharper losses, from weights that the start itself suggests."""
    left = squares(edges, poses)
    sharpness = TRUNCATION / max(2.0 * float(left.max()) - TRUNCATION, TRUNCATION)
    while True:
        weights = _weights(left, sharpness)
        poses = descend(edges, poses, weights, _STEPS)
        left = squares(edges, poses)
        undecided = (weights > 0.0) & (weights < 1.0)
        if not undecided.any() and sharpness > 1.0:
            return poses
        sharpness *= _GROWTH
        if sharpness > 1e6:  # an edge right at the truncation
            return poses


def _weights(left: FloatArray, sharpness: float) -> FloatArray:
    """Equation 14 of the paper."""
    ratio = np.sqrt(TRUNCATION / np.maximum(left, 1e-300))
    between = ratio * np.sqrt(sharpness * (sharpness + 1.0)) - sharpness
    return np.clip(between, 0.0, 1.0)


def _settled(count: int, edges: Measured, poses: Poses) -> Fitted:
    """Edges within the truncation, and poses that fit them, until neither changes."""
    kept = squares(edges, poses) <= TRUNCATION
    best: Fitted | None = None
    for _ in range(_ROUNDS):
        kept = _joined(count, edges, kept, squares(edges, poses))
        poses = _placed(count, edges, kept, poses)
        found = _fitted(edges, poses, kept)
        if best is not None and found.cost >= best.cost:
            break
        best, kept = found, squares(edges, poses) <= TRUNCATION
    assert best is not None
    return best


def _joined(count: int, edges: Measured, kept: Mask, left: FloatArray) -> Mask:
    """With the edges that join what else would fall apart: alone, each of them fits."""
    kept = kept.copy()
    for edge in np.argsort(left, kind="stable"):
        if kept[edge]:
            continue
        label = np.empty(count, np.int64)
        for number, scans in enumerate(parts(count, edges.i[kept], edges.j[kept])):
            label[scans] = number
        kept[edge] = label[edges.i[edge]] != label[edges.j[edge]]
    return kept


def _placed(count: int, edges: Measured, kept: Mask, poses: Poses) -> Poses:
    """Fitted to the edges that are kept. Where the poses cannot be mended step by step, they start from a tree."""
    some = edges[kept]
    near = descend(some, poses, np.ones(len(some)))
    if (squares(some, near) <= TRUNCATION).all():
        return near
    again = descend(some, spanning(count, some, 1.0 + squares(some, poses)), np.ones(len(some)))
    return min(near, again, key=lambda each: float(squares(some, each).sum()))


def _fitted(edges: Measured, poses: Poses, kept: Mask) -> Fitted:
    left = squares(edges, poses)
    kept = kept & (left <= TRUNCATION)
    return Fitted(poses, kept, float(np.minimum(left, TRUNCATION).sum()))
