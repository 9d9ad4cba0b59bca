from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from tear3d.features.tree import SORTED, Tree


def _points(seed: int, count: int, ties: bool) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return np.round(2.0 * points) if ties else points


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 300),
    st.integers(1, 70),
    st.sampled_from([0.3, 1.5, np.inf]),
    st.booleans(),
)
def test_finds_what_a_full_search_finds(seed, count, k, within, ties):
    points, queries = _points(seed, count, ties), _points(seed + 1, 40, ties)
    squared, rows = Tree(points).query(queries, k, within)
    every = np.sum((queries[:, None] - points) ** 2, axis=2)
    nearest = np.sort(np.where(every < within**2, every, np.inf), axis=1)[:, :k]
    assert squared.shape == rows.shape == nearest.shape
    np.testing.assert_allclose(np.sort(squared, axis=1), nearest, rtol=1e-12)
    found = rows >= 0
    assert np.array_equal(found, np.isfinite(squared))
    assert np.array_equal(found, ~np.sort(~found))
    np.testing.assert_allclose(squared[found], np.take_along_axis(every, np.maximum(rows, 0), 1)[found], rtol=1e-12)
    assert all(len(set(row[row >= 0])) == np.count_nonzero(row >= 0) for row in rows)
    np.testing.assert_allclose(squared[:, 0], nearest[:, 0], rtol=1e-12)
    if rows.shape[1] <= SORTED:
        assert np.array_equal(squared, np.sort(squared, axis=1))


def test_nearest_is_that_of_scipy():
    points, queries = _points(0, 5000, False), _points(1, 2000, False)
    distance, row = Tree(points).nearest(queries, 0.2)
    expected, partner = cKDTree(points).query(queries, distance_upper_bound=0.2)
    np.testing.assert_allclose(distance, expected, rtol=1e-14)
    assert np.array_equal(row, np.where(partner == len(points), -1, partner))


def test_a_place_at_the_bound_is_not_within_it():
    tree = Tree(np.array([[1.0, 0.0, 0.0]]))
    assert tree.nearest(np.zeros((1, 3)), 1.0)[1][0] == -1
    assert tree.nearest(np.zeros((1, 3)), 1.0 + 1e-12)[1][0] == 0


@pytest.mark.parametrize("reach", [0.05, 0.15, 0.4])
def test_clusters_are_connected_components(reach):
    points = _points(2, 2000, False)
    pairs = cKDTree(points).query_pairs(reach, output_type="ndarray")
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(2000, 2000))
    assert np.array_equal(Tree(points).clusters(reach), connected_components(graph, directed=False)[1])


def test_points_in_a_plane_and_equal_points():
    flat = _points(3, 500, False)[:, :2]
    assert np.array_equal(Tree(flat).nearest(flat)[1], np.arange(500))
    same = Tree(np.ones((1000, 3)))
    squared, rows = same.query(np.ones((2, 3)), 40)
    assert not squared.any()
    assert all(len(set(row)) == 40 for row in rows)
    assert not same.clusters(0.0).any()


def test_without_points_nothing_is_found():
    tree = Tree(np.empty((0, 3)))
    assert tree.nearest(np.zeros((2, 3)))[1].tolist() == [-1, -1]
    assert tree.query(np.zeros((2, 3)), 3)[1].shape == (2, 0)
    assert len(tree.clusters(1.0)) == 0


def test_can_be_pickled():
    points = _points(4, 100, False)
    again = pickle.loads(pickle.dumps(Tree(points)))
    assert np.array_equal(again.nearest(points)[1], np.arange(100))
