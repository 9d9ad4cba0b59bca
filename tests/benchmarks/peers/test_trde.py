"""TR-DE: its counts are counts and its bounds bounds; it finds poses, among more branches than CM-1."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.peers import peer, trde
from tear3d.metrics import rotation_error, translation_error
from tear3d.synthetic import make_problem


def inliers_of_axis(data, xi, alpha, beta, d):
    axis = [math.sin(beta) * math.cos(alpha), math.sin(beta) * math.sin(alpha), math.cos(beta)]
    return int(np.sum(np.abs(axis @ data[:3] - d) <= xi))


def inliers_of_turn(data, xi, theta, p, q):
    turn = np.array([[math.cos(theta), -math.sin(theta)], [math.sin(theta), math.cos(theta)]])
    apart = turn @ data[:2] + np.array([[p], [q]]) - data[2:4]
    return int(np.sum(np.sqrt((apart**2).sum(axis=0) + data[5] ** 2) <= xi))


KINDS = {trde.AXIS: (trde.count_axis, inliers_of_axis), trde.TURN: (trde.count_turn, inliers_of_turn)}


def data_of(kind, rng, n=60):
    data = rng.normal(size=(6, n))
    data[4 if kind == trde.TURN else 3] = np.linalg.norm(data[: 2 if kind == trde.TURN else 3], axis=0)
    if kind == trde.TURN:
        data[5] *= 0.1
    return data


def whole(kind):
    return np.array([0, 2 * math.pi, 0, math.pi / 2, -4, 4] if kind == trde.AXIS else [-math.pi, math.pi, -5, 5, -5, 5])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_a_box_has_more_inliers_than_its_bound(kind):
    rng = np.random.default_rng(1)
    kernel, naive = KINDS[kind]
    tight = 0
    for _ in range(150):
        data, xi = data_of(kind, rng), rng.uniform(0.05, 0.5)
        low, high = whole(kind).reshape(3, 2).T
        width = (high - low) * rng.uniform(0.0, 1.0, 3) ** 3
        start = low + rng.uniform(size=3) * (high - low - width)
        box = np.column_stack([start, start + width]).ravel()
        at_centre, bound = kernel(data, xi, box)
        assert at_centre == naive(data, xi, *(start + 0.5 * width))
        assert at_centre <= bound
        for point in start + rng.uniform(size=(20, 3)) * width:
            assert naive(data, xi, *point) <= bound
        for corner in np.ndindex(2, 2, 2):
            assert naive(data, xi - 1e-9, *(start + np.array(corner) * width)) <= bound
        tight += bound < data.shape[1]
    assert tight > 50


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_finds_what_sampling_does_not_beat(kind):
    rng = np.random.default_rng(2)
    naive = KINDS[kind][1]
    for _ in range(5):
        data, box = data_of(kind, rng, 15), whole(kind).astype(float)
        setting = np.array([0.2, 1.0, 1.0, 1.0, 0.02, 0.02, 0.02])
        found = trde.run(kind, data, box, setting, math.inf)
        assert found.inliers == naive(data, 0.2, *found.where)
        assert found.ended_by == ("gap" if found.inliers == found.bound else "resolution")
        points = rng.uniform(*box.reshape(3, 2).T, size=(3000, 3))
        assert max(naive(data, 0.2, *point) for point in points) <= found.inliers <= found.bound


@pytest.mark.parametrize("ratio", [0.5, 0.9, 0.95])
def test_right_poses_at_a_thousand_pairs(ratio):
    for seed in range(2):
        problem = make_problem(1000, ratio, seed=seed)
        found = trde.register(problem.source, problem.target, problem.noise_bound)
        assert rotation_error(found.pose, problem.transformation) < 0.5
        assert translation_error(found.pose, problem.transformation) < 0.02


def test_three_dimensions_take_more_branches_than_two():
    problem = make_problem(500, 0.9, seed=3)
    given = problem.source, problem.target, problem.noise_bound
    assert trde.register(*given).notes["iterations"] > 5 * peer("cm1").register(*given).notes["iterations"]


def test_more_outliers_take_more_branches():
    branches = []
    for ratio in (0.8, 0.9, 0.95):
        problem = make_problem(1000, ratio, seed=4)
        branches.append(trde.register(problem.source, problem.target, problem.noise_bound).notes["iterations"])
    assert branches == sorted(branches)
    assert branches[2] > 3 * branches[1]


def test_the_cap_holds(monkeypatch):
    monkeypatch.setattr(trde, "SECONDS", 0.0)
    problem = make_problem(1000, 0.9, seed=0)
    found = trde.register(problem.source, problem.target, problem.noise_bound)
    assert np.isnan(found.pose).all()
    assert found.notes["ended_by"] == "time_limit"


@pytest.mark.parametrize("kind", ["three", "all right", "at rest", "none right", "line", "copies"])
def test_odd_pairs(kind, monkeypatch):
    monkeypatch.setattr(trde, "SECONDS", 5.0)
    problem = make_problem(60, 0.0, seed=5)
    x, y = problem.source, problem.target
    if kind == "three":
        x, y = x[:3], y[:3]
    elif kind == "at rest":
        y = x.copy()
    elif kind == "none right":
        y = np.random.default_rng(0).normal(size=y.shape)
    elif kind == "line":
        x = np.outer(x[:, 0], [1.0, 2.0, 3.0])
        y = x @ problem.transformation[:3, :3].T
    elif kind == "copies":
        x, y = np.repeat(x[:3], 20, axis=0), np.repeat(y[:3], 20, axis=0)
    found = trde.register(x, y, problem.noise_bound).pose
    assert found.shape == (4, 4)
    if kind == "at rest":
        assert rotation_error(found, np.eye(4)) < 0.01
    elif kind == "all right":
        assert rotation_error(found, problem.transformation) < 1.0
    elif kind == "line":
        moved = x @ found[:3, :3].T + found[:3, 3]
        assert np.linalg.norm(moved - y, axis=1).max() <= problem.noise_bound
    elif np.isfinite(found).all():  # three pairs leave the first stage a choice of axes
        assert np.linalg.det(found[:3, :3]) == pytest.approx(1.0)
    else:
        assert np.isnan(found).all()
