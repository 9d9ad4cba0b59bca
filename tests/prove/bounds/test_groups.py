"""Groups of pairs: the tree, windows and sums are those of their twins, and the votes of groups bound every pose."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.groups import add_to, depth_for, find_leaves, largest_around, margins, moves, tree_of
from tear3d.prove.bounds.votes import WIDER, make_booth, vote
from tear3d.prove.bounds.votes import grouped_votes as fast_votes
from tear3d.prove.bounds.voxels import MAX_SIDE, VOXELS, make_grid
from tear3d.prove.domains.rotations import cell_frame
from tear3d.prove.pose.nodes import FACE, HIGH, LOW
from tear3d.prove.pose.points import pack
from tests import naive
from tests.naive_groups import group_moves, grouped_votes, largest_of_windows, leaf_of
from tests.naive_pose import cell_of, fractions
from tests.prove.bounds.test_votes import cell_of_node, side_of
from tests.prove.pose.cases import (
    KINDS,
    ballots_of,
    box_of,
    exact_problem,
    frame_of,
    holds,
    left_over,
    node_around,
    points_of,
    poses_in,
    random_box,
    tally_of,
)
from tests.prove.pose.grouping import Choices, grouped

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
losses = st.sampled_from(sorted(LOSSES))
few = settings(max_examples=60, deadline=None)


def grouped_problem(rng, kind, loss="tear"):
    """Pairs in groups of two or so."""
    with grouped(Choices(groups=3, size=int(rng.integers(1, 4)))):
        return exact_problem(rng, kind, loss)


def wide_node(rng, exact):
    """A cell through which centres of groups move far, with all translations."""
    p, (node, known) = exact.packed, node_around(rng, exact)
    half = rng.uniform(0.02, 0.3)
    node[LOW : LOW + 3], node[HIGH : HIGH + 3] = known[:3] - half, known[:3] + half
    node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = p.low, p.high
    return node


def fitting_poses(rng, exact, node):
    """Poses at corners of the cell, each with a pair that fits."""
    points = points_of(exact.packed)
    for i in range(exact.packed.size):
        g = np.where(rng.uniform(size=3) < 0.5, node[LOW : LOW + 3], node[HIGH : HIGH + 3])
        yield np.concatenate([g, points.y[:, i] - naive.chart_rotation(int(node[FACE]), g) @ points.x[:, i]])


# ---------------------------------------------------------------- the tree


@given(seeds, st.integers(0, 6), st.sampled_from(["cloud", "ties", "one point", "nothing"]))
@few
def test_leaves_are_those_of_the_twin(seed, depth, kind):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(0 if kind == "nothing" else int(rng.integers(1, 300)), 3))
    points = np.round(points) if kind == "ties" else np.ones_like(points) if kind == "one point" else points
    tree = tree_of(points[:: int(rng.integers(1, 4))], depth)
    assert tree.shape == (2**depth - 1, 2)
    leaves, counts = np.empty(len(points), np.uint8), np.zeros(2**depth, np.int64)
    find_leaves(points, tree, leaves, counts)
    assert leaves.tolist() == [leaf_of(point, tree) for point in points]
    assert np.array_equal(counts, np.bincount(leaves, minlength=2**depth))


def test_groups_are_halves_of_halves_and_close_together():
    points = np.random.default_rng(0).normal(size=(4096, 3)) * [5.0, 1.0, 1.0]
    leaves, counts = np.empty(4096, np.uint8), np.zeros(16, np.int64)
    find_leaves(points, tree_of(points, 4), leaves, counts)
    assert counts.min() >= 250
    assert counts.max() <= 262
    spread = [np.linalg.norm(points[leaves == k] - points[leaves == k].mean(axis=0), axis=1).mean() for k in range(16)]
    assert np.mean(spread) < 0.4 * np.linalg.norm(points - points.mean(axis=0), axis=1).mean()


def test_few_pairs_are_not_grouped_and_leaves_fit_into_a_byte():
    assert depth_for(1000) == 0
    assert 1 <= depth_for(200_000) < depth_for(2_000_000) <= depth_for(10**9) <= 8


# ---------------------------------------------------------------- windows


@given(seeds)
@few
def test_moves_are_those_of_the_twin_and_hold_for_every_rotation(seed):
    rng = np.random.default_rng(seed)
    face, (low, high) = int(rng.integers(4)), random_box(rng)
    centre = 10.0 ** rng.uniform(-3, 3) * rng.normal(size=3) * rng.choice([0.0, 1.0], 3)
    frame = cell_frame(face, tuple(low.tolist()), tuple(high.tolist()))
    least, largest = moves(frame, tuple(centre.tolist()))
    size = float(np.linalg.norm(centre))
    for ours, theirs in zip((least, largest), group_moves(cell_of(face, low, high), centre), strict=True):
        assert np.allclose(ours, theirs, rtol=1e-11, atol=1e-11 * size)
    q = np.array(frame.rotation).reshape(3, 3) @ centre
    for _ in range(20):
        g = low + rng.choice([0.0, rng.uniform(), 1.0], 3) * (high - low)
        moved = naive.chart_rotation(face, g) @ centre - q
        assert np.all(moved >= np.array(least) - 1e-12 * size)
        assert np.all(moved <= np.array(largest) + 1e-12 * size)


@given(seeds)
@few
def test_every_z_of_a_voxel_lies_in_its_window_and_windows_are_no_wider(seed):
    """Exactly, at the edges too."""
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.uniform(-6, 3, 3)
    whole = rng.choice([0.0, 1.0, 7.0], (2, 3)) if rng.uniform() < 0.5 else rng.uniform(0.0, 30.0, (2, 3))
    least, largest = -whole[0] * size, whole[1] * size
    before, behind = margins(tuple(least.tolist()), tuple(largest.tolist()), tuple(size.tolist()))
    for k in range(3):
        s, lowest, highest = fractions(np.array([size[k], least[k], largest[k]]))
        for inside in (Fraction(0), Fraction(1, 3), Fraction(1)):  # of the voxel
            for move in (lowest, highest, (lowest + highest) / 2):
                assert 0 <= inside + move / s + before[k] <= before[k] + behind[k] + 1
        assert before[k] <= math.ceil(-lowest / s) + 1
        assert behind[k] <= math.ceil(highest / s) + 1


@pytest.mark.parametrize("size", [1e-5, 1e-12, 1e-19, 1e-25, 1e-300])
def test_no_booth_has_room_for_windows_that_integers_cannot_count(size):
    """More voxels than an integer holds would come out as few, and most of what belongs to a t would be missed."""
    before, behind = margins((-1.0, 0.0, -1.0), (1.0, 0.0, 0.5), (size, 1.0, 1.0))
    assert (MAX_SIDE + before[0] + behind[0]) * 4 > WIDER * VOXELS
    before, behind = margins((-1.0,) * 3, (1.0,) * 3, (size,) * 3)
    shape = [MAX_SIDE + a + b + 1 for a, b in zip(before, behind, strict=True)]
    assert WIDER * VOXELS < math.prod(shape) < 2**63


@given(seeds)
@few
def test_the_largest_around_and_the_sum_of_corners_are_those_of_the_twin(seed):
    """Whatever is in the margins of the grids and behind them."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 6, 3)
    before, behind = rng.integers(0, 5, (2, 3))
    wide = shape + before + behind
    count = int(np.prod(wide + 1))
    values = rng.integers(-100, 100, count + 50).astype(np.int32)
    spare, given_ = rng.integers(1000, 2000, count + 50).astype(np.int32), values[:count].reshape(wide + 1).copy()
    strides = [int((wide[1] + 1) * (wide[2] + 1)), int(wide[2] + 1), 1]
    for k in (2, 1, 0):
        values, spare = largest_around(values, spare, count, strides[k], int(before[k] + behind[k] + 1))
    expected = largest_of_windows(given_[tuple(slice(n) for n in wide)], before, behind)
    total = rng.integers(0, 50, tuple(shape + 1)).astype(np.int32)
    flat = total.reshape(-1).copy()
    add_to(flat, tuple(shape.tolist()), int(shape[2] + 1), values, tuple(wide.tolist()), int(wide[2] + 1))
    total[tuple(slice(n) for n in shape)] += expected
    assert np.array_equal(flat.reshape(total.shape), total)


# ---------------------------------------------------------------- votes


@given(seeds, kinds, st.sampled_from([2, 3, 4]))
@settings(max_examples=150, deadline=None)
def test_votes_of_groups_are_counted_as_by_hand(seed, kind, quarters):
    """Voxel by voxel: no less than without any margin, no more than with twice the margin."""
    rng = np.random.default_rng(seed)
    exact = grouped_problem(rng, kind)
    p = exact.packed
    node = wide_node(rng, exact) if rng.uniform() < 0.5 else node_around(rng, exact)[0]
    frame, booth = frame_of(node), make_booth(groups=True)
    grid = make_grid(*box_of(node), side_of(rng, node) / 3.0, 2000)
    windows = [margins(*moves(frame, tuple(centre.tolist())), grid.size) for centre in p.groups.centres]
    assume(all(np.prod(np.add(a, b) + 1.0) < 10_000 for a, b in windows))
    assert fast_votes(p.voters, p.groups, frame, grid, p.ballot, quarters, booth)
    n0, n1, n2 = grid.shape
    votes = booth.grid[: (n0 + 1) * (n1 + 1) * (n2 + 1)].reshape(n0 + 1, n1 + 1, n2 + 1)[:n0, :n1, :n2]
    rule = p, points_of(p), ballots_of(p), cell_of_node(node), grid, windows, quarters
    assert np.all(votes >= grouped_votes(*rule, grow=0.0))
    assert np.all(votes <= grouped_votes(*rule, grow=2.0 * p.ballot.margin))


@given(seeds, kinds, losses, st.sampled_from([0.0, 0.5, 0.999, 1.0]), st.booleans())
@settings(max_examples=250, deadline=None)
def test_votes_of_groups_bound_exact_savings(seed, kind, loss, share, one):
    """In rational arithmetic on the pairs as given, on boxes of t that are empty along an axis too."""
    rng = np.random.default_rng(seed)
    exact = grouped_problem(rng, kind, loss)
    p = exact.packed
    node, known = node_around(rng, exact)
    poses = [*poses_in(rng, node, 5, known)]
    if rng.uniform() < 0.5:
        node = wide_node(rng, exact)
        poses = [*fitting_poses(rng, exact, node)]
        known = poses[0]
    if one:  # one grid instead of three
        exact = exact._replace(packed=replace(p, ballot=p.ballot._replace(many=0)))
    saving = exact.saving(int(node[FACE]), known[:3], known[3:])
    tally, boxes = tally_of(exact.packed, node, share * float(saving))
    for pose in poses:
        kept = holds(left_over(tally, boxes), pose[3:])
        saving = exact.saving(int(node[FACE]), pose[:3], pose[3:])
        assert saving <= Fraction(tally.cut) or (kept and saving <= Fraction(tally.bound))


def two_clusters(rng, n, follow):
    """Two small clusters far apart; some of the pairs agree with the identity."""
    x = 0.02 * rng.normal(size=(n, 3)) + np.where(np.arange(n) % 2, 1.0, -1.0)[:, None] * [1.0, 0.0, 0.0]
    y = x.copy()
    y[follow:] = rng.uniform(-1.0, 1.0, (n - follow, 3))
    return Pairs.of(x, y, 0.02)


def test_groups_are_sharper_where_pairs_move_together():
    """Pairs that agree with nothing: few lie in the small boxes of one group, many in the large boxes of all."""
    pairs = two_clusters(np.random.default_rng(0), 20_000, 0)
    with grouped(Choices(groups=3, size=10_000)):
        p = pack(pairs, LOSSES["tear"], Pose.identity())
    assert len(p.groups.centres) == 2
    frame = cell_frame(0, (-0.05,) * 3, (0.05,) * 3)
    rule = p.voters, p.groups, (0, p.size), frame, ((-0.5,) * 3, (0.5,) * 3), 0, 0.0, p.ballot
    plain, apart = vote(*rule, make_booth()), vote(*rule, make_booth(groups=True))
    assert apart.bound < 0.7 * plain.bound


def test_groups_are_of_all_voters_only():
    """Others may be as many: they are not in groups."""
    rng = np.random.default_rng(1)
    with grouped(Choices(groups=3, size=50)):
        p, other = (pack(two_clusters(rng, 400, 200), LOSSES["tear"], Pose.identity()) for _ in range(2))
    both = p.voters._replace(rows=np.concatenate([p.voters.rows, other.voters.rows], axis=1))
    frame = cell_frame(0, (-0.05,) * 3, (0.05,) * 3)
    rule = frame, ((-0.5,) * 3, (0.5,) * 3), 0, 0.3 * p.ceiling, p.ballot
    booth = make_booth(groups=True)
    behind = vote(both, p.groups, (p.size, 2 * p.size), *rule, booth)
    assert behind == vote(other.voters, other.groups, (0, p.size), *rule, make_booth())
    assert behind != vote(other.voters, other.groups, (0, p.size), *rule, booth)


def least_excess(votes, grid, rng, exact, node):
    """The least of what votes are worth less what is saved exactly, over such poses."""
    unit, last = exact.packed.ballot.unit, np.array(grid.shape) - 1
    return min(
        int(votes[tuple(np.minimum((pose[3:] - grid.low) // grid.size, last).astype(int))]) * unit
        - float(exact.saving(int(node[FACE]), pose[:3], pose[3:]))
        for pose in fitting_poses(rng, exact, node)
    )


@pytest.mark.parametrize("kind", ["plain", "all", "bounds", "weights", "duplicates"])
def test_votes_hold_at_the_corners_of_cells_and_would_not_without_windows(kind):
    rng, short, used = np.random.default_rng(2), 0, 0
    for _ in range(20):
        exact = grouped_problem(rng, kind)
        p, node = exact.packed, wide_node(rng, exact)
        grid, frame, booth = make_grid(*box_of(node), 0.1, 4000), frame_of(node), make_booth(groups=True)
        if not fast_votes(p.voters, p.groups, frame, grid, p.ballot, 2, booth):
            continue
        used += 1
        shape = tuple(n + 1 for n in grid.shape)
        assert least_excess(booth.grid[: math.prod(shape)].reshape(shape), grid, rng, exact, node) >= 0.0
        none = [((0, 0, 0), (0, 0, 0))] * len(p.groups.centres)
        rule = p, points_of(p), ballots_of(p), cell_of_node(node), grid, none, 2
        short += least_excess(grouped_votes(*rule, grow=2.0 * p.ballot.margin), grid, rng, exact, node) < 0.0
    assert used > 10
    assert short > 0
