"""The search below one box of poses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.corners import corner_values
from tear3d.prove.bounds.slopes import sum_slopes
from tear3d.prove.pose.boxes import BOX_COST, State, make_scratch, search_boxes
from tear3d.prove.pose.home import saving_at, seen_from_home
from tear3d.prove.pose.nodes import BOXES, HIGH, LOW
from tear3d.prove.pose.points import pack
from tests import naive
from tests.naive_pose import pose_saving
from tests.prove.pose.cases import frame_of, mixed_pairs, node_of, points_of, poses_in, random_box, setting_of

seeds = st.integers(0, 2**32 - 1)
losses = st.sampled_from(sorted(LOSSES))


def scratch_of(packed, node, dtype=np.float64):
    """Work space with a box of all points on the stack."""
    scratch = make_scratch(packed.size, dtype)
    stop = packed.gather(np.arange(packed.size, dtype=np.int32), node, scratch.home, scratch.points)
    scratch.nodes[0], scratch.segments[0] = node, (0, stop)
    return scratch


def beginning(saving=0.0):
    return State(1, 0, 0, saving, 0.0, 0.0, 0.0, False, False)


@given(seeds, losses)
@settings(max_examples=25, deadline=None)
def test_a_finished_subtree_has_bounded_its_box(seed, loss):
    rng = np.random.default_rng(seed)
    p = pack(Pairs.of(*mixed_pairs(rng, 40)), LOSSES[loss], Pose.identity())
    points, each = points_of(p), p.ceiling / 40
    face, g = int(rng.integers(2)), random_box(rng, 0.05)
    i = rng.integers(20)
    centre = points.y[:, i] - naive.chart_rotation(face, 0.5 * (g[0] + g[1])) @ points.x[:, i]
    node = node_of(p.ceiling, BOXES, face, g, (centre - 0.1, centre + 0.1))
    scratch, setting = scratch_of(p, node), setting_of(p, 0.05)
    state, before = beginning(0.5 * each), 0
    while state.top > 0:
        state = search_boxes(setting, p.allowed, state, scratch, 20_000, 2**40)
        # A box costs BOX_COST at least, however few its points are.
        assert state.cells - before <= 20_000 // BOX_COST + 1
        before = state.cells
    bound = max(state.closed, state.saving)
    assert bound <= 1.05 * state.saving * (1 + 1e-12)
    assert state.found == (state.saving > 0.5 * each)
    if state.found:
        best = scratch.best[0]
        rotation = naive.chart_rotation(int(best[0]), best[1:4])
        value = pose_saving(points, rotation, best[4:7], loss).sum()
        assert value == pytest.approx(state.saving, abs=1e-9)
    for pose in poses_in(rng, node, 200):
        assert pose_saving(points, naive.chart_rotation(face, pose[:3]), pose[3:], loss).sum() <= bound


@given(seeds, losses, st.floats(0.3, 0.9))
@settings(max_examples=25, deadline=None)
def test_what_is_closed_elsewhere_bounds_what_is_elsewhere(seed, loss, share):
    """Around the incumbent, which is the identity: boxes near it count as such, and no others."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 3))
    y = x + 0.1 * rng.uniform(-1, 1, x.shape)
    y[25:] = x[25:] + 0.5 * rng.normal(size=3)
    p = pack(Pairs.of(x, y, 0.2), LOSSES[loss], Pose.of(np.eye(3), y.mean(axis=0) - x.mean(axis=0)))
    points, zone = points_of(p), 0.4
    size = rng.uniform(0.3, 0.6) * np.array([0.1, 0.1, 0.1, 1.0, 1.0, 1.0])
    node = node_of(p.ceiling, BOXES, 0, (-size[:3], size[:3]), (-size[3:], size[3:]))
    start = float(pose_saving(points, np.eye(3), np.zeros(3), loss).sum())
    scratch = scratch_of(p, node)
    state = search_boxes(
        setting_of(p, 0.05, share=share, zone=zone), p.allowed, beginning(start), scratch, 2**40, 20_000
    )
    open_boxes = scratch.nodes[: state.top]
    for pose in poses_in(rng, node, 300):
        rotation = naive.chart_rotation(0, pose[:3])
        saving = pose_saving(points, rotation, pose[3:], loss).sum()
        holding = [box for box in open_boxes if np.all((box[LOW : LOW + 6] <= pose) & (pose <= box[HIGH : HIGH + 6]))]
        assert saving <= max([state.closed, state.saving, *(box[0] for box in holding)])
        moved = np.linalg.norm(points.x.T @ rotation.T + pose[3:] - points.x.T, axis=1).max()
        if moved > zone:
            assert saving <= max([state.far_closed, *(box[0] for box in holding if box[1] == BOXES)])
    if state.far_found:
        best = scratch.best[1]
        rotation = naive.chart_rotation(0, best[1:4])
        assert pose_saving(points, rotation, best[4:7], loss).sum() == pytest.approx(state.far)
        moved = points.x.T @ rotation.T + best[4:7] - points.x.T
        assert max(np.linalg.norm(moved, axis=1).max(), np.linalg.norm(best[4:7])) > zone


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_saving_of_a_pose_is_that_of_its_twin(loss):
    rng = np.random.default_rng(1)
    p = pack(Pairs.of(*mixed_pairs(rng, 40, unequal=True)), LOSSES[loss], Pose.identity())
    points = points_of(p)
    for face in range(4):
        g = rng.uniform(-1, 1, 3)
        rotation = naive.chart_rotation(face, g)
        t = points.y[:, 3] - rotation @ points.x[:, 3] + 0.01
        scratch = scratch_of(p, node_of(p.ceiling, BOXES, face, (g - 0.1, g + 0.05), (t - 0.2, t + 0.1)))
        value = saving_at(scratch.points, (2, 30), LOSSES[loss].code, scratch.home, None, face, np.concatenate([g, t]))
        assert value == pytest.approx(pose_saving(points, rotation, t, loss)[2:30].sum())
        assert value > 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_do_not_depend_on_where_in_memory_they_are_computed(dtype):
    rng = np.random.default_rng(2)
    p = pack(Pairs.of(*mixed_pairs(rng, 300)), LOSSES["tear"], Pose.identity())
    node = node_of(p.ceiling, BOXES, 0, (np.full(3, -0.05), np.full(3, 0.06)), (np.full(3, -0.1), np.full(3, 0.12)))
    found, kept = set(), []
    for _ in range(150):
        kept.append(make_scratch(int(rng.integers(300, 900)), dtype))
        if len(kept) > 5:
            del kept[rng.integers(5)]
        s = kept[-1]
        stop = p.gather(np.arange(300, dtype=np.int32), node, s.home, s.points)
        box = seen_from_home(node, frame_of(node), s.home, p.farthest, p.eps, 2.0**-24)
        sums = sum_slopes(s.points, (0, stop), box, p.ballot.loss, 2.0**-24, s.work)
        corner_values(sums, s.work)
        found.add((sums, tuple(s.work.values.tolist())))
    assert len(found) == 1


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_box_that_cannot_be_split_keeps_its_bound(loss):
    p = pack(Pairs.of(*mixed_pairs(np.random.default_rng(0), 12)), LOSSES[loss], Pose.identity())
    points = points_of(p)
    t = points.y[:, 0] - points.x[:, 0]
    scratch = scratch_of(p, node_of(p.ceiling, BOXES, 0, (np.zeros(3), np.zeros(3)), (t, t)))
    state = search_boxes(setting_of(p, 0.0), p.allowed, beginning(), scratch, 2**40, 2**40)
    assert (state.top, state.cells) == (0, 1)
    assert state.found
    assert state.saving <= state.closed <= state.saving * (1 + 1e-9)
    assert np.all(scratch.nodes[0, LOW : LOW + 6] == scratch.nodes[0, HIGH : HIGH + 6])
