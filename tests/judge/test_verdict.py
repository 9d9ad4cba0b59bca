"""The verdict: every combination of evidence gets the status of the table, and a sentence that is true of it."""

from itertools import product

import pytest

from tear3d.judge.chance import SIGNIFICANT
from tear3d.judge.verdict import Evidence, could_be_chance, verdict
from tear3d.prove.certificate import Attempt, Certificate, StageCertificate

SURE, CHANCE = -30.0, 3.0
LIMIT_WORDS = {"time_limit": "time limit", "node_limit": "node limit", "interrupted": "interrupted"}
CLAIMS = ("optimal", "proven to", "no rotation and translation saves")


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
    elif certify == "full":
        tried = "disagreeing" not in proof and (proof != "none" or ended is not None)
    else:
        tried = proof != "none" or ended is not None
    return tried and (done or (ended in ("time_limit", "interrupted") and proof == "none"))


CASES = [
    case
    for case in product(
        (SURE, CHANCE),
        (False, True, "full"),
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
        assert ("both rows" in message) == (certify is True)
        assert ("rotation and translation" in message) == (certify == "full")
        assert "0.0005" in message
    else:
        assert not any(claim in message for claim in CLAIMS)
    if status in LIMIT_WORDS:
        assert LIMIT_WORDS[status] in message
        assert ("before anything was proven" in message) == (level == SURE and proof == "none")
        if "disagreeing" not in proof:  # see the last test
            assert ("the gap says" in message) == (level == SURE and proof == "open")
    else:
        assert not any(word in message for word in LIMIT_WORDS.values())
    assert ("12 pairs" in message) == (level == CHANCE)
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
    assert verdict(Evidence(level, 4, True, CERTIFICATES[proof], None, True))[0] == "no_consensus"


def test_the_limit_of_significance_is_inside():
    assert not could_be_chance(SIGNIFICANT)
    assert not could_be_chance(float("-inf"))
    assert verdict(Evidence(SIGNIFICANT, 9, True, CERTIFICATES["agreeing"], None, True))[0] == "optimal"


def test_the_sentence_counts_the_directions_that_were_tried():
    against, agreeing = Attempt((stage(True),), False), Attempt((stage(True),), True)
    _, message = verdict(Evidence(SURE, 12, True, Certificate((against, agreeing)), None, True))
    assert "2 directions were tried; the rows along 1 of them are not those of this pose" in message
    status, message = verdict(Evidence(SURE, 12, True, Certificate((against,) * 3), None, True))
    assert status == "uncertified"
    assert "3 directions were tried; the rows along 3 of them are not" in message
    _, message = verdict(Evidence(SURE, 12, True, Certificate((agreeing,)), None, True))
    assert "tried" not in message


@pytest.mark.parametrize("proof", ["disagreeing", "open, disagreeing"])
def test_a_limit_does_not_offer_the_gap_of_another_pose_as_this_ones(proof):
    _, message = verdict(Evidence(SURE, 12, True, CERTIFICATES[proof], "time_limit", True))
    assert "the gap says what was proven" not in message


def test_what_the_other_poses_equal_is_not_called_chance():
    known = Evidence(-0.2, 90, False, Certificate(), None, True, alone=-60.0)
    status, message = verdict(known)
    assert status == "no_consensus"
    assert "does not stand out from the other poses" in message
    assert "chance" not in message
