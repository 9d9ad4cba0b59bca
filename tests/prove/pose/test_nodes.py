"""Where the nodes of the search start, how they are split, which are near, and what is recorded of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tear3d.prove.pose.cells import _split
from tear3d.prove.pose.nodes import (
    FACE,
    HIGH,
    LIST,
    LOW,
    NODE,
    VOTES,
    describe,
    is_ready,
    no_nodes,
    roots,
    sides_to_halve,
    turns,
)
from tear3d.prove.pose.zones import is_elsewhere, is_near, thresholds
from tear3d.prove.stage import BOUND, OPEN, PHASE
from tests import naive
from tests.prove.pose.cases import exact_problem, frame_of, node_of, poses_in, random_box, setting_of

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=40, deadline=None)


class Places(NamedTuple):
    """What a split writes beside the cells of a stack."""

    segment: np.ndarray
    grids: np.ndarray


def halves(node, halve):
    """The parts of a cell."""
    stack, places = np.zeros((9, NODE)), Places(np.zeros(9, np.int64), np.full(9, 2))
    stack[0] = node
    top = _split(stack, places, 1, halve, 7)
    assert set(places.segment[:top]) == {7}
    assert set(places.grids[:top]) == {0}  # smaller cells begin with the first grid
    return stack[:top]


def test_roots_and_children_cover_their_parents():
    rng = np.random.default_rng(0)
    nodes = roots(np.full(3, -1.0), np.ones(3), 5.0)
    for halve in ((True, True, True), (False, True, False), (True, False, True)):
        g = rng.uniform(-1, 1, (200, 3))
        for face in range(4):
            inside = (nodes[:, FACE] == face)[None] & np.all(
                (nodes[None, :, LOW : LOW + 3] <= g[:, None]) & (g[:, None] <= nodes[None, :, HIGH : HIGH + 3]), axis=2
            )
            assert np.all(inside.sum(axis=1) == 1)
        before = len(nodes)
        nodes = np.concatenate([halves(node, halve) for node in nodes])
        assert len(nodes) == before * 2 ** sum(halve)
    assert nodes.shape[1] == NODE
    assert np.all(nodes[:, BOUND] == 5.0)
    assert np.all(nodes[:, PHASE] == VOTES)
    assert np.all(nodes[:, LIST] == 0)
    assert np.all(nodes[:, LOW + 3 : LOW + 6] == -1.0)
    assert np.all(nodes[:, HIGH + 3 : HIGH + 6] == 1.0)


@given(seeds)
@few
def test_turns_are_how_far_half_a_side_moves_a_point(seed):
    """The sides of a small cell, one at a time, against the rotations at their ends."""
    rng = np.random.default_rng(seed)
    (low, high), face = random_box(rng, 1e-3), int(rng.integers(4))
    node = node_of(1.0, VOTES, face, (low, high), (np.zeros(3), np.zeros(3)))
    centre, half = 0.5 * (low + high), 0.5 * (high - low)
    for j, turn in enumerate(turns(node, 2.0)):
        moved = naive.chart_rotation(face, centre + half * np.eye(3)[j]) @ naive.chart_rotation(face, centre).T
        angle = np.arccos(np.clip(0.5 * (np.trace(moved) - 1.0), -1.0, 1.0))
        assert turn == pytest.approx(2.0 * angle, rel=1e-2, abs=1e-6)


@given(seeds)
@few
def test_the_sides_that_matter_most_are_halved_first(seed):
    rng = np.random.default_rng(seed)
    (low, high), face = random_box(rng), int(rng.integers(4))
    node = node_of(rng.uniform(1.0, 3.0), VOTES, face, (low, high), (np.zeros(3), np.ones(3)))
    turn = np.array(turns(node, 1.0))
    sides = [np.array(sides_to_halve(node, 0.1, 1.0, threshold)) for threshold in (1e9, 1.0, 0.0)]
    for halve in sides:
        assert halve.any()
        assert halve.all() or turn[halve].min() >= turn[~halve].max()
    assert [halve.sum() for halve in sides] == sorted(halve.sum() for halve in sides)
    assert (sides[0].sum(), sides[2].sum()) == (1, 3)


def test_small_cells_and_only_they_are_ready_for_slopes():
    small, wide = (np.full(3, -1e-9), np.full(3, 1e-9)), (np.full(3, -0.3), np.full(3, 0.3))
    far = np.full(3, -100.0), np.full(3, 100.0)
    for g, t, expected in ((small, far, True), (small, small, True), (wide, far, False)):
        assert is_ready(node_of(1.0, VOTES, 0, g, t), 1e-3, 1.0) == expected


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_no_pose_of_a_near_box_moves_a_point_far(seed):
    rng = np.random.default_rng(seed)
    farthest, zone, size = 10.0 ** rng.uniform(-1, 1), 0.1, 0.1 * 10.0 ** rng.uniform(-1.5, 0.3)
    g, t = (rng.uniform(-1, 1, (2, 3)) * size * scale for scale in (0.5 / farthest, 1.0))
    node = node_of(1.0, VOTES, int(rng.integers(4) * rng.integers(2)), np.sort(g, axis=0), np.sort(t, axis=0))
    x = rng.normal(size=(50, 3))
    x *= farthest / np.linalg.norm(x, axis=1, keepdims=True)
    tips = np.ascontiguousarray(x[:16])
    near, poses = is_near(node, farthest, zone), list(poses_in(rng, node, 64))
    for pose in poses:
        rotation = naive.chart_rotation(int(node[FACE]), pose[:3])
        moved = np.linalg.norm(x @ rotation.T + pose[3:] - x, axis=1)
        assert not near or moved.max() <= zone
        # The mean of a cloud moves no farther than its points.
        some = max(moved[:16].max(), np.linalg.norm(pose[3:]))
        assert is_elsewhere(None, int(node[FACE]), pose, tips, zone) == (some > zone)
    if not near and node[FACE] == 0:  # not for nothing: a point across the farthest turn, and the farthest shift
        reach = [
            np.linalg.norm(np.maximum(abs(node[LOW + k : LOW + k + 3]), abs(node[HIGH + k : HIGH + k + 3])))
            for k in (0, 3)
        ]
        assert 2.0 * reach[0] * farthest + reach[1] > zone * (1 - 1e-6)


@pytest.mark.parametrize(("far", "near_limit", "far_limit"), [(0.0, 11.0, 5.0), (6.0, 11.0, 7.5), (9.9, 11.0, 11.0)])
def test_thresholds(far, near_limit, far_limit):
    packed = exact_problem(np.random.default_rng(0), "plain").packed
    found = thresholds(10.0, far, setting_of(packed, 0.1, share=0.5, far_slack=0.25).slacks)
    assert found == pytest.approx((near_limit, far_limit))


def test_no_nodes_are_described():
    assert no_nodes().shape == (0, NODE)
    assert describe(no_nodes()).shape == (0, 6)


def test_the_record_says_which_rotation_is_in_the_middle_and_how_large_the_cell_is():
    nodes = np.concatenate([halves(node, (True, True, False)) for node in roots(np.full(3, -1.0), np.ones(3), 5.0)])[
        ::23
    ]
    for node, row in zip(nodes, describe(nodes), strict=True):
        centre = 0.5 * (node[LOW : LOW + 3] + node[HIGH : HIGH + 3])
        rotation = naive.chart_rotation(int(node[FACE]), centre)
        assert np.allclose(Rotation.from_rotvec(row[:3]).as_matrix(), rotation)
        assert np.allclose(np.cos(row[3]), frame_of(node).cosine)
        assert row[4] >= 1.0
        assert row[5] == OPEN
    assert np.all(describe(nodes, np.ones(len(nodes)))[:, 5] == 1.0)
