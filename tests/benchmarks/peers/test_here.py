"""HERE: succeeds where its paper does, in memory that does not grow with the square of the pairs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from benchmarks.peers import peer
from tear3d.metrics import rotation_error, translation_error
from tear3d.synthetic import make_problem
from tests.benchmarks.peers.odd_pairs import NOISE, turn


def right(problem, pose) -> bool:
    return rotation_error(pose, problem.transformation) < 2.0 and translation_error(pose, problem.transformation) < 0.1


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.95, 0.99])
def test_right_up_to_99_per_cent(ratio):
    problem = make_problem(1000, ratio, seed=3)
    found = peer("here").register(problem.source, problem.target, problem.noise_bound)
    assert right(problem, found.pose)
    # Refitted on its consensus: nearly all of the inliers, and few others.
    assert (found.inliers & problem.inlier_mask).sum() >= 0.9 * problem.inlier_mask.sum()
    assert (found.inliers & ~problem.inlier_mask).sum() <= 5


def test_wrong_where_chance_agrees_more():
    problem = make_problem(300, 0.99, seed=1)
    found = peer("here").register(problem.source, problem.target, problem.noise_bound)
    assert not right(problem, found.pose)


def test_pairs_beyond_the_ranked_count_in_the_refinement(monkeypatch):
    system = peer("here")
    problem = make_problem(900, 0.8, seed=2)
    monkeypatch.setattr(system.module, "MOST_RANKED", 300)
    found = system.register(problem.source, problem.target, problem.noise_bound)
    assert right(problem, found.pose)
    assert found.inliers[300:].sum() > 100


def test_same_again_and_in_any_unit():
    system = peer("here")
    problem = make_problem(500, 0.9, seed=4)
    first, again = (system.register(problem.source, problem.target, problem.noise_bound).pose for _ in range(2))
    assert np.array_equal(first, again)
    thousandth = system.register(problem.source / 1e3, problem.target / 1e3, problem.noise_bound / 1e3).pose
    assert np.allclose(thousandth[:3, 3] * 1e3, first[:3, 3], atol=1e-6)
    assert np.allclose(thousandth[:3, :3], first[:3, :3], atol=1e-8)


@pytest.mark.parametrize("count", [6, 30])
def test_all_inliers(count):
    source = np.random.default_rng(7).uniform(-3.0, 3.0, (count, 3))
    found = peer("here").register(source, source @ turn().T + 2.0, NOISE)
    assert np.allclose(found.pose[:3, :3], turn(), atol=1e-6)
    assert np.allclose(found.pose[:3, 3], 2.0, atol=1e-6)


def test_identity():
    # Nothing moves: every axis fits, and the moves that would tell are noise.
    source = np.random.default_rng(7).uniform(-3.0, 3.0, (40, 3))
    assert np.allclose(peer("here").register(source, source, NOISE).pose, np.eye(4), atol=1e-6)


def test_memory_is_not_quadratic():
    # A byte for each two of 14 000 pairs would be 196 MB.
    code = (
        "import resource; from benchmarks.peers import peer; from tear3d.synthetic import make_problem\n"
        "for n in (1000, 14_000):\n"
        "    p = make_problem(n, 0.99, seed=0); peer('here').register(p.source, p.target, p.noise_bound)\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert int(out[1]) - int(out[0]) < 60_000
