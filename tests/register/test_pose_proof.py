"""The pose is proven by default: what is said about it, about any other, and what is not tried."""

import json
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tear3d
from tear3d.find.ascent import climb
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.whole import farthest_move
from tear3d.synthetic import make_problem
from tests.bumpy import apply, bumpy_cloud, pose
from tests.pace import slower
from tests.register.support import check_fields, is_right, solve

TRUTH = pose([0.4, -1.2, 2.0], [3.0, 1.0, -2.0])
XI = 0.06
CASES = {"tear": (800, 0.8, 0.02), "tls": (800, 0.8, 0.02), "cm": (100, 0.5, 0.05)}
"""The number of pairs has no slopes to go by: bounds elsewhere take long."""


@pytest.fixture(scope="module")
def problem():
    return make_problem(800, 0.8, seed=4)


@pytest.fixture(scope="module", params=CASES)
def proven(request):
    n, outliers, gap = CASES[request.param]
    given = make_problem(n, outliers, seed=4)
    return given, solve(given, loss=request.param, rel_gap=gap)


def test_all_losses_are_proven(proven):
    problem, proven = proven
    assert proven.status == "optimal"
    assert is_right(proven, problem, 1.5, 0.05)
    check_fields(proven, len(problem.source))
    (stage,) = proven.certificate.stages
    assert stage.name == "pose"
    assert stage.gap <= proven.settings["rel_gap"]
    assert stage.saving == pytest.approx(proven.saving, rel=1e-9)
    assert stage.objective == pytest.approx(proven.objective, rel=1e-9)
    assert "no rotation and translation saves more than" in proven.message
    assert proven.settings["certify"] == "pose"


def test_no_pose_and_none_elsewhere_beats_its_bound(proven):
    """Poses near and far, climbed: what any of them saves."""
    problem, proven = proven
    loss, rng = LOSSES[proven.settings["loss"]], np.random.default_rng(0)
    pairs = Pairs.of(problem.source, problem.target, problem.noise_bound)
    unit = pairs.frame.saving_unit(loss)
    best = pairs.frame.inside(Pose.from_matrix(proven.transformation))
    (stage,) = proven.certificate.stages
    assert proven.certificate.runner_up == stage.elsewhere / stage.saving
    far = 0
    for k in range(200):
        turn = Rotation.random(rng=rng) if k % 2 else Rotation.from_rotvec(0.05 * rng.normal(size=3))
        start = Pose(turn.as_matrix() @ best.rotation, best.translation + 0.05 * rng.normal(size=3))
        for tried in (start, climb(pairs, start, loss)[0] if k % 4 < 2 else start):
            saving = unit * full_saving(pairs, tried, loss)
            assert saving <= stage.saving_bound
            if farthest_move(pairs, tried, best) > 3.0:
                far += 1
                assert saving <= stage.elsewhere
    assert far > 100


def test_one_bound_per_pair_and_weights(problem):
    rng = np.random.default_rng(1)
    bounds, weights = problem.noise_bound * rng.uniform(0.8, 1.5, 800), rng.uniform(0.5, 1.5, 800)
    result = solve(problem, noise_bound=bounds, weights=weights)
    assert result.status == "optimal"
    assert result.certificate.runner_up is not None
    double = solve(problem, noise_bound=bounds, weights=2.0 * weights)
    assert double.certificate.runner_up == pytest.approx(result.certificate.runner_up)
    assert double.certificate.stages[0].elsewhere == pytest.approx(2.0 * result.certificate.stages[0].elsewhere)


def test_true_pose_and_full_are_the_same_and_rows_are_not(problem):
    results = [solve(problem, certify=certify) for certify in ("pose", True, "full")]
    first, *others = [result.to_dict() for result in results]
    for other in others:
        assert {k: v for k, v in other.items() if k != "seconds"} == {k: v for k, v in first.items() if k != "seconds"}
    rows = solve(problem, certify="rows")
    assert [stage.name for stage in rows.certificate.stages] == ["first row", "second row"]
    assert rows.certificate.runner_up is None
    assert rows.certificate.gap <= 1e-3
    assert json.loads(json.dumps(rows.to_dict()))["certificate"]["runner_up"] is None
    # Every residual of a row is one of the pose: what rows can save bounds it.
    assert results[0].certificate.stages[0].saving <= rows.certificate.stages[0].saving_bound


def test_any_number_of_threads_gives_the_same_bits(problem):
    found = [solve(problem, threads=threads, rel_gap=0.02) for threads in (1, 2, 4)]
    assert len({json.dumps(result.certificate.to_dict()) for result in found}) == 1
    assert len({result.transformation.tobytes() for result in found}) == 1


def test_a_limit_leaves_the_gap_and_the_bound_elsewhere_that_were_reached():
    hard = make_problem(20_000, 0.985, seed=0)
    result = solve(hard, rel_gap=1e-6, node_limit=2_000)
    assert result.status == "node_limit"
    certificate = result.certificate
    assert 1e-6 < certificate.gap < np.inf
    assert certificate.runner_up <= certificate.gap + 1.0 + 1e-12
    assert "the node limit ended the search; until then: no rotation and translation saves more" in result.message
    assert json.loads(json.dumps(result.to_dict()))["certificate"]["runner_up"] == certificate.runner_up


def shape_and_copies(turns, seed, wrong=0.3):
    """A bumpy shape repeated by motions of itself; matches choose between equal places at random."""
    rng = np.random.default_rng(seed)
    part = bumpy_cloud(150, seed)
    source = np.vstack([apply(turn, part) for turn in turns])
    choice = rng.integers(len(turns), size=len(source))
    places = np.array([apply(turns[choice[i]], part[i % len(part)]) for i in range(len(source))])
    target = apply(TRUTH, places) + rng.normal(0.0, 0.01, source.shape)
    bad = rng.random(len(source)) < wrong
    target[bad] = rng.uniform(target.min(axis=0), target.max(axis=0), (bad.sum(), 3))
    return source, target


AWAY = pose([0.0, 0.0, 0.0], [3.0, 0.0, 0.0])
SYMMETRIC = {
    "half a turn": [AWAY, pose([0.0, 0.0, np.pi], [0.0, 0.0, 0.0]) @ AWAY],
    "three in a circle": [pose([0.0, 0.0, 2.0 * np.pi * k / 3.0], [0.0, 0.0, 0.0]) @ AWAY for k in range(3)],
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_shapes_are_flagged(name):
    source, target = shape_and_copies(SYMMETRIC[name], 3)
    result = tear3d.register(source, target, noise_bound=XI)
    assert result.success
    assert result.ambiguous
    assert result.message.startswith("ambiguous: ")
    assert result.certificate.runner_up > 0.5
    assert "comes near" not in result.message


@pytest.mark.parametrize("share", [0.9, 1.0])
def test_a_repeated_shape_is_flagged(share):
    """Matches of a thing that stands in the target twice, nearly as many for one place as for the other."""
    rng = np.random.default_rng(5)
    source = bumpy_cloud(500, 5)
    places = [TRUTH, pose([1.0, 0.0, 0.0], [8.0, 0.0, 0.0])]
    first = rng.permutation(500) < 500 / (1.0 + share)
    target = np.where(first[:, None], apply(places[0], source), apply(places[1], source))
    target += rng.normal(0.0, 0.01, source.shape)
    result = tear3d.register(source, target, noise_bound=XI)
    assert result.status == "optimal"
    assert result.ambiguous
    assert result.alternatives[0].saving > 0.8 * result.saving
    assert result.certificate.runner_up >= result.alternatives[0].saving / result.saving


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("wrong", [0.0, 0.8])
def test_a_shape_without_symmetries_never_is(seed, wrong):
    rng = np.random.default_rng(seed)
    source = bumpy_cloud(600, seed)
    target = apply(TRUTH, source) + rng.normal(0.0, 0.015, source.shape)
    bad = rng.random(600) < wrong
    target[bad] = rng.permutation(target[bad])
    result = tear3d.register(source, target, noise_bound=XI)
    assert result.status == "optimal"
    assert not result.ambiguous
    assert "ambiguous" not in result.message


@pytest.mark.clock
@pytest.mark.parametrize("certify", ["pose", "rows"])
def test_what_could_be_chance_gets_no_proof(certify):
    given = make_problem(5_000, 1.0, seed=1)
    solve(make_problem(300, 1.0, seed=1), certify=certify)  # loads the kernels
    started = time.perf_counter()
    result = solve(given, certify=certify)
    assert time.perf_counter() - started < 3.0
    assert result.status == "no_consensus"
    assert result.message.endswith("no proof was tried")
    assert result.certificate.attempts == ()
    assert result.certificate.runner_up is None
    assert "no proof was tried" not in solve(given, certify=False).message


@pytest.mark.clock
@pytest.mark.slow
def test_a_hundred_thousand_hopeless_pairs_end_soon():
    problem, pace = make_problem(100_000, 1.0, seed=1), slower()
    started = time.perf_counter()
    assert solve(problem).status == "no_consensus"
    assert time.perf_counter() - started < 10.0 * pace


def test_what_could_be_chance_and_saves_more_costs_the_proof_but_not_the_pose():
    problem = make_problem(200, 0.9, seed=1)
    rng = np.random.default_rng(1)
    source, target = problem.source.copy(), problem.target.copy()
    wrong = np.flatnonzero(~problem.inlier_mask)[:60]  # all of them in one place
    source[wrong], target[wrong] = (middle + 0.01 * rng.normal(size=(60, 3)) for middle in (0.5, -1.0))
    result = tear3d.register(source, target, noise_bound=problem.noise_bound, node_limit=20_000, threads=1)
    assert is_right(result, problem)
    assert (result.status, result.success) == ("uncertified", True)
    assert "since another pose saves more that could be chance" in result.message
    assert not result.certificate.stages
