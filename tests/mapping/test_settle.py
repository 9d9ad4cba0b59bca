"""How exact a map says its poses are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.mapping.graph import Edge, Graph
from tear3d.mapping.settle import SHARED
from tear3d.mapping.solve import solve
from tests.mapping.graphs import NOISE_BOUND, RADIUS, loop_pairs, make

COUNT = 12
EXACT = np.array([1e-5] * 3 + [5e-5] * 3)


def claiming(made, deviations) -> Graph:
    """The same measurements, said to have other errors than they have."""
    edges = [Edge(edge.i, edge.j, edge.transformation, np.diag(deviations**2)) for edge in made.graph.edges]
    return Graph.of(edges, made.graph.centres, made.graph.radii, made.graph.noise_bound)


def ratios(solution, truth) -> np.ndarray:
    """eᵀ C⁻¹ e of every pose but the first, divided by the six it should have on average."""
    found = []
    for pose, covariance, true in zip(solution.poses[1:], solution.covariances[1:], truth[1:], strict=True):
        between = np.linalg.inv(pose) @ true
        error = np.r_[Rotation.from_matrix(between[:3, :3]).as_rotvec(), between[:3, 3]]
        found.append(error @ np.linalg.solve(covariance, error) / 6.0)
    return np.array(found)


@pytest.mark.parametrize("spread", [0.003, 0.03, 0.15])
def test_the_loops_tell_how_exact_the_edges_are(spread):
    """Covariances that know nothing of the errors, from a fiftieth of the allowance that edges are chosen with on."""
    own = spread * NOISE_BOUND * np.array([1.0 / RADIUS] * 3 + [1.0] * 3)
    found, wide = [], []
    for seed in range(8):
        made = make(np.random.default_rng(seed), loop_pairs(COUNT), count=COUNT, deviations=own)
        graph = claiming(made, 1e-3 * own)
        found.append(ratios(solve(graph, settled=True), made.truth).mean())
        wide.append(ratios(solve(graph), made.truth).mean())
    # These errors are independent: the covariances are too wide by the share that is put down to what scans share.
    assert np.mean(found) == pytest.approx(1.0 / (SHARED * 2 * COUNT / (COUNT - 1)), rel=0.5)
    assert np.mean(wide) < (spread / 0.21) ** 2


def test_covariances_that_are_right_are_used_as_they_are():
    made = make(np.random.default_rng(0), loop_pairs(COUNT), count=COUNT)
    solution = solve(made.graph, settled=True)
    deviations = np.sqrt(np.diagonal(solution.weighed, axis1=1, axis2=2) / (SHARED * 2 * COUNT / (COUNT - 1)))
    np.testing.assert_allclose(deviations, np.tile([0.004] * 3 + [0.02] * 3, (2 * COUNT, 1)), rtol=0.3)


def test_without_a_loop_nothing_is_settled():
    made = make(np.random.default_rng(0), [(0, 1), (1, 2), (2, 3)], count=4, deviations=EXACT)
    one, other = (solve(made.graph, settled=settled) for settled in (False, True))
    for name in ("poses", "covariances", "weighed"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_choice_of_edges_stays_that_of_the_allowance():
    made = make(np.random.default_rng(2), loop_pairs(COUNT), count=COUNT, wrong={3, 11}, deviations=EXACT)
    one, other = (solve(made.graph, settled=settled) for settled in (False, True))
    for name in ("kept", "squares", "alone", "undecided"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.weighed[[3, 11]], other.weighed[[3, 11]])
    assert made.errors(other.poses).max() < 1e-2 * NOISE_BOUND


def test_every_part_is_settled_in_its_own_frame():
    made = make(np.random.default_rng(1), [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], count=6, deviations=EXACT)
    solution = solve(made.graph, settled=True)
    for first in (0, 3):
        np.testing.assert_array_equal(solution.poses[first], np.eye(4))
        np.testing.assert_array_equal(solution.covariances[first], 0.0)
        assert np.sqrt(np.diagonal(solution.covariances[first + 1])[3:].max()) < 0.05 * NOISE_BOUND


def test_far_from_the_origin_the_same():
    near, far = (make(np.random.default_rng(3), loop_pairs(6), count=6, at=at, deviations=EXACT) for at in (0.0, 4e6))
    one, other = (solve(made.graph, settled=True).weighed for made in (near, far))
    np.testing.assert_allclose(np.linalg.norm(one, axis=(1, 2)), np.linalg.norm(other, axis=(1, 2)), rtol=0.9)
