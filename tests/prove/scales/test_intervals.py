"""An interval of scales is bounded by a rigid problem: compared in exact rational arithmetic, adding nothing."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.scales import ScaleRange
from tear3d.prove.scales.intervals import Interval, inflate, pieces


def exactly(values):
    return [Fraction(float(v)) for v in values]


def rotation(rng):
    """A rotation of exact fractions, from a quaternion of whole numbers."""
    w, x, y, z = (Fraction(int(v)) for v in rng.integers(-9, 10, 4))
    n = w * w + x * x + y * y + z * z
    if n == 0:
        return rotation(rng)
    return [
        [1 - 2 * (y * y + z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
        [2 * (x * y + w * z) / n, 1 - 2 * (x * x + z * z) / n, 2 * (y * z - w * x) / n],
        [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, 1 - 2 * (x * x + y * y) / n],
    ]


def residual(y, scale, turn, x, shift):
    return [y[k] - scale * sum(turn[k][j] * x[j] for j in range(3)) - shift[k] for k in range(3)]


def saved(loss, xi, r):
    """What a pair saves, exactly; None when that is nothing."""
    if loss == "tear":
        left = xi - sum(map(abs, r))
        return left if left > 0 else None
    left = xi * xi - sum(e * e for e in r)
    if left < 0:
        return None
    return 1 if loss == "cm" else left


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_rigid_problem_saves_at_least_as_much(loss, far):
    rng, seen = np.random.default_rng(3), 0
    for case in range(40):
        n = 6
        x = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 2) + far
        low = float(10.0 ** rng.uniform(-1, 1))
        width = 0.0 if case % 8 == 0 else float(10.0 ** rng.uniform(-9, -0.3))
        interval = Interval(low, low * (1.0 + width), np.inf, np.arange(n))
        turn = rotation(rng)
        share = Fraction(int(rng.integers(0, 1001)), 1000)
        scale = Fraction(interval.low) * (1 - share) + Fraction(interval.high) * share
        shift = exactly(rng.normal(size=3))
        size = low * float(np.abs(x - x.mean(axis=0)).max())
        xi = 0.05 * size * rng.uniform(0.2, 2.0, n)
        moved = np.array([[float(-e) for e in residual([0, 0, 0], scale, turn, exactly(p), shift)] for p in x])
        y = moved + xi[:, None] * rng.uniform(-0.5, 0.5, (n, 3))
        pairs = Pairs(x, y, xi, np.ones(1), None, np.zeros(3), np.zeros(3))
        inflated = inflate(pairs, LOSSES[loss], interval)
        middle = exactly(x.mean(axis=0))
        there = [shift[k] + scale * sum(turn[k][j] * middle[j] for j in range(3)) for k in range(3)]
        for i in range(n):
            true = saved(loss, Fraction(xi[i]), residual(exactly(y[i]), scale, turn, exactly(x[i]), shift))
            if true is None:
                continue
            seen += 1
            own = residual(exactly(y[i]), 1, turn, exactly(inflated.pairs.x[i]), there)
            bound = saved(loss, Fraction(inflated.pairs.xi[i]), own)
            assert bound is not None
            assert bound >= true
            reach = Fraction(inflated.lengths.xi[i])
            assert sum(e * e for e in own) <= reach * reach
            assert inflated.lengths.xi[i] <= inflated.pairs.xi[i]
    assert seen > 60


def test_pieces_and_halves_cover_the_range_without_gaps():
    rng = np.random.default_rng(0)
    pairs = Pairs.of(rng.normal(size=(50, 3)), rng.normal(size=(50, 3)), 0.01)
    for span in (ScaleRange(0.1, 10.0), ScaleRange(0.9, 0.95), ScaleRange(1e-3, 1e3)):
        edges = pieces(pairs, span)
        assert edges[0][0] == span.low
        assert edges[-1][1] == span.high
        assert all(a[1] == b[0] for a, b in pairwise(edges))
        assert len(edges) < 600
    low, high = Interval(0.3, 0.7, 1.0, np.arange(3)).halves()
    assert (low.low, low.high, high.high) == (0.3, high.low, 0.7)
    assert Interval(1.0, np.nextafter(1.0, 2.0), 1.0, np.arange(3)).halves() == []
