"""Every loss, proof and bound on problems so small that plain Python solves them too: `make coverage` starts here."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tests.bumpy import apply, bumpy_cloud, pose

PAIRS = 24


def small_problem(seed: int) -> tear3d.synthetic.Problem:
    return tear3d.synthetic.make_problem(PAIRS, 0.25, noise=0.005, seed=seed)


def check(result: tear3d.Result, problem: tear3d.synthetic.Problem) -> None:
    assert result.success
    assert result.num_inliers >= problem.inlier_mask.sum() - 2
    assert tear3d.metrics.rotation_error(result.transformation, problem.transformation) < 3.0


@pytest.mark.parametrize("bounds", ["sharp", "sweep"])
@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
def test_rows(loss, bounds):
    problem = small_problem(1)
    result = tear3d.register(
        problem.source,
        problem.target,
        noise_bound=problem.noise_bound,
        loss=loss,
        bounds=bounds,
        rel_gap=0.05,
        certify="rows",
    )
    check(result, problem)
    assert result.status == "optimal"


def test_rows_of_many_pairs_stopped_early():
    problem = tear3d.synthetic.make_problem(240, 0.5, seed=4)
    result = tear3d.register(
        problem.source,
        problem.target,
        noise_bound=problem.noise_bound,
        rel_gap=0.02,
        node_limit=150,
        certify="rows",
    )
    assert tear3d.metrics.rotation_error(result.transformation, problem.transformation) < 3.0


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
def test_whole_pose(loss):
    problem = small_problem(2)
    options = {"certify": "pose", "loss": loss, "rel_gap": 0.2, "node_limit": 2_000}
    result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, **options)
    check(result, problem)
    assert result.status in ("optimal", "node_limit")


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
def test_without_a_proof_with_weights_and_a_bound_for_each_pair(loss):
    problem = small_problem(3)
    rng = np.random.default_rng(0)
    bounds, weights = problem.noise_bound * rng.uniform(1.0, 1.5, PAIRS), rng.uniform(0.5, 1.5, PAIRS)
    result = tear3d.register(
        problem.source, problem.target, noise_bound=bounds, weights=weights, loss=loss, certify=False
    )
    check(result, problem)


@pytest.mark.parametrize("keypoints", [None, "iss"])
def test_clouds(keypoints):
    cloud, truth = bumpy_cloud(600, 0), pose([0.1, 0.2, 0.3], [0.5, 0.0, 0.1])
    found = tear3d.register_clouds(
        cloud, apply(truth, cloud), voxel_size=0.2, keypoints=keypoints, refine=None, certify=False
    )
    assert len(found.pairs) > 0
