"""The noise of pairs of the plane, which are off along two axes, not three."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.judge.noise import absolute_within, fit_noise, gaussian_within, square_within

DRAWS = np.random.default_rng(0).normal(size=(200_000, 2))
BOUND = 5.54 * 0.01


@pytest.mark.parametrize("radius", [0.5, 1.5, 3.0])
def test_moments_of_two_coordinates(radius):
    disc = np.linalg.norm(DRAWS, axis=1) <= radius
    square = np.abs(DRAWS).sum(axis=1) <= radius
    assert gaussian_within(radius, 2) == pytest.approx(disc.mean(), abs=3e-3)
    assert square_within(radius, 2) == pytest.approx(np.mean(DRAWS[:, 0] ** 2 * disc), abs=4e-3)
    assert absolute_within(radius, 2) == pytest.approx(np.mean(np.abs(DRAWS[:, 0]) * square), abs=3e-3)


def test_the_spread_is_found_among_wrong_pairs():
    rng = np.random.default_rng(1)
    right = np.sum((0.2 * rng.normal(size=(500, 2))) ** 2, axis=1)
    wrong = np.sum(rng.uniform(-2.0, 2.0, size=(400, 2)) ** 2, axis=1)
    squares = np.concatenate([right, wrong])
    squares = squares[squares <= 4.0]
    assert fit_noise(squares, np.ones(len(squares)), 2.0, 2).scale == pytest.approx(0.2, rel=0.07)


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-3.0, 3.0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    source = rng.normal(size=(200, 2))
    target = source @ turn.T + 0.01 * rng.normal(size=source.shape)
    target[100:] = rng.normal(size=(100, 2))
    return source, target, angle


def test_the_estimate_is_that_of_the_noise():
    found = [tear3d.register(*problem(seed)[:2], certify=False, threads=1).noise for seed in range(12)]
    assert np.mean([noise.noise_bound for noise in found]) == pytest.approx(BOUND, rel=0.06)
    assert sum(noise.low <= BOUND <= noise.high for noise in found) >= 10


def test_the_covariance_is_that_of_the_errors():
    deviations = []
    for seed in range(60):
        source, target, angle = problem(seed)
        result = tear3d.register(source, target, noise_bound=BOUND, certify=False, threads=1)
        pose = result.transformation_2d
        off = np.angle(np.exp(1j * (np.arctan2(pose[1, 0], pose[0, 0]) - angle)))
        deviations.append(off / np.sqrt(result.covariance[2, 2]))
    assert np.sqrt(np.mean(np.square(deviations))) == pytest.approx(1.0, abs=0.2)


def test_poses_of_the_plane_are_called_so():
    source, target, _ = problem(0)
    assert "of the poses of the plane none saves more" in tear3d.register(source, target, noise_bound=BOUND).message
    with pytest.raises(tear3d.InputError, match="N×2"):
        tear3d.register(source, target, noise_bound=BOUND, certify="rows")
    with pytest.raises(tear3d.InputError, match="N×2"):
        tear3d.register(source, target, noise_bound=BOUND, estimate_scale=True)


def test_a_cloud_within_its_noise_is_no_line():
    rng = np.random.default_rng(2)
    source, target = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    result = tear3d.register(source, target, noise_bound=1.5, certify=False, threads=1)
    assert not result.success
    assert not result.ambiguous
