"""The spread of residuals, against draws from it."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.judge.noise import absolute_within, fit_noise, gaussian_within, square_within

DRAWS = np.random.default_rng(0).normal(size=(400_000, 3))


@pytest.mark.parametrize("radius", [0.3, 1.0, 2.2, 5.54, 40.0])
def test_expectations_within_a_ball_and_an_octahedron(radius):
    ball = np.linalg.norm(DRAWS, axis=1) <= radius
    octahedron = np.abs(DRAWS).sum(axis=1) <= radius
    assert gaussian_within(radius) == pytest.approx(ball.mean(), abs=3e-3)
    assert square_within(radius) == pytest.approx(np.mean(DRAWS[:, 0] ** 2 * ball), abs=4e-3)
    assert absolute_within(radius) == pytest.approx(np.mean(np.abs(DRAWS[:, 0]) * octahedron), abs=3e-3)


def drawn(scale: float, right: int, wrong: int, reach: float, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """|u|² up to `reach` of right and wrong pairs, and which of them are right."""
    rng = np.random.default_rng(seed)
    u = np.vstack([scale * rng.normal(size=(right, 3)), rng.uniform(-reach, reach, (wrong, 3))])
    squares = np.sum(u**2, axis=1)
    seen = squares <= reach**2
    return squares[seen], (np.arange(len(u)) < right)[seen]


@pytest.mark.parametrize(("scale", "wrong"), [(0.18, 0), (0.18, 500), (0.05, 2000), (0.5, 300)])
def test_the_spread_is_found_among_wrong_pairs(scale, wrong):
    squares, right = drawn(scale, 800, wrong, 2.0)
    noise = fit_noise(squares, np.full(len(squares), 3.0), 2.0)
    assert noise.scale == pytest.approx(scale, rel=0.06)
    found = noise.right(squares, np.full(len(squares), 3.0))
    assert found.sum() == pytest.approx(right.sum(), rel=0.06, abs=3)


def test_a_single_wrong_pair_does_not_widen_the_spread():
    squares, _ = drawn(0.05, 40, 0, 2.0)
    with_one = fit_noise(np.append(squares, 1.5**2), np.ones(len(squares) + 1), 2.0)
    assert with_one.scale == pytest.approx(fit_noise(squares, np.ones(len(squares)), 2.0).scale, rel=1e-3)


def test_exact_pairs_have_next_to_no_spread():
    assert fit_noise(np.zeros(10), np.ones(10), 2.0).scale < 1e-12
