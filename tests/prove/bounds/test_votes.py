"""Votes for translations: the same as counting by hand, and bounds of every pose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.votes import COARSE
from tear3d.prove.bounds.voxels import MAX_SIDE, VOXELS, make_grid
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, VOTES
from tear3d.prove.pose.points import pack
from tests import naive
from tests.naive_pose import Exact, cell_of, most_votes
from tests.prove.pose.cases import KINDS, exact_problem, frame_of, mixed_pairs, node_around, node_of, poses_in, tally_of

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=40, deadline=None)
identity = Pose.identity()


def packed_of(x, y, xi, w=None):
    """Packed around the identity: packed coordinates are the given ones, apart from the means."""
    return pack(Pairs.of(x, y, xi, w), identity)


def first_grid(packed, node):
    """The grid that the kernel starts with."""
    frame = frame_of(node)
    side = COARSE * (packed.votes.xi + 1.3 * max(frame.half) * frame.axes[0] * packed.votes.radius)
    return make_grid(tuple(node[LOW + 3 : LOW + 6].tolist()), tuple(node[HIGH + 3 : HIGH + 6].tolist()), side)


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=60, deadline=None)
def test_votes_are_counted_as_by_hand(seed, kind):
    """With a threshold that every voxel beats, the bound is the most votes of the first grid."""
    rng = np.random.default_rng(seed)
    packed = exact_problem(rng, kind).packed
    node, _ = node_around(rng, Exact(None, None, None, packed, None))
    grid = first_grid(packed, node)
    tally = tally_of(packed, node, -1.0)
    cell = cell_of(int(node[FACE]), node[LOW : LOW + 3], node[HIGH : HIGH + 3])
    # Coordinates on the edge of a voxel may be counted on both sides, hence the two counts; none for empty boxes.
    loose = 4.0 * packed.eps + 1e-13 * float(packed.points.norm.max())
    least, most = (
        most_votes(packed, cell, node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6], grid.shape, grow)
        for grow in (-loose, loose)
    )
    assert least * packed.votes.unit <= tally.bound * (1 + 1e-15)
    assert tally.bound <= most * packed.votes.unit * (1 + 1e-15)
    assert tally.cut == 0.0


@given(seeds)
@few
def test_grids_have_no_more_voxels_than_allowed(seed):
    rng = np.random.default_rng(seed)
    low, width = rng.normal(size=3), 10.0 ** rng.uniform(-9, 3, 3) * rng.choice([0.0, 1.0], 3, p=[0.1, 0.9])
    grid = make_grid(tuple(low.tolist()), tuple((low + width).tolist()), 10.0 ** rng.uniform(-6, 1))
    shape = np.array(grid.shape)
    assert np.prod(shape + 1) <= VOXELS
    assert np.all((shape >= 1) & (shape <= MAX_SIDE))
    assert np.allclose(shape * np.array(grid.size), low + width - low, rtol=1e-12, atol=1e-290)


@given(seeds, st.booleans(), st.floats(0.0, 20.0))
@few
def test_votes_bound_every_pose_that_they_leave(seed, unequal, threshold):
    rng = np.random.default_rng(seed)
    x, y, xi, w = mixed_pairs(rng, unequal=unequal)
    pairs = Pairs.of(x, y, xi, w)
    p = pack(pairs, identity)
    node, known = node_around(rng, Exact(None, None, None, p, None))
    tally = tally_of(p, node, threshold)
    assert tally.cut <= threshold * (1 + 1e-15)
    for pose in poses_in(rng, node, 40, known):
        rotation = naive.chart_rotation(int(node[FACE]), pose[:3])
        saving = naive.full_saving(p.points.x.T, p.points.y.T, p.points.xi, p.points.w, rotation, pose[3:])
        if saving > threshold:
            assert saving <= tally.bound
            assert np.all(tally.low <= pose[3:])
            assert np.all(pose[3:] <= tally.high)


def test_votes_are_tight_for_a_small_cell():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    y = np.concatenate([x[:50], rng.normal(size=(150, 3)) * 5.0])
    p = packed_of(x, y, 0.05)
    node = node_of(p.ceiling, VOTES, 0, (np.full(3, -1e-4), np.full(3, 1e-4)), (p.low, p.high))
    tally = tally_of(p, node, 1.25)
    assert 50 * 0.05 <= tally.bound <= 54 * 0.05
    assert np.all(np.subtract(tally.high, tally.low) < 0.2)


@pytest.mark.parametrize("unequal", [False, True])
def test_ballots_are_at_least_half_of_what_a_pair_can_save(unequal):
    p = packed_of(*mixed_pairs(np.random.default_rng(1), 200, unequal))
    half = 0.5 * p.points.xi * p.points.w
    assert np.all(p.votes.ballots * p.votes.unit >= half)
    assert np.all(p.votes.ballots * p.votes.unit <= half + p.votes.unit)
    assert p.votes.ballots.max() == (256 if unequal else 1)
