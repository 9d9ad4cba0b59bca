"""What is said of poses under a prior: a consensus that is cheap in the data is none, allowed or not."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tear3d
from tear3d.lab.synthetic import random_rotation
from tear3d.problem.turns import turn_about

UP = np.array([0.0, 0.0, 1.0])


def patches(seed, n=1000, count=25):
    """Patches that move on their own, each by a random motion: no pose of all is more right than another."""
    rng = np.random.default_rng(seed)
    here, there = rng.random((count, 3)), rng.random((count, 3))
    rotations = np.stack([random_rotation(rng) for _ in range(count)])
    own = rng.integers(count, size=n)
    x = 0.06 * rng.normal(size=(n, 3))
    y = there[own] + np.einsum("kij,kj->ki", rotations[own], x) + 0.01 * rng.normal(size=(n, 3))
    return here[own] + x, y


@pytest.mark.parametrize(
    "known",
    [
        {"rotation_axis": UP},
        {"rotation": np.eye(3)},
        {"initial": np.eye(4), "within": (30.0, 0.3)},
        {"initial": np.eye(4), "within": (30.0, None)},
    ],
    ids=["axis", "rotation", "within", "turn"],
)
def test_one_of_many_patches_is_not_registered_because_it_is_the_only_one_allowed(known):
    found = [tear3d.register(*patches(seed), noise_bound=0.05, certify=False, **known) for seed in range(8)]
    assert not any(result.success for result in found)


def objects(sizes, seed=0, n=2000):
    """Objects that move on their own, and noise; with their motions."""
    rng = np.random.default_rng(seed)
    x, y = rng.random((n, 3)), 2.0 * rng.random((n, 3))
    turns, first = [], 0
    for size in sizes:
        rows = slice(first, first + size)
        turns.append(turn_about(UP, rng.uniform(1.0, 2.0)) @ random_rotation(rng))
        y[rows] = x[rows] @ turns[-1].T + rng.random(3) + 0.005 * rng.normal(size=(size, 3))
        first += size
    return x, y, turns


def test_the_smaller_of_two_objects_is_found_where_it_is_known_to_be():
    """And the other, which is not allowed and larger, is told of."""
    x, y, (_, turn) = objects((400, 60))
    initial = np.eye(4)
    initial[:3, :3] = turn_about(np.array([1.0, 0.0, 0.0]), 0.05) @ turn
    result = tear3d.register(x, y, noise_bound=0.0277, initial=initial, within=(10.0, None))
    assert result.status == "optimal"
    assert np.degrees(np.arccos(0.5 * (np.trace(result.rotation @ turn.T) - 1.0))) < 2.0
    times = float(re.search(r"a pose that is not allowed saves about ([\d.]+) times as much", result.message)[1])
    assert 5.0 < times < 9.0


@pytest.mark.parametrize("degrees", [5.0, 10.0])
def test_what_a_wrong_rotation_leaves_of_the_truth_is_no_pose(degrees):
    """A little off, pairs around some place agree still: a part of those that agree with another pose. Five degrees off
    they are so many that what is left without them no longer shows it, and only an ascent does."""
    rng = np.random.default_rng(1)
    n, agree = 3000, 900
    x = rng.random((n, 3)) * [1.0, 1.0, 0.3]
    true = random_rotation(rng)
    y = x @ true.T + 0.005 * rng.normal(size=(n, 3))
    y[agree:] = y[rng.integers(n, size=n - agree)]
    right = tear3d.register(x, y, noise_bound=0.0277, rotation=true)
    assert right.status == "optimal"
    assert "not allowed" not in right.message
    off = turn_about(true @ UP, np.radians(degrees)) @ true
    wrong = tear3d.register(x, y, noise_bound=0.0277, rotation=off)
    assert wrong.num_inliers > 50
    assert wrong.status == "no_consensus"
    assert "does not stand out" in wrong.message
    assert "a pose that is not allowed saves about" in wrong.message


def test_a_hundred_pairs_in_a_hundred_thousand_are_judged_on_more_of_them():
    """Of those that are looked at first too few agree to tell: two of twenty were called chance."""
    for seed in (7, 55):
        rng = np.random.default_rng(seed)
        n, agree = 100_000, 100
        x = rng.random((n, 3)) - 0.5
        turn = turn_about(UP, rng.uniform(-np.pi, np.pi))
        y = rng.normal(size=(n, 3))
        y *= np.sqrt(3.0) * (rng.random(n) ** (1 / 3) / np.linalg.norm(y, axis=1))[:, None]
        rows = rng.permutation(n)[:agree]
        y[rows] = x[rows] @ turn.T + 0.01 * rng.normal(size=(agree, 3))
        result = tear3d.register(x, y, noise_bound=0.0554, rotation_axis=UP)
        assert result.status == "optimal"
        assert result.num_inliers >= 90
