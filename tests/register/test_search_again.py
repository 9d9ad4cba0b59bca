"""A search that begins with a poor pose: it is done again from what it found, and what is said holds for that."""

import logging
import math
from dataclasses import replace

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import Scored, full_saving
from tear3d.problem.options import Options
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove import whole
from tear3d.synthetic import make_problem

TEAR = LOSSES["tear"]


@pytest.fixture(scope="module")
def pairs():
    given = make_problem(300, 0.5, seed=2)
    return Pairs.of(given.source, given.target, given.noise_bound), given


def begun(pairs, given, shift):
    """The true pose moved by a share of the noise bound."""
    true = pairs.frame.inside(Pose.from_matrix(given.transformation))
    moved = Pose(true.rotation, true.translation + np.array([shift * given.noise_bound, 0.0, 0.0]))
    return Scored(moved, full_saving(pairs, moved, TEAR))


def test_it_is_done_again_from_the_better_pose(pairs, caplog):
    pairs, given = pairs
    options = Options.of(rel_gap=0.02, threads=1)
    start = begun(pairs, given, 0.5)
    with caplog.at_level(logging.INFO, "tear3d"):
        proof = whole.prove_pose(pairs, start, options, options.limits())
    assert "searching again" in caplog.text
    assert not proof.about(start)
    assert proof.best.saving > start.saving
    (stage,) = proof.attempts[0].stages
    assert stage.closed
    assert stage.saving == proof.best.saving == pytest.approx(full_saving(pairs, proof.best.pose, TEAR), rel=1e-9)
    assert np.all(np.diff(stage.history[:, 2]) <= 0.0), "the bounds of both searches hold"
    assert stage.elsewhere <= stage.saving_bound
    caplog.clear()
    with caplog.at_level(logging.INFO, "tear3d"):
        again = whole.prove_pose(pairs, proof.best, options, options.limits())
    assert "searching again" not in caplog.text
    assert again.about(proof.best)
    assert again.best.saving == pytest.approx(proof.best.saving, rel=1e-9)


def test_without_time_for_that_nothing_is_said_about_poses_elsewhere(pairs):
    pairs, given = pairs
    for cells in (200, 2_000, 8_000):
        limits = Limits(node_limit=cells)
        proof = whole.prove_pose(pairs, begun(pairs, given, 0.5), Options.of(rel_gap=1e-4, threads=1), limits)
        (stage,) = proof.attempts[0].stages
        start = begun(pairs, given, 0.5).pose
        if whole.farthest_move(pairs, proof.best.pose, start) > 0.1 and stage.ended_by == "node_limit":
            assert stage.elsewhere <= stage.saving_bound
        assert stage.saving_bound >= proof.best.saving


def test_what_two_searches_prove_together(pairs):
    pairs, given = pairs
    options = Options.of(rel_gap=0.02, threads=1)
    (first,) = whole.prove_pose(pairs, begun(pairs, given, 0.0), options, options.limits()).attempts[0].stages
    looser = replace(first, saving_bound=2.0 * first.saving, closed=False, ended_by="time_limit", elsewhere=1e9)
    both = whole._joined(first, looser, 0.02)
    assert both.closed
    assert (both.saving_bound, both.ended_by) == (first.saving_bound, "gap")
    assert both.cells == 2 * first.cells
    assert both.elsewhere == first.saving_bound
    assert both.lower_bound == pytest.approx(first.lower_bound)
    better = replace(first, saving=1.5 * first.saving, saving_bound=1.6 * first.saving)
    assert whole._joined(first, better, 0.02).saving_bound == better.saving, "never below what was found"


@pytest.mark.parametrize(("aside", "closed"), [(0.1, True), (1.005, True), (1.5, False)])
def test_pairs_set_aside_are_in_both_bounds(pairs, aside, closed):
    pairs, given = pairs
    options = Options.of(rel_gap=0.02, threads=1)
    (stage,) = whole.prove_pose(pairs, begun(pairs, given, 0.0), options, options.limits()).attempts[0].stages
    more = whole._with_aside(stage, aside * stage.saving, 0.02)
    assert more.saving_bound == max(stage.saving_bound, aside * stage.saving)
    assert more.elsewhere == max(stage.elsewhere, aside * stage.saving)
    assert more.closed == closed
    assert more.ended_by == ("gap" if closed else "set_aside")
    assert more.objective + more.saving == pytest.approx(more.lower_bound + more.saving_bound)


def test_how_far_two_poses_put_a_point_apart(pairs):
    pairs, _ = pairs
    turn = Pose.of([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0.1, 0.2, 0.3])
    apart = np.linalg.norm(turn.apply(pairs.x) - pairs.x, axis=1).max() / pairs.typical_bound
    assert whole.farthest_move(pairs, turn, Pose.identity()) == pytest.approx(apart)
    assert whole.farthest_move(pairs, turn, turn) == 0.0
    assert math.isfinite(apart)
