"""A pose must stand out from its rivals: the formula, its law, and what it makes of typical problems."""

import numpy as np
import pytest

from tear3d.judge.standing import GROUP, STRUCTURES, standing


def test_without_rivals_the_tests_are_the_yardstick():
    assert standing(-10.0, [], 5.0) == pytest.approx(-STRUCTURES * (15.0 / 5.0 - 1.0))
    assert standing(-10.0, [4.0, 2.0, 0.0], 5.0) == standing(-10.0, [], 5.0)


def test_a_rival_as_good_takes_it_all():
    rivals = [-50.0] * 8
    assert standing(-50.0, rivals, 5.0) == pytest.approx(0.0)
    assert standing(-105.0, rivals, 5.0) == pytest.approx(-STRUCTURES)


def test_never_better_than_the_level():
    for level in (3.0, 0.0, -1.0, -3.0):
        assert standing(level, [], 1.0) >= level


def test_more_rivals_are_never_better_news():
    rng = np.random.default_rng(0)
    for _ in range(200):
        rivals = list(rng.uniform(-40.0, 5.0, 8))
        level = float(rng.uniform(-80.0, 2.0))
        known = [standing(level, rivals[:count], 5.0) for count in range(GROUP, 9)]
        assert known == sorted(known)


def test_few_poses_may_stand_out_together():
    weak = [3.0, 2.0, 2.0, 4.0]
    assert standing(-60.0, [-58.0, *weak], 5.0) < -10.0
    assert standing(-60.0, [-58.0, -59.0, *weak], 5.0) < -10.0
    assert standing(-60.0, [-58.0, -59.0, -57.0, -60.0, *weak], 5.0) > -1.0


@pytest.mark.parametrize("scale", [1.0, 4.0, 30.0])
@pytest.mark.parametrize(("structures", "slack"), [(100, 2.0), (1000, 1.0)])
def test_law_of_exponential_tails(scale, structures, slack):
    """The largest of many surprises of any scale: below −2 in one of a hundred, below −4 in one of ten thousand; about
    so for as many as are assumed, less often for more."""
    rng = np.random.default_rng(1)
    tests, found = 5.0, []
    for _ in range(4000):
        surprises = np.sort(scale * rng.exponential(1.0 / np.log(10.0), structures))[::-1][:9]
        levels = tests - (surprises + (tests if scale > 1.0 else 0.0))
        found.append(standing(levels[0], list(levels[1:]), tests))
    assert np.mean(np.array(found) < -2.0) <= slack * 0.01
    assert np.mean(np.array(found) < -4.0) <= slack * 0.001
