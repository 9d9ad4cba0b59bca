"""Pairs packed for the search: rows, extents and groups are those of plain NumPy formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.groups import depth_for
from tear3d.prove.pose.filling import BLOCK, LARGEST_X, fill, find_groups, mean_of
from tear3d.prove.pose.points import SINGLE_UP, pack
from tests.prove.pose.cases import ballots_of, mixed_pairs
from tests.prove.pose.grouping import NEVER, Choices, grouped
from tests.prove.pose.problems import bare
from tests.prove.pose.test_limits import Watched

seeds = st.integers(0, 2**32 - 1)


def some_pairs(rng, n, unequal, kind="cloud"):
    x, y, xi, w = mixed_pairs(rng, n, unequal)
    x = np.ones_like(x) if kind == "one point" else np.round(x) if kind == "ties" else x
    return bare(x + 3.0, y - 2.0, xi if unequal else xi[:1], w if unequal else w[:1])


def some_pose(rng):
    return Pose(random_rotation(rng), rng.normal(size=3))


def some_own(xi, w):
    return xi.astype(np.float32), np.ceil(100.0 * xi * w).astype(np.int32)


@given(seeds, st.booleans(), st.sampled_from([NEVER, 3]), st.sampled_from(["cloud", "ties", "one point"]))
@settings(max_examples=60, deadline=None)
def test_rows_and_extents_are_those_of_numpy(seed, unequal, groups, kind):
    rng = np.random.default_rng(seed)
    pairs, pose = some_pairs(rng, int(rng.integers(1, 120)), unequal, kind), some_pose(rng)
    n, mean = len(pairs), pairs.x.mean(axis=0)
    shift = pose.translation + pose.rotation @ mean
    turned, placed = (pairs.x - mean) @ pose.rotation.T, pairs.y - shift
    with grouped(Choices(groups, int(rng.integers(1, 20)))), Crew(1, Limits()) as crew:
        leaves, _ = find_groups(pairs, list(pairs.blocks(BLOCK)), crew, depth_for(len(pairs)))
        (rows, *own), order, starts, extent = fill(pairs, (pose.rotation, mean, shift), some_own, crew)
    assert len(leaves) == (n if groups <= n else 0)
    assert starts[-1] == n
    assert np.array_equal(np.diff(starts), np.bincount(leaves, minlength=len(starts) - 1) if len(leaves) else [n])
    every = np.argsort(leaves, kind="stable") if len(leaves) else np.arange(n)
    assert order.within.size == len(leaves)
    assert np.array_equal(order.numbers(np.arange(n, dtype=np.int32)), every)
    assert np.allclose(rows, np.concatenate([turned, placed], axis=1)[every].T, rtol=1e-6, atol=1e-6)
    for ours, theirs in zip(own, some_own(pairs.xi, pairs.w), strict=False):
        assert np.array_equal(ours, theirs[every] if unequal else theirs)
    reach = (np.linalg.norm(turned, axis=1) + pairs.xi)[:, None]
    assert np.allclose(extent[:3], (placed - reach).min(axis=0), rtol=1e-12)
    assert np.allclose(extent[3:6], (placed + reach).max(axis=0), rtol=1e-12)
    squares = np.sum(turned**2, axis=1)
    largest = max(np.abs(pairs.x).max(), np.abs(pairs.y).max())
    expected = squares.max(), np.abs(placed).max(), largest, squares.sum()
    assert np.allclose(extent[LARGEST_X:], expected, rtol=1e-12, atol=1e-25)


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_sorting_changes_nothing_but_the_order(unequal, loss):
    rng = np.random.default_rng(5)
    pairs, pose = some_pairs(rng, 100, unequal), some_pose(rng)
    plain = pack(pairs, LOSSES[loss], pose)
    with grouped(Choices(3, 10)):
        apart = pack(pairs, LOSSES[loss], pose)
    order = apart.numbers(apart.voters, (0, 100))
    assert plain.voters.index.size == apart.voters.index.size == 0
    assert np.array_equal(plain.numbers(plain.voters, (0, 100)), np.arange(100))
    assert np.array_equal(np.sort(order), np.arange(100))
    assert np.array_equal(apart.voters.rows, plain.voters.rows[:, order])
    assert np.array_equal(ballots_of(apart), ballots_of(plain))
    xi = np.broadcast_to(pairs.xi.astype(np.float32) * SINGLE_UP, 100)
    assert np.array_equal(np.broadcast_to(apart.voters.xi, 100), xi[order])
    assert apart.voters.xi.size == apart.voters.ballots.size == (100 if unequal else 1)
    for name in ("eps", "ceiling", "farthest"):
        assert getattr(apart, name) == getattr(plain, name)
    assert np.array_equal(apart.low, plain.low)
    assert np.array_equal(apart.high, plain.high)
    assert apart.ballot == plain.ballot._replace(many=apart.ballot.many)


@pytest.mark.parametrize("kind", ["cloud", "ties", "one point"])
def test_groups_are_about_their_means_in_single_precision(kind):
    rng = np.random.default_rng(6)
    with grouped(Choices(3, 10)):
        p = pack(some_pairs(rng, 100, True, kind), LOSSES["tear"], some_pose(rng))
    groups, rows = p.groups, p.voters.rows[:3].astype(np.float64)
    assert groups.starts[0] == 0
    assert groups.starts[-1] == 100
    assert len(groups.centres) == len(groups.starts) - 1 == 8
    assert np.array_equal(groups.centres, groups.centres.astype(np.float32))
    squares = 0.0
    for k, centre in enumerate(groups.centres):
        part = rows[:, groups.starts[k] : groups.starts[k + 1]]
        if part.size:
            assert np.allclose(centre, part.mean(axis=1), rtol=1e-6, atol=1e-12)
            squares += np.sum((part - centre[:, None]) ** 2)
        else:
            assert not centre.any()
    assert groups.radius == pytest.approx(np.sqrt(squares / 100), rel=1e-5, abs=1e-6)
    assert (np.diff(groups.starts) == 0).any() == (kind == "one point")


@pytest.mark.parametrize("apart", [False, True])
def test_packing_in_pieces_and_threads_changes_nothing(apart, monkeypatch):
    rng = np.random.default_rng(7)
    pairs, pose = some_pairs(rng, 100, True), some_pose(rng)
    with grouped(Choices(3, 10) if apart else Choices()):
        whole = pack(pairs, LOSSES["tear"], pose)
        monkeypatch.setattr("tear3d.prove.pose.filling.BLOCK", 7)
        monkeypatch.setattr("tear3d.prove.pose.filling.TOGETHER", 3)
        one, three = (pack(pairs, LOSSES["tear"], pose, threads=threads) for threads in (1, 3))
    assert len(whole.groups.centres) == (8 if apart else 1)
    for pieces in (one, three):
        for ours, theirs in zip(pieces.voters, whole.voters, strict=True):
            assert np.array_equal(ours, theirs)
        for span in ((0, 100), (13, 58), (40, 40)):
            assert np.array_equal(pieces.numbers(pieces.voters, span), whole.numbers(whole.voters, span))
        assert np.array_equal(pieces.groups.starts, whole.groups.starts)
        assert (pieces.eps, pieces.farthest) == (whole.eps, whole.farthest)
        assert np.array_equal(pieces.low, whole.low)
        assert np.array_equal(pieces.high, whole.high)
        assert pieces.ballot.radius == pytest.approx(whole.ballot.radius, rel=1e-14)
    assert one.ballot == three.ballot


@pytest.mark.parametrize("n", [1, 2, 9, 1000])
def test_the_mean_is_that_of_numpy(n):
    points = np.random.default_rng(n).normal(size=(n, 3)) + 5.0
    assert np.array_equal(mean_of(points), points.mean(axis=0))


@pytest.mark.parametrize("apart", [False, True])
def test_packing_stops_when_the_time_is_over(apart, monkeypatch):
    rng = np.random.default_rng(8)
    pairs, pose = some_pairs(rng, 100, True), some_pose(rng)
    monkeypatch.setattr("tear3d.prove.pose.filling.BLOCK", 7)
    monkeypatch.setattr("tear3d.prove.pose.filling.TOGETHER", 3)
    blocks = -(-100 // 7)
    looks = (2 if apart else 1) * blocks
    with grouped(Choices(3, 10) if apart else Choices()):
        for patience in range(looks):
            limits = Watched(patience=patience)
            assert pack(pairs, LOSSES["tear"], pose, limits=limits) is None
            assert len(limits.looks) <= patience + blocks
        assert pack(pairs, LOSSES["tear"], pose, limits=Watched(patience=looks)) is not None
