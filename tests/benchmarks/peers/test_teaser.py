"""TEASER from its paper: right where the paper says so, and no crash on odd input."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers import peer, teaser
from benchmarks.peers.rigid import fit
from tear3d.metrics import rotation_error, translation_error
from tear3d.synthetic import make_problem, random_rotation


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.95, 0.99])
def test_right_up_to_99_percent(ratio):
    problem = make_problem(1000, ratio, seed=1)
    found = peer("teaser").register(problem.source, problem.target, problem.noise_bound)
    assert rotation_error(found.pose, problem.transformation) < 2.0
    assert translation_error(found.pose, problem.transformation) < 0.1
    assert not found.notes["cut"]
    assert found.notes["clique"] >= round(1000 * (1.0 - ratio))
    assert found.inliers.sum() > 0.8 * 1000 * (1.0 - ratio)


def test_repeats_itself():
    problem = make_problem(500, 0.95, seed=2)
    first, second = (teaser.register(problem.source, problem.target, problem.noise_bound) for _ in range(2))
    assert (first.pose == second.pose).all()
    assert (first.inliers == second.inliers).all()


def test_a_clique_search_that_is_cut_short_says_so_and_is_not_far_off(monkeypatch):
    problem = make_problem(500, 0.5, seed=0)
    monkeypatch.setattr(teaser, "CLIQUE_BUDGET", 0)
    found = teaser.register(problem.source, problem.target, 40.0 * problem.noise_bound)
    assert found.notes["cut"]
    assert rotation_error(found.pose, problem.transformation) < 5.0


def test_graduated_weights_drop_wrong_differences():
    rng = np.random.default_rng(4)
    rotation = random_rotation(rng)
    a = rng.normal(size=(60, 3))
    b = a @ rotation.T + rng.uniform(-0.005, 0.005, size=(60, 3))
    b[:25] = rng.normal(size=(25, 3))
    weights, found = teaser.turn(a, b, 0.02)
    assert rotation_error(found, rotation) < 0.5
    assert (weights[25:] > 0.0).all()
    assert (weights[:25] == 0.0).sum() >= 24


def test_without_wrong_differences_it_is_least_squares():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(20, 3))
    a = np.vstack([a, -a])
    b = a @ random_rotation(rng).T + np.tile(rng.normal(scale=1e-3, size=(20, 3)), (2, 1)) * np.repeat(
        [[1], [-1]], 20, 0
    )
    assert np.allclose(teaser.turn(a, b, 0.1)[1], fit(a, b)[:3, :3], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_vote_is_the_least_of_all_truncated_sums(seed):
    rng = np.random.default_rng(seed)
    values = 1e3 + np.concatenate([rng.normal(scale=0.4, size=15), rng.uniform(-9.0, 9.0, size=20)])
    cost = lambda number: np.minimum((values - number) ** 2, 1.0).sum()  # noqa: E731
    fine = min(cost(number) for number in np.linspace(990.0, 1010.0, 40_001))
    assert cost(teaser.vote(values, 1.0)) <= fine + 1e-6


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_pairs_go_nowhere(n):
    points = np.random.default_rng(0).normal(size=(n, 3))
    assert np.isnan(teaser.register(points, points, 0.1).pose).all()


def test_odd_input_does_not_crash():
    rng = np.random.default_rng(0)
    three = rng.normal(size=(3, 3))
    assert np.allclose(teaser.register(three, three + 1.0, 0.01).pose, fit(three, three + 1.0), atol=1e-6)
    apart = 100.0 * 2.0 ** np.arange(8)[:, None] * np.ones(3)
    assert np.isnan(teaser.register(apart, 3.0 * apart, 0.01).pose).all()
    line = np.linspace(0.0, 1.0, 20)[:, None] * np.ones(3)
    assert teaser.register(line, line, 0.01).pose.shape == (4, 4)
    same = np.ones((20, 3))
    assert np.allclose(teaser.register(same, same + 2.0, 0.01).pose @ [1, 1, 1, 1], [3, 3, 3, 1], atol=0.01)


def test_its_memory_is_known_to_be_quadratic():
    assert peer("teaser").quadratic
