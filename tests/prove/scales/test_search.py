"""The proof of a similarity: no pose that anybody finds saves more than its bound."""

import numpy as np
import pytest

from tear3d.find.scales import similar_fit
from tear3d.find.swell import climb_similar
from tear3d.lab.synthetic import random_rotation
from tear3d.problem.limits import Limits
from tear3d.problem.objective import Scored, full_saving
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, scale_of, similar
from tear3d.prove.scales.search import prove_similarity


def problem(seed):
    rng = np.random.default_rng(seed)
    n, scale = int(rng.integers(20, 40)), float(np.exp(rng.uniform(-1.0, 1.0)))
    right = int(rng.integers(n // 2, n))
    x, turn, shift = rng.normal(size=(n, 3)), random_rotation(rng), rng.normal(size=3)
    y = 1.5 * rng.normal(size=(n, 3))
    y[:right] = scale * x[:right] @ turn.T + shift + 0.01 * rng.normal(size=(right, 3))
    xi = 0.06 * rng.uniform(0.7, 1.5, n) if seed % 2 else 0.06
    weights = rng.uniform(0.1, 2.0, n) if seed % 4 > 1 else None
    return Pairs.of(x, y, xi, weights, scales=(0.2, 5.0)), similar(scale, Pose(turn, shift)), rng


def best_of_many(pairs, loss, span, rng, count):
    best = 0.0
    for _ in range(count):
        some = rng.choice(len(pairs), 3, replace=False)
        best = max(best, climb_similar(pairs, similar_fit(pairs.x[some], pairs.y[some], span), loss, span).saving)
    return best


@pytest.mark.parametrize("seed", range(9))
def test_nothing_found_exceeds_the_bound(seed):
    pairs, truth, rng = problem(seed)
    span, options = ScaleRange(0.2, 5.0), Options.of(loss=("tear", "cm", "tls")[seed % 3], rel_gap=0.02, threads=1)
    loss = options.the_loss
    start = climb_similar(pairs, pairs.frame.inside(truth), loss, span)
    proof = prove_similarity(pairs, Scored(start.pose, start.saving), span, options, Limits(120.0))
    certificate = proof.attempts[0].stages[0]
    assert certificate.closed
    assert certificate.saving_bound <= certificate.saving * 1.02
    assert best_of_many(pairs, loss, span, rng, 15) <= certificate.saving_bound
    reached = climb_similar(pairs, pairs.frame.inside(truth), loss, span).saving
    assert reached <= certificate.saving_bound
    assert span.low <= scale_of(proof.best.pose.rotation) <= span.high * (1.0 + 1e-12)
    assert full_saving(pairs, proof.best.pose, loss) == pytest.approx(proof.best.saving, rel=1e-12)


def test_a_better_similarity_is_found_on_the_way():
    pairs, truth, _ = problem(2)
    span, options = ScaleRange(0.2, 5.0), Options.of(threads=1, rel_gap=0.1)
    loss = options.the_loss
    right = climb_similar(pairs, pairs.frame.inside(truth), loss, span)
    off = right.pose
    poor = Pose(off.rotation * 1.01, off.translation + 0.01)
    saving = full_saving(pairs, poor, loss)
    assert 0.0 < saving < 0.8 * right.saving
    proof = prove_similarity(pairs, Scored(poor, saving), span, options, Limits(30.0))
    assert proof.best.saving >= right.saving * 0.9
    assert proof.best.saving > saving


def test_the_bound_holds_when_a_limit_ends_it():
    pairs, truth, rng = problem(2)
    span = ScaleRange(0.2, 5.0)
    for cells in (0, 200):
        options = Options.of(threads=1, node_limit=cells)
        start = climb_similar(pairs, pairs.frame.inside(truth), options.the_loss, span)
        proof = prove_similarity(pairs, Scored(start.pose, start.saving), span, options, options.limits())
        certificate = proof.attempts[0].stages[0]
        assert certificate.ended_by == "node_limit"
        assert not certificate.closed
        assert best_of_many(pairs, options.the_loss, span, rng, 10) <= certificate.saving_bound
