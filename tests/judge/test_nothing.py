"""Where there is nothing to find, nothing is found: the significance means what it says."""

import numpy as np
import pytest

from benchmarks.nothing import KINDS, problems
from tear3d import register
from tear3d.judge.chance import SIGNIFICANT

COUNT = 40


@pytest.mark.parametrize("kind", KINDS)
def test_problems_without_a_pose_are_not_significant(kind):
    found = [register(x, y, noise_bound=xi, certify=False, seed=0) for x, y, xi in problems(kind, COUNT)]
    levels = np.array([result.significance for result in found])
    assert np.count_nonzero(levels < SIGNIFICANT) <= 2  # 0.4 are expected at most: three have a chance of 0.8 %
    assert not np.any(levels < -4.0)
    assert all(result.success == (result.significance <= SIGNIFICANT) for result in found)
