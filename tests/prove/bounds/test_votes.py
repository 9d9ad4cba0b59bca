"""Votes for translations: the same as counting by hand, and bounds of every pose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.votes import make_booth
from tear3d.prove.bounds.votes import plain_votes as fast_votes
from tear3d.prove.bounds.voxels import make_grid
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, VOTES
from tear3d.prove.pose.points import LEVELS, MOST_VOTES, pack
from tests import naive
from tests.naive_pose import cell_of, plain_votes, pose_saving
from tests.prove.pose.cases import (
    KINDS,
    ballots_of,
    box_of,
    exact_problem,
    frame_of,
    holds,
    left_over,
    mixed_pairs,
    node_around,
    node_of,
    points_of,
    poses_in,
    tally_of,
)

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))
few = settings(max_examples=40, deadline=None)


def cell_of_node(node):
    return cell_of(int(node[FACE]), node[LOW : LOW + 3], node[HIGH : HIGH + 3])


def side_of(rng, node):
    return float(np.max(node[HIGH + 3 : HIGH + 6] - node[LOW + 3 : LOW + 6])) / rng.uniform(1.0, 9.0)


@given(seeds, st.sampled_from(KINDS), st.sampled_from([2, 3, 4]))
@settings(max_examples=100, deadline=None)
def test_votes_are_counted_as_by_hand(seed, kind, quarters):
    """Voxel by voxel: no less than without any margin, no more than with twice the margin."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind)
    p, (node, _) = exact.packed, node_around(rng, exact)
    frame, booth = frame_of(node), make_booth()
    grid = make_grid(*box_of(node), side_of(rng, node), 1000)
    fast_votes(p.voters, (0, p.size), frame, grid, p.ballot, quarters, booth)
    n0, n1, n2 = grid.shape
    votes = booth.grid[: (n0 + 1) * (n1 + 1) * (n2 + 1)].reshape(n0 + 1, n1 + 1, n2 + 1)[:n0, :n1, :n2]
    rule = points_of(p), ballots_of(p), cell_of_node(node), grid, quarters
    assert np.all(votes >= plain_votes(*rule, capped=True, grow=0.0))
    assert np.all(votes <= plain_votes(*rule, capped=False, grow=2.0 * p.ballot.margin))


@given(seeds, st.booleans(), st.floats(0.0, 20.0), losses)
@settings(max_examples=80, deadline=None)
def test_votes_bound_every_pose_that_they_leave(seed, unequal, threshold, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, "plain", loss)
    p = pack(Pairs.of(*mixed_pairs(rng, unequal=unequal)), LOSSES[loss], Pose.identity())
    node, known = node_around(rng, exact._replace(packed=p))
    tally, boxes = tally_of(p, node, threshold)
    assert tally.cut <= threshold * (1 + 1e-15)
    for pose in poses_in(rng, node, 40, known):
        rotation = naive.chart_rotation(int(node[FACE]), pose[:3])
        saving = float(pose_saving(points_of(p), rotation, pose[3:], loss).sum())
        if saving > threshold:
            assert saving <= tally.bound
            assert np.all(tally.low <= pose[3:])
            assert np.all(pose[3:] <= tally.high)
            assert holds(left_over(tally, boxes), pose[3:])


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_votes_are_tight_for_a_small_cell(loss):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    y = np.concatenate([x[:50], rng.normal(size=(150, 3)) * 5.0])
    p = pack(Pairs.of(x, y, 0.05), LOSSES[loss], Pose.identity())
    node = node_of(p.ceiling, VOTES, 0, (np.full(3, -1e-4), np.full(3, 1e-4)), (p.low, p.high))
    each = p.ceiling / 200
    tally, _ = tally_of(p, node, 25 * each)
    assert 50 * each * (1 - 1e-12) <= tally.bound <= 54 * each
    node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = tally.low, tally.high  # as the search goes on
    tally, _ = tally_of(p, node, 25 * each)
    assert np.all(np.subtract(tally.high, tally.low) < 0.2)


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_ballots_are_what_a_pair_can_save_rounded_up(unequal, loss):
    x, y, xi, w = mixed_pairs(np.random.default_rng(1), 200, unequal)
    pairs = Pairs.of(x, y, xi, w)
    p = pack(pairs, LOSSES[loss], Pose.identity())
    most = np.broadcast_to(pairs.w * LOSSES[loss].caps(pairs.xi), 200)
    worth = ballots_of(p) * p.ballot.unit
    assert np.all(worth >= most)
    assert np.all(worth <= most + p.ballot.unit * (1.0 + 1e-9))
    assert ballots_of(p).max() == LEVELS
    assert p.voters.ballots.size == (200 if unequal else 1)
    assert 200 * LEVELS <= MOST_VOTES
    assert np.all(np.float64(p.voters.xi) >= pairs.xi)
