"""Certificates: which attempt counts, what gap it has, and nothing that was tried is lost."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tear3d.prove.certificate import Attempt, Certificate, StageCertificate


def stage(saving=10.0, bound=10.005, *, closed=True, name="row", cells=5):
    history = np.array([[0.0, 5.0, 20.0], [1.0, saving, bound]])
    return StageCertificate(
        name, 100.0 - saving, 100.0 - bound, saving, bound, cells, closed, "gap" if closed else "time_limit", history
    )


def test_the_gap_is_relative_to_the_saving():
    assert stage(10.0, 11.0).gap == pytest.approx(0.1)
    assert stage(10.0, 10.0).gap == 0.0
    assert stage(0.0, 1.0).gap == float("inf")


@pytest.mark.parametrize("factor", [1.0, 4.0, 1e-200])
def test_scaling_multiplies_savings_and_keeps_the_gap(factor):
    before = stage(10.0, 11.0)
    after = before.scaled(factor)
    for name in ("objective", "lower_bound", "saving", "saving_bound"):
        assert getattr(after, name) == factor * getattr(before, name)
    assert after.gap == pytest.approx(before.gap)
    np.testing.assert_array_equal(after.history[:, 0], before.history[:, 0])
    np.testing.assert_array_equal(after.history[:, 1:], factor * before.history[:, 1:])
    assert (after.cells, after.closed, after.ended_by) == (before.cells, before.closed, before.ended_by)
    assert after.elsewhere is None
    assert replace(before, elsewhere=7.0).scaled(factor).elsewhere == factor * 7.0
    whole = Attempt((before, before), True, (1.0, 0.0, 0.0), True).scaled(factor)
    assert [part.saving for part in whole.stages] == [factor * 10.0] * 2
    assert (whole.agrees, whole.axis, whole.swapped) == (True, (1.0, 0.0, 0.0), True)


def test_an_attempt_is_closed_when_all_its_stages_are_and_there_is_one():
    assert Attempt((stage(), stage()), True).closed
    assert not Attempt((stage(), stage(closed=False)), True).closed
    assert not Attempt((), True).closed


def test_nothing_tried_proves_nothing():
    nothing = Certificate.of()
    assert nothing.attempt is None
    assert (nothing.closed, nothing.agrees, nothing.stages, nothing.cells) == (False, False, (), 0)
    assert nothing.gap == float("inf")


def test_the_first_attempt_that_agrees_counts_else_the_first():
    against, other, agreeing = (
        Attempt((stage(10.0, bound),), agrees) for bound, agrees in ((10.1, False), (10.2, False), (10.3, True))
    )
    found = Certificate((against, other, agreeing))
    assert found.attempt is agreeing
    assert found.agrees
    assert found.gap == pytest.approx(0.03)
    assert found.cells == 15  # all attempts
    lost = Certificate((against, other))
    assert lost.attempt is against
    assert not lost.agrees
    assert lost.closed
    assert Certificate.of(stage(), agrees=False).agrees is False


def test_an_open_attempt_that_agrees_is_not_helped_by_a_closed_one_that_does_not():
    mixed = Certificate((Attempt((stage(),), False), Attempt((stage(closed=False),), True)))
    assert mixed.agrees
    assert not mixed.closed


def test_the_largest_gap_of_the_stages_counts():
    assert Certificate.of(stage(10.0, 10.1), stage(10.0, 12.0)).gap == pytest.approx(0.2)


def test_everything_is_in_the_dictionary_and_it_is_json():
    attempts = (Attempt((stage(),), False, (0.0, 0.6, 0.8), True), Attempt((stage(0.0, 1.0, closed=False),), True))
    told = json.loads(json.dumps(Certificate(attempts).to_dict(), allow_nan=False))
    assert (told["closed"], told["agrees"]) == (False, True)
    assert [attempt["agrees"] for attempt in told["attempts"]] == [False, True]
    assert told["attempts"][0]["axis"] == [0.0, 0.6, 0.8]
    assert told["attempts"][0]["swapped"] is True
    assert told["attempts"][1]["axis"] is None
    assert told["stages"] == told["attempts"][1]["stages"]
    assert told["stages"][0]["gap"] is None  # infinite
    assert told["attempts"][0]["stages"][0]["gap"] == pytest.approx(5e-4)
