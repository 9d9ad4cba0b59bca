"""What is saved where elsewhere begins is what some pose there saves."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.prove.pose.rim import saving_at_rim
from tests.prove.pose.problems import displacement


def problem(rng, n=80, agree=30):
    x = rng.normal(size=(n, 3))
    true = Pose(random_rotation(rng), rng.normal(size=3))
    y = 3.0 * rng.normal(size=(n, 3))
    y[:agree] = true.apply(x[:agree]) + 0.02 * rng.uniform(-1, 1, (agree, 3))
    pairs = Pairs.of(x, y, rng.uniform(0.1, 0.3, n), rng.uniform(0.5, 1.0, n))
    return pairs, pairs.frame.inside(true)


def turned(pairs, pose, axis, distance):
    """The pose turned about an axis through the middle of the pairs that agree, until some point moved so far."""
    agree = np.linalg.norm(pairs.y - pose.apply(pairs.x), axis=1) <= pairs.xi
    middle = pose.apply(pairs.x[agree].mean(axis=0))

    def at(angle):
        turn = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
        return Pose(turn @ pose.rotation, turn @ (pose.translation - middle) + middle)

    low, high = 0.0, np.pi
    for _ in range(60):
        angle = 0.5 * (low + high)
        low, high = (angle, high) if displacement(pairs, pose, at(angle)) < distance else (low, angle)
    return at(low), agree


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("distance", [0.05, 0.6, 1.5])
def test_it_is_what_the_best_of_some_poses_saves(loss, distance):
    pairs, pose = problem(np.random.default_rng(1))
    best = 0.0
    for axis in product((-1, 0, 1), repeat=3):
        if any(axis):
            moved, agree = turned(pairs, pose, np.array(axis, float), distance)
            assert displacement(pairs, moved, pose) == pytest.approx(distance, rel=1e-9)
            best = max(best, full_saving(pairs.take(np.flatnonzero(agree)), moved, LOSSES[loss]))
    assert saving_at_rim(pairs, LOSSES[loss], pose, distance) == pytest.approx(best, rel=1e-7)
    assert 0.0 < best < full_saving(pairs, pose, LOSSES[loss]) or loss == "cm"


def test_it_falls_with_the_distance_and_ends_where_no_turn_reaches():
    pairs, pose = problem(np.random.default_rng(2))
    values = [saving_at_rim(pairs, LOSSES["tear"], pose, distance) for distance in (0.01, 0.1, 0.5, 1.0, 100.0)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.9 * full_saving(pairs, pose, LOSSES["tear"])
    assert values[-1] == 0.0


def test_nothing_is_saved_where_nobody_agrees():
    pairs, pose = problem(np.random.default_rng(3))
    assert saving_at_rim(pairs, LOSSES["tear"], Pose(pose.rotation, pose.translation + 1e3), 0.1) == 0.0


def test_only_turns_that_are_allowed_are_tried():
    pairs, pose = problem(np.random.default_rng(3))
    axis = np.array([0.6, 0.0, 0.8])
    upright = replace(pairs, prior=Prior(axis=axis, source_axis=pose.rotation.T @ axis, tilt=0.0))
    both = [turned(pairs, pose, sign * axis, 0.3) for sign in (1.0, -1.0)]
    best = max(full_saving(pairs.take(np.flatnonzero(agree)), moved, LOSSES["tear"]) for moved, agree in both)
    assert saving_at_rim(upright, LOSSES["tear"], pose, 0.3) == pytest.approx(best, rel=1e-7)
    fixed = replace(pairs, prior=Prior(rotation=pose.rotation, turn=0.0))
    assert saving_at_rim(fixed, LOSSES["tear"], pose, 0.3) == 0.0
