"""Conventions of edges, their slopes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.mapping.graph import FLOOR, TRUNCATION, Edge, Graph
from tear3d.mapping.residuals import Poses, errors_of, linearise, squares
from tests.bumpy import pose
from tests.mapping.graphs import loop_pairs, make, noisy


def whitened(edges, poses):
    return np.einsum("eab,eb->ea", edges.whitening, errors_of(edges, poses)[0])


def random_poses(rng, count):
    some = [pose(rng.normal(size=3), 3.0 * rng.normal(size=3)) for _ in range(count)]
    return Poses(np.array([p[:3, :3] for p in some]), np.array([p[:3, 3] for p in some]))


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("near", [True, False])
def test_slopes_are_those_of_finite_differences(end, near):
    rng = np.random.default_rng(3)
    made = make(rng, [(0, 1)], count=2, noise_bound=1.0)
    edges = made.graph.measured()
    # Far from the measurement, and where the turn that is left over is nearly none.
    poses = random_poses(rng, 2)
    if near:
        turn = poses.rotations[0] @ edges.rotations[0]
        poses = Poses(np.array([poses.rotations[0], turn]), poses.shifts)
    slope = (linearise(edges, poses).by_i, linearise(edges, poses).by_j)[end][0]
    for axis in range(6):
        change = np.zeros((2, 6))
        change[end, axis] = 1e-6
        ahead, behind = whitened(edges, poses.moved(change))[0], whitened(edges, poses.moved(-change))[0]
        np.testing.assert_allclose(slope[:, axis], (ahead - behind) / 2e-6, rtol=1e-5, atol=1e-4)


def test_the_error_of_an_edge_is_the_motion_of_its_source():
    """As a result has it: T_true = T · (exp ω, v), in the coordinates of the source."""
    rng = np.random.default_rng(0)
    truth, error = pose([0.3, -1.0, 0.2], [5.0, 1.0, 2.0]), 0.01 * rng.normal(size=6)
    graph = Graph.of([Edge(0, 1, noisy(truth, error), np.eye(6))], np.zeros((2, 3)), np.ones(2), 1e-6)
    poses = Poses(np.array([np.eye(3), truth[:3, :3]]), np.array([np.zeros(3), truth[:3, 3]]))
    np.testing.assert_allclose(errors_of(graph.measured(), poses)[0][0], error, atol=1e-12)
    np.testing.assert_allclose(squares(graph.measured(), poses), error @ error, rtol=1e-9)


def test_it_agrees_with_the_covariance_of_a_registration():
    """Errors of real results, weighed by the graph with the covariances they came with: 6 on average."""
    found = []
    for seed in range(12):
        problem = tear3d.synthetic.make_problem(200, 0.3, noise=0.05, seed=seed)
        result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
        T, centre = problem.transformation, problem.source.mean(axis=0)
        away = T[:3, :3] @ centre + T[:3, 3]
        edge = Edge(0, 1, result.transformation, result.covariance)
        graph = Graph.of([edge], np.array([away, centre]), np.ones(2), 1e-9)
        poses = Poses(np.array([np.eye(3), T[:3, :3]]), np.zeros((2, 3)))
        found.append(float(squares(graph.measured(), poses)[0]))
    # The mean of 12 chi-squares with 6 degrees of freedom: 6 ± 1.
    assert 3.0 < np.mean(found) < 9.0


def test_far_from_the_origin_an_edge_weighs_the_same():
    one, other = (make(np.random.default_rng(1), loop_pairs(5), count=5, at=at) for at in (0.0, 4e5))
    for a, b in zip(one.graph.edges, other.graph.edges, strict=True):
        np.testing.assert_allclose(one.graph.covariance(a), other.graph.covariance(b), rtol=1e-3, atol=1e-7)


def test_a_covariance_of_nothing_is_floored_at_a_share_of_the_noise_bound():
    graph = Graph.of([Edge(0, 1, np.eye(4), np.zeros((6, 6)))], np.zeros((2, 3)), np.full(2, 4.0), 0.5)
    shifted = np.zeros((2, 3))
    shifted[1, 0] = 0.5
    poses = Poses(np.tile(np.eye(3), (2, 1, 1)), shifted)
    np.testing.assert_allclose(squares(graph.measured(), poses), TRUNCATION)
    deviations = np.sqrt(np.diag(graph.covariance(graph.edges[0])))
    np.testing.assert_allclose(deviations, [FLOOR * 0.5 / 4.0] * 3 + [FLOOR * 0.5] * 3)


def test_an_edge_without_a_covariance_is_as_exact_as_the_noise_bound():
    graph = Graph.of([Edge(0, 1, np.eye(4))], np.zeros((2, 3)), np.full(2, 4.0), 0.5)
    np.testing.assert_allclose(np.sqrt(np.diag(graph.covariance(graph.edges[0]))), [0.125] * 3 + [0.5] * 3)


@pytest.mark.parametrize(
    ("edge", "words"),
    [
        (Edge(0, 0, np.eye(4)), "two different ones of 0 to 1"),
        (Edge(0, 2, np.eye(4)), "two different ones of 0 to 1"),
        (Edge(0, 1, np.eye(3)), "4×4"),
        (Edge(0, 1, np.full((4, 4), np.nan)), "finite"),
        (Edge(0, 1, np.diag([2.0, 1.0, 1.0, 1.0])), "no rotation"),
        (Edge(0, 1, np.diag([-1.0, 1.0, 1.0, 1.0])), "no rotation"),
        (Edge(0, 1, np.eye(4), np.eye(3)), "6×6"),
    ],
)
def test_edges_that_cannot_be_are_refused(edge, words):
    with pytest.raises(InputError, match=words):
        Graph.of([edge], np.zeros((2, 3)), np.ones(2), 1.0)


def test_graphs_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="radii"):
        Graph.of([], np.zeros((2, 3)), np.zeros(2), 1.0)
    with pytest.raises(InputError, match="noise_bound"):
        Graph.of([], np.zeros((2, 3)), np.ones(2), 0.0)
    with pytest.raises(InputError, match="N×3"):
        Graph.of([], np.zeros((2, 2)), np.ones(2), 1.0)
