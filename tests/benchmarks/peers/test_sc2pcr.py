"""SC²-PCR: kernels against loops, the ratios it stands, what it costs, and odd input."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.peers import peer, sc2pcr
from benchmarks.peers.hypotheses import judge, popcount
from benchmarks.peers.rigid import fit, residuals
from benchmarks.peers.sc2pcr_kernels import compatibility, consensus_sets, largest, local_maxima, second_order
from tear3d.metrics import rotation_error, translation_error
from tear3d.synthetic import make_problem
from tests.benchmarks.peers.odd_pairs import FITS, NOISE, odd_pairs


def right(key: str, ratio: float, seed: int, n: int = 1000) -> bool:
    problem = make_problem(n, ratio, seed=seed)
    pose = peer(key).register(problem.source, problem.target, problem.noise_bound).pose
    truth = problem.transformation
    return rotation_error(pose, truth) < 2.0 and translation_error(pose, truth) < 0.1


def gaps(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    lengths = [np.linalg.norm(p[:, None] - p[None], axis=2) for p in (x, y)]
    return np.abs(lengths[0] - lengths[1])


@pytest.mark.parametrize("n", [3, 64, 65, 130])
def test_first_and_second_order_are_what_loops_count(n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    soft, loose, tight = compatibility(x, y, 0.6)
    gap = gaps(x, y)
    assert np.allclose(soft, np.maximum(0.0, 1.0 - (gap / 0.6) ** 2), atol=1e-6)
    seeds = np.arange(0, n, 2)
    expected = np.zeros((len(seeds), n), int)
    for s, i in enumerate(seeds):
        for j in range(n):
            if gap[i, j] < 0.6:
                expected[s, j] = sum(gap[i, k] < 0.3 and gap[j, k] < 0.3 for k in range(n))
    assert np.array_equal(second_order(seeds, loose, tight), expected)
    assert expected.sum() > 0


def test_largest_is_a_stable_sort() -> None:
    values = np.random.default_rng(1).integers(0, 8, size=100).astype(np.float64)
    assert np.array_equal(largest(values, 30), np.argsort(-values, kind="stable")[:30])


def test_local_maxima_have_no_higher_neighbour() -> None:
    rng = np.random.default_rng(2)
    points, scores = rng.random((80, 3)), rng.random(80).astype(np.float32)
    near = np.linalg.norm(points[:, None] - points[None], axis=2) < 0.3
    expected = [not np.any(near[i] & (scores > scores[i])) for i in range(80)]
    assert np.array_equal(local_maxima(points, scores, 0.3), expected)
    assert 0 < sum(expected) < 80


def test_a_set_around_an_inlier_gathers_the_inliers_and_weighs_them_most() -> None:
    problem = make_problem(300, 0.9, seed=3)
    x, y = problem.source, problem.target
    _, loose, tight = compatibility(x, y, problem.noise_bound)
    good = residuals(problem.transformation, x, y) < problem.noise_bound
    counts = second_order(np.flatnonzero(good)[:5], loose, tight)
    members, weights = consensus_sets(counts, x, y, problem.noise_bound, (30, 20), 10)
    assert np.all(good[members].sum(axis=1) >= 18)
    assert np.all((weights * good[members]).sum(axis=1) > 0.9 * weights.sum(axis=1))


def test_poses_are_judged_as_residuals_say() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    poses = np.stack([fit(x[k : k + 5], y[k : k + 5]) for k in range(10)])
    counts, sums = judge(poses, x, y, 1.5)
    for pose, count, total in zip(poses, counts, sums, strict=True):
        distance = residuals(pose, x, y)
        assert count == np.sum(distance < 1.5)
        assert total == pytest.approx(np.sum(np.maximum(0.0, 1.0 - distance / 1.5)))


@pytest.mark.parametrize("ratio", [0.9, 0.95])
def test_right_at_these_ratios_of_a_thousand_pairs(ratio: float) -> None:
    assert all(right("sc2pcr", ratio, seed) for seed in range(3))


def test_ten_inliers_are_too_few_for_sets_of_twenty() -> None:
    """Every hypothesis of a seed then has as many outliers as inliers."""
    assert not all(right("sc2pcr", 0.99, seed) for seed in range(4))


def test_memory_grows_with_the_square_of_the_pairs() -> None:
    assert peer("sc2pcr").quadratic
    small, large = (
        sum(part.nbytes for part in compatibility(np.ones((n, 3)), np.ones((n, 3)), 0.1)) for n in (256, 1024)
    )
    assert large == 16 * small


def test_only_the_first_pairs_count(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = make_problem(400, 0.5, seed=5)
    monkeypatch.setattr(sc2pcr, "MOST_PAIRS", 200)
    found = sc2pcr.register(problem.source, problem.target, problem.noise_bound)
    first = sc2pcr.register(problem.source[:200], problem.target[:200], problem.noise_bound)
    assert np.array_equal(found.pose, first.pose)
    assert found.inliers is not None
    assert len(found.inliers) == 400


def test_units_do_not_matter_and_answers_repeat() -> None:
    problem = make_problem(300, 0.8, seed=6)
    system = peer("sc2pcr")
    here = system.register(problem.source, problem.target, problem.noise_bound)
    again = system.register(problem.source, problem.target, problem.noise_bound)
    far = system.register(1e3 * problem.source, 1e3 * problem.target, 1e3 * problem.noise_bound)
    assert np.array_equal(here.pose, again.pose)
    assert np.allclose(here.pose[:3, 3], far.pose[:3, 3] / 1e3, atol=1e-6)


@pytest.mark.parametrize("name", FITS)
def test_odd_pairs_that_fit(name: str) -> None:
    x, y = odd_pairs()[name]
    found = peer("sc2pcr").register(x, y, NOISE)
    assert np.all(residuals(found.pose, x, y) < NOISE)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_popcount_counts_bits() -> None:
    for word in (0, 1, 2**63, 2**64 - 1, 0x123456789ABCDEF):
        assert popcount(np.uint64(word)) == word.bit_count()
