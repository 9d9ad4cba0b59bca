"""All triples of a few pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tear3d.find.pool import Pool
from tear3d.find.triples import FEW, offer_triples
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.synthetic import random_rotation


def pool_of(x: np.ndarray, y: np.ndarray, limits: Limits) -> Pool:
    return Pool(Pairs.of(x, y, 0.05), LOSSES["tear"], lambda pose: 0.0, limits)


def test_every_pose_of_three_pairs_is_among_those_offered():
    """Two motions of three pairs each, among pairs that keep no lengths."""
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(10, 3)), 20.0 * rng.normal(size=(10, 3))
    motions = [Pose(random_rotation(rng), rng.normal(size=3)) for _ in range(2)]
    for rows, motion in zip(([0, 4, 7], [1, 3, 8]), motions, strict=True):
        y[rows] = motion.apply(x[rows])
    pool = pool_of(x, y, Limits())
    offer_triples(pool)
    assert [member.count for member in pool.members[:2]] == [3, 3]
    found = [pool.pairs.frame.outside(member.pose) for member in pool.members[:2]]
    for motion in motions:
        assert min(np.abs(pose.row - motion.row).max() for pose in found) < 1e-6


def test_as_good_as_trying_each():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(9, 3))
    y = (
        x
        + rng.normal(scale=0.005, size=x.shape)
        + np.where(np.arange(9) < 4, 5.0, 0.0)[:, None] * rng.normal(size=(9, 3))
    )
    pool = pool_of(x, y, Limits())
    offer_triples(pool)
    best = 0
    for rows in map(list, combinations(range(9), 3)):
        a, b = x[rows] - x[rows].mean(axis=0), y[rows] - y[rows].mean(axis=0)
        u, _, vt = np.linalg.svd(b.T @ a)
        rotation = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
        apart = y - y[rows].mean(axis=0) - (x - x[rows].mean(axis=0)) @ rotation.T
        best = max(best, int(np.count_nonzero(np.linalg.norm(apart, axis=1) <= 0.05)))
    assert pool.members[0].count >= best >= 4


def test_not_of_many_pairs_nor_beyond_a_limit():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(FEW + 1, 3))
    many = pool_of(x, x, Limits())
    offer_triples(many)
    late = pool_of(x[:5], x[:5], Limits(time_limit=0.0))
    offer_triples(late)
    assert many.members == late.members == []
