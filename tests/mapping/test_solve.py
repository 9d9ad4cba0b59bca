"""Graphs with a known answer: right poses, right doubts."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.mapping.graph import TRUNCATION, Edge, Graph
from tear3d.mapping.solve import solve
from tear3d.mapping.trees import bridges, hops
from tests.bumpy import pose
from tests.mapping.graphs import NOISE_BOUND, RADIUS, loop_pairs, make


def without_wrong_edges(made) -> np.ndarray:
    """The poses that the right edges alone give."""
    right = [edge for number, edge in enumerate(made.graph.edges) if number not in made.wrong]
    return solve(Graph.of(right, made.graph.centres, made.graph.radii, made.graph.noise_bound)).poses


def close(found, wanted) -> bool:
    return bool(np.abs(found - wanted).max() < 1e-4)


def dropped(solution) -> set[int]:
    return set(np.flatnonzero(~solution.kept).tolist())


def test_exact_edges_give_exact_poses():
    made = make(np.random.default_rng(0), loop_pairs(12), count=12, deviations=np.zeros(6))
    solution = solve(made.graph)
    assert made.errors(solution.poses).max() < 1e-9
    assert solution.kept.all()
    assert solution.components == (tuple(range(12)),)
    assert not solution.alone.any()
    assert not solution.undecided.any()


def test_far_from_the_origin_the_poses_are_as_exact():
    made = make(np.random.default_rng(0), loop_pairs(12), count=12, at=4e5, deviations=np.zeros(6))
    assert made.errors(solve(made.graph).poses).max() < 1e-6


def test_residuals_and_poses_have_the_spread_that_their_covariances_say():
    rng = np.random.default_rng(1)
    cost, squared, runs = [], [], 40
    for _ in range(runs):
        made = make(rng, loop_pairs(8), count=8, noise_bound=1e-6)
        solution = solve(made.graph)
        cost.append(solution.squares.sum())
        for k in range(1, 8):
            between = np.linalg.inv(solution.poses[k]) @ made.truth[k]
            error = np.r_[between[2, 1] - between[1, 2], between[0, 2] - between[2, 0], between[1, 0] - between[0, 1]]
            error = np.r_[0.5 * error, between[:3, 3]]
            squared.append(error @ np.linalg.solve(solution.covariances[k], error))
    # 16 edges and 7 poses: a chi-square with 54 degrees of freedom; the mean of 40 has a deviation of 1.6.
    assert np.mean(cost) == pytest.approx(54.0, abs=6.0)
    # Of one run they are correlated: 40 to 280 of 6 ± 3.5.
    assert np.mean(squared) == pytest.approx(6.0, abs=1.6)
    np.testing.assert_array_equal(solution.covariances[0], 0.0)


@pytest.mark.parametrize("seed", range(12))
def test_three_wrong_edges_are_dropped_and_no_right_one(seed):
    rng = np.random.default_rng(seed)
    pairs = loop_pairs(20)
    made = make(rng, pairs, wrong=set(rng.choice(len(pairs), 3, replace=False).tolist()))
    solution = solve(made.graph)
    assert dropped(solution) == made.wrong
    assert close(solution.poses, without_wrong_edges(made))
    assert (solution.squares[list(made.wrong)] > TRUNCATION).all()
    assert not solution.undecided.any()


def test_wrong_edges_of_the_chain_are_dropped_where_others_lead_around_them():
    pairs = loop_pairs(20)
    wrong = {pairs.index(pair) for pair in ((4, 5), (5, 6), (13, 14))}
    made = make(np.random.default_rng(5), pairs, wrong=wrong)
    solution = solve(made.graph)
    assert dropped(solution) == wrong
    assert close(solution.poses, without_wrong_edges(made))


def test_wrong_edges_that_agree_with_each_other_are_outvoted():
    """Two loop closures shifted alike, as repeated structure gives them; the right ones are three."""
    chain = [(k, k + d) for k in range(20) for d in (1, 2) if k + d < 20]
    pairs = [*chain, (19, 0), (18, 0), (19, 1), (17, 0), (18, 1)]
    right = make(np.random.default_rng(2), pairs, deviations=np.zeros(6))
    shift = pose([0.0, 0.0, 0.2], [3.0, 0.0, 0.0])
    moved = {}
    for number in (len(pairs) - 2, len(pairs) - 1):
        i, j = pairs[number]
        # As if scan 0 and 1 both lay elsewhere.
        centres = right.graph.centres
        own = [pose([0.0] * 3, centres[k]) for k in (i, j)]
        T = np.linalg.inv(right.truth[i]) @ right.truth[0] @ shift @ np.linalg.inv(right.truth[0]) @ right.truth[j]
        moved[number] = np.linalg.inv(own[0]) @ T @ own[1]
    made = make(np.random.default_rng(2), pairs, wrong=moved)
    solution = solve(made.graph)
    assert dropped(solution) == set(moved)
    assert close(solution.poses, without_wrong_edges(made))


def test_a_scan_on_one_edge_is_said_to_hang():
    pairs = [*loop_pairs(6), (2, 6), (6, 7)]
    made = make(np.random.default_rng(3), pairs, count=8)
    solution = solve(made.graph)
    assert set(np.flatnonzero(solution.alone)) == {12, 13}
    assert solution.hanging(made.graph) == {12: (6, 7), 13: (7,)}
    assert not solution.undecided.any()
    assert len(solution.components) == 1


def test_two_edges_that_contradict_each_other_are_not_decided():
    pairs = [*loop_pairs(6), (2, 6), (3, 6)]
    made = make(np.random.default_rng(3), pairs, count=7, wrong={13})
    solution = solve(made.graph)
    assert len(dropped(solution) & {12, 13}) == 1
    assert dropped(solution) <= {12, 13}
    assert solution.undecided.sum() == 1
    assert solution.hanging(made.graph)[(dropped(solution) ^ {12, 13}).pop()] == (6,)


def test_a_plain_loop_that_does_not_close_is_not_decided():
    made = make(np.random.default_rng(4), loop_pairs(6, 1), count=6, wrong={2})
    solution = solve(made.graph)
    assert len(dropped(solution)) == 1
    assert solution.undecided.sum() == 1
    assert solution.alone.sum() == 5


def test_scans_that_are_not_connected_are_not_placed_together():
    pairs = [(0, 1), (1, 2), (0, 2), (3, 4)]
    made = make(np.random.default_rng(4), pairs, count=6)
    solution = solve(made.graph)
    assert solution.components == ((0, 1, 2), (3, 4), (5,))
    for first in (0, 3, 5):
        np.testing.assert_array_equal(solution.poses[first], np.eye(4))
    assert np.linalg.norm(solution.poses[:3] - made.truth[:3], axis=(1, 2)).max() < 0.2


def test_the_covariance_decides_what_is_wrong():
    """An edge that may slide is not wrong because it slid; one that may not is."""
    sliding = np.diag([1e-6] * 3 + [4.0, 1e-6, 1e-6])
    slid = pose([0.0] * 3, [2.0, 0.0, 0.0])
    for covariance, kept in ((sliding, True), (np.diag([1e-6] * 6), False)):
        edges = [Edge(i, j, np.eye(4), np.eye(6) * 1e-6) for i, j in ((0, 1), (1, 2), (0, 2))]
        graph = Graph.of([*edges, Edge(0, 2, slid, covariance)], np.zeros((3, 3)), np.full(3, RADIUS), NOISE_BOUND)
        solution = solve(graph)
        assert solution.kept.tolist() == [True, True, True, kept]
        np.testing.assert_allclose(solution.poses[2], np.eye(4), atol=0.02)


def test_nothing_to_solve():
    graph = Graph.of([], np.zeros((2, 3)), np.ones(2), 1.0)
    assert solve(graph).components == ((0,), (1,))


def test_same_bits_again():
    made = make(np.random.default_rng(6), loop_pairs(10), count=10, wrong={1, 8})
    np.testing.assert_array_equal(solve(made.graph).poses, solve(made.graph).poses)


def test_bridges_and_hops():
    i, j = np.array([0, 1, 2, 2, 3, 3]), np.array([1, 2, 0, 3, 4, 4])
    assert bridges(6, i, j).tolist() == [False, False, False, True, False, False]
    assert hops(6, i, j)[0].tolist() == [0, 1, 1, 2, 3, np.inf]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_graphs_are_never_wrong_in_silence(seed):
    """Right edges kept and wrong ones dropped, or an edge that is alone, or one that is not decided."""
    rng = np.random.default_rng(seed)
    count, reach = int(rng.integers(6, 16)), int(rng.integers(1, 4))
    pairs = [(k, k + step) for k in range(count) for step in range(1, reach + 1) if k + step < count]
    pairs += [tuple(sorted(rng.choice(count, 2, replace=False).tolist())) for _ in range(rng.integers(1, count))]
    wrong = rng.choice(len(pairs), int(rng.integers(0, min(5, len(pairs) // 4) + 1)), replace=False)
    made = make(rng, pairs, count=count, wrong=set(wrong.tolist()))
    solution = solve(made.graph)
    assert solution.alone[list(made.wrong - dropped(solution))].all()
    if not solution.undecided.any():
        assert dropped(solution) <= made.wrong
