"""Clouds of 50 to 200 points, and copies of them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.shapes import teapot
from tests.bumpy import apply, bumpy_cloud
from tests.clouds.support import register_clouds


def error(make, count, seed, noise):
    """How far off the pose is, in sizes of the cloud; infinite without success."""
    rng = np.random.default_rng(seed)
    source = make(count, seed=seed)
    truth = np.eye(4)
    truth[:3, :3], truth[:3, 3] = Rotation.random(random_state=seed).as_matrix(), rng.normal(size=3)
    size = np.ptp(source, axis=0).max()
    target = apply(truth, source)[rng.permutation(count)] + noise * size * rng.normal(size=(count, 3))
    found = register_clouds(source, target, threads=1)
    assert len(found.source_points) > 0.6 * count
    assert found.ambiguity is not None or found.reasons[-1].endswith("not asked: fewer than 500 points")
    off = np.linalg.norm(apply(found.transformation, source) - apply(truth, source), axis=1).max() / size
    return off if found.success else np.inf


@pytest.mark.parametrize("make", [bumpy_cloud, teapot])
@pytest.mark.parametrize("count", [50, 100, 200])
def test_copies_are_recognised(make, count):
    exact = [error(make, count, seed, 0.0) for seed in range(5)]
    noisy = [error(make, count, seed, 0.005) for seed in range(5)]
    assert max(exact) < 0.02
    assert np.median(noisy) < 0.02
    assert np.count_nonzero(np.array(noisy) < 0.05) >= 4
