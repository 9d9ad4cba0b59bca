"""TEAR-1, CM-1 and TLS-1: what the paper's Figures 4 and 5 say of them, on small problems, and what they do not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers import peer, rows
from tear3d.synthetic import make_problem

KEYS = ("tear1", "cm1", "tls1")


def f1(found, truth):
    return 2.0 * np.count_nonzero(found & truth) / (np.count_nonzero(found) + np.count_nonzero(truth))


@pytest.fixture(scope="module")
def runs():
    """Per system, over four problems: F1 and iterations."""
    out = {key: [] for key in KEYS}
    for seed in range(4):
        problem = make_problem(400, 0.9, seed=seed)
        for key in KEYS:
            found = peer(key).register(problem.source, problem.target, problem.noise_bound)
            out[key].append((f1(found.inliers, problem.inlier_mask), found.notes["iterations"]))
    return {key: np.mean(values, axis=0) for key, values in out.items()}


def test_tear_rejects_outliers_at_least_as_well_as_consensus(runs):
    assert runs["tear1"][0] > runs["cm1"][0] > 0.7


def test_tls_is_like_tear_in_fewer_iterations(runs):
    assert runs["tls1"][0] == pytest.approx(runs["tear1"][0], abs=0.02)
    assert 0.5 * runs["tear1"][1] < runs["tls1"][1] <= runs["tear1"][1]


def test_consensus_needs_no_more_iterations_with_the_printed_bounds(runs):
    """Against the paper's Figure 4; `rows` says why."""
    assert 0.3 * runs["tear1"][1] < runs["cm1"][1] < runs["tear1"][1]


@pytest.mark.parametrize("key", KEYS)
def test_a_row_is_the_first_of_the_pose_and_no_pose(key):
    problem = make_problem(300, 0.7, seed=5)
    found = peer(key).register(problem.source, problem.target, problem.noise_bound)
    assert np.isnan(found.pose).all()
    assert np.abs(np.array(found.notes["row"]) - problem.transformation[0]).max() < 0.05
    assert found.notes["resolution_end"] != found.notes["closed"]
    assert found.notes["closed"] == (found.notes["gap"] <= 1e-3)
    assert found.inliers[problem.inlier_mask].mean() > 0.95


@pytest.mark.parametrize("key", KEYS)
def test_off_centre_changes_nothing_but_the_shift(key):
    problem = make_problem(200, 0.5, seed=6)
    near = peer(key).register(problem.source, problem.target, problem.noise_bound)
    here, there = np.array([50.0, -20.0, 10.0]), np.array([0.0, 7.0, 9.0])
    far = peer(key).register(problem.source + here, problem.target + there, problem.noise_bound)
    assert np.count_nonzero(near.inliers ^ far.inliers) <= 2
    assert near.notes["row"][:3] == pytest.approx(far.notes["row"][:3], abs=5e-3)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", ["three", "all right", "none right", "line", "copies"])
def test_odd_pairs(key, kind, monkeypatch):
    monkeypatch.setattr(rows, "SECONDS", 1.0)
    rng = np.random.default_rng(0)
    problem = make_problem(60, 0.0, seed=7)
    x, y = problem.source, problem.target
    if kind == "three":
        x, y = x[:3], y[:3]
    elif kind == "none right":
        y = rng.normal(size=y.shape)
    elif kind == "line":
        x = np.outer(x[:, 0], [1.0, 2.0, 3.0])
    elif kind == "copies":
        x, y = np.repeat(x[:3], 20, axis=0), np.repeat(y[:3], 20, axis=0)
    found = peer(key).register(x, y, problem.noise_bound)
    assert len(found.inliers) == len(x)
    assert found.inliers.sum() >= 3
    if kind in ("three", "all right", "copies"):
        assert found.inliers.all()


def test_a_limit_ends_it(monkeypatch):
    monkeypatch.setattr(rows, "SECONDS", 0.0)
    problem = make_problem(100, 0.5, seed=8)
    notes = peer("tear1").register(problem.source, problem.target, problem.noise_bound).notes
    assert notes["ended_by"] == "time_limit"
    assert not notes["closed"]
    assert not notes["resolution_end"]
