"""The whole pose, searched by the driver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.find.ascent import climb
from tear3d.lab.synthetic import make_problem, random_rotation
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.certificate import StageCertificate
from tear3d.prove.driver import maximise
from tear3d.prove.pose.nodes import NEAR, VOTES
from tear3d.prove.pose.stage import LEFT, SHARE, SURE, WholePose
from tear3d.prove.stage import Task
from tests import naive
from tests.prove.pose.cases import mixed_pairs
from tests.prove.pose.grouping import Choices, grouped
from tests.prove.pose.problems import bare
from tests.real_data import pairs_dir

TEAR = LOSSES["tear"]
IDENTITY = Pose.identity()


class Solved(NamedTuple):
    solution: Pose
    certificate: StageCertificate


def solve(pairs, pose, *, rel_gap=1e-2, limits=None, threads=2, loss=TEAR):
    stage = WholePose(pairs, loss, pose)
    found = maximise(stage, stage.start(), rel_gap=rel_gap, limits=limits or Limits(), threads=threads)
    return Solved(found.solution, found.certificate)


def synthetic(n, outliers, seed=0, weights=None, loss=TEAR):
    """(pairs, a local maximum near the truth, what it saves)."""
    p = make_problem(n, outliers, seed=seed)
    pairs = Pairs.of(p.source, p.target, p.noise_bound, weights)
    return pairs, *climb(pairs, inside(pairs, p.transformation), loss)


def inside(pairs, transformation):
    return Pose.from_matrix(transformation).between(pairs.frame.source, pairs.frame.target)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("unequal", [False, True])
def test_tiny_problems_against_brute_force(seed, unequal):
    pairs = Pairs.of(*mixed_pairs(np.random.default_rng(seed), 10, unequal))
    pose, certificate = solve(pairs, IDENTITY, rel_gap=0.1)
    best = naive.best_pose(pairs.x, pairs.y, pairs.xi, pairs.w, seed=seed, starts=200)[0]
    assert certificate.closed
    assert best <= certificate.saving_bound
    assert best <= certificate.saving * 1.1
    saving = naive.full_saving(pairs.x, pairs.y, pairs.xi, pairs.w, pose.rotation, pose.translation)
    assert saving == pytest.approx(certificate.saving)
    assert full_saving(pairs, pose, TEAR) == certificate.saving
    assert np.allclose(pose.rotation @ pose.rotation.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("n", "outliers", "loss"),
    [
        *((n, outliers, loss) for n, outliers in ((1000, 0.9), (300, 0.95)) for loss in sorted(LOSSES)),
        *((n, outliers, loss) for n, outliers in ((500, 0.5), (300, 0.0)) for loss in ("tear", "tls")),
    ],
)
def test_the_papers_problem_closes(n, outliers, loss):
    pairs, pose, saving = synthetic(n, outliers, loss=LOSSES[loss])
    _, certificate = solve(pairs, pose, loss=LOSSES[loss])
    assert certificate.closed
    assert certificate.ended_by == "gap"
    assert saving <= certificate.saving + 1e-12 <= certificate.saving_bound + 1e-12
    assert certificate.name == "pose"
    assert certificate.gap <= 0.01
    assert (
        certificate.lower_bound
        <= certificate.objective
        == pytest.approx(pairs.total(LOSSES[loss]) - certificate.saving)
    )
    assert len(certificate.history)
    assert certificate.visited.shape[1] == 6
    assert certificate.elsewhere <= certificate.saving_bound


def test_a_poor_incumbent_is_improved():
    pairs, pose, saving = synthetic(200, 0.7)
    turned = naive.chart_rotation(0, [0.01, -0.005, 0.01]) @ pose.rotation
    start = Pose(turned, pose.translation + 0.3 * pairs.xi[0])
    assert full_saving(pairs, start, TEAR) < 0.7 * saving
    found, certificate = solve(pairs, start)
    assert certificate.closed
    assert certificate.saving >= saving / 1.01
    assert np.linalg.norm(found.rotation - pose.rotation) < 0.05


@pytest.mark.parametrize("choices", [Choices(), Choices(groups=4, size=30, many=50)], ids=["plain", "groups"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_same_for_any_number_of_threads(loss, choices):
    pairs, pose, _ = synthetic(300, 0.9, seed=4, loss=LOSSES[loss])
    worse = Pose(pose.rotation, pose.translation + 0.2 * pairs.xi[0])
    with grouped(choices):
        one, two, four = (solve(pairs, worse, threads=k, loss=LOSSES[loss]) for k in (1, 2, 4))
    for other in (two, four):
        for name in ("saving", "saving_bound", "elsewhere", "cells", "closed", "ended_by"):
            assert getattr(other.certificate, name) == getattr(one.certificate, name)
        assert np.array_equal(other.certificate.visited, one.certificate.visited)
        assert np.array_equal(other.solution.row, one.solution.row)


def test_cells_are_counted_once_whoever_visits_them():
    pairs, pose, _ = synthetic(300, 0.9)
    limits = Limits()
    _, certificate = solve(pairs, pose, limits=limits, threads=3)
    assert certificate.cells == limits.cells


def test_far_off_coordinates_and_scale():
    p = make_problem(300, 0.8)
    pairs, pose, saving = synthetic(300, 0.8)
    shift = np.array([3e5, -2e5, 1e5])
    centred = Pairs.of(p.source + shift, p.target + shift, p.noise_bound)
    _, certificate = solve(centred, pose)
    assert certificate.closed
    assert certificate.saving == pytest.approx(saving, rel=1e-6)
    away = bare(p.source + shift, p.target + shift, p.noise_bound)
    _, certificate = solve(away, pairs.frame.outside(pose).between(-shift, -shift))
    assert certificate.closed
    assert certificate.saving == pytest.approx(saving, rel=1e-6)
    small = Pairs.of(1e-3 * p.source, 1e-3 * p.target, 1e-3 * p.noise_bound)
    _, certificate = solve(small, Pose(pose.rotation, 1e-3 * pose.translation))
    assert certificate.closed
    assert certificate.saving == pytest.approx(1e-3 * saving, rel=1e-9)


def test_a_weight_of_two_is_a_pair_twice():
    p = make_problem(150, 0.8)
    w = np.where(np.arange(150) % 3 == 0, 2.0, 1.0)
    twice = np.concatenate([np.arange(150), np.arange(0, 150, 3)])
    a = Pairs.of(p.source, p.target, p.noise_bound, w)
    b = Pairs.of(p.source[twice], p.target[twice], p.noise_bound)
    found = [solve(pairs, climb(pairs, inside(pairs, p.transformation), TEAR)[0]).certificate for pairs in (a, b)]
    assert found[0].closed
    assert found[1].closed
    assert a.frame.weight * found[0].saving == pytest.approx(found[1].saving, rel=0.01)
    assert a.frame.weight * a.total(TEAR) == pytest.approx(b.total(TEAR))


def test_pairs_without_weight_or_noise_bound_are_left_out():
    pairs, pose, _ = synthetic(100, 0.5)
    even = (np.arange(100) % 2).astype(float)
    only = solve(bare(pairs.x[1::2], pairs.y[1::2], pairs.xi[0]), pose, rel_gap=0.1).certificate
    for half in (bare(pairs.x, pairs.y, pairs.xi[0], even), bare(pairs.x, pairs.y, pairs.xi[0] * even)):
        assert WholePose(half, TEAR, pose).packed.size == 50
        found = solve(half, pose, rel_gap=0.1).certificate
        assert (found.saving, found.saving_bound) == (only.saving, only.saving_bound)


def test_empty_and_single_problems():
    pairs, pose, _ = synthetic(100, 0.5)
    nothing = bare(pairs.x, pairs.y, pairs.xi[0], np.zeros(100))
    assert len(WholePose(nothing, TEAR, pose).roots()) == 0
    found = solve(nothing, pose).certificate
    assert found.closed
    assert found.saving == found.saving_bound == found.cells == 0
    found = solve(bare(pairs.x[:1], pairs.y[:1], pairs.xi[0]), IDENTITY).certificate
    assert found.closed
    assert found.saving == pytest.approx(pairs.xi[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": np.zeros((3, 100))}, "source"),
        ({"target": np.zeros((99, 3))}, "target 99"),
        ({"target": np.full((100, 3), np.nan)}, "target"),
        ({"noise_bound": np.ones(7)}, "noise_bound"),
        ({"noise_bound": -1.0}, "noise_bound"),
    ],
)
def test_bad_input_is_named(change, message):
    points = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(InputError, match=message):
        Pairs.of(**({"source": points, "target": points, "noise_bound": 0.1} | change))


def test_the_start_is_orthonormal():
    pairs, pose, saving = synthetic(100, 0.5)
    value, start = WholePose(pairs, TEAR, Pose(1.01 * pose.rotation, pose.translation)).start()
    assert value == full_saving(pairs, start, TEAR) == pytest.approx(saving)
    assert np.allclose(start.rotation @ start.rotation.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(start.rotation) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ({"work": SURE - 1}, SHARE),
        ({"work": SURE}, 1.01),
        ({"left": SURE // LEFT - 1}, SHARE),
        ({"left": SURE // LEFT + 1}, 1.01),
        ({"work": SURE - 2 * LEFT, "left": 3}, 1.01),
        ({"far_closed": 10.0 * SHARE}, SHARE),
        ({"far_closed": 10.0}, 1.01),
        ({"far": 9.0}, 0.9 * 1.02),
        ({"far": 9.0, "far_closed": 9.1}, 0.9 * 1.02),
        ({"far": 9.0, "left": SURE}, 1.01),
    ],
)
def test_what_is_elsewhere_is_asked_for_while_an_answer_can_be_expected(given, limit):
    """Not when there is too much left to be done, nor when something was closed above that already."""
    x = np.random.default_rng(0).normal(size=(30, 3))
    stage = WholePose(Pairs.of(x, x, 0.1), TEAR, IDENTITY)
    task = Task(10.0, 0.01, 100, Limits(), **given)
    assert stage.of_interest(VOTES, task) == pytest.approx(10.0 * limit, rel=1e-12)
    assert stage.of_interest(NEAR, task) == pytest.approx(10.1, rel=1e-12)


def test_a_start_that_saves_nothing_is_left():
    pairs, _, _ = synthetic(12, 0.3)
    nowhere = Pose(random_rotation(np.random.default_rng(1)), np.full(3, 1e3))
    assert full_saving(pairs, nowhere, TEAR) == 0.0
    _, certificate = solve(pairs, nowhere, rel_gap=0.1, limits=Limits(node_limit=3_000))
    assert certificate.saving_bound >= naive.best_pose(pairs.x, pairs.y, pairs.xi, pairs.w, starts=50)[0]


@pytest.mark.slow
def test_a_real_pair_closes():
    folder = pairs_dir()
    if folder is None:
        pytest.skip("real data not found (set TEAR3D_DATA)")
    data = np.load(folder / "stanford_dragon_120_144_fpfh.npz")
    pairs = Pairs.of(data["src"].astype(np.float64), data["dst"].astype(np.float64), float(data["xi"]))
    pose, _ = climb(pairs, inside(pairs, data["T_gt"]), TEAR)
    found, certificate = solve(pairs, pose)
    assert certificate.closed
    assert np.linalg.norm(found.rotation - pose.rotation) < 0.02
