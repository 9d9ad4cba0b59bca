"""How likely triples of one scale are, and how exact a scale is."""

from itertools import product

import numpy as np
import pytest

import tear3d
from tear3d.judge.similar import SimilarChance, Triples, image_size, triple_chance
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, similar


def test_triples_are_counted_as_one_by_one():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    pairs = Pairs(x, y, np.full(1, 0.2), np.ones(1), None, np.zeros(3), np.zeros(3))
    scales = np.linspace(0.5, 2.0, 2001)
    hits = total = 0
    for i, j, k, a, b, c in product(range(6), repeat=6):
        if (i + 2 * j + 3 * k + a + 5 * b + 7 * c) % 12:
            continue
        agree = np.ones(len(scales), bool)
        for p, q, r, s in ((i, j, a, b), (j, k, b, c), (k, i, c, a)):
            lengths = np.linalg.norm(x[p] - x[q]), np.linalg.norm(y[r] - y[s])
            agree &= np.abs(scales * lengths[0] - lengths[1]) <= 0.4
        hits, total = hits + bool(agree.any()), total + 1
    measured = triple_chance(pairs, ScaleRange(0.5, 2.0), draws=20_000)
    assert measured == pytest.approx(hits / total, abs=0.03)
    assert triple_chance(pairs, ScaleRange(1e-6, 1e-5), draws=100) > 0.0


def test_triples_know_the_bounds_of_their_pairs():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 3))
    pairs = Pairs(x, y, np.full(1, 0.2), np.ones(1), None, np.zeros(3), np.zeros(3))
    triples, span = Triples(pairs), ScaleRange(0.5, 2.0)
    shared = [triples.chance(np.full(1, bound), span) for bound in (0.05, 0.2, 0.4)]
    assert shared == sorted(shared)
    assert shared[1] == triple_chance(pairs, span) == triples.chance(np.full(8, 0.2), span)
    assert shared[0] < triples.chance(np.array([0.05, 0.4] * 4), span) < shared[2]


def test_more_scales_are_more_tests():
    problem = tear3d.synthetic.make_problem(400, 0.9, seed=0)
    pairs = Pairs.of(problem.source, problem.target, problem.noise_bound)
    few, many = (
        SimilarChance(pairs, triple_chance(pairs, span)).log10_tests
        for span in (ScaleRange(0.99, 1.01), ScaleRange(0.1, 10.0))
    )
    assert few < many


def test_the_image_of_what_agrees():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    pairs = Pairs.of(x, 0.01 * x, 0.05)
    assert image_size(pairs, similar(0.01, Pose.identity())) == pytest.approx(0.01 * pairs.radius / 0.05, rel=0.02)
    assert image_size(pairs, Pose(np.eye(3), np.full(3, 9.0))) == np.inf


@pytest.mark.parametrize("loss", ["tear", "tls", "cm"])
def test_the_deviation_of_the_scale_is_about_what_is_seen(loss):
    errors = []
    for seed in range(10):
        problem = tear3d.synthetic.make_problem(200, 0.5, scale=2.0, seed=seed)
        result = tear3d.register(
            problem.source,
            problem.target,
            noise_bound=problem.noise_bound,
            estimate_scale=True,
            scale_range=(1.5, 3.0),
            certify=False,
            loss=loss,
        )
        errors.append((result.scale - 2.0) / result.scale_std)
    # That of cm is on the safe side, see `judge.uncertainty`.
    assert (0.05 if loss == "cm" else 0.5) < np.sqrt(np.mean(np.square(errors))) < 1.6
