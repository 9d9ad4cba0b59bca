"""Where a pair can be in a cell of rotations, in float32: the same as by hand, and no pair that can save is dropped."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.bounds.parts import MOST_PARTS
from tear3d.prove.bounds.voters import BLOCK, Copies, Voters, cap_places, copy_voters, make_block, places
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


def copies_in(arena, place, looked_at=BLOCK):
    ends, mask = np.empty(MOST_PARTS, np.int64), np.empty(max(BLOCK, looked_at), np.uint8)
    return Copies(arena, place, arena.index.size, ends, mask, make_block())


def row_of(node):
    """Its box of t as the only row."""
    return np.array([[*node[LOW + 3 : LOW + 6], *node[HIGH + 3 : HIGH + 6]]])


def copied(packed, node):
    """Which pairs are copied; and what is copied is what they are."""
    arena, v = arena_of(packed, packed.size + 2), packed.voters
    copies = copies_in(arena, 2)
    assert copy_voters(v, (0, packed.size), frame_of(node), row_of(node), 1, packed.ballot.margin, copies)
    end = copies.ends[0]
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
    arena = arena_of(p, 3 * p.size)
    first = copies_in(arena, 0)
    rule = frame_of(node), row_of(node), 1, p.ballot.margin
    assert copy_voters(p.voters, (1, p.size), *rule, first)
    end = int(first.ends[0])
    assert end == p.size - 1
    again = copies_in(arena, end)
    assert copy_voters(arena, (1, end), *rule, again)
    assert again.ends[0] == 2 * end - 1
    assert arena.index[end : 2 * end - 1].tolist() == list(range(2, p.size))
    index = arena.index[: 2 * end - 1]
    short = Voters(np.ascontiguousarray(arena.rows[:, : 2 * end - 1]), arena.xi, arena.ballots, index)
    assert not copy_voters(arena, (0, end), *rule, copies_in(short, end))


def tiled(voters, times):
    xi, ballots = (a if a.size == 1 else np.tile(a, times) for a in (voters.xi, voters.ballots))
    return voters._replace(rows=np.tile(voters.rows, times), xi=xi, ballots=ballots)


def test_more_pairs_than_a_block_holds():
    rng = np.random.default_rng(1)
    exact = exact_problem(rng, "plain")
    node, _ = node_around(rng, exact)
    p = exact.packed
    times = 2 * BLOCK // p.size + 1
    size = times * p.size
    copies = copies_in(arena_of(p, size), 0)
    assert copy_voters(tiled(p.voters, times), (0, size), frame_of(node), row_of(node), 1, p.ballot.margin, copies)
    one = copied(p, node)
    expected = [k * p.size + i for k in range(times) for i in one.tolist()]
    assert copies.arena.index[: copies.ends[0]].tolist() == expected


def random_parts(rng, node, count):
    """Boxes in the box of t of a node, some of them empty of inside, as rows."""
    low, high = node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6]
    ends = np.sort(rng.uniform(size=(2, count, 3)) * rng.choice([0.0, 1.0], (2, count, 3), p=[0.2, 0.8]), axis=0)
    return np.concatenate([low + ends[0] * (high - low), low + ends[1] * (high - low)], axis=1)


@given(seeds, kinds, st.integers(2, MOST_PARTS), st.sampled_from([1, BLOCK // 2, BLOCK]))
@settings(max_examples=100, deadline=None)
def test_copies_for_several_boxes_are_those_for_one_after_the_other(seed, kind, count, least):
    """But for the margin, which is what the corner that places are relative to may change."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind)
    p, (node, _) = exact.packed, node_around(rng, exact)
    if rng.uniform() < 0.5:
        node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = p.low, p.high
    times = -(-least // p.size)
    voters, start = tiled(p.voters, times), int(rng.integers(p.size))
    span = start, times * p.size
    boxes, frame, margin, room = random_parts(rng, node, count), frame_of(node), p.ballot.margin, count * span[1]
    copies = copies_in(arena_of(p, room + 3), 3, span[1])
    assert copy_voters(voters, span, frame, boxes, count, margin, copies)
    free = 3
    for k, end in enumerate(copies.ends[:count].tolist()):
        together = copies.arena.index[free:end]
        assert np.array_equal(copies.arena.rows[:, free:end], voters.rows[:, together])
        for ours, all_of_them in ((copies.arena.xi, voters.xi), (copies.arena.ballots, voters.ballots)):
            assert ours.size == 1 or np.array_equal(ours[free:end], all_of_them[together])
        one = copies_in(arena_of(p, span[1]), 0)
        assert copy_voters(voters, span, frame, boxes[k : k + 1], 1, margin, one)
        alone = one.arena.index[: one.ends[0]]
        surely, perhaps = (
            np.flatnonzero(np.tile(can_save(points_of(p), cell_of_node(node), *np.split(boxes[k], 2), grow), times))
            for grow in (0.0, 2.0 * margin)
        )
        close = np.setdiff1d(perhaps, surely)
        assert np.array_equal(np.setdiff1d(together, close), surely[surely >= start])
        assert np.array_equal(np.setdiff1d(alone, close), surely[surely >= start])
        assert np.all(np.diff(together) > 0)
        assert k > 0 or np.array_equal(together, alone)
        free = end


def test_copies_for_several_boxes_with_too_little_room():
    rng = np.random.default_rng(0)
    exact = exact_problem(rng, "weights")
    p, (node, _) = exact.packed, node_around(rng, exact)
    node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = p.low, p.high  # everybody, three times
    boxes = np.repeat(row_of(node), 3, axis=0)
    for room, enough in ((3 * p.size + 1, True), (3 * p.size, False), (2 * p.size + 1, False), (0, False)):
        copies = copies_in(arena_of(p, room), 1)
        assert copy_voters(p.voters, (0, p.size), frame_of(node), boxes, 3, p.ballot.margin, copies) == enough
