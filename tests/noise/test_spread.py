"""The spread around a pose does not depend on the noise bound it is seen from."""

import numpy as np
import pytest

from tear3d.find.scales import similar_fit
from tear3d.judge.bound import FACTOR
from tear3d.noise.estimate import Guess
from tear3d.noise.spread import Spread, measure
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange


def residuals(right, wrong, sigma=0.01, reach=2.0, seed=0):
    """Of Gaussian right pairs, and of wrong ones that are evenly spread in a ball."""
    rng = np.random.default_rng(seed)
    hill = np.linalg.norm(sigma * rng.standard_normal((right, 3)), axis=1)
    return np.concatenate([hill, reach * np.cbrt(rng.random(wrong))])


@pytest.mark.parametrize("bound", [0.015, 0.02, 0.03, 0.06, 0.2])
@pytest.mark.parametrize("wrong", [0, 2000, 100_000])
def test_it_is_the_same_from_every_noise_bound(bound, wrong):
    found = measure(residuals(200, wrong), bound)
    assert found.sigma == pytest.approx(0.01, rel=0.15)
    assert found.low < 0.01 < found.high
    assert found.right == pytest.approx(200, rel=0.1)


def test_the_interval_holds_the_truth():
    found = [measure(residuals(40, 3000, seed=seed), 0.03) for seed in range(40)]
    assert np.mean([each.low < 0.01 < each.high for each in found]) >= 0.9
    assert np.median([each.high / each.low for each in found]) < 1.5


def test_the_numbers_of_the_pose_are_accounted_for():
    """Twelve pairs and a similarity fitted to them: their residuals are smaller than the noise, the spread is not."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(200):
        x = rng.normal(size=(12, 3))
        y = x + 0.01 * rng.standard_normal((12, 3))
        pose = similar_fit(x, y, ScaleRange(0.1, 10.0))
        apart = np.concatenate([np.linalg.norm(y - pose.apply(x), axis=1), np.linspace(0.5, 5.0, 50)])
        found.append([measure(apart, 0.03, freedom=freedom).sigma for freedom in (0, 7)])
    ignored, counted = np.sqrt(np.mean(np.square(found), axis=0))
    assert counted == pytest.approx(0.01, rel=0.04)
    assert ignored < 0.0095


def test_of_heavy_tails_the_core_counts():
    rng = np.random.default_rng(1)
    tails = np.linalg.norm(0.01 * rng.standard_t(1.5, (2000, 3)), axis=1)
    found = measure(tails, 0.03)
    assert 0.005 < found.sigma < 0.03
    assert found.high / found.low > 1.2


def test_too_few_pairs_have_no_spread():
    assert measure(np.array([0.001, 0.002, 0.003, 5.0, 6.0]), 0.01) is None


def test_exact_pairs_have_none():
    found = measure(np.concatenate([np.full(50, 1e-16), np.linspace(0.5, 2.0, 500)]), 1e-3)
    assert found.sigma < 1e-12


@pytest.mark.parametrize(("settled", "said"), [(0.5, "too much"), (2.0, "too little"), (1.0, "an axis, 0.181")])
def test_a_bound_that_was_not_kept_says_in_which_direction(settled, said):
    spread = Spread(1.0 / FACTOR, 0.9 / FACTOR, 1.1 / FACTOR, 100.0)
    guess = Guess(1.0, settled, Pose.identity(), -50.0, spread, 1.0, finest=False, doubt="")
    assert said in guess.words(settled).why
