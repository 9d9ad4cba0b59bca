"""The part of PointDSC and VBReg without weights, against obvious slow twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.peers import rigid

torch = pytest.importorskip("torch", reason="torch is not installed (pip install '.[torch]')")

from benchmarks.peers.networks import layers, matching, voting  # noqa: E402
from benchmarks.peers.networks.vbreg import Layer  # noqa: E402


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


def rotations(count: int, rng: np.random.Generator) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    return q * np.sign(np.linalg.det(q))[:, None, None]


def slow_seeds(confidence: list[float], points: np.ndarray, radius: float) -> list[float]:
    """The ranking of all pairs: their logits, or 0 next to a better one."""
    n = len(points)
    near = [[j for j in range(n) if np.linalg.norm(points[i] - points[j]) < radius] for i in range(n)]
    return [0.0 if any(confidence[j] > confidence[i] for j in near[i]) else confidence[i] for i in range(n)]


def test_seeds_are_local_maxima_in_order():
    points = torch.rand(60, 3)
    confidence = torch.randn(60).round(decimals=1)  # with ties
    ranking = slow_seeds(confidence.tolist(), points.numpy(), 0.25)
    chosen = matching.seeds(confidence, points, 0.25, 60)
    assert sorted(chosen.tolist()) == list(range(60))
    assert [ranking[i] for i in chosen] == sorted(ranking, reverse=True)
    assert any(value == 0.0 for value in ranking)
    assert matching.seeds(confidence, points, 0.25, 7).tolist() == chosen[:7].tolist()
    assert len(matching.seeds(confidence, points, 0.25, 0)) == 1


def test_consistency_compares_lengths():
    x, y = torch.rand(9, 3), torch.rand(9, 3)
    got = matching.consistency(x, y, torch.tensor([0.4]))
    for i in range(9):
        for j in range(9):
            gap = math.dist(x[i].tolist(), x[j].tolist()) - math.dist(y[i].tolist(), y[j].tolist())
            assert got[i, j] == pytest.approx(max(0.0, 1.0 - gap**2 / 0.4**2), abs=1e-5)


def test_leading_eigenvectors_are_those_of_eigh():
    half = torch.rand(5, 12, 12)
    matrices = half + half.transpose(1, 2)
    got = matching.leading_eigenvectors(matrices, 50).numpy()
    expected = np.abs(np.linalg.eigh(matrices.numpy())[1][:, :, -1])
    np.testing.assert_allclose(got, expected, atol=1e-4)


def test_leading_eigenvector_of_nothing_is_zero():
    assert not matching.leading_eigenvectors(torch.zeros(2, 4, 4), 10).any()


@pytest.mark.parametrize("noise", [0.0, 5.0])  # so much noise that the best orthogonal matrix is often a reflection
def test_fits_are_least_squares(noise):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(20, 6, 3))
    y = np.einsum("bij,bnj->bni", rotations(20, rng), x) + 3.0 + noise * rng.normal(size=x.shape)
    weights = rng.uniform(size=(20, 6))
    got = matching.fits(*(torch.from_numpy(a).float() for a in (x, y, weights))).numpy()
    np.testing.assert_allclose(got, rigid.fit_all(x, y, weights), atol=2e-4)
    np.testing.assert_allclose(np.linalg.det(got[:, :3, :3]), 1.0, atol=1e-5)


def test_fits_without_weight_are_finite():
    assert torch.isfinite(matching.fits(torch.rand(2, 4, 3), torch.rand(2, 4, 3), torch.zeros(2, 4))).all()


def test_best_counts_or_grades(monkeypatch):
    # The first shift brings three pairs near the limit, the second two pairs exactly, the third nothing.
    source = torch.tensor([[0.0, 0, 0], [0, 0, 0], [0, 0, 0], [10.0, 0, 0], [10.0, 0, 0]])
    target = torch.tensor([[0.9, 0, 0], [0.9, 0, 0], [0.9, 0, 0], [15.0, 0, 0], [15.0, 0, 0]])
    poses = torch.eye(4).repeat(3, 1, 1)
    poses[1, 0, 3], poses[2, 0, 3] = 5.0, 50.0
    for block in (matching.BLOCK, 1):
        monkeypatch.setattr(matching, "BLOCK", block)
        assert matching.best(poses, source, target, 1.0, graded=False)[0, 3] == 0.0
        assert matching.best(poses, source, target, 1.0, graded=True)[0, 3] == 5.0


def test_refinement_finds_the_least_squares_of_the_inliers():
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, size=(100, 3))
    truth = rigid.pose(rotations(1, rng)[0], np.array([1.0, 2.0, 3.0]))
    y = x @ truth[:3, :3].T + truth[:3, 3]
    y[80:] += 5.0
    start = torch.from_numpy(truth).float()
    start[:3, 3] += 0.05
    got = matching.refined(start, torch.from_numpy(x).float(), torch.from_numpy(y).float(), 0.1).numpy()
    np.testing.assert_allclose(got, truth, atol=1e-5)


def test_refinement_without_inliers_leaves_the_pose():
    pose = torch.eye(4)
    assert torch.equal(matching.refined(pose, torch.zeros(5, 3), torch.full((5, 3), 9.0), 0.1), pose)


def test_attention_is_softmax_row_by_row():
    queries, keys, consistency = torch.randn(4, 3), torch.randn(4, 5), torch.rand(3, 5)
    got = layers.attention(queries, keys, consistency)
    for i in range(3):
        powers = [math.exp(consistency[i, j] * (queries[:, i] @ keys[:, j]) / 2.0) for j in range(5)]
        np.testing.assert_allclose(got[i], np.array(powers) / sum(powers), rtol=1e-5)


@pytest.mark.parametrize("votes", [1, 5, 24])
def test_wilson_is_the_root_of_the_score_test(votes):
    share = torch.linspace(0.0, 1.0, 11, dtype=torch.float64)
    p = voting.wilson(share, votes)
    np.testing.assert_allclose((share - p) ** 2, voting.Z**2 * p * (1.0 - p) / votes, atol=1e-12)
    assert (p <= share).all()


def test_more_votes_are_worth_more_than_one():
    one = torch.tensor(1.0)
    assert voting.wilson(one, 1) < voting.wilson(0.9 * one, 24) < voting.wilson(one, 24)


def test_the_elected_are_those_of_a_plain_count():
    n, size, seeds = 30, 6, torch.tensor([3, 17, 8])
    matrices = [torch.rand(3, n) for _ in range(7)]
    got = voting.elected([matrix.clone() for matrix in matrices], seeds, size)
    for row, seed in enumerate(seeds.tolist()):
        counts, scores = [0] * n, [-1.0] * n
        for votes, matrix in enumerate(matrices, start=1):
            others = sorted((j for j in range(n) if j != seed), key=lambda j: -float(matrix[row, j]))
            for j in others[: size - 1]:
                counts[j] += 1
            scores = [
                max(s, float(voting.wilson(torch.tensor(c / votes), votes)))
                for s, c in zip(scores, counts, strict=True)
            ]
        assert got[row, 0] == seed
        elected = sorted((scores[j] for j in got[row, 1:].tolist()), reverse=True)
        best = sorted((scores[j] for j in range(n) if j != seed), reverse=True)[: size - 1]
        np.testing.assert_allclose(elected, best, atol=1e-6)
        assert len(set(got[row].tolist())) == size


def test_opinions_are_rows_of_the_full_matrices():
    n, seeds = 20, torch.tensor([4, 11])
    passed = [Layer(*(torch.randn(8, n) for _ in range(3))) for _ in range(2)]
    consistency = torch.rand(n, n)
    full = []
    for layer in passed:
        full.append(layers.attention(layer.queries, layer.keys, consistency))
        features = layer.features / layer.features.norm(dim=0)
        full.append(matching.similarity(features.T, 1.0) * consistency)
    got = list(voting.opinions(passed, seeds, consistency[seeds]))
    assert len(got) == 4
    for rows, matrix in zip(got, reversed(full), strict=True):
        torch.testing.assert_close(rows, matrix[seeds])
