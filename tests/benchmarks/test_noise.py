"""The table of `benchmarks.noise`: what is counted, and what is right far from the origin."""

import numpy as np

from benchmarks import noise


def test_rows_count_what_both_find():
    outcomes = [
        noise.Outcome(given=True, auto=True, ratio=1.0, covered=True, times=4.0),
        noise.Outcome(given=True, auto=False, ratio=3.0, covered=False, times=6.0),
        noise.Outcome(given=False, auto=True, ratio=0.4, covered=False, times=5.0),
    ]
    assert noise.row("some", outcomes) == ["some", "3", "2", "2", "1/2", "0.40 1.00 3.00", "1", "1", "5"]


def test_units_and_places_keep_the_truth():
    pair = noise.made_up(200, 0.5, 0.01, 3, 1000.0, 5e5)
    assert noise.right(pair, pair.truth)
    assert np.count_nonzero(pair.inlier_mask) >= 95
    off = pair.truth.copy()
    off[0, 3] += 4.0 * pair.noise_bound
    assert not noise.right(pair, off)


def test_an_outcome_has_both_answers():
    found = noise.outcome(noise.made_up(300, 0.5, 0.01, 1))
    assert found.given
    assert found.auto
    assert 0.5 < found.ratio < 2.0
