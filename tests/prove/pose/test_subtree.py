"""The search below one box of poses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.pose.nodes import BOXES, HIGH, LOW
from tear3d.prove.pose.points import pack
from tear3d.prove.pose.subtree import BOX_COST, Setting, State, make_scratch, saving_at, search_boxes
from tests import naive
from tests.prove.pose.cases import mixed_pairs, node_of, poses_in, random_box

seeds = st.integers(0, 2**32 - 1)


@given(seeds)
@settings(max_examples=15, deadline=None)
def test_a_finished_subtree_has_bounded_its_box(seed):
    rng = np.random.default_rng(seed)
    p = pack(Pairs.of(*mixed_pairs(rng, 40)), Pose.identity())
    x, y, xi, w = p.points.x.T, p.points.y.T, p.points.xi, p.points.w
    face, g = int(rng.integers(2)), random_box(rng, 0.05)
    i = rng.integers(20)
    centre = y[i] - naive.chart_rotation(face, 0.5 * (g[0] + g[1])) @ x[i]
    node = node_of(p.ceiling, BOXES, face, g, (centre - 0.1, centre + 0.1))
    scratch = make_scratch(p.size)
    scratch.nodes[0] = node
    setting = Setting(p.votes.xi, p.votes.radius, p.eps, 0.05)
    state, before = State(1, 0, 0.1, 0.0, False), 0
    while state.top > 0:
        state = search_boxes(p.points, setting, state, scratch, 20_000, 2**40)
        # A box costs BOX_COST at least, however few its points are.
        assert state.cells - before <= 20_000 // BOX_COST + 1
        before = state.cells
    bound = max(state.closed, state.saving)
    assert bound <= 1.05 * state.saving * (1 + 1e-12)
    assert state.found == (state.saving > 0.1)
    if state.found:
        best = scratch.best
        value = naive.full_saving(x, y, xi, w, naive.chart_rotation(int(best[0]), best[1:4]), best[4:7])
        assert value == pytest.approx(state.saving, abs=1e-9)
    for pose in poses_in(rng, node, 200):
        rotation = naive.chart_rotation(face, pose[:3])
        assert naive.full_saving(x, y, xi, w, rotation, pose[3:]) <= bound


def test_the_saving_of_a_pose_is_that_of_its_twin():
    rng = np.random.default_rng(1)
    p = pack(Pairs.of(*mixed_pairs(rng, 40, unequal=True)), Pose.identity())
    some = np.arange(0, p.size, 2, dtype=np.int32)
    x, y, xi, w = p.points.x.T[some], p.points.y.T[some], p.points.xi[some], p.points.w[some]
    for face in range(4):
        g = rng.uniform(-1, 1, 3)
        rotation = naive.chart_rotation(face, g)
        t = y[3] - rotation @ x[3] + 0.01
        value = saving_at(p.points, some, len(some), face, np.concatenate([g, t]))
        assert value == pytest.approx(naive.full_saving(x, y, xi, w, rotation, t))
        assert value > 0.0


def test_a_box_that_cannot_be_split_keeps_its_bound():
    p = pack(Pairs.of(*mixed_pairs(np.random.default_rng(0), 12)), Pose.identity())
    t = p.points.y[:, 0] - p.points.x[:, 0]
    scratch = make_scratch(p.size)
    scratch.nodes[0] = node_of(p.ceiling, BOXES, 0, (np.zeros(3), np.zeros(3)), (t, t))
    state = search_boxes(p.points, Setting(0.2, 1.0, p.eps, 0.0), State(1, 0, 0.0, 0.0, False), scratch, 2**40, 2**40)
    assert (state.top, state.cells) == (0, 1)
    assert state.found
    assert state.saving <= state.closed <= state.saving * (1 + 1e-9)
    assert np.all(scratch.nodes[0, LOW : LOW + 6] == scratch.nodes[0, HIGH : HIGH + 6])
