"""Where nothing stands out at any noise bound: what is said of it, and how soon."""

from __future__ import annotations

import numpy as np

import tear3d
from tear3d.noise import settle
from tear3d.noise.estimate import _quick
from tear3d.noise.ladder import EFFORTS, Ladder
from tear3d.synthetic import make_problem


def register(problem, **options):
    return tear3d.register(problem.source, problem.target, certify=False, **options)


def test_what_was_not_tried_is_not_spoken_of():
    result = register(make_problem(2000, 1.0, seed=3), time_limit=0.05)
    assert result.status == "time_limit"
    assert "the search was ended before it was settled" in result.message


def test_the_last_search_is_no_longer_than_those_before(monkeypatch):
    seen = []
    found = settle.guess

    def guess(ladder: Ladder):
        known = found(ladder)
        seen.append((ladder, known))
        return known

    monkeypatch.setattr(settle, "guess", guess)
    monkeypatch.setattr("tear3d.noise.estimate.EFFORTS", (1e4, 1e5, 1e6))
    monkeypatch.setattr("tear3d.noise.ladder.EFFORTS", (1e4, 1e5, 1e6))
    result = register(make_problem(1000, 1.0, seed=3))
    ((ladder, known),) = seen
    assert not known.trusted
    (chosen,) = [each for each in ladder.found() if ladder.rung(each.rung).bound == known.bound]
    assert _quick(ladder, chosen)
    assert result.message.endswith("this is one of those at which all pairs were compared")
    assert EFFORTS[-1] > 1e6


def test_rungs_below_one_where_hardly_a_pair_agrees_are_not_searched(monkeypatch):
    tried = []
    search = Ladder._search

    def counted(self, number, effort, best):
        tried.append(number)
        search(self, number, effort, best)

    monkeypatch.setattr(Ladder, "_search", counted)
    assert not register(make_problem(300, 1.0, seed=3)).success
    assert max(tried) < 11
    tried.clear()
    exact = make_problem(300, 0.9, noise=0.0, seed=3)
    assert register(exact).success


def test_pairs_are_not_in_three_places_because_few_of_them_were_judged():
    rng = np.random.default_rng(4)
    source, target = rng.normal(size=(40_000, 3)), rng.normal(size=(40_000, 3))
    result = tear3d.register(source, target, noise_bound=0.1, time_limit=0.0)
    assert not result.success
    assert "places" not in result.message
