"""The benchmarks of many calls measure what they say."""

from benchmarks import many, soak
from benchmarks.soak import State


def test_a_short_soak_finds_no_growth_and_meets_every_ending():
    seen, statuses = soak.soak(60)
    assert {"refused", "optimal", "uncertified", "no_consensus"} <= set(statuses)
    assert sum(statuses.values()) == 60
    assert not [word for word in soak.grown(seen) if not word.startswith("memory")]


def test_growth_is_told():
    still = [(k, State(100.0 + k % 2, 3, 8)) for k in range(40)]
    assert soak.grown(still) == []
    growing = [(k, State(100.0 + k, 3 + k // 20, 8 + k)) for k in range(40)]
    assert soak.grown(growing) == ["memory by 30.0 MiB", "threads from 3 to 4", "files from 17 to 47"]


def test_loop_and_many_agree():
    loop, together, differ = many.compare(many.problems(3, 0.8))
    assert loop > 0.0
    assert together > 0.0
    assert differ == 0
