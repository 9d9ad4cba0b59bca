"""Generated surveys from scans to map."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tear3d
from tear3d.mapping.graph import Graph
from tear3d.mapping.solve import solve
from tests.bumpy import bumpy_cloud, pose
from tests.mapping.survey import farthest, survey

VOXEL = 0.2


@pytest.fixture(scope="module")
def surveyed():
    """Twenty scans around a loop."""
    scans, truth = survey(20, 6000, radius=5.0)
    reports = []
    return tear3d.build_map(scans, voxel_size=VOXEL, progress=reports.append), scans, truth, reports


@pytest.mark.slow
def test_every_pose_is_within_two_noise_bounds(surveyed):
    found, scans, truth, reports = surveyed
    assert found.success
    assert found.noise_bound == pytest.approx(1.5 * VOXEL)
    errors = [farthest(*each) for each in zip(scans, found.poses, truth, strict=True)]
    assert max(errors) < 2.0 * found.noise_bound
    # Far less, as the loop is closed.
    assert max(errors) < 0.1 * found.noise_bound
    assert any(edge.stage == "loop" and edge.fate == "kept" for edge in found.edges)
    assert {"read", "order", "loop"} <= {report.stage for report in reports}
    assert sum(bool(report.text) for report in reports) == len(found.edges)


@pytest.mark.slow
def test_with_three_wrong_edges_still(surveyed):
    found, scans, truth, _ = surveyed
    decided = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        edges = list(found.graph.edges)
        wrong = rng.choice(len(edges), 3, replace=False)
        for number in wrong:
            moved = pose(0.3 * rng.normal(size=3), 2.0 * rng.normal(size=3)) @ edges[number].transformation
            edges[number] = replace(edges[number], transformation=moved)
        solution = solve(Graph.of(edges, found.graph.centres, found.graph.radii, found.noise_bound))
        if solution.undecided.any():  # too few right edges are left at a scan, and it is said
            continue
        decided += 1
        assert set(np.flatnonzero(~solution.kept)) == set(wrong)
        errors = [farthest(*each) for each in zip(scans, solution.poses, truth, strict=True)]
        assert max(errors) < 2.0 * found.noise_bound
    assert decided >= 7


@pytest.mark.slow
def test_three_wrong_edges_that_are_not_among_the_right_ones(surveyed):
    """Between scans far apart, as repeated structure gives them: all right edges are there too."""
    found, scans, truth, _ = surveyed
    right = list(found.graph.edges)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        wrong = [
            replace(right[0], i=i, j=j, transformation=pose(0.3 * rng.normal(size=3), 2.0 * rng.normal(size=3)))
            for i, j in ((0, 10), (3, 12), (5, 17))
        ]
        solution = solve(Graph.of([*right, *wrong], found.graph.centres, found.graph.radii, found.noise_bound))
        assert np.flatnonzero(~solution.kept).tolist() == [len(right), len(right) + 1, len(right) + 2]
        assert not solution.undecided.any()
        errors = [farthest(*each) for each in zip(scans, solution.poses, truth, strict=True)]
        assert max(errors) < 2.0 * found.noise_bound


@pytest.mark.slow
def test_without_order_and_with_a_stranger():
    scans, truth = survey(8, 6000, radius=2.0)
    order = [0, 2, 4, 1, 3]
    found = tear3d.build_map(
        [*(scans[k] for k in order), 4.0 * bumpy_cloud(6000, 1)], voxel_size=VOXEL, order=False, loops=False
    )
    assert found.components == ((0, 1, 2, 3, 4), (5,))
    assert found.poses[5] is None
    assert not found.success
    assert "not in the map: scan 5" in found.notes
    for place, k in enumerate(order):
        assert farthest(scans[k], found.poses[place], truth[k]) < 2.0 * found.noise_bound


@pytest.mark.slow
def test_a_limit_on_tries_holds_and_is_said():
    scans, _ = survey(8, 4000, radius=2.0)
    found = tear3d.build_map(scans[:4], voxel_size=VOXEL, max_tries=2)
    assert len(found.edges) == 2
    assert any(note.startswith("the limit of 2 tries was reached") for note in found.notes)


@pytest.mark.slow
def test_same_bits_for_any_number_of_processes():
    scans, _ = survey(8, 4000, radius=2.0)
    one, two = (tear3d.build_map(scans[:3], voxel_size=VOXEL, processes=count) for count in (1, 2))
    assert one.success
    np.testing.assert_array_equal(one.poses, two.poses)
    np.testing.assert_array_equal(one.covariances, two.covariances)


@pytest.mark.slow
def test_a_pair_that_cannot_be_registered_is_an_edge_that_failed():
    scans, _ = survey(8, 4000, radius=2.0)
    speck = 0.01 * np.random.default_rng(0).random((300, 3))
    found = tear3d.build_map([scans[0], scans[1], speck], voxel_size=VOXEL / 100.0, max_tries=3, processes=2)
    failed = [edge for edge in found.edges if edge.fate == "failed"]
    assert failed
    assert "spans" in failed[0].reasons[0]
    assert found.poses[2] is None
