"""The search below a cell of rotations, by votes: what it closes, and which pairs it hands on."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.prove.pose.cells import STACK, CellState, make_cell_scratch, search_cells
from tear3d.prove.pose.nodes import FACE, HIGH, LOW
from tear3d.prove.stage import BOUND
from tests.prove.pose.cases import KINDS, exact_problem, node_around, poses_in
from tests.prove.pose.grouping import grouped, some_choices

seeds = st.integers(0, 2**32 - 1)
BEGINNING = CellState(1, 0, 0, 0.0, 0, 0)


def inside(node, pose):
    return bool(np.all(node[LOW : LOW + 6] <= pose) and np.all(pose <= node[HIGH : HIGH + 6]))


@given(seeds, st.sampled_from(KINDS), st.sampled_from(sorted(LOSSES)), st.integers(1, 80), st.floats(0.0, 1.2))
@settings(max_examples=250, deadline=None)
def test_every_pose_is_closed_open_or_handed_on_with_all_that_saves(seed, kind, loss, cells, share):
    rng = np.random.default_rng(seed)
    with grouped(some_choices(rng)):
        exact = exact_problem(rng, kind, loss)
    p = exact.packed
    node, known = node_around(rng, exact)
    poses = [(pose, exact.savings(int(node[FACE]), pose[:3], pose[3:])) for pose in poses_in(rng, node, 4, known)]
    threshold = share * float(max(sum(savings) for _, savings in poses))
    # Room for all copies, for some and for none.
    apart = len(p.groups.centres) > 1
    scratch = make_cell_scratch(p.voters, int(rng.choice([0, p.size, 40 * p.size])), p.ballot.many, groups=apart)
    scratch.nodes[0] = node
    state, bounds = BEGINNING, [[] for _ in poses]
    while state.top > 0 and state.cells < cells:
        state = search_cells(
            p.voters, p.groups, p.ballot, threshold, state, scratch, int(rng.choice([1, 10**9])), cells
        )
        if state.stop == 0:
            continue
        index = range(p.size) if state.stop < 0 else scratch.arena.index[state.start : state.stop].tolist()
        ready = scratch.nodes[state.top - 1]
        for (pose, savings), own in zip(poses, bounds, strict=True):
            if inside(ready, pose):
                own.append(float(ready[BOUND]))
                assert {i for i, saving in enumerate(savings) if saving > 0} <= set(index)
        state = state._replace(top=state.top - 1, start=0, stop=0)
    assert state.cells <= cells
    for (pose, savings), own in zip(poses, bounds, strict=True):
        own += [float(cell[BOUND]) for cell in scratch.nodes[: state.top] if inside(cell, pose)]
        assert sum(savings) <= Fraction(max([state.closed, *own]))


def test_a_full_stack_is_given_back():
    rng = np.random.default_rng(0)
    exact = exact_problem(rng, "plain")
    node, _ = node_around(rng, exact)
    p, scratch = exact.packed, make_cell_scratch(exact.packed.voters, 100, exact.packed.ballot.many)
    scratch.nodes[:] = node
    top = STACK - 7
    state = search_cells(p.voters, p.groups, p.ballot, 0.0, BEGINNING._replace(top=top), scratch, 10**9, 10**9)
    assert (state.top, state.cells, state.stop) == (top, 0, 0)
