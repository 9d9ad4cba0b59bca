"""MAC: its graph and its cliques against obvious twins, the ratios it stands, what it costs, and odd input."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers import mac, mac_graph, peer
from benchmarks.peers.mac_cliques import best_cliques, cliques_from, degeneracy_rank
from benchmarks.peers.mac_graph import Graph, coefficients, compatible, otsu, reduced, row_counts, second_order_graph
from benchmarks.peers.rigid import residuals
from tear3d.synthetic import make_problem
from tests.benchmarks.peers.odd_pairs import FITS, NOISE, odd_pairs
from tests.benchmarks.peers.test_sc2pcr import gaps, right

nx = pytest.importorskip("networkx", reason="the twin of the clique search is networkx")


def random_graph(n: int, density: float, seed: int) -> tuple[Graph, np.ndarray]:
    """A graph with random weights, and these as a matrix."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    matrix = (upper + upper.T).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum((matrix > 0).sum(axis=1))])
    return Graph(starts, np.nonzero(matrix)[1].astype(np.int32), matrix[matrix > 0]), matrix


def dense(graph: Graph) -> np.ndarray:
    n = len(graph.starts) - 1
    matrix = np.zeros((n, n))
    matrix[np.repeat(np.arange(n), np.diff(graph.starts)), graph.indices] = graph.weights
    return matrix


def weight_of(clique, matrix: np.ndarray) -> float:
    return sum(float(matrix[i, j]) for i in clique for j in clique if i < j)


SHAPES = [(8, 0.5), (30, 0.3), (70, 0.6), (130, 0.15), (40, 0.85), (12, 1.0), (6, 0.0)]


@pytest.mark.parametrize(("n", "density"), SHAPES)
def test_cliques_are_those_of_networkx(n: int, density: float) -> None:
    graph, matrix = random_graph(n, density, n)
    twin = [tuple(sorted(c)) for c in nx.find_cliques(nx.from_numpy_array(matrix)) if len(c) >= 3]
    arrays = (graph.starts, graph.indices, graph.weights)
    rank, slot, found = degeneracy_rank(graph.starts, graph.indices), np.full(n, -1, np.int64), []
    for v in range(n):
        members, ends, sums, complete = cliques_from(arrays, rank, v, slot, 3, 10**6)
        assert complete
        for clique, total in zip(np.split(members, ends[:-1]), sums, strict=False):
            found.append(tuple(sorted(clique.tolist())))
            assert total == pytest.approx(weight_of(clique, matrix), rel=1e-4)
    assert sorted(found) == sorted(twin)
    assert np.all(slot == -1)


@pytest.mark.parametrize(("n", "density"), SHAPES[:5])
def test_every_node_gets_its_heaviest_clique(n: int, density: float) -> None:
    graph, matrix = random_graph(n, density, n + 1)
    twin = [c for c in nx.find_cliques(nx.from_numpy_array(matrix)) if len(c) >= 3]
    heaviest = np.zeros(n)
    for clique in twin:
        heaviest[clique] = np.maximum(heaviest[clique], weight_of(clique, matrix))
    members, ends, choice, listed, cut = best_cliques((graph.starts, graph.indices, graph.weights), 3, 10**6)
    assert (listed, cut) == (len(twin), 0)
    cliques = np.split(members, ends[:-1])
    for node, mine in enumerate(choice):
        if mine < 0:
            assert heaviest[node] == 0.0
        else:
            assert node in cliques[mine]
            assert weight_of(cliques[mine], matrix) == pytest.approx(heaviest[node], rel=1e-4)


def test_the_order_is_one_of_degeneracy() -> None:
    graph, matrix = random_graph(90, 0.2, 7)
    rank = degeneracy_rank(graph.starts, graph.indices)
    later = [(rank[np.flatnonzero(row)] > rank[v]).sum() for v, row in enumerate(matrix)]
    assert max(later) == max(nx.core_number(nx.from_numpy_array(matrix)).values())


def test_a_search_cut_short_says_so_and_still_answers() -> None:
    graph, _ = random_graph(60, 0.7, 8)
    whole = best_cliques((graph.starts, graph.indices, graph.weights), 3, 10**6)
    short = best_cliques((graph.starts, graph.indices, graph.weights), 3, 50)
    assert short[4] > 0
    assert 0 < short[3] < whole[3]


@pytest.mark.parametrize("matrix_nodes", [0, 10_000])
def test_second_order_weights_and_clustering_are_what_loops_sum(
    matrix_nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mac_graph, "MATRIX_NODES", matrix_nodes)
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(70, 3)), rng.normal(size=(70, 3))
    gap = gaps(x, y)
    first = np.where(gap < 0.9, np.exp(-(gap**2) / (2 * 0.7**2)), 0.0)
    np.fill_diagonal(first, 0.0)
    expected = first * (first @ first)
    graph = second_order_graph(x, y, compatible(x, y, 0.9), 0.7)
    assert np.allclose(dense(graph), expected, rtol=1e-4)
    local, whole = coefficients(graph)
    triangles, possible = np.zeros(70), np.zeros(70)
    for i in range(70):
        near = np.flatnonzero(expected[i])
        possible[i] = len(near) * (len(near) - 1) / 2
        for k, a in enumerate(near):
            triangles[i] += sum(np.cbrt(expected[i, a] * expected[i, b] * expected[a, b]) for b in near[k + 1 :])
    assert np.allclose(local, triangles / possible, rtol=1e-4)
    assert whole == pytest.approx(triangles.sum() / possible.sum(), rel=1e-4)


def test_otsu_separates_two_heaps_best() -> None:
    rng = np.random.default_rng(10)
    values = np.concatenate([[0.0], rng.uniform(0.0, 2.0, 300), rng.uniform(1.5, 5.0, 100)])
    step = values.max() / mac_graph.OTSU_BINS
    between = []
    for k in range(1, mac_graph.OTSU_BINS):
        low, high = values[values < k * step], values[values >= k * step]
        between.append(len(low) * len(high) * (low.mean() - high.mean()) ** 2)
    assert otsu(values) == pytest.approx(step * np.argmax(between))
    assert 1.0 < otsu(values) < 3.0
    assert otsu(np.full(5, 2.0)) == 0.0


def test_only_a_dense_graph_is_reduced() -> None:
    full, thin = make_problem(300, 0.0, seed=1), make_problem(300, 0.9, seed=1)
    before, after = (
        second_order_graph(p.source, p.target, compatible(p.source, p.target, 0.14 * p.noise_bound), p.noise_bound)
        for p in (full, thin)
    )
    smaller = reduced(before)
    assert 0 < smaller.edges < before.edges / 2
    assert np.sum(np.diff(smaller.starts) > 0) >= mac_graph.KEPT_AT_LEAST
    assert reduced(after) is after


@pytest.mark.parametrize("ratio", [0.9, 0.95, 0.99])
def test_right_at_these_ratios_of_a_thousand_pairs(ratio: float) -> None:
    assert all(right("mac", ratio, seed) for seed in range(3))


def test_memory_grows_with_the_square_of_the_pairs() -> None:
    """Bits exactly, edges about so: wrong pairs agree by chance at a constant rate."""
    assert peer("mac").quadratic
    problems = [make_problem(n, 0.99, seed=2) for n in (512, 2048)]
    small, large = (compatible(p.source, p.target, 0.14 * p.noise_bound) for p in problems)
    assert large.nbytes == 16 * small.nbytes
    assert 10 < row_counts(large).sum() / row_counts(small).sum() < 24


def test_a_graph_too_large_is_tightened(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(400, 0.7, seed=3)
    wide = mac.register(problem.source, problem.target, problem.noise_bound)
    monkeypatch.setattr(mac, "MOST_EDGES", 2000)
    tight = mac.register(problem.source, problem.target, problem.noise_bound)
    assert (wide.notes["threshold"], tight.notes["threshold"]) == (0.99, 0.999)
    for found in (wide, tight):
        assert np.linalg.norm(found.pose - problem.transformation) < 0.1


def test_answers_repeat() -> None:
    problem = make_problem(300, 0.8, seed=4)
    one, two = (mac.register(problem.source, problem.target, problem.noise_bound) for _ in range(2))
    assert np.array_equal(one.pose, two.pose)


@pytest.mark.parametrize("name", FITS)
def test_odd_pairs_that_fit(name: str) -> None:
    x, y = odd_pairs()[name]
    found = peer("mac").register(x, y, NOISE)
    assert np.all(residuals(found.pose, x, y) < NOISE)
