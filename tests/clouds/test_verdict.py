"""What follows from the evidence, and the whole way for clouds that have nothing in common."""

import dataclasses
import math

import numpy as np
import pytest

from tear3d.clouds.verdict import (
    ALONE_FIT,
    CONFIRMED_FIT,
    GUESSED_FIT,
    PRICE,
    REJECTED_FIT,
    SEEN_FIT,
    WEAK_FIT,
    WIDE_FIT,
    CloudEvidence,
    judge,
    wanted_fit,
)
from tear3d.judge.ambiguity import Ambiguity
from tests.bumpy import apply, bumpy_cloud, pose
from tests.clouds.support import register_clouds

GOOD = CloudEvidence(
    overlap_source=0.45, overlap_target=0.7, normals=0.9, agreement=0.8, coverage=0.5, support=300.0,
    contradicted=0.0, perhaps_contradicted=math.nan, drift=0.4, residual=0.3, voxel_size=0.1,
)  # fmt: skip


SURE = -30.0


def with_fit(fit, **others):
    """As in `GOOD`, a good part of the surface is out of the other's reach."""
    return dataclasses.replace(GOOD, **({"agreement": 1.25 * fit, "coverage": 0.8 * fit} | others))


def test_good_evidence_confirms_with_its_numbers():
    verdict, reasons = judge(GOOD, SURE)
    assert verdict == "confirmed"
    assert "fit 0.63" in reasons[0]
    assert "45 % of the source and 70 % of the target" in reasons[0]


@pytest.mark.parametrize(
    ("known", "significance", "limit"),
    [
        ({}, SURE, CONFIRMED_FIT),
        ({}, 0.0, SEEN_FIT),
        ({"contradicted": math.nan}, SURE, ALONE_FIT),
        ({"contradicted": math.nan}, 0.0, WEAK_FIT),
        ({"contradicted": math.nan}, -4.0, 0.5 * (ALONE_FIT + WEAK_FIT)),
        ({"contradicted": 0.03}, -1.0, WEAK_FIT),
        ({"overlap_source": 0.55}, 0.0, WIDE_FIT),
        ({"overlap_source": 0.55}, -4.0, 0.5 * (CONFIRMED_FIT + SEEN_FIT)),
        ({"overlap_source": 0.65}, -4.0, 0.5 * (ALONE_FIT + WIDE_FIT)),
        ({"contradicted": 0.02}, SURE, CONFIRMED_FIT + 0.02 * PRICE),
        ({"contradicted": math.nan, "perhaps_contradicted": 0.02}, SURE, CONFIRMED_FIT + 0.02 * PRICE),
        ({"contradicted": math.nan, "perhaps_contradicted": 0.3}, SURE, GUESSED_FIT),
        ({"contradicted": 0.01, "perhaps_contradicted": 0.3}, 0.0, WEAK_FIT),
    ],
)
def test_how_much_fit_is_asked_for(known, significance, limit):
    assert wanted_fit(with_fit(0.5, **known), significance) == pytest.approx(limit)
    assert judge(with_fit(limit + 1e-9, **known), significance).verdict == "confirmed"
    below = judge(with_fit(limit - 1e-9, **known), significance)
    assert below.verdict == "doubtful"
    assert f"{limit:.2f} is asked for" in below.reasons[0]


def test_matches_at_the_very_limit_are_not_called_chance():
    low = with_fit(0.4, contradicted=math.nan)
    assert "the matches alone say little" in judge(low, -2.0).reasons[0]
    assert "the matches alone could be chance" in judge(low, -1.999).reasons[0]
    wide = with_fit(0.8, overlap_source=0.55, contradicted=math.nan)
    assert judge(wide, -2.0).verdict == "confirmed"
    assert judge(wide, -1.999).verdict == "doubtful"


def test_little_fit_or_much_contradiction_rejects():
    low = judge(with_fit(REJECTED_FIT - 1e-9), SURE)
    assert low.verdict == "rejected"
    assert "nothing in common" in low.reasons[0]
    refuted = judge(dataclasses.replace(GOOD, contradicted=0.2), SURE)
    assert refuted.verdict == "rejected"
    assert "20 % of the points" in refuted.reasons[0]
    guessed = dataclasses.replace(GOOD, contradicted=math.nan, perhaps_contradicted=0.2)
    assert judge(guessed, SURE).verdict == "confirmed"


def test_free_space_that_could_not_contradict_says_nothing():
    """Balls with other bumps, laid one on the other: hardly a point lies where the other could have seen through it."""
    balls = dataclasses.replace(GOOD, agreement=0.48, coverage=0.46, contradicted=0.002, overlap_target=0.58)
    assert wanted_fit(balls, 0.0) == WEAK_FIT
    assert judge(balls, 0.0).verdict == "doubtful"
    street = dataclasses.replace(balls, agreement=0.53, coverage=0.42)
    assert wanted_fit(street, 0.0) == SEEN_FIT
    assert judge(street, 0.0).verdict == "confirmed"


def test_other_doubts():
    few = judge(dataclasses.replace(GOOD, support=3.0), SURE)
    assert few == ("doubtful", ("only 3 points say where the clouds are along one direction",))
    away = dataclasses.replace(GOOD, drift=7.0)
    assert judge(away, SURE).verdict == "confirmed"
    assert judge(away, SURE, settled=False).verdict == "doubtful"
    turned = judge(GOOD, SURE, ambiguity=Ambiguity("half a turn fits as well"))
    assert turned == ("doubtful", ("ambiguous: half a turn fits as well",))
    assert "slide or turn" in judge(GOOD, SURE, held=False).reasons[0]
    assert judge(CloudEvidence(), SURE).verdict == "doubtful"


def scan(seed, count=9000):
    """A room with three blocks in it, around a sensor at the origin: walls, and the blocks' faces towards it."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, (count, 3))
    axis = rng.integers(0, 3, count)
    points[np.arange(count), axis] = rng.choice([-1.0, 1.0], count)
    clouds = [points * rng.uniform([1.8, 1.4, 1.0], [2.4, 1.8, 1.3])]
    for centre in rng.uniform(-1.0, 1.0, (3, 2)) + np.array([[0.9, 0.0], [-0.9, 0.4], [0.0, -1.0]]):
        size = rng.uniform(0.2, 0.5)
        face = rng.uniform(-size, size, (count // 8, 3))
        face[:, rng.integers(0, 2)] = -size
        clouds.append(face + np.array([*centre, 0.0]))
    return np.vstack(clouds)


def test_different_rooms_are_not_registered():
    turn = pose([0.3, 0.2, 1.9], [0.0, 0.0, 0.0])
    found = register_clouds(apply(turn, scan(1)), scan(2), voxel_size=0.12, certify=False, threads=1)
    assert not found.success
    assert found.reasons


def test_a_ball_and_a_box_are_not_registered():
    box = scan(3)[:4000] * [0.8, 0.6, 0.4]
    found = register_clouds(bumpy_cloud(4000, 0), box, certify=False, threads=1)
    assert not found.success


def test_small_parts_of_one_shape_are():
    source, target = bumpy_cloud(20_000, 0), bumpy_cloud(20_000, 1)
    truth = pose([0.2, 0.9, -0.5], [1.0, 2.0, 3.0])
    found = register_clouds(source[source[:, 2] > -0.2], apply(truth, target[target[:, 2] < 0.5]), certify=False)
    assert found.success
    assert found.verdict == "confirmed"
    assert np.abs(found.transformation - truth).max() < 0.05
    assert found.evidence.drift < 3.0
