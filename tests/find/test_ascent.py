"""Local refinement: it climbs, it arrives, it never loses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.find.ascent import refine_pose
from tear3d.find.procrustes import procrustes
from tear3d.metrics import rotation_error
from tear3d.problem.losses import CM, TEAR, TLS
from tear3d.problem.objective import full_saving
from tear3d.synthetic import make_problem


def nudged(rotation, t, angle, shift, rng):
    axis = rng.normal(size=3)
    a = angle * axis / np.linalg.norm(axis)
    skew = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    turn, _ = procrustes(np.eye(3), np.eye(3) + skew.T)
    return turn @ rotation, t + shift * rng.normal(size=3)


@given(st.integers(0, 10_000), st.sampled_from([TEAR, CM, TLS]), st.floats(0.0, 3.0))
@settings(max_examples=40, deadline=None)
def test_never_saves_less_than_the_start(seed, loss, angle):
    rng = np.random.default_rng(seed)
    p = make_problem(int(rng.integers(3, 200)), 0.6, seed=seed)
    start = nudged(p.rotation, p.translation, angle, 0.1, rng)
    before = full_saving(p.source, p.target, *start, p.noise_bound, None, loss)
    r, t, saving = refine_pose(p.source, p.target, p.noise_bound, None, *start, loss)
    assert saving >= before
    assert saving == pytest.approx(full_saving(p.source, p.target, r, t, p.noise_bound, None, loss))
    np.testing.assert_allclose(r @ r.T, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("loss", [TEAR, CM, TLS])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_reaches_the_truth_from_nearby(loss, offset):
    rng = np.random.default_rng(5)
    p = make_problem(2000, 0.9, seed=5)
    x, y = p.source + offset, p.target - offset
    t_true = p.translation - offset - p.rotation @ np.full(3, offset)
    r0, _ = nudged(p.rotation, t_true, 0.05, 0.0, rng)
    t0 = t_true + (p.rotation - r0) @ np.full(3, offset) + 0.02
    r, _, saving = refine_pose(x, y, p.noise_bound, None, r0, t0, loss)
    assert rotation_error(r, p.rotation) < 0.2
    assert saving >= 0.999 * full_saving(x, y, p.rotation, t_true, p.noise_bound, None, loss)


def test_result_is_a_local_maximum_of_tear():
    rng = np.random.default_rng(6)
    p = make_problem(400, 0.5, seed=6)
    r, t, saving = refine_pose(p.source, p.target, p.noise_bound, None, p.rotation, p.translation, TEAR)
    for _ in range(200):
        other = nudged(r, t, 1e-3 * rng.random(), 1e-3, rng)
        assert full_saving(p.source, p.target, *other, p.noise_bound) <= saving * (1 + 2e-4)


def test_weights_and_bounds_per_pair_decide():
    p = make_problem(300, 0.0, seed=7)
    y = p.target.copy()
    y[:200] += [0.08, 0.0, 0.0]  # two shifts in reach of each other: the heavier one wins
    xi = np.full(300, 0.06)
    w = np.ones(300)
    between = np.array([0.04, 0.0, 0.0])
    towards = []
    for heavy in (slice(0, 200), slice(200, 300)):
        w[:] = 0.1
        w[heavy] = 5.0
        _, t, _ = refine_pose(p.source, y, xi, w, p.rotation, p.translation + between, TEAR)
        towards.append(t[0] - p.translation[0])
    assert towards[0] == pytest.approx(0.08, abs=0.005)
    assert towards[1] == pytest.approx(0.0, abs=0.005)


def test_large_bands_are_thinned_and_finished():
    p = make_problem(80_000, 0.0, seed=8)
    start = nudged(p.rotation, p.translation, 0.03, 0.01, np.random.default_rng(8))
    r, _, _ = refine_pose(p.source, p.target, p.noise_bound, None, *start)
    assert rotation_error(r, p.rotation) < 0.02


def test_nothing_in_reach_returns_the_start():
    x = np.random.default_rng(9).normal(size=(10, 3))
    r, t, saving = refine_pose(x, x + 100.0, 0.1, None, np.eye(3), np.zeros(3))
    np.testing.assert_array_equal(r, np.eye(3))
    np.testing.assert_array_equal(t, 0.0)
    assert saving == 0.0
