"""Candidates for similarities, and their ascent."""

import numpy as np
import pytest

from tear3d.find.ratios import Ratios, _deepest
from tear3d.find.scales import SimilarSearch, similar_fit
from tear3d.find.swell import climb_similar
from tear3d.lab.synthetic import make_problem, random_rotation
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.scales import ScaleRange, rigid_part, scale_of, scaled, similar

SPAN = ScaleRange(0.1, 10.0)


def search(problem, seed=0):
    pairs = Pairs.of(problem.source, problem.target, problem.noise_bound, scales=SPAN)
    options = Options.of(threads=1, seed=seed)
    found = SimilarSearch.over(pairs, options, SPAN, Limits(), lambda pairs: lambda pose: -100.0)
    return found, found.refined(found.ranked()[0])


@pytest.mark.parametrize("scale", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("outliers", [0.02, 0.95])
def test_the_scale_is_found_among_few_and_many_outliers(scale, outliers):
    problem = make_problem(1500, outliers, scale=scale, seed=4)
    found, best = search(problem)
    assert scale_of(best.pose.rotation) == pytest.approx(scale, rel=0.01)
    assert best.num_inliers >= 0.95 * problem.inlier_mask.sum()
    again, same = search(problem)
    assert np.array_equal(best.pose.row, same.pose.row)
    assert again.tried == found.tried


def test_where_most_intervals_meet():
    rng = np.random.default_rng(1)
    for _ in range(50):
        low = rng.normal(size=12)
        high = low + rng.exponential(size=12)
        at = _deepest(low, high)
        depth = int(np.sum((low <= at) & (high >= at)))
        assert depth == max(int(np.sum((low <= place) & (high >= place))) for place in low)


def test_a_pivot_proposes_the_scale_of_its_consensus():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(300, 3)), rng.normal(size=(300, 3))
    y[:60] = 2.3 * x[:60] @ random_rotation(rng).T + 0.005 * rng.normal(size=(60, 3))
    pairs = Pairs(x, y, np.full(1, 0.03), np.ones(1), None, np.zeros(3), np.zeros(3))
    proposals = Ratios(pairs, 300, SPAN).proposals(0, 20)
    right = {p.pivot for p in proposals if abs(p.scale / 2.3 - 1.0) < 0.02}
    assert len(right) >= 18
    for proposal in proposals:  # every pair it names agrees with pivot and scale up to the noise
        a = np.linalg.norm(x[proposal.rows] - x[proposal.pivot], axis=1)
        b = np.linalg.norm(y[proposal.rows] - y[proposal.pivot], axis=1)
        assert np.all(np.abs(proposal.scale * a - b) <= 0.03 * (1.0 + 1e-9))
        assert SPAN.low <= proposal.scale <= SPAN.high
        assert proposal.pivot not in proposal.rows


@pytest.mark.parametrize("loss", ["tear", "cm", "tls"])
def test_an_ascent_never_ends_lower_and_stays_in_range(loss):
    problem = make_problem(400, 0.6, scale=1.7, seed=1)
    pairs = Pairs.of(problem.source, problem.target, problem.noise_bound)
    truth = pairs.frame.inside(Pose.from_matrix(problem.transformation))
    rng = np.random.default_rng(0)
    for span in (SPAN, ScaleRange(1.705, 3.0)):
        for _ in range(5):
            step = 0.02 * rng.normal(size=3)
            off = Pose(np.array(truth.rotation) * span.clip(1.72) / 1.7, truth.translation + step)
            before = full_saving(pairs, off, LOSSES[loss])
            reached = climb_similar(pairs, off, LOSSES[loss], span)
            assert reached.saving >= before
            assert span.low * (1 - 1e-12) <= scale_of(reached.pose.rotation) <= span.high * (1 + 1e-12)
        if span is SPAN:
            assert reached.saving >= 0.97 * full_saving(pairs, truth, LOSSES[loss])


def test_a_similarity_is_a_rigid_pose_of_the_scaled_source():
    problem = make_problem(50, 0.2, scale=0.4, seed=3)
    pairs = Pairs.of(problem.source + 100.0, problem.target, problem.noise_bound)
    outside = Pose.from_matrix(problem.transformation)
    outside = Pose(outside.rotation, outside.translation - outside.rotation @ np.full(3, 100.0))
    pose = pairs.frame.inside(outside)
    scale, rigid = rigid_part(pose)
    assert scale == pytest.approx(0.4)
    larger = scaled(pairs, scale)
    tear = LOSSES["tear"]
    assert full_saving(larger, rigid, tear) == pytest.approx(full_saving(pairs, pose, tear))
    back = larger.frame.outside(rigid)
    assert np.allclose(similar(scale, back).row, outside.row)


def test_least_squares_with_a_scale():
    rng = np.random.default_rng(0)
    x, turn = rng.normal(size=(9, 3)), random_rotation(rng)
    found = similar_fit(x, 3.0 * x @ turn.T + 1.0, SPAN)
    assert np.allclose(found.rotation, 3.0 * turn)
    assert np.allclose(found.translation, 1.0)
    assert scale_of(similar_fit(x, 30.0 * x, SPAN).rotation) == pytest.approx(10.0)
    assert np.isfinite(similar_fit(np.zeros((3, 3)), x[:3], SPAN).row).all()
