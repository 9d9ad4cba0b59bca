"""The verdict: every combination of evidence gets the status of the table, and a sentence that is true of it."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tear3d.judge.ambiguity import Alternative, Ambiguity
from tear3d.judge.chance import SIGNIFICANT
from tear3d.judge.verdict import Evidence, could_be_chance, near_tie, up_to_percent, verdict
from tear3d.prove.certificate import Attempt, Certificate, StageCertificate

SURE, CHANCE = -30.0, 3.0
LIMIT_WORDS = {"time_limit": "time limit", "node_limit": "node limit", "interrupted": "interrupted"}
CLAIMS = ("optimal", "proven to")


def stage(closed):
    bound = 10.005 if closed else 14.0
    return StageCertificate("row", 90.0, 100.0 - bound, 10.0, bound, 5, closed, "gap" if closed else "resolution")


CERTIFICATES = {
    "none": Certificate(),
    "agreeing": Certificate.of(stage(True)),
    "disagreeing": Certificate.of(stage(True), agrees=False),
    "open": Certificate.of(stage(False)),
    "open, disagreeing": Certificate.of(stage(False), agrees=False),
}


def possible(certify, proof, ended, done):
    """Whether a call can come to this: a proof is made when asked for, unless a limit ends the call before."""
    if not certify:
        tried = proof == "none"
    elif certify == "pose":
        tried = "disagreeing" not in proof and (proof != "none" or ended is not None)
    else:
        tried = proof != "none" or ended is not None
    return tried and (done or (ended in ("time_limit", "interrupted") and proof == "none"))


CASES = [
    case
    for case in product(
        (SURE, CHANCE),
        (False, "rows", "pose"),
        CERTIFICATES,
        (None, "time_limit", "node_limit", "interrupted"),
        (True, False),
    )
    if possible(*case[1:])
]


def expected(level, certify, proof, ended, done):
    if level == CHANCE and done:
        return "no_consensus"
    if level == SURE and proof == "agreeing":
        return "optimal"
    if done and not certify:  # all that was asked for
        return "uncertified"
    return ended or "uncertified"


@pytest.mark.parametrize(("level", "certify", "proof", "ended", "done"), CASES)
def test_status_and_sentence(level, certify, proof, ended, done):
    status, message = verdict(Evidence(level, 12, certify, CERTIFICATES[proof], ended, done))
    assert status == expected(level, certify, proof, ended, done)
    if status == "optimal":
        assert proof == "agreeing"
        assert ("both rows" in message) == (certify == "rows")
        assert ("no rotation and translation saves more than 0.05 %" in message) == (certify == "pose")
    else:
        assert not any(claim in message for claim in CLAIMS)
    if status in LIMIT_WORDS:
        assert LIMIT_WORDS[status] in message
        assert ("before anything was proven" in message) == (level == SURE and proof == "none")
        if "disagreeing" not in proof:  # see the last test
            reached = level == SURE and proof == "open"
            assert ("the gap says" in message) == (reached and certify == "rows")
            assert ("saves more than 40 %" in message) == (reached and certify == "pose")
    else:
        assert not any(word in message for word in LIMIT_WORDS.values())
    assert ("12 pairs" in message) == (level == CHANCE)
    assert ("no proof was tried" in message) == (status == "no_consensus" and proof == "none" and bool(certify))
    assert ("not distinguishable from chance" in message) == (level == CHANCE)
    assert ("certify=False" in message) == (status == "uncertified" and certify is False)
    assert ("not made of proven rows" in message) == (status == "uncertified" and proof == "disagreeing")
    assert ("could not be closed" in message) == (status == "uncertified" and proof.startswith("open"))


def test_every_status_is_among_the_cases():
    seen = {verdict(Evidence(level, 12, c, CERTIFICATES[p], e, d))[0] for level, c, p, e, d in CASES}
    assert seen == {"optimal", "uncertified", "time_limit", "node_limit", "interrupted", "no_consensus"}


@pytest.mark.parametrize("level", [CHANCE, float("nan"), float("inf"), SIGNIFICANT + 1e-9])
@pytest.mark.parametrize("proof", CERTIFICATES)
def test_a_complete_proof_does_not_make_chance_a_success(level, proof):
    assert could_be_chance(level)
    assert verdict(Evidence(level, 4, "rows", CERTIFICATES[proof], None, True))[0] == "no_consensus"


def test_the_limit_of_significance_is_inside():
    assert not could_be_chance(SIGNIFICANT)
    assert not could_be_chance(float("-inf"))
    assert verdict(Evidence(SIGNIFICANT, 9, "rows", CERTIFICATES["agreeing"], None, True))[0] == "optimal"


def test_the_sentence_counts_the_directions_that_were_tried():
    against, agreeing = Attempt((stage(True),), False), Attempt((stage(True),), True)
    _, message = verdict(Evidence(SURE, 12, "rows", Certificate((against, agreeing)), None, True))
    assert "2 directions were tried; the rows along 1 of them are not those of this pose" in message
    status, message = verdict(Evidence(SURE, 12, "rows", Certificate((against,) * 3), None, True))
    assert status == "uncertified"
    assert "3 directions were tried; the rows along 3 of them are not" in message
    _, message = verdict(Evidence(SURE, 12, "rows", Certificate((agreeing,)), None, True))
    assert "tried" not in message


@pytest.mark.parametrize("proof", ["disagreeing", "open, disagreeing"])
def test_a_limit_does_not_offer_the_gap_of_another_pose_as_this_ones(proof):
    _, message = verdict(Evidence(SURE, 12, "rows", CERTIFICATES[proof], "time_limit", True))
    assert "the gap says what was proven" not in message


def test_what_the_other_poses_equal_is_not_called_chance():
    known = Evidence(-0.2, 90, False, Certificate(), None, True, alone=-60.0)
    status, message = verdict(known)
    assert status == "no_consensus"
    assert "does not stand out from the other poses" in message
    assert "chance" not in message


def of_pose(share, *, closed=True, ambiguous=False, ended=None):
    """What is said of a proven pose when nothing elsewhere can save more than a share."""
    whole = Certificate.of(replace(stage(closed), elsewhere=10.0 * share))
    doubt = Ambiguity("another pose saves 85 % of what this one does") if ambiguous else None
    return verdict(Evidence(SURE, 12, "pose", whole, ended, True, ambiguity=doubt))


@pytest.mark.parametrize(
    ("share", "ambiguous", "words"),
    [
        (0.31, False, ", and no other pose comes near (none elsewhere saves more than 31 % of it)"),
        (0.5, False, ", and no other pose comes near (none elsewhere saves more than 50 % of it)"),
        (0.501, False, ", and none elsewhere saves more than 51 % of it"),
        (0.8, False, ", and none elsewhere saves more than 80 % of it"),
        (0.801, False, "; that a pose elsewhere saves up to 81 % of it is not excluded"),
        (1.0005, False, "; that a pose elsewhere saves as much is not excluded"),
        (0.93, True, ", and none elsewhere saves more than 93 % of it"),
        (1.0005, True, ""),
    ],
)
def test_how_near_any_other_pose_comes(share, ambiguous, words):
    status, message = of_pose(share, ambiguous=ambiguous)
    assert status == "optimal"
    proof = f"no rotation and translation saves more than 0.05 % beyond this one{words}"
    assert message.removeprefix("ambiguous: another pose saves 85 % of what this one does; ") == proof
    assert message.startswith("ambiguous") == ambiguous, "a bound alone makes nothing ambiguous"
    assert of_pose(share, closed=True, ambiguous=ambiguous, ended="time_limit")[0] == "optimal"
    status, message = of_pose(share, closed=False, ended="time_limit")
    assert status == "time_limit"
    assert "the time limit ended the search; until then: no rotation and translation saves more than 40 %" in message


def test_rows_say_nothing_about_poses_elsewhere():
    assert "elsewhere" not in verdict(Evidence(SURE, 12, "rows", CERTIFICATES["agreeing"], None, True))[1]


@pytest.mark.parametrize("ended", [None, "time_limit"])
def test_pairs_set_aside_are_named_when_they_keep_the_bound_up(ended):
    whole = Certificate.of(replace(stage(False), ended_by="set_aside", elsewhere=14.0))
    status, message = verdict(Evidence(SURE, 12, "pose", whole, ended, True, aside=1))
    assert status == (ended or "uncertified")
    assert "one pair that was set aside" in message
    assert ("may save more among themselves" in message) == (ended is None)


def other(saving, significance=-20.0):
    return Alternative(np.eye(4), saving, 9, significance)


def test_a_pose_that_saves_nearly_as_much_makes_it_ambiguous():
    assert near_tie((), 10.0) is None
    assert near_tie((other(8.0),), 10.0) is None
    assert near_tie((other(9.9, -1.9),), 10.0) is None, "it could be chance"
    assert near_tie((other(8.1), other(3.0)), 10.0).sentence == "another pose saves 81 % of what this one does"
    assert near_tie((other(9.6), other(8.1)), 10.0).sentence.startswith("2 other poses save nearly as much")


@given(st.floats(0.0, 5000.0))
def test_a_bound_in_percent_is_never_rounded_down(fraction):
    shown = up_to_percent(fraction)
    value = 100.0 * float(shown[:-1]) if shown.endswith("×") else float(shown.removesuffix(" %"))
    assert shown.endswith("×") == (fraction > 10.0)
    assert 100.0 * fraction * (1.0 - 1e-8) <= value <= 100.0 * fraction * 1.11 + 1e-4


@pytest.mark.parametrize(
    ("beyond", "words"), [(1.4, ""), (6.84, "about 6.8 times"), (99.6, "about 100 times"), (1234.0, "about 1234 times")]
)
def test_a_pose_that_is_not_allowed_is_told_of_in_plain_numbers(beyond, words):
    for level in (SURE, CHANCE):
        _, message = verdict(Evidence(level, 12, "rows", CERTIFICATES["agreeing"], None, True, beyond=beyond))
        assert ("a pose that is not allowed saves" in message) == bool(words)
        assert words in message
