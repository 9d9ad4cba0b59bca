"""The covariance of a refined pose, on surfaces that are sampled anew."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.clouds.equations import Pairing, Surface
from tear3d.clouds.refine import refine_icp
from tear3d.features.normals import estimate_normals
from tear3d.refine import RefineResult
from tests.bumpy import apply, bumpy_cloud, pose
from tests.judge.errors import nees

TRUTH = pose([0.4, -0.2, 1.0], [3.0, 1.0, -2.0])
SEEDS = 16


def sampled(seed: int, count: int = 8000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    source, target = bumpy_cloud(count, 2 * seed + 100), apply(TRUTH, bumpy_cloud(count, 2 * seed + 101))
    return source + 0.003 * rng.normal(size=source.shape), target + 0.003 * rng.normal(size=target.shape)


@pytest.mark.parametrize("method", ["gicp", "plane", "icp"])
def test_errors_are_about_as_large_as_the_covariance_says(method):
    squares = []
    for seed in range(SEEDS):
        start = TRUTH @ pose([0.01, -0.01, 0.01], [0.01, 0.02, -0.01])
        found = refine_icp(*sampled(seed), start, method=method, voxel_size=0.08)
        if found.converged:
            squares.append(nees(found.covariance, found.transformation, TRUTH))
    assert len(squares) > 0.7 * SEEDS
    # ± 0.15 by chance alone; with fixed pairs, icp would be at 7.
    assert 0.6 < np.sqrt(np.mean(squares) / 6.0) < 1.4


def test_the_covariance_moves_with_the_coordinates():
    source, target = sampled(3)
    unit, shift = 10.0, np.array([30.0, -200.0, 40.0])
    start = TRUTH.copy()
    plain = refine_icp(source, target, start, voxel_size=0.08)
    start[:3, 3] = unit * TRUTH[:3, 3] - TRUTH[:3, :3] @ shift
    other = refine_icp(unit * source + shift, unit * target, start, voxel_size=unit * 0.08)
    a, b, c = shift
    cross = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    adjoint = np.block([[np.eye(3), np.zeros((3, 3))], [cross, unit * np.eye(3)]])
    expected = adjoint @ plain.covariance @ adjoint.T
    sizes = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    # The grid of the voxels lies elsewhere, so that other points stand for the cloud.
    np.testing.assert_allclose(other.covariance / sizes, expected / sizes, atol=0.5)


def test_scores_add_up_to_the_gradient():
    source, target = sampled(1, 3000)
    surfaces = [Surface(cloud, estimate_normals(cloud)) for cloud in (source, target)]
    pairing = Pairing(*surfaces, "gicp", 0.3, 1)
    gradient = pairing.linearise(TRUTH).b
    places, scores = pairing.scores(TRUTH)
    np.testing.assert_allclose(scores.sum(axis=0), gradient, rtol=1e-9, atol=1e-9 * np.abs(scores).sum())
    np.testing.assert_allclose(places, apply(TRUTH, source), atol=1e-12)


def test_a_plane_slides():
    rng = np.random.default_rng(0)
    source, target = (np.column_stack([rng.uniform(-1, 1, (4000, 2)), 0.002 * rng.normal(size=4000)]) for _ in "ab")
    found = refine_icp(source, target, np.eye(4), voxel_size=0.05, method="plane")
    spread = np.sqrt(np.diag(found.covariance))
    assert np.isnan(spread).all() or spread[3] > 5 * spread[5]


def test_unknown_when_it_did_not_converge():
    far = refine_icp(*sampled(0, 500), TRUTH @ pose([0, 0, 0], [50.0, 0, 0]), voxel_size=0.08)
    assert not far.converged
    assert np.isnan(far.covariance).all()
    assert far.to_dict()["covariance"] is None
    assert isinstance(far, RefineResult)
