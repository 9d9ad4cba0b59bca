"""The search below a cell of rotations, by votes: what it closes, and which pairs it hands on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.prove.bounds.parts import MOST_PARTS
from tear3d.prove.pose import cells as module
from tear3d.prove.pose import ready as ready_module
from tear3d.prove.pose.cells import STACK, CellState, make_cell_scratch, search_cells
from tear3d.prove.pose.nodes import FACE, HIGH, LOW
from tear3d.prove.pose.ready import ALL
from tear3d.prove.stage import BOUND
from tests.naive import chart_rotation
from tests.naive_pose import Exact
from tests.prove.pose.cases import KINDS, exact_problem, node_around, points_of, poses_in
from tests.prove.pose.grouping import Choices, grouped, search_and_look, some_choices

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))
shares = st.floats(0.0, 1.2)
BEGINNING = CellState(1, 0, 0, 0.0, 0)


def inside(node, pose):
    return bool(np.all(node[LOW : LOW + 6] <= pose) and np.all(pose <= node[HIGH : HIGH + 6]))


def scratch_for(packed, room):
    return make_cell_scratch(packed.voters, room, packed.ballot.many, groups=len(packed.groups.centres) > 1)


def voters_of(scratch, place, packed):
    """The pairs that are looked at in a cell of the stack."""
    own = scratch.segment[place]
    start, stop = scratch.segments[own]
    return set(range(packed.size)) if own == 0 else set(packed.numbers(scratch.arena, (start, stop)).tolist())


def ready_pairs(scratch, k, packed):
    """The pairs that are handed on with a cell that waits."""
    start, stop = scratch.ready.spans[k].tolist()
    if start == ALL:
        assert stop == packed.size
        return set(range(packed.size))
    return set(packed.numbers(scratch.arena, (start, stop)).tolist())


def check_search(rng, exact, node, poses, cells, share, room):
    """Search below a cell in slices; every pose is closed, open or handed on with all that saves. Returns the most
    parts that a cell was taken apart into."""
    p, poses = exact.packed, [(pose, exact.savings(int(node[FACE]), pose[:3], pose[3:])) for pose in poses]
    savers = [{i for i, saving in enumerate(savings) if saving > 0} for _, savings in poses]
    threshold = share * float(max(sum(savings) for _, savings in poses))
    scratch = scratch_for(p, room)
    scratch.nodes[0] = node
    state, bounds, most = BEGINNING, [[] for _ in poses], 1
    while state.top > 0 and state.cells < cells:
        limits = int(rng.choice([1, 10**9])), cells
        state, parts = search_and_look(p.voters, p.groups, p.ballot, p.allowed, threshold, state, scratch, *limits)
        most = max(most, parts)
        for (pose, _), needed in zip(poses, savers, strict=True):
            assert all(needed <= voters_of(scratch, k, p) for k in range(state.top) if inside(scratch.nodes[k], pose))
        for k in range(state.ready):
            waits, index = scratch.ready.nodes[k], ready_pairs(scratch, k, p)
            for (pose, _), needed, own in zip(poses, savers, bounds, strict=True):
                if inside(waits, pose):
                    own.append(float(waits[BOUND]))
                    assert needed <= index
    assert state.cells <= cells
    for (pose, savings), own in zip(poses, bounds, strict=True):
        own += [float(cell[BOUND]) for cell in scratch.nodes[: state.top] if inside(cell, pose)]
        assert sum(savings) <= Fraction(max([state.closed, *own]))
    return most


def some_room(rng, packed):
    """For all copies, for some and for none."""
    return int(rng.choice([0, packed.size, 40 * packed.size]))


@given(seeds, st.sampled_from(KINDS), losses, st.integers(1, 80), shares)
@settings(max_examples=250, deadline=None)
def test_every_pose_is_closed_open_or_handed_on_with_all_that_saves(seed, kind, loss, cells, share):
    rng = np.random.default_rng(seed)
    with grouped(some_choices(rng)):
        exact = exact_problem(rng, kind, loss)
    node, known = node_around(rng, exact)
    check_search(rng, exact, node, [*poses_in(rng, node, 4, known)], cells, share, some_room(rng, exact.packed))


def scattered_problem(rng, loss, choices):
    """A few points whose partners are there several times, moved apart."""
    points, times = int(rng.integers(3, 5)), int(rng.integers(2, MOST_PARTS + 3))
    x = np.tile(rng.normal(size=(points, 3)), (times, 1))
    y = x @ random_rotation(rng).T + np.repeat(4.0 * rng.normal(size=(times, 3)), points, axis=0)
    y += 0.02 * rng.uniform(-1, 1, y.shape)
    w = np.ones(1) if rng.uniform() < 0.5 else rng.uniform(0.3, 3.0, len(x))
    xi = np.full(len(x), 0.1) if rng.uniform() < 0.5 else rng.uniform(0.05, 0.2, len(x))
    g = [Fraction(int(rng.integers(-40, 41)), 41) for _ in range(3)]
    with grouped(choices):
        return Exact.of(x, y, xi, w, g, rng.normal(size=3), loss)


def cell_and_poses(rng, exact, count=6):
    """A cell of rotations with all translations, and poses of it at which pairs from all over fit."""
    p, points = exact.packed, points_of(exact.packed)
    node, known = node_around(rng, exact)
    centre, half = known[:3], 10.0 ** rng.uniform(-4.0, -1.0)
    node[LOW : LOW + 3], node[HIGH : HIGH + 3] = np.maximum(-1.0, centre - half), np.minimum(1.0, centre + half)
    node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = p.low, p.high
    poses = []
    for i in rng.integers(p.size, size=count):
        g = rng.uniform(node[LOW : LOW + 3], node[HIGH : HIGH + 3])
        t = points.y[:, i] - chart_rotation(int(node[FACE]), g) @ points.x[:, i]
        poses.append(np.concatenate([g, t + 0.3 * points.xi[i] * rng.uniform(-1, 1, 3)]))
    return node, poses


@given(seeds, losses, st.integers(1, 80), shares)
@settings(max_examples=100, deadline=None)
def test_the_same_for_cells_that_are_taken_apart(seed, loss, cells, share):
    rng = np.random.default_rng(seed)
    exact = scattered_problem(rng, loss, some_choices(rng))
    node, poses = cell_and_poses(rng, exact)
    check_search(rng, exact, node, poses, cells, share, some_room(rng, exact.packed))


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("room", [0, 1, 40])
def test_such_cells_are_taken_apart_indeed(loss, room):
    rng, seen = np.random.default_rng(room), []
    for _ in range(30):
        exact = scattered_problem(rng, loss, some_choices(rng)._replace(many=10**9))
        node, poses = cell_and_poses(rng, exact)
        share = rng.uniform(0.3, 1.0)
        seen.append(check_search(rng, exact, node, poses, 40, share, room * exact.packed.size))
    assert sum(parts > 1 for parts in seen) >= 15
    assert max(seen) > 4


@pytest.mark.parametrize("room", [0.5, 2, 40])
@pytest.mark.parametrize("most", [1, 3, 64])
def test_cells_that_wait_keep_their_pairs_while_others_are_found(most, room, monkeypatch):
    """No more than there is room for; their copies lie apart from those of the search."""
    monkeypatch.setattr(ready_module, "MOST", most)
    rng, waited, copied = np.random.default_rng(0), [], 0
    for _ in range(20):
        exact = exact_problem(rng, "plain")
        (node, known), p = node_around(rng, exact), exact.packed
        savings = [(pose, exact.savings(int(node[FACE]), pose[:3], pose[3:])) for pose in poses_in(rng, node, 6, known)]
        scratch = scratch_for(p, int(room * p.size))
        scratch.nodes[0] = node
        threshold = 0.5 * float(max(sum(each) for _, each in savings))
        state = search_cells(p.voters, p.groups, p.ballot, p.allowed, threshold, BEGINNING, scratch, 10**9, 10**9)
        assert state.top == 0 or state.ready > 0
        assert state.ready <= most
        waited.append(state.ready)
        for k in range(state.ready):
            index = ready_pairs(scratch, k, p)
            copied += len(index) < p.size
            for pose, each in savings:
                if inside(scratch.ready.nodes[k], pose):
                    assert {i for i, saving in enumerate(each) if saving > 0} <= index
    assert max(waited) == most if most < 64 else max(waited) > 3
    assert copied > 5


def test_many_voters_are_not_taken_apart():
    """There would be no room to note which of them matter where."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        exact = scattered_problem(rng, "tear", Choices(many=0))
        node, poses = cell_and_poses(rng, exact)
        assert check_search(rng, exact, node, poses, 40, 0.5, 40 * exact.packed.size) == 1


@pytest.mark.parametrize("segments", [2, 4, 6])
def test_cells_are_taken_apart_without_copies_when_segments_run_out(segments, monkeypatch):
    monkeypatch.setattr(module, "SEGMENTS", segments)
    rng, seen = np.random.default_rng(segments), []
    for _ in range(30):
        exact = scattered_problem(rng, "tear", Choices())
        node, poses = cell_and_poses(rng, exact)
        seen.append(check_search(rng, exact, node, poses, 40, 0.5, 40 * exact.packed.size))
    assert sum(parts > 1 for parts in seen) >= 15
    assert max(seen) > segments


def test_a_cell_is_taken_apart_into_boxes_that_hold_its_rivals():
    """Eight places for one rotation, one step: eight nodes with the same rotations, each with its own pairs only."""
    rng = np.random.default_rng(0)
    corners = 3.0 * np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
    x = np.tile(rng.normal(size=(10, 3)), (8, 1))
    exact = Exact.of(x, x + np.repeat(corners, 10, axis=0), 0.05, 1.0)
    p, (node, _) = exact.packed, node_around(rng, exact)
    node[FACE], node[LOW : LOW + 3], node[HIGH : HIGH + 3] = 0, -1e-3, 1e-3
    node[LOW + 3 : LOW + 6], node[HIGH + 3 : HIGH + 6] = p.low, p.high
    scratch = scratch_for(p, 100)
    scratch.nodes[0] = node
    state = search_cells(p.voters, p.groups, p.ballot, p.allowed, 0.06 * p.ceiling, BEGINNING, scratch, 1, 10**9)
    assert (state.top, state.cells, state.ready) == (8, 1, 0)
    places = set()
    for k, part in enumerate(scratch.nodes[:8]):
        assert np.array_equal(part[[LOW, LOW + 1, LOW + 2, HIGH, HIGH + 1, HIGH + 2]], [-1e-3] * 3 + [1e-3] * 3)
        assert part[BOUND] <= 0.2 * p.ceiling
        index = sorted(voters_of(scratch, k, p))
        assert index == list(range(index[0], index[0] + 10))
        assert inside(part, np.concatenate([np.zeros(3), corners[index[0] // 10] - p.shift + p.mean]))
        places.add(index[0])
    assert len(places) == 8


def test_a_full_stack_is_given_back():
    rng = np.random.default_rng(0)
    exact = exact_problem(rng, "plain")
    node, _ = node_around(rng, exact)
    p, scratch = exact.packed, scratch_for(exact.packed, 100)
    scratch.nodes[:] = node
    top = STACK - 7
    state = search_cells(
        p.voters, p.groups, p.ballot, p.allowed, 0.0, BEGINNING._replace(top=top), scratch, 10**9, 10**9
    )
    assert (state.top, state.cells, state.ready) == (top, 0, 0)
