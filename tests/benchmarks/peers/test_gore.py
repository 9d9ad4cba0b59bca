"""GORE: what it removes is never part of the largest consensus, and its counts are bounds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from benchmarks.peers import gore, gore_pivot, gore_rotation, peer
from benchmarks.peers.rigid import fit, residuals
from tear3d.metrics import rotation_error, translation_error
from tear3d.synthetic import make_problem, random_rotation

BOUND = 0.1


def pairs(n: int, right: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Some right pairs with noise up to the bound, the others anywhere."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-1.0, 1.0, size=(2, n, 3))
    y[:right] = x[:right] @ random_rotation(rng).T + rng.uniform(-0.6, 0.6, size=(right, 3)) * BOUND
    return x, y


def consensus_sets(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Those of all triples, refitted a few times."""
    found = []
    for triple in combinations(range(len(x)), 3):
        inliers = np.isin(np.arange(len(x)), triple)
        for _ in range(4):
            inliers = residuals(fit(x[inliers], y[inliers]), x, y) <= BOUND
            if inliers.sum() < 3:
                break
            found.append(inliers)
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("right", [4, 7])
def test_no_pair_of_a_largest_consensus_is_removed(right, seed):
    x, y = pairs(14, right, seed)
    alive, best, finished = gore.removed(x, y, BOUND)
    assert finished
    least = int((residuals(best, x, y) <= BOUND).sum())
    largest = [inliers for inliers in consensus_sets(x, y) if inliers.sum() >= least]
    assert all(alive[inliers].all() for inliers in largest)


def test_something_is_removed_and_the_right_pairs_stay():
    problem = make_problem(300, 0.9, seed=0)
    alive, _, _ = gore.removed(problem.source, problem.target, problem.noise_bound)
    assert alive[problem.inlier_mask].all()
    assert alive.sum() < 60


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.95, 0.99])
def test_right_up_to_99_percent(ratio):
    problem = make_problem(600, ratio, seed=3)
    found = peer("gore").register(problem.source, problem.target, problem.noise_bound)
    assert rotation_error(found.pose, problem.transformation) < 2.0
    assert translation_error(found.pose, problem.transformation) < 0.1
    assert found.notes["left"] < 600 * (1.0 - ratio) + 60


def test_repeats_itself():
    x, y = pairs(60, 12, 0)
    first, second = (gore.register(x, y, BOUND) for _ in range(2))
    assert (first.pose == second.pose).all()
    assert first.notes == second.notes


@pytest.mark.parametrize("seed", range(4))
def test_no_rotation_that_keeps_a_pair_agrees_with_more_than_the_pivot_says(seed):
    rng = np.random.default_rng(seed)
    rotation = random_rotation(rng)
    u = rng.uniform(-1.0, 1.0, size=(40, 3))
    v = u @ rotation.T + rng.normal(scale=0.15, size=(40, 3))
    u, v, _ = gore_rotation.around(np.vstack([[0, 0, 0], u]), np.vstack([[0, 0, 0], v]), np.ones(41, bool), 0, 0.3)
    p, q, limit = gore_rotation.directions(u, v, 0.3)
    n = len(u)
    starts, ends, bins = np.empty(n), np.empty(n), np.empty(gore_pivot.BINS + 1, np.int64)
    met = 0
    for j in range(n):
        most, found = gore_pivot.pivot(p, q, limit, n, j, 0, starts, ends, bins)
        assert np.allclose(found @ p[j], q[j])
        assert np.allclose(found @ found.T, np.eye(3))
        for _ in range(60):
            other = fit(np.eye(3), rotation + rng.normal(scale=0.15, size=(3, 3)))[:3, :3]
            agree = np.linalg.norm(u @ other.T - v, axis=1) <= 0.3
            if agree[j]:
                met += 1
                assert agree.sum() <= most
        assert gore_pivot.pivot(p, q, limit, n, j, most + 1, starts, ends, bins)[0] <= most + n
        assert gore_pivot.pivot(p, q, limit, n, j, most, starts, ends, bins)[0] == most
    assert met > 100


@pytest.mark.parametrize("seed", range(5))
def test_stabbing_is_the_most_over_all_ends(seed):
    rng = np.random.default_rng(seed)
    starts = rng.uniform(0.0, gore_pivot.TURN, size=50)
    ends = starts + rng.uniform(0.0, 2.0, size=50) ** 2

    def at(angle: float) -> int:
        return int(((angle - starts) % gore_pivot.TURN <= ends - starts + 1e-12).sum())

    most, angle = gore_pivot.stabbed(starts, ends, 50)
    assert most == max(at(start) for start in starts) == at(angle)
    assert gore_pivot.binned(starts, ends, 50, np.empty(gore_pivot.BINS + 1, np.int64)) >= most


def test_branch_and_bound_decides_what_a_rotation_can_reach():
    rng = np.random.default_rng(1)
    rotation = random_rotation(rng)
    u = rng.normal(size=(30, 3))
    v = np.vstack([u[:12] @ rotation.T, np.linalg.norm(u[12:], axis=1)[:, None] * [0.0, 0.0, 1.0]])
    assert gore_rotation.reachable(u, v, 0, 13, 0.05)[0]
    assert not gore_rotation.reachable(u, v, 0, 20, 0.05)[0]
    assert gore_rotation.reachable(u, v, 7, 20, 0.05)[0]


def test_what_is_not_looked_at_stays(monkeypatch):
    x, y = pairs(200, 20, 0)
    every = gore.register(x, y, BOUND)
    monkeypatch.setattr(gore, "MOST_ARCS", 2_000)
    found = gore.register(x, y, BOUND)
    assert not every.notes["cut"]
    assert found.notes["cut"]
    assert found.notes["left"] > every.notes["left"] >= 20
    assert rotation_error(found.pose, every.pose) < 5.0


def test_odd_input_does_not_crash():
    rng = np.random.default_rng(0)
    three = rng.normal(size=(3, 3))
    assert np.allclose(gore.register(three, three + 1.0, 0.01).pose, fit(three, three + 1.0), atol=1e-6)
    assert np.isnan(gore.register(three[:2], three[:2], 0.01).pose).all()
    apart = 100.0 * 2.0 ** np.arange(8)[:, None] * np.ones(3)
    assert np.isnan(gore.register(apart, 3.0 * apart, 0.01).pose).all()
    line = np.linspace(0.0, 1.0, 20)[:, None] * np.ones(3)
    assert gore.register(line, line, 0.01).inliers.all()
    same = np.ones((20, 3))
    assert gore.register(same, same + 2.0, 0.01).inliers.all()
    everything = rng.normal(size=(50, 3))
    assert gore.register(everything, everything, 0.01).inliers.all()
