"""The search of cliques against networkx and against looking at every pair of vertices."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from benchmarks.peers import cliques

BUDGET = 10**9


def graph(n: int, share: float, seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < share, 1)
    return upper | upper.T


def bits(matrix: np.ndarray) -> np.ndarray:
    n = len(matrix)
    rows = np.zeros((n, -(-n // 64)), dtype=np.uint64)
    for i, j in zip(*np.nonzero(matrix), strict=True):
        rows[i, j // 64] |= np.uint64(1) << np.uint64(j % 64)
    return rows


def edges(rows: np.ndarray) -> np.ndarray:
    n = len(rows)
    return np.array([[bool(rows[i, j // 64] >> np.uint64(j % 64) & np.uint64(1)) for j in range(n)] for i in range(n)])


@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (2, 1.0), (30, 0.9), (63, 0.6), (64, 0.5), (65, 0.5), (130, 0.3)])
def test_the_clique_is_as_large_as_the_one_that_networkx_finds(n, share):
    for seed in range(4):
        matrix = graph(n, share, seed)
        clique, proven = cliques.largest(bits(matrix), BUDGET)
        longest = max(map(len, networkx.find_cliques(networkx.from_numpy_array(matrix))))
        assert proven
        assert len(clique) == longest
        assert (matrix[np.ix_(clique, clique)] | np.eye(len(clique), dtype=bool)).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.4, 1.0])
def test_core_numbers_are_those_of_networkx(share):
    matrix = graph(90, share, 1)
    order, core = cliques.cores(bits(matrix))
    assert dict(enumerate(core)) == networkx.core_number(networkx.from_numpy_array(matrix))
    assert sorted(order) == list(range(90))


def test_a_planted_clique_is_found_in_a_graph_of_many_words():
    matrix = graph(700, 0.2, 3)
    planted = np.arange(5, 700, 29)
    matrix[np.ix_(planted, planted)] = True
    np.fill_diagonal(matrix, False)
    clique, proven = cliques.largest(bits(matrix), BUDGET)
    assert proven
    assert set(planted) <= set(clique)
    assert len(clique) < len(planted) + 4


def test_no_edges_and_all_edges():
    alone, proven = cliques.largest(bits(np.zeros((5, 5), dtype=bool)), BUDGET)
    assert len(alone) == 1
    assert proven
    every, proven = cliques.largest(bits(~np.eye(100, dtype=bool)), BUDGET)
    assert list(every) == list(range(100))
    assert proven


def test_without_a_budget_the_clique_is_one_but_not_proven():
    matrix = graph(150, 0.8, 0)
    rows = bits(matrix)
    clique, proven = cliques.largest(rows, 1000)
    assert not proven
    assert (matrix[np.ix_(clique, clique)] | np.eye(len(clique), dtype=bool)).all()
    assert len(clique) >= len(cliques.largest(rows, 0)[0]) > 5
    assert list(clique) == list(cliques.largest(rows, 1000)[0])


def test_edges_are_the_pairs_that_keep_their_lengths():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 70, 3))
    lengths = [np.linalg.norm(p[:, None] - p, axis=2) for p in (x, y)]
    expected = (np.abs(lengths[0] - lengths[1]) <= 0.3) & ~np.eye(70, dtype=bool)
    rows = cliques.same_lengths(x, y, 0.3)
    assert 0.1 < expected.mean() < 0.9
    assert (edges(rows) == expected).all()
    some = np.array([66, 3, 20, 5])
    assert (edges(cliques.induced(rows, some)) == expected[np.ix_(some, some)]).all()


def test_a_vertex_takes_an_eighth_of_a_byte_per_other():
    points = np.random.default_rng(0).normal(size=(640, 3))
    assert cliques.same_lengths(points, points, 0.1).nbytes == 640 * 640 / 8
