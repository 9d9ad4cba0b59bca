"""All poses through three of a few pairs: where a search by pivots has too few of them to go by."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tear3d.find.pool import Pool
from tear3d.find.procrustes import procrustes

FEW = 16
"""Pairs up to which all triples are tried: 560 at most, of which those that keep their lengths are refined, which takes
some tenths of a second if all do (free choice)."""


def offer_triples(pool: Pool) -> None:
    """Offer the pose of every three pairs that keep their distances up to their noise bounds."""
    pairs = pool.pairs
    if len(pairs) > FEW:
        return
    n = len(pairs)
    x, y = (np.linalg.norm(points[:, None] - points[None], axis=2) for points in (pairs.x, pairs.y))
    bounds = np.broadcast_to(pairs.xi, n)
    kept = np.abs(x - y) <= bounds[:, None] + bounds[None]
    for rows in combinations(range(n), 3):
        if pool.limits.over():
            return
        if kept[np.ix_(rows, rows)].all():
            some = list(rows)
            pool.offer(procrustes(pairs.x[some], pairs.y[some]).row)
