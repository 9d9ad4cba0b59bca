"""The significance of a consensus: exact tails, and calibration on meaningless data."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tear3d.find.ascent import climb
from tear3d.judge.chance import (
    LARGEST,
    SIGNIFICANT,
    Chance,
    Repaired,
    length_chance,
    log10_binomial_tail,
    log10_choices,
    log10_nfa,
)
from tear3d.lab.synthetic import make_problem
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tests.find.cases import find
from tests.problem.cases import pairs_of, truth_inside, unchecked
from tests.real_data import pairs_dir

FEW_INLIERS = {
    "eth_gazebo_summer_10_12_iss_fpfh": -8,
    "eth_tls_facade_s2_s1_iss_fpfh": -20,
    "kitti_turboreg_050_fpfh": -8,
}


@given(st.integers(1, 3000), st.floats(1e-6, 0.9), st.floats(0.0, 1.0))
@settings(max_examples=150, deadline=None)
def test_tail_matches_scipy(n, p, where):
    k = min(n, int(n * p) + 1 + int(where * 40))
    expected = stats.binom.sf(k - 1, n, p)
    if expected > 1e-290 and k > n * p:
        assert 10 ** log10_binomial_tail(k, n, p) == pytest.approx(expected, rel=1e-6)


def test_tail_beyond_floating_point():
    # one term dominates: P(X = n) = pⁿ
    assert log10_binomial_tail(1000, 1000, 1e-3) == pytest.approx(-3000.0)
    assert log10_binomial_tail(0, 10, 0.1) == 0.0
    assert log10_binomial_tail(11, 10, 0.1) == -math.inf


def test_more_inliers_are_more_significant():
    levels = [log10_nfa(k, 1000, 1e-3) for k in range(3, 40)]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == pytest.approx(math.log10(math.comb(1000, 3)))
    assert log10_choices(1000, 0.1) == pytest.approx(levels[0] - 3.0)
    assert log10_choices(2) == 0.0


def test_chances_match_enumeration():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    distance = np.linalg.norm(y[None] - x[:, None], axis=2)
    off = ~np.eye(300, dtype=bool)
    measured = Repaired(unchecked(x, y, 0.5), repairings=10**9)(Pose.identity())
    assert measured == pytest.approx(np.mean(distance[off] <= 0.5), rel=1e-9)
    lengths = [np.linalg.norm(p[None] - p[:, None], axis=2).ravel() for p in (x, y)]
    exact = np.mean(np.abs(rng.choice(lengths[0], 400_000) - rng.choice(lengths[1], 400_000)) <= 0.2)
    assert length_chance(unchecked(x, y, 0.1)) == pytest.approx(exact, rel=0.1)


@pytest.mark.parametrize("shared", [True, False])
def test_the_chance_of_lengths_is_a_count_over_draws(shared):
    rng = np.random.default_rng(4)
    xi = np.full(200, 0.3) if shared else rng.uniform(0.0, 0.5, 200)
    pairs = unchecked(rng.normal(size=(200, 3)), rng.normal(size=(200, 3)), xi[:1] if shared else xi)
    count = 0
    for i, j, k, m in np.random.default_rng(7).integers(0, 200, (4, 500)).T:
        lengths = [np.linalg.norm(p[a] - p[b]) for p, a, b in ((pairs.x, i, j), (pairs.y, k, m))]
        count += abs(lengths[0] - lengths[1]) <= xi[i] + xi[j]
    assert length_chance(pairs, seed=7, draws=500) == (count + 1) / 501


def test_chance_is_never_zero():
    x = np.random.default_rng(1).normal(size=(50, 3))
    assert Repaired(unchecked(x, x + 1000.0, 1e-6))(Pose.identity()) > 0.0
    assert length_chance(unchecked(x, 1000.0 * x, 1e-6)) > 0.0


def test_copies_of_a_few_pairs_do_not_count():
    p = make_problem(2000, 1.0, seed=2)
    x, y = p.source.copy(), p.target.copy()
    x[:60] = np.repeat(x[:6], 10, axis=0)
    y[:60] = x[:60]
    assert Chance(unchecked(x, y, 0.05))(Pose.identity()) > SIGNIFICANT
    y[60:120] = x[60:120]
    assert Chance(unchecked(x, y, 0.05))(Pose.identity()) < -50


def test_level_matches_a_count_by_hand():
    """Witnesses counted in dictionaries, the tail by scipy."""
    p = make_problem(400, 0.9, seed=8)
    pairs = unchecked(p.source, p.target, 0.1)
    pose = Pose.of(p.rotation, p.translation)
    p0, pc = Repaired(pairs)(pose), length_chance(pairs)
    levels = []
    for points in (pairs.x, pairs.y):
        voxels: dict[tuple, list[int]] = {}
        for i, cell in enumerate(np.floor((points - points.min(axis=0)) / 0.1).astype(int).tolist()):
            voxels.setdefault(tuple(cell), []).append(i)
        fits = np.linalg.norm(p.target - pose.apply(p.source), axis=1) <= 0.1
        hit = sum(any(fits[i] for i in rows) for rows in voxels.values())
        chance = np.mean([1.0 - (1.0 - p0) ** len(rows) for rows in voxels.values()])
        tail = stats.binom.logsf(hit - 4, len(voxels) - 3, chance) / math.log(10.0)
        levels.append(math.log10(math.comb(len(voxels), 3) * pc**3) + tail)
    assert Chance(pairs)(pose) == pytest.approx(max(levels), rel=1e-6)


def test_three_pairs_are_always_chance():
    pairs = unchecked(np.eye(3), np.eye(3), 0.01)
    assert Chance(pairs)(Pose.identity()) == Chance(pairs).log10_tests >= 0.0


def level_of_truth(problem, xi=None):
    pairs = Pairs.of(problem.source, problem.target, problem.noise_bound if xi is None else xi)
    return Chance(pairs)(truth_inside(problem, pairs))


def test_one_wrong_pair_with_an_absurd_noise_bound_changes_little():
    p = make_problem(1000, 0.5, seed=6)
    xi = np.full(1000, p.noise_bound)
    plain = level_of_truth(p, xi)
    xi[np.flatnonzero(~p.inlier_mask)[0]] = 1e6
    assert plain < -800
    assert level_of_truth(p, xi) < 0.5 * plain


@pytest.mark.parametrize("scale", [1e-100, 1e-6, 1e6, 1e100])
def test_units_do_not_matter(scale):
    p = make_problem(300, 0.8, seed=7)
    pairs = Pairs.of(scale * p.source, scale * p.target, scale * p.noise_bound)
    moved = Pose.of(p.rotation, scale * p.translation).between(pairs.frame.source, pairs.frame.target)
    level = Chance(pairs)(Pose(moved.rotation, moved.translation / pairs.frame.unit))
    assert level == pytest.approx(level_of_truth(p), rel=0.05)


@pytest.mark.parametrize(("n", "problems"), [(10, 30), (100, 30), (1000, 6)])
def test_gaussian_outliers_alone_are_not_significant(n, problems):
    for seed in range(problems):
        assert find(pairs_of(make_problem(n, 1.0, seed=seed))).significance > SIGNIFICANT


def test_ten_of_a_thousand_are_significant():
    assert level_of_truth(make_problem(1000, 0.99, seed=3)) < -5


def test_large_problems_are_thinned():
    p = make_problem(150_000, 0.9, seed=4)
    assert len(Chance(pairs_of(p)).pairs) <= LARGEST
    assert level_of_truth(p) < -1000


def at_truth(name):
    """Real pairs, and the pose that they climb to from the true one."""
    data = np.load(pairs_dir() / f"{name}.npz")
    pairs = Pairs.of(data["src"], data["dst"], data["xi"])
    truth = Pose.from_matrix(data["T_gt"]).between(pairs.frame.source, pairs.frame.target)
    return pairs, climb(pairs, truth, LOSSES["tear"])[0]


@pytest.mark.skipif(pairs_dir() is None, reason="real data not found: set TEAR3D_DATA")
class TestReal:
    def test_a_pair_at_the_limit_stays_near_it_and_draws_matter_there(self):
        pairs, pose = at_truth("3dmatch_kitchen_0_34_fpfh")
        levels = [Chance(pairs, seed=seed)(pose) for seed in range(9)]
        assert -4.0 < np.median(levels) < -1.0
        assert 0.2 < np.std(levels) < 1.5

    @pytest.mark.parametrize("name", FEW_INLIERS)
    def test_draws_change_the_level_by_about_a_tenth(self, name):
        pairs, pose = at_truth(name)
        levels = [Chance(pairs, seed=seed)(pose) for seed in range(9)]
        assert np.std(levels) < 0.15 * abs(np.mean(levels))

    @pytest.mark.parametrize("name", FEW_INLIERS)
    def test_few_true_inliers_are_significant(self, name):
        pairs, pose = at_truth(name)
        assert Chance(pairs)(pose) < FEW_INLIERS[name]

    @pytest.mark.parametrize(
        "name", ["eth_tls_facade_s2_s1_top3", "kitti_turboreg_050_fpfh", "3dmatch_kitchen_0_34_fpfh"]
    )
    def test_permuted_pairs_are_not(self, name):
        data = np.load(pairs_dir() / f"{name}.npz")
        y = np.random.default_rng(5).permutation(data["dst"])
        pairs = Pairs.of(data["src"], y, data["xi"])
        assert find(pairs, time_limit=1.0).significance > SIGNIFICANT
