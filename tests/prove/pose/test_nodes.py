"""Where the nodes of the search start, how they are split, and what is recorded of them."""

from __future__ import annotations

import numpy as np

from tear3d.lab.synthetic import random_rotation
from tear3d.prove.driver import BOUND, OPEN, PHASE
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, NODE, VOTES, describe, no_nodes, ready, roots, split
from tests import naive
from tests.prove.pose.cases import frame_of


def test_roots_and_children_cover_their_parents():
    rng = np.random.default_rng(0)
    nodes = roots(np.full(3, -1.0), np.ones(3), 5.0)
    for _ in range(3):
        g = rng.uniform(-1, 1, (200, 3))
        for face in range(4):
            inside = (nodes[:, FACE] == face)[None] & np.all(
                (nodes[None, :, LOW : LOW + 3] <= g[:, None]) & (g[:, None] <= nodes[None, :, HIGH : HIGH + 3]), axis=2
            )
            assert np.all(inside.sum(axis=1) == 1)
        nodes = split(nodes, 1.0)
    assert nodes.shape[1] == NODE
    assert np.all(nodes[:, BOUND] == 5.0)
    assert np.all(nodes[:, PHASE] == VOTES)
    assert not ready(nodes, 1e-3, 1.0).any()
    assert ready(nodes, 10.0, 1.0).all()


def test_no_nodes_have_no_children():
    assert split(no_nodes(), 1.0).shape == (0, NODE)
    assert ready(no_nodes(), 1.0, 1.0).shape == (0,)
    assert describe(no_nodes(), np.ones(3)).shape == (0, 6)


def test_the_record_says_where_an_axis_points_and_how_large_the_cell_is():
    rotation = random_rotation(np.random.default_rng(2))
    nodes = split(roots(np.full(3, -1.0), np.ones(3), 5.0), 1.0)[::50]
    rows = describe(nodes, rotation[:, 0])
    for node, row in zip(nodes, rows, strict=True):
        centre = 0.5 * (node[LOW : LOW + 3] + node[HIGH : HIGH + 3])
        turned = naive.chart_rotation(int(node[FACE]), centre) @ rotation
        assert np.allclose(row[:3], turned[:, 0])
        assert np.allclose(np.cos(row[3]), frame_of(node).cosine)
        assert row[5] == OPEN
    assert np.all(describe(nodes, rotation[:, 0], np.ones(len(nodes)))[:, 5] == 1.0)
