"""Where a pair can be in a cell of rotations, in float32: the same as by hand, and no pair that can save is dropped."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.bounds.voters import BLOCK, Voters, cap_places, copy_voters, make_block, places
from tear3d.prove.bounds.voxels import ORIGIN
from tear3d.prove.pose.nodes import FACE, HIGH, LOW
from tests.naive import chart_rotation
from tests.naive_pose import can_save, cell_of, place_boxes
from tests.prove.pose.cases import KINDS, box_of, exact_problem, frame_of, node_around, points_of, poses_in

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)


def cell_of_node(node):
    return cell_of(int(node[FACE]), node[LOW : LOW + 3], node[HIGH : HIGH + 3])


def intervals(packed, node, capped):
    """The least and the largest y − R x of every pair, by the kernels."""
    low, block, margin = box_of(node)[0], make_block(), packed.ballot.margin
    places(packed.voters, (0, packed.size), frame_of(node), ORIGIN, low, margin, block)
    if capped:
        cap_places(packed.voters, (0, packed.size), frame_of(node), ORIGIN, margin, block)
    middle, reach = (np.float64(a[:, : packed.size].T) for a in (block.middle, block.reach))
    return middle - reach + low, middle + reach + low


@given(seeds, kinds, st.booleans())
@settings(max_examples=100, deadline=None)
def test_places_are_those_of_the_twin_and_a_margin_wider(seed, kind, capped):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind)
    p, (node, _) = exact.packed, node_around(rng, exact)
    low, high = intervals(p, node, capped)
    least, largest = place_boxes(points_of(p), cell_of_node(node), capped=capped)
    assert np.all(low <= least)
    assert np.all(largest <= high)
    assert np.all(low >= least - 2.0 * p.ballot.margin)
    assert np.all(high <= largest + 2.0 * p.ballot.margin)


@given(seeds, kinds, st.booleans())
@settings(max_examples=60, deadline=None)
def test_places_hold_for_every_rotation_of_the_cell(seed, kind, capped):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind)
    p, (node, known) = exact.packed, node_around(rng, exact)
    low, high = intervals(p, node, capped)
    points = points_of(p)
    for pose in poses_in(rng, node, 20, known):
        at = points.y.T - points.x.T @ chart_rotation(int(node[FACE]), pose[:3]).T
        assert np.all((low <= at) & (at <= high))


@given(seeds, kinds, st.sampled_from(["tear", "tls", "cm"]))
@settings(max_examples=100, deadline=None)
def test_no_pair_that_saves_in_the_box_is_dropped(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p, (node, known) = exact.packed, node_around(rng, exact)
    kept = set(copied(p, node).tolist())
    low, high = box_of(node)
    least, most = (
        set(np.flatnonzero(can_save(points_of(p), cell_of_node(node), low, high, grow)).tolist())
        for grow in (0.0, 2.0 * p.ballot.margin)
    )
    assert least <= kept <= most
    for pose in poses_in(rng, node, 4, known):
        savings = exact.savings(int(node[FACE]), pose[:3], pose[3:])
        assert {i for i, saving in enumerate(savings) if saving > 0} <= kept


def arena_of(packed, room):
    v = packed.voters
    xi, ballots = (a if a.size == 1 else np.empty(room, a.dtype) for a in (v.xi, v.ballots))
    return Voters(np.empty((6, room), np.float32), xi, ballots, np.empty(room, np.int32))


def copied(packed, node):
    """Which pairs are copied; and what is copied is what they are."""
    arena = arena_of(packed, packed.size + 2)
    frame, box, v = frame_of(node), box_of(node), packed.voters
    room = 2, packed.size + 2
    end = copy_voters(v, (0, packed.size), frame, box, packed.ballot.margin, arena, room, make_block())
    assert end >= 2
    index = arena.index[2:end]
    assert np.array_equal(arena.rows[:, 2:end], v.rows[:, index])
    for ours, all_of_them in ((arena.xi, v.xi), (arena.ballots, v.ballots)):
        assert ours.size == 1 or np.array_equal(ours[2:end], all_of_them[index])
    return index


def test_copies_of_copies_know_which_pairs_they_are_and_where_there_is_no_room():
    rng = np.random.default_rng(0)
    exact = exact_problem(rng, "weights")
    p, (node, _) = exact.packed, node_around(rng, exact)
    node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = p.low, p.high  # everybody
    arena, block = arena_of(p, 3 * p.size), make_block()
    rule = frame_of(node), box_of(node), p.ballot.margin, arena
    end = copy_voters(p.voters, (1, p.size), *rule, (0, 3 * p.size), block)
    assert end == p.size - 1
    assert copy_voters(arena, (1, end), *rule, (end, 3 * p.size), block) == 2 * end - 1
    assert arena.index[end : 2 * end - 1].tolist() == list(range(2, p.size))
    assert copy_voters(arena, (0, end), *rule, (end, 2 * end - 1), block) == -1


def test_more_pairs_than_a_block_holds():
    rng = np.random.default_rng(1)
    exact = exact_problem(rng, "plain")
    node, _ = node_around(rng, exact)
    p = exact.packed
    times = 2 * BLOCK // p.size + 1
    many = p.voters._replace(rows=np.tile(p.voters.rows, times))
    arena = arena_of(p, times * p.size)
    room = 0, times * p.size
    end = copy_voters(many, room, frame_of(node), box_of(node), p.ballot.margin, arena, room, make_block())
    one = copied(p, node)
    assert arena.index[:end].tolist() == [k * p.size + i for k in range(times) for i in one.tolist()]
