"""Few pairs, pairs on a plane or a line, pairs in a few places: what is determined is returned, the rest is named."""

from __future__ import annotations

import numpy as np
import pytest

import tear3d
from tear3d.synthetic import random_rotation

RNG = np.random.default_rng(5)
ROTATION, SHIFT = random_rotation(RNG), RNG.normal(size=3)
BOUND = 0.05


def moved(x: np.ndarray, noise: float = 0.004) -> np.ndarray:
    return x @ ROTATION.T + SHIFT + noise * np.random.default_rng(len(x)).normal(size=x.shape)


def register(x: np.ndarray, y: np.ndarray, **options) -> tear3d.Result:
    return tear3d.register(x, y, noise_bound=BOUND, **({"certify": False} | options))


def off(result: tear3d.Result, x: np.ndarray) -> float:
    """How far the pose puts points from where they belong, at most."""
    found = x @ result.rotation.T + result.translation
    return float(np.linalg.norm(found - x @ ROTATION.T - SHIFT, axis=1).max())


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(("n", "wrong"), [(3, 0), (4, 0), (4, 1), (5, 0), (6, 2), (7, 3), (10, 5), (10, 7), (16, 12)])
def test_the_right_pose_is_returned(n, wrong, flat):
    rng = np.random.default_rng(100 * n + wrong)
    x = rng.normal(size=(n, 3)) * [1.0, 1.0, 0.0 if flat else 1.0]
    y = moved(x)
    y[:wrong] = 10.0 * rng.normal(size=(wrong, 3))
    result = register(x, y)
    right = n - wrong
    assert off(result, x[wrong:]) < BOUND
    assert result.num_inliers == right
    assert result.success == (right > 4)
    if right == 3:
        assert "3 pairs agree with this pose, as any 3 pairs that keep their lengths agree with some" in result.message


def test_three_pairs_that_do_not_keep_their_lengths():
    x = RNG.normal(size=(3, 3))
    result = register(x, 3.0 * moved(x))
    assert not result.success
    assert result.num_inliers < 3
    expected = {
        0: "no pair agrees with this pose",
        1: "one pair agrees with this pose: fewer than the 3 that determine one",
        2: "2 pairs agree with this pose: fewer than the 3 that determine one",
    }[result.num_inliers]
    assert result.message.startswith(f"{expected} (significance ")


def test_many_pairs_in_three_places_are_three():
    x = np.repeat(RNG.normal(size=(3, 3)), 5, axis=0)
    result = register(x, moved(x))
    assert off(result, x) < BOUND
    assert result.status == "no_consensus"
    assert "the 15 pairs that agree with this pose lie in no more than 3 places up to the noise bound" in result.message


@pytest.mark.parametrize("noise", [0.0, 0.004])
@pytest.mark.parametrize("n", [3, 4, 10, 200])
def test_on_a_line_the_turn_about_it_is_free(n, noise):
    x = np.outer(np.random.default_rng(n).normal(size=n), [1.0, 2.0, 2.0]) + 1.0
    result = register(x, moved(x, noise))
    assert off(result, x) < BOUND
    assert result.ambiguous
    assert result.message.startswith("ambiguous: the pairs that agree lie on a line, so that the source fits as well")
    (free,) = result.ambiguity.free
    assert (free.kind, free.step) == ("rotation", None)
    assert abs(np.dot(free.axis, [1 / 3, 2 / 3, 2 / 3])) > 0.999
    assert np.isnan(result.covariance).all()
    assert result.success == (n >= 10)


def test_on_a_line_among_wrong_pairs():
    rng = np.random.default_rng(2)
    x = np.outer(rng.normal(size=200), [1.0, 2.0, 2.0])
    y = moved(x)
    y[:120] = rng.normal(size=(120, 3))
    result = register(x, y)
    assert result.success
    assert result.ambiguous
    assert off(result, x[120:]) < BOUND


def test_two_places_are_a_line():
    x = np.repeat(RNG.normal(size=(2, 3)), 6, axis=0)
    result = register(x, moved(x))
    assert off(result, x) < BOUND
    assert not result.success
    assert result.ambiguity.free[0].kind == "rotation"


def test_one_place_is_refused():
    x = np.ones((6, 3))
    with pytest.raises(tear3d.InputError, match="all source points coincide"):
        register(x, RNG.normal(size=(6, 3)))


def test_a_line_that_is_turned_is_proven_within_its_limit():
    x = np.outer(np.random.default_rng(3).normal(size=20), [1.0, 2.0, 2.0])
    result = register(x, moved(x), certify=True, time_limit=2.0, threads=1)
    assert result.status in ("optimal", "time_limit")
    assert result.ambiguous


def test_a_ball_is_no_line():
    """Where the noise bound is about as large as the cloud, breadth tells nothing."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 2000, 3))
    result = tear3d.register(x, y, noise_bound=0.9, certify=False)
    assert not result.success
    assert "on a line" not in result.message
