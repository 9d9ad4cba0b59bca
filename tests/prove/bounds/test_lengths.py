"""What is asked of lengths: the kernels equal their twins, and no rounding makes strangers of friends."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds import lengths
from tear3d.prove.bounds.lengths import LEVELS, find_company, find_followers, find_friends
from tear3d.prove.pose.lots import LARGEST, SMALLEST, make_lot, take_lot, units
from tear3d.prove.pose.sieve import no_friends
from tests import naive_lengths as naive
from tests.prove.pose.cases import KINDS, odd_pairs
from tests.prove.pose.problems import bare

NAMES = list(LOSSES)


def lot_of(rng, n, loss="tear", unequal=False, spread=1.0):
    """Some that agree, and others that do not."""
    x = rng.normal(size=(n, 3))
    y = x + 0.05 * rng.uniform(-1, 1, (n, 3))
    y[n // 2 :] = spread * rng.normal(size=(n - n // 2, 3))
    xi = 0.1 * 10.0 ** rng.uniform(-3, 1, n) if unequal else np.full(n, 0.1)
    w = 10.0 ** rng.uniform(-3, 0, n) if unequal else np.ones(n)
    return take_lot(make_lot(bare(x, y, xi, w), LOSSES[loss]), np.arange(n))


def friends_of(lot, pieces=1):
    out = no_friends(lot)
    out[:] = np.uint64(2**64 - 1)  # nothing of what was there may stay
    edges = np.linspace(0, lot.xi.size, pieces + 1).astype(int)
    for start, stop in pairwise(edges):
        find_friends(lot, int(start), int(stop), out)
    return out


@pytest.mark.parametrize("n", [2, 63, 64, 65, 130, 1030])
def test_friends_are_the_bits_of_a_matrix(n):
    rng = np.random.default_rng(n)
    lot = lot_of(rng, n, unequal=n % 2 == 0)
    dense = naive.agree(lot)
    assert dense.diagonal().all()
    np.fill_diagonal(dense, False)
    assert n < 63 or 0.01 < dense.mean() < 0.99
    assert np.array_equal(friends_of(lot), naive.bits(dense))
    assert np.array_equal(friends_of(lot, pieces=3), naive.bits(dense))


def given(rng, kind):
    """Pairs as given, and the lot of them: centred and scaled by the library."""
    x, y, xi, w = odd_pairs(rng, kind)
    if rng.uniform() < 0.5:  # some differ by exactly what is allowed, in numbers without rounding
        unit = 2.0 ** np.floor(np.log2(np.abs(x).max()) - 4)
        x = unit * np.round(x / unit) * np.array([1, 0, 0])
        y = x.copy()
        xi = np.broadcast_to(unit * rng.integers(1, 3, len(x)), len(x)).astype(float)
        y[:, 0] += xi * rng.choice([-1, 1], len(x))
        order = rng.permutation(3)
        return x[:, order], y, xi, bare(x[:, order], y, xi, w)
    return x, y, xi, Pairs.of(x, y, xi, w)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_makes_no_strangers_and_few_friends(kind):
    """In rational arithmetic, on the pairs as given; and the rounding is what section 9.3 counts."""
    tight = edge = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        x, y, xi, pairs = given(rng, kind)
        lot, unit = make_lot(pairs, LOSSES["tear"]), pairs.frame.unit
        found, computed = naive.agree(lot), naive.table(lot)
        sizes = [np.sqrt(np.max(np.sum((p - p.mean(axis=0)) ** 2, axis=1))) for p in (pairs.x, pairs.y)]
        counted = 11.1 * 2.0**-24 * sum(sizes) + 7.0 * 2.0**-53 * max(np.abs(pairs.x).max(), np.abs(pairs.y).max())
        xi = np.broadcast_to(xi, len(x))
        for i in range(len(x)):
            for j in range(len(x)):
                allowed = Fraction(xi[i]) + Fraction(xi[j])
                friends = naive.differ_by_at_most(x, y, i, j, allowed)
                assert found[i, j] or not friends
                wide = allowed * (1 + Fraction(1, 2**20)) + Fraction(2.0 * lot.slop * unit)
                assert not found[i, j] or naive.differ_by_at_most(x, y, i, j, wide)
                exact = naive.difference(x, y, i, j)
                assert abs(Fraction(float(computed[i, j])) - exact / Fraction(unit)) <= Fraction(counted)
                tight += not found[i, j]
                edge += i != j and abs(exact - allowed) < Fraction(1, 10**40)
    assert kind in ("all", "three") or tight, "somebody disagrees"
    assert kind in ("lopsided", "three") or edge, "somebody differs by just what is allowed"


@pytest.mark.parametrize("loss", NAMES)
def test_steps_are_worth_what_is_saved(loss):
    rng = np.random.default_rng(5)
    lot = lot_of(rng, 200, loss, unequal=True)
    for k in range(200):
        xi = float(lot.xi[k])
        for half in (0.0, 0.5 * xi, np.nextafter(xi, 0.0), xi, np.nextafter(xi, 1e9), rng.uniform(0.0, xi)):
            got = lengths._steps(lot, k, half)
            saved = naive.exact_saving(loss, xi, lot.w[k], Fraction(half)) / Fraction(lot.unit)
            assert got == naive.steps(lot, k, half)
            assert got >= saved * (1 - Fraction(1, 2**20)), "rounded up, but for the rounding of ξ in the largest"
            assert got <= max(1, saved * (1 + Fraction(1, 10**8)) + 1)
            assert (got == 0) == (half > xi)


@pytest.mark.parametrize("loss", NAMES)
def test_steps_are_worth_what_the_bounds_given_allow(loss):
    """Bounds just above those of a whole number of steps, which float32 may round down."""
    rng = np.random.default_rng(6)
    for scale in rng.uniform(0.1, 0.2, 20):
        share = rng.integers(1, LEVELS + 1, 50) / LEVELS
        xi = share ** (0.5 if loss == "tls" else 1.0) * (1.0 + rng.uniform(0.0, 6e-8, 50))
        xi = scale * np.append(xi, 1.0)
        x = rng.normal(size=(51, 3))
        lot = make_lot(bare(x, x, xi), LOSSES[loss])
        for k in range(51):
            allowed = naive.exact_saving(loss, xi[k], 1.0, Fraction(0))
            assert lengths._steps(lot, k, 0.0) * Fraction(lot.unit) >= allowed * (1 - Fraction(1, 10**12))


def test_an_underflowing_saving_is_one_step():
    lot = lot_of(np.random.default_rng(0), 3)
    lot = lot._replace(w=np.array([1.0, 1e-300, 1e-300]), xi=np.array([1.0, 0.0, 1e-38], np.float32))
    assert [lengths._steps(lot, k, 0.0) for k in range(3)] == [LEVELS, 1, 1]


@pytest.mark.parametrize("loss", NAMES)
@pytest.mark.parametrize("unequal", [False, True])
def test_company_is_that_of_the_twin(loss, unequal):
    lonely = some = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        lot = lot_of(rng, int(rng.choice([3, 40, 64, 90])), loss, unequal)
        n = lot.xi.size
        friends = friends_of(lot)
        for most in (-1, 0, 4, 8, int(rng.integers(9, 4 * n + 9)), 2 * n, 4 * n + 1):
            pivots = np.arange(n) if most % 2 else rng.permutation(n)[: n // 2]
            left = np.zeros(n, np.uint8)
            alive, visits = find_company(lot, friends, pivots, most, left)
            wanted, count = naive.company(lot, pivots, most)
            assert (set(np.flatnonzero(left).tolist()), alive) == (wanted, count)
            assert visits % friends.shape[1] == 0
            lonely += not wanted
            some += 0 < len(wanted) < len(pivots)
            assert most > 0 or left[pivots].all(), "everybody saves more than nothing"
    assert lonely
    assert some


def test_what_is_left_is_added_to():
    lot = lot_of(np.random.default_rng(1), 70)
    friends, left = friends_of(lot), np.zeros(70, np.uint8)
    for start in range(0, 70, 16):
        find_company(lot, friends, np.arange(start, min(70, start + 16)), 60, left)
    assert set(np.flatnonzero(left).tolist()) == naive.company(lot, range(70), 60)[0]


@pytest.mark.parametrize("unequal", [False, True])
def test_followers_are_those_of_the_twin(unequal):
    some = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        lot = lot_of(rng, 1100 if seed == 0 else 90, NAMES[seed % 3], unequal, spread=0.6)
        n = lot.xi.size
        core = take_lot(lot, rng.permutation(n)[:30])
        ends = np.sort(np.concatenate([rng.integers(0, 31, 3), [30]]))  # parts may be empty
        for most in (-1, 0, 12, int(rng.integers(1, 60))):
            left = np.zeros(n, np.uint8)
            for start, stop in ((0, n // 3), (n // 3, n)):
                find_followers(lot, start, stop, core, ends, most, left)
            wanted = naive.followers(lot, core, ends, most)
            assert set(np.flatnonzero(left).tolist()) == wanted
            some += 0 < len(wanted) < n
    assert some


def test_a_limit_in_steps_is_never_more_than_the_limit():
    lot = lot_of(np.random.default_rng(2), 50)
    for limit in (0.0, 0.5 * lot.unit, lot.unit, 3.0 * lot.unit, 7.3 * lot.unit):
        most = units(limit, lot)
        assert most * Fraction(lot.unit) <= Fraction(limit)
        assert (most + 1.00001) * lot.unit > limit


@pytest.mark.parametrize("size", [0.9 * SMALLEST, 2.1 * LARGEST, 1e30])
def test_sizes_that_float32_cannot_square_are_refused(size):
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 3))
    x /= np.linalg.norm(x - x.mean(axis=0), axis=1).max()
    with np.errstate(all="raise"):
        assert make_lot(bare(0.5 * size * x, 0.4 * size * x, 0.1 * size), LOSSES["tear"]) is None


@pytest.mark.parametrize("size", [SMALLEST, 0.99 * LARGEST])
def test_lengths_of_the_last_sizes_are_still_right(size):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, (60, 3))
    x /= np.linalg.norm(x - x.mean(axis=0), axis=1).max()
    y = x + 0.1 * rng.uniform(-1.0, 1.0, x.shape)
    x, y, xi = size * x, size * 0.9 * y, 0.02 * size * np.ones(60)
    lot = make_lot(bare(x, y, xi), LOSSES["tear"])
    found, computed = naive.agree(lot), naive.table(lot)
    for i in range(60):
        for j in range(60):
            assert found[i, j] or not naive.differ_by_at_most(x, y, i, j, Fraction(xi[i]) + Fraction(xi[j]))
            assert abs(Fraction(float(computed[i, j])) - naive.difference(x, y, i, j)) <= Fraction(lot.slop) / 2
    assert found.any()
    assert not found.all()
