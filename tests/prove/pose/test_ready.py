"""The search below cells that wait: each as a search of its own, whatever the slices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.pose.boxes import make_scratch
from tear3d.prove.pose.nodes import FACE
from tear3d.prove.pose.ready import ALL, Ready, beginning, make_ready, search_ready
from tear3d.prove.stage import BOUND
from tests.prove.pose.cases import KINDS, exact_problem, gather_voters_of, node_around, setting_of
from tests.prove.pose.grouping import grouped, some_choices
from tests.prove.pose.test_cells import inside
from tests.prove.pose.test_exact import savings

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))
NEVER = 2**40
START = 1e-3
"""What is saved by the pose that is known."""


def setting_for_voters(packed):
    return setting_of(packed, 0.01, dtype=np.float32)._replace(eps=packed.single_eps)


def waiting(rng, packed, nodes):
    """Cells that wait: each with all voters, or with copies of them in any order."""
    spans, chosen = make_ready().spans[: len(nodes)], []
    for k in range(len(nodes)):
        start = sum(map(len, chosen))
        whole = rng.uniform() < 0.3
        chosen.append([] if whole else rng.permutation(packed.size))
        spans[k] = (ALL, packed.size) if whole else (start, start + packed.size)
    index = np.concatenate([*chosen, [0]]).astype(np.int32)
    v = packed.voters
    xi, ballots = (a if a.size == 1 else a[index] for a in (v.xi, v.ballots))
    arena = Voters(np.ascontiguousarray(v.rows[:, index]), xi, ballots, index)
    return Ready(np.array(nodes), spans.copy()), arena


def weights_of(packed, ready, arena):
    if len(packed.pairs.w) == 1:
        return packed.pairs.w.copy()
    rows = [
        packed.numbers(packed.voters, (0, stop)) if start == ALL else packed.numbers(arena, (start, stop))
        for start, stop in ready.spans
    ]
    return packed.pairs.w[np.concatenate(rows)]


def search_each(packed, ready, arena, weights, turn):
    """Its twin: one cell after the other, each in work space of its own and in one go; and what is left of each."""
    left, walk, setting = [], beginning(START, 0.0, 0.0), setting_for_voters(packed)
    for k in range(len(ready.nodes)):
        scratch = make_scratch(packed.size, np.float32)
        walk = search_ready(
            setting, packed.allowed, packed.voters, arena, weights, ready, walk, k + 1, scratch, NEVER, turn, NEVER
        )
        left.append(scratch.nodes[: walk.state.top].copy())
        walk = walk._replace(state=walk.state._replace(top=0))
    return walk.state, left


def problem(rng, kind, loss):
    with grouped(some_choices(rng)):
        exact = exact_problem(rng, kind, loss)
    around = [node_around(rng, exact) for _ in range(int(rng.integers(1, 5)))]
    return exact, around


@given(seeds, st.sampled_from(KINDS), losses, st.integers(1, 60))
@settings(max_examples=100, deadline=None)
def test_cells_that_wait_are_searched_like_each_alone_in_any_slices(seed, kind, loss, turn):
    rng = np.random.default_rng(seed)
    exact, around = problem(rng, kind, loss)
    p = exact.packed
    ready, arena = waiting(rng, p, [node for node, _ in around])
    scratch, given_ = make_scratch(p.size, np.float32), (p.voters, arena, weights_of(p, ready, arena), ready)
    setting, (known, parts) = setting_for_voters(p), search_each(p, ready, arena, given_[2], turn)
    walk, left, last = beginning(START, 0.0, 0.0), [], len(around)
    while walk.state.top or walk.next < last:
        before, budget = walk, int(rng.choice([1, 2_000, NEVER]))
        walk = search_ready(setting, p.allowed, *given_, walk, last, scratch, budget, turn, NEVER)
        assert (walk.boxes, walk.next) > (before.boxes, before.next) or walk.state != before.state
        if walk.state.top and walk.state.cells >= turn:
            left.append(scratch.nodes[: walk.state.top].copy())
            walk = walk._replace(state=walk.state._replace(top=0))
    assert [len(part) for part in parts if len(part)] == [len(part) for part in left]
    for part, other in zip([part for part in parts if len(part)], left, strict=True):
        assert np.array_equal(part, other)
    assert walk.state[3:] == known[3:]


@given(seeds, st.sampled_from(KINDS), losses, st.integers(0, 40), st.floats(0.0, 1.2))
@settings(max_examples=300, deadline=None)
def test_every_pose_is_closed_open_or_waits_still(seed, kind, loss, boxes, share):
    """Also when the boxes that may be visited are over in the middle."""
    rng = np.random.default_rng(seed)
    exact, around = problem(rng, kind, loss)
    p = exact.packed
    ready, arena = waiting(rng, p, [node for node, _ in around])
    poses = [(k, list(savings(rng, exact, node, known, 4))) for k, (node, known) in enumerate(around)]
    start = share * float(max(saving for _, each in poses for _, saving in each))
    scratch, given_ = make_scratch(p.size, np.float32), (p.voters, arena, weights_of(p, ready, arena), ready)
    walk = beginning(start, 0.0, 0.0)
    walk = search_ready(setting_for_voters(p), p.allowed, *given_, walk, len(around), scratch, NEVER, NEVER, boxes)
    assert walk.boxes <= boxes
    begun = walk.next - 1 if walk.state.top else walk.next
    for k, each in poses:
        for pose, saving in each:
            holding = [float(ready.nodes[k, BOUND])] if k >= walk.next else []
            if k == begun and walk.state.top:
                holding = [float(box[BOUND]) for box in scratch.nodes[: walk.state.top] if inside(box, pose)]
            assert saving <= Fraction(max([walk.state.closed, *holding]))


@pytest.mark.parametrize("equal", [True, False])
def test_weights_are_those_of_the_pairs(equal):
    rng = np.random.default_rng(int(equal))
    exact, around = problem(rng, "plain" if equal else "weights", "tear")
    p = exact.packed
    assert (len(p.pairs.w) == 1) == equal
    ready, arena = waiting(rng, p, [node for node, _ in around])
    weights = weights_of(p, ready, arena)
    for k in range(len(around)):
        scratch, walk = make_scratch(p.size, np.float32), beginning(0.0, 0.0, 0.0)
        passed = 0 if equal else p.size * k
        walk = search_ready(
            setting_for_voters(p), p.allowed, p.voters, arena, weights, ready,
            walk._replace(next=k, weight=passed), k + 1, scratch, 1, 1, NEVER,
        )  # fmt: skip
        assert walk.weight == passed + p.size
        assert int(scratch.nodes[0, FACE]) == int(ready.nodes[k, FACE])
        other = make_scratch(p.size, np.float32)
        start, stop = ready.spans[k]
        source, span = (p.voters, (0, stop)) if start == ALL else (arena, (start, stop))
        end = gather_voters_of(p, source, span, ready.nodes[k], other.home, other.points)
        assert np.array_equal(scratch.points[:, :end], other.points[:, :end])
