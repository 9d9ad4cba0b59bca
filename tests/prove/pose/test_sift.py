"""Pairs that are left out by their lengths save nothing in any pose that matters."""

from __future__ import annotations

from dataclasses import dataclass, field
from unittest import mock

import numpy as np
import pytest

from tear3d.find.ascent import climb
from tear3d.lab.synthetic import random_rotation
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import Scored, full_saving
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove import whole
from tear3d.prove.pose import sift as module
from tear3d.prove.pose.sift import sift
from tear3d.prove.pose.stage import ELSEWHERE, WholePose
from tests.prove.pose.problems import bare, displacement, guesses, make_case, moved, usable
from tests.prove.pose.sifting import SMALL, lost, savers, small_sieves

TEAR = LOSSES["tear"]


def scored(pairs, pose, loss):
    return Scored(pose, full_saving(pairs, pose, loss))


def poses_of(rng, case):
    """Poses that save much, and such as anybody may ask about."""
    starts = [case.start, *case.truths, *guesses(rng, case.pairs, 10)]
    for pose in starts:
        yield pose
        yield climb(case.pairs, pose, case.loss)[0]
        yield moved(rng, case.pairs, pose, rng.uniform(0.1, 1.0))


def test_a_pose_that_matters_keeps_all_its_pairs():
    """All kinds of problems, losses, bounds, weights, units and offsets; in one part and in several."""
    checked, left_out = 0, dict.fromkeys(LOSSES, 0)
    for seed in range(90):
        case, rng = make_case(1000 + seed), np.random.default_rng(seed)
        pairs = usable(case.pairs)
        poses = list(poses_of(rng, case))
        known = max((scored(pairs, pose, case.loss) for pose in poses), key=lambda one: one.saving)
        share = float(rng.choice([0.2, 0.5, 0.8, 1.0]))
        with small_sieves(SMALL[seed % len(SMALL)]):
            sifted = sift(pairs, case.loss, known, [share], Limits(), 1)
        if sifted is None:
            continue
        assert sifted.limit == share * known.saving
        assert np.all(np.diff(sifted.index) > 0)
        left_out[case.loss.name] += len(sifted.index) < len(pairs)
        for pose in poses:
            assert not len(lost(pairs, pose, case.loss, sifted)), f"seed {seed}: {case.told}"
            checked += full_saving(pairs, pose, case.loss) > sifted.limit
    assert checked > 100
    assert min(left_out.values()) > 5


def test_few_pairs_keep_all_that_matter_too():
    """Looked at all together, up to the lowest limit for which some go."""
    checked = gone = 0
    for seed in range(60):
        case, rng = make_case(3000 + seed), np.random.default_rng(seed)
        pairs = usable(case.pairs)
        poses = list(poses_of(rng, case))
        known = max((scored(pairs, pose, case.loss) for pose in poses), key=lambda one: one.saving)
        sifted = sift(pairs, case.loss, known, [0.3, 0.8, 1.0], Limits(), 1) if len(pairs) <= module.FEW_PAIRS else None
        if sifted is None:
            continue
        assert sifted.limit in [share * known.saving for share in (0.3, 0.8, 1.0)]
        gone += len(pairs) - len(sifted.index)
        for pose in poses:
            assert not len(lost(pairs, pose, case.loss, sifted)), f"seed {seed}: {case.told}"
            checked += full_saving(pairs, pose, case.loss) > sifted.limit
    assert checked > 30
    assert gone > 300


def two_motions(rng, n=900, counts=(60, 60), loss="tear", xi=0.06):
    """Pairs of which some follow one motion and others another."""
    x = rng.uniform(-1.0, 1.0, (n, 3))
    y = 1.5 * rng.uniform(-1.0, 1.0, (n, 3))
    poses, first = [Pose(random_rotation(rng), 0.3 * rng.normal(size=3)) for _ in counts], 0
    for pose, count in zip(poses, counts, strict=True):
        rows = slice(first, first + count)
        y[rows] = pose.apply(x[rows]) + 0.01 * rng.uniform(-1, 1, (count, 3))
        first += count
    pairs = Pairs.of(x, y, xi)
    inside = [climb(pairs, pairs.frame.inside(pose), LOSSES[loss])[0] for pose in poses]
    return pairs, [scored(pairs, pose, LOSSES[loss]) for pose in inside]


@pytest.mark.parametrize("loss", list(LOSSES))
@pytest.mark.parametrize("sizes", [(200, 300, 450), (1000, 1000, 1000)])
def test_motions_that_save_the_same_are_both_kept(loss, sizes):
    pairs, (one, other) = two_motions(np.random.default_rng(3), loss=loss)
    assert other.saving == pytest.approx(one.saving, rel=0.05)
    share = 0.99 * min(one.saving, other.saving) / one.saving
    with small_sieves(sizes):
        sifted = sift(pairs, LOSSES[loss], one, [share], Limits(), 1)
    assert len(sifted.index) < 450
    for known in (one, other):
        good = savers(pairs, known.pose, LOSSES[loss])
        assert len(good) >= 60
        assert np.isin(good, sifted.index).all()


def test_residuals_that_point_away_from_each_other_are_no_reason_to_go():
    """Six groups, all with the same residual and all pushed outwards: no pair has a smaller one to lend the others."""
    rng = np.random.default_rng(10)
    axes = np.concatenate([np.eye(3), -np.eye(3)]).repeat(20, axis=0)
    x = np.concatenate([axes, rng.uniform(-1.0, 1.0, (200, 3))])
    y = np.concatenate([(1.0 + 0.6 * 0.05) * axes, rng.uniform(-2.0, 2.0, (200, 3))])
    pairs = bare(x, y, 0.05)
    known = scored(pairs, Pose.identity(), TEAR)
    with small_sieves((1000, 1000, 1000)):
        sifted = sift(pairs, TEAR, known, [0.99], Limits(), 1)
    assert np.isin(np.arange(120), sifted.index).all()
    assert len(sifted.index) < 320


def test_all_go_when_nobody_can_save_so_much():
    pairs, (known, _) = two_motions(np.random.default_rng(4))
    with small_sieves((1000, 1000, 1000)):
        sifted = sift(pairs, TEAR, known, [3.0], Limits(), 1)
    assert len(sifted.index) == 0
    stage = WholePose(pairs, TEAR, known.pose, sifted)
    assert stage.floor == 3.0 * known.saving
    assert len(stage.roots()) == 0


@pytest.mark.parametrize("sizes", [(200, 300, 450), (1000, 1000, 1000)])
def test_any_number_of_threads_leaves_the_same(sizes):
    pairs, (known, _) = two_motions(np.random.default_rng(5))
    with small_sieves(sizes):
        found = [sift(pairs, TEAR, known, [0.5, 0.8], Limits(), threads) for threads in (1, 2, 4)]
    assert len(found[0].index) < len(pairs)
    for other in found[1:]:
        assert np.array_equal(other.index, found[0].index)
        assert other.limit == found[0].limit


@dataclass
class Moody(Limits):
    """Over from one look at the clock on, until another: as if what took so long had been compiling."""

    first: int = 0
    last: float = np.inf
    looks: list[bool] = field(default_factory=list)

    def over(self) -> bool:
        self.looks.append(self.first <= len(self.looks) < self.last)
        return self.looks[-1]


@pytest.mark.parametrize("sizes", [(200, 300, 450), (1000, 1000, 1000)])
def test_nothing_is_returned_unless_all_was_looked_at(sizes, monkeypatch):
    pairs, (known, _) = two_motions(np.random.default_rng(6))
    monkeypatch.setattr("tear3d.prove.pose.sieve.PIECE", 20_000)
    with small_sieves(sizes):
        patient = Moody(first=10**9)
        whole_answer = sift(pairs, TEAR, known, [0.8], patient, 1)
        assert len(whole_answer.index) < len(pairs)
        count = len(patient.looks)
        assert count > 50
        for first in range(0, count, 7):
            assert sift(pairs, TEAR, known, [0.8], Moody(first=first), 1) is None
            for length in (1, 3):
                answer = sift(pairs, TEAR, known, [0.8], Moody(first=first, last=first + length), 1)
                assert answer is None or np.array_equal(answer.index, whole_answer.index)


def test_what_is_not_sifted(monkeypatch):
    pairs, (known, _) = two_motions(np.random.default_rng(7), counts=(60, 10))
    assert sift(pairs, TEAR, known, [0.8], Limits(), 1) is not None
    assert sift(pairs, TEAR, known._replace(saving=0.0), [0.8], Limits(), 1) is None
    assert sift(pairs.take(slice(0, 11)), TEAR, known, [0.01], Limits(), 1) is None, "few"
    with mock.patch.object(module, "MOST_INLIERS", 0.06):
        assert sift(pairs, TEAR, known, [0.8], Limits(), 1) is None, "more than a share of all agree"
    everywhere = bare(pairs.x, pairs.y, 10.0)  # everybody agrees with everybody
    assert sift(everywhere, TEAR, known, [0.8], Limits(), 1) is None
    huge = bare(1e20 * pairs.x, 1e20 * pairs.y, 6e18)
    assert sift(huge, TEAR, known._replace(saving=1e20 * known.saving), [0.8], Limits(), 1) is None
    monkeypatch.setattr(module, "MOST_PAIRS", 899)
    assert sift(pairs, TEAR, known, [0.8], Limits(), 1) is None, "many"


def test_elsewhere_is_measured_in_the_bounds_of_all_pairs():
    """Most noise bounds are a hundredth of those of the pairs that agree: a pose ten such bounds away is elsewhere, and
    not forgotten when hardly any but those pairs are left."""
    x, y = np.random.default_rng(8).uniform(-1.0, 1.0, (2, 400, 3))
    xi = np.where(np.arange(400) < 40, 0.1, 0.001)
    y[:40] = x[:40]
    pairs = Pairs.of(x, y, xi)
    start = scored(pairs, climb(pairs, pairs.frame.inside(Pose.identity()), TEAR)[0], TEAR)
    rival = Pose(start.pose.rotation, start.pose.translation + np.array([0.01, 0.0, 0.0]))
    assert displacement(pairs, rival, start.pose) > ELSEWHERE * pairs.typical_bound
    with small_sieves((1000, 1000, 1000)) as noted, mock.patch.multiple(whole, ABOVE_RIM=0.0, LOW_SHARE=0.8):
        proof = whole.prove_pose(pairs, start, Options.of(rel_gap=0.05, threads=1), Limits(node_limit=20_000))
    ((sifted, _),) = noted
    assert np.median(xi[sifted.index]) == 0.1
    (stage,) = proof.attempts[0].stages
    assert stage.closed
    assert stage.elsewhere >= full_saving(pairs, rival, TEAR) > sifted.limit


def test_a_pose_that_saves_nothing_asks_for_nothing():
    pairs, (known, _) = two_motions(np.random.default_rng(9), n=200)
    nothing = Pose(known.pose.rotation, known.pose.translation + 50.0)
    proof = whole.prove_pose(pairs, Scored(nothing, 0.0), Options.of(threads=1), Limits(node_limit=50))
    assert proof.attempts[0].stages[0].saving_bound >= known.saving
    with small_sieves((1000, 1000, 1000)):  # a saving that was promised and is not there
        proof = whole.prove_pose(pairs, known._replace(pose=nothing), Options.of(threads=1), Limits(node_limit=50))
    assert proof.attempts[0].stages[0].saving_bound >= known.saving
