"""The table of `benchmarks.noise_scale`: what is right, and what is counted."""

import numpy as np

from benchmarks import noise_scale as bench


def test_what_is_off_is_not_right():
    problem = bench.made_up(200, 0.5, 0.01, 3)
    assert 0.2 <= problem.scale <= 5.0
    assert bench.right(problem, problem.transformation)
    for factor, shift in ((1.06, 0.0), (1.0, 4.0 * problem.noise_bound)):
        off = problem.transformation.copy()
        off[:3, :3] *= factor
        off[:3, 3] -= (off[:3, :3] - problem.transformation[:3, :3]) @ problem.source.mean(axis=0)
        off[0, 3] += shift
        assert not bench.right(problem, off)


def test_an_outcome_has_both_answers():
    found = bench.outcome(bench.made_up(300, 0.5, 0.01, 1), certify=False)
    assert found.given
    assert found.auto
    assert found.successes == (True, True)
    assert 0.5 < found.bound < 2.0
    row = bench.row("some", [found, found._replace(auto=False, bound=3.0, measured=np.nan)])
    assert row[:5] == ["some", "2", "2", "1", "1/2"]
    assert len(row) == len(bench.COLUMNS)
