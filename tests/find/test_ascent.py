"""Local refinement: it climbs, it arrives, it never loses."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tear3d.find.ascent import climb
from tear3d.lab.metrics import rotation_error
from tear3d.lab.synthetic import make_problem
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tests.problem.cases import pairs_of, rotation_about, truth_inside, unchecked

TEAR = LOSSES["tear"]


def nudged(pose, angle, shift, rng):
    turn = rotation_about(rng.normal(size=3), angle)
    return Pose(turn @ pose.rotation, pose.translation + shift * rng.normal(size=3))


@given(st.integers(0, 10_000), st.sampled_from(sorted(LOSSES)), st.floats(0.0, 3.0))
@settings(max_examples=40, deadline=None)
def test_never_saves_less_than_the_start(seed, name, angle):
    rng, loss = np.random.default_rng(seed), LOSSES[name]
    problem = make_problem(int(rng.integers(3, 200)), 0.6, seed=seed)
    pairs = unchecked(problem.source, problem.target, problem.noise_bound)
    start = nudged(Pose.of(problem.rotation, problem.translation), angle, 0.1, rng)
    pose, saving = climb(pairs, start, loss)
    assert saving >= full_saving(pairs, start, loss)
    assert saving == full_saving(pairs, pose, loss)
    np.testing.assert_allclose(pose.rotation @ pose.rotation.T, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=list(LOSSES))
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_reaches_the_truth_from_nearby(loss, offset):
    """Also in coordinates that nobody centred."""
    problem = make_problem(2000, 0.9, seed=5)
    away = np.full(3, offset)
    pairs = unchecked(problem.source + away, problem.target - away, problem.noise_bound)
    truth = Pose.of(problem.rotation, problem.translation)
    start = nudged(truth, 0.05, 0.0, np.random.default_rng(5))
    start = Pose(start.rotation, start.translation + 0.02)
    pose, saving = climb(pairs, start.between(-away, away), loss)
    assert rotation_error(pose.rotation, problem.rotation) < 0.2
    assert saving >= 0.999 * full_saving(pairs, truth.between(-away, away), loss)


def test_result_is_a_local_maximum_of_tear():
    rng = np.random.default_rng(6)
    problem = make_problem(400, 0.5, seed=6)
    pairs = pairs_of(problem)
    pose, saving = climb(pairs, truth_inside(problem, pairs), TEAR)
    for _ in range(200):
        other = nudged(pose, 1e-3 * rng.random(), 1e-3, rng)
        assert full_saving(pairs, other, TEAR) <= saving * (1 + 2e-4)


def test_weights_and_bounds_per_pair_decide():
    problem = make_problem(300, 0.0, seed=7)
    target = problem.target.copy()
    target[:200] += [0.08, 0.0, 0.0]  # two shifts in reach of each other: the heavier one wins
    start = Pose.of(problem.rotation, problem.translation + np.array([0.04, 0.0, 0.0]))
    towards = []
    for heavy in (slice(0, 200), slice(200, 300)):
        w = np.full(300, 0.1)
        w[heavy] = 5.0
        pose, _ = climb(unchecked(problem.source, target, np.full(300, 0.06), w), start, TEAR)
        towards.append(pose.translation[0] - problem.translation[0])
    assert towards[0] == pytest.approx(0.08, abs=0.005)
    assert towards[1] == pytest.approx(0.0, abs=0.005)


def test_large_bands_are_thinned_and_finished():
    problem = make_problem(80_000, 0.0, seed=8)
    pairs = pairs_of(problem)
    start = nudged(truth_inside(problem, pairs), 0.03, 0.01, np.random.default_rng(8))
    assert rotation_error(climb(pairs, start, TEAR)[0].rotation, problem.rotation) < 0.02


def test_nothing_in_reach_returns_the_start():
    x = np.random.default_rng(9).normal(size=(10, 3))
    pose, saving = climb(unchecked(x, x + 100.0, 0.1), Pose.identity(), TEAR)
    np.testing.assert_array_equal(pose.rotation, np.eye(3))
    np.testing.assert_array_equal(pose.translation, 0.0)
    assert saving == 0.0


@pytest.mark.clock
def test_limits_that_are_over_return_the_start_with_its_saving():
    problem = make_problem(500, 0.5, seed=10)
    pairs = pairs_of(problem)
    start = nudged(truth_inside(problem, pairs), 0.02, 0.0, np.random.default_rng(10))
    began = time.perf_counter()
    pose, saving = climb(pairs, start, TEAR, limits=Limits(time_limit=0.0))
    assert time.perf_counter() - began < 0.5
    np.testing.assert_array_equal(pose.row, start.row)
    assert saving == full_saving(pairs, start, TEAR)
    assert climb(pairs, start, TEAR, limits=Limits(time_limit=60.0))[1] > saving


def test_the_maximum_of_absolute_values_is_reached():
    """The climbed pose saves as much as a linear program over the same pairs, up to a hundred-thousandth."""
    left = []
    for seed in range(8):
        problem = make_problem(600, 0.5, seed=seed)
        pairs = Pairs.of(problem.source, problem.target, 3.0 * problem.noise_bound)
        truth = Pose.from_matrix(problem.transformation).between(pairs.frame.source, pairs.frame.target)
        pose, saving = climb(pairs, truth, LOSSES["tear"])
        residual = pairs.y - pose.apply(pairs.x)
        near = np.abs(residual).sum(axis=1) < pairs.xi
        turned = pairs.x[near] @ pose.rotation.T
        slopes = [np.cross(axis, turned).ravel() for axis in np.eye(3)]
        slopes += [np.tile(axis, len(turned)) for axis in np.eye(3)]
        # Least Σ|r − Jδ|, by its dual: most r·u with Jᵀu = 0 and |u| ≤ 1.
        r = residual[near].ravel()
        least = -linprog(-r, A_eq=np.array(slopes), b_eq=np.zeros(6), bounds=(-1.0, 1.0)).fun
        left.append((np.abs(r).sum() - least) / saving)
    assert max(left) < 1e-5
