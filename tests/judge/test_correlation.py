"""The design effect: none where pairs are independent, as large as what neighbours share where they are not."""

import numpy as np
import pytest

from tear3d.judge.correlation import design_effect


def gradients_of(points, residuals):
    return np.hstack((np.cross(points - points.mean(axis=0), residuals), residuals))


def test_independent_pairs_are_left_alone():
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        points = rng.uniform(-1.0, 1.0, (int(rng.integers(10, 2000)), 3))
        effect = design_effect(points, gradients_of(points, rng.normal(size=points.shape)), rng.uniform(0.01, 0.2))
        found.append(effect)
    assert min(found) >= 1.0
    assert np.mean(found) < 1.02
    assert max(found) < 1.3


@pytest.mark.parametrize("size", [4, 16])
def test_neighbours_that_err_alike_count_once(size):
    rng = np.random.default_rng(1)
    centres = 0.5 * np.stack(np.meshgrid(*[np.arange(8)] * 3), axis=-1).reshape(-1, 3)[:400]
    points = np.repeat(centres, size, axis=0) + rng.uniform(0.0, 0.05, (400 * size, 3))
    shared = np.repeat(rng.normal(size=(400, 3)), size, axis=0)
    assert design_effect(points, gradients_of(points, shared), 0.1) == pytest.approx(size, rel=0.3)


def test_degenerate_pairs():
    points = np.zeros((50, 3))
    assert design_effect(points, np.zeros((50, 6)), 0.1) == 1.0
    line = np.linspace(0.0, 1.0, 50)[:, None] * [1.0, 0.0, 0.0]
    assert design_effect(line, gradients_of(line, np.ones((50, 3))), 0.01) >= 1.0
