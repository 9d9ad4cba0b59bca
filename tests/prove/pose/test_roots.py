"""What all rotations together leave of the translations: nothing that is cut off saves more than it is said to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.votes import make_booth, plain_votes, vote
from tear3d.prove.bounds.voxels import make_grid
from tear3d.prove.domains.rotations import ALL_ROTATIONS
from tear3d.prove.pose.nodes import HIGH, LOW
from tear3d.prove.pose.sift import Sifted
from tear3d.prove.pose.stage import WholePose
from tear3d.prove.stage import BOUND
from tests.naive import chart_rotation
from tests.prove.pose.cases import KINDS, ballots_of, exact_problem, points_of
from tests.prove.pose.grouping import Choices, grouped
from tests.prove.pose.problems import bare
from tests.prove.pose.test_stage import synthetic

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
losses = st.sampled_from(sorted(LOSSES))


def fitting_poses(rng, exact, count):
    """(face, g, t) at which some pair fits, or nearly."""
    points = points_of(exact.packed)
    for _ in range(count):
        i, face, g = int(rng.integers(exact.packed.size)), int(rng.integers(4)), rng.uniform(-1.0, 1.0, 3)
        t = points.y[:, i] - chart_rotation(face, g) @ points.x[:, i]
        yield face, g, t + points.xi[i] * rng.choice([0.0, 0.3]) * rng.uniform(-1.0, 1.0, 3)


@given(seeds, kinds, losses, st.floats(0.0, 1.2), st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_hull_of_all_rotations_bounds_exact_savings(seed, kind, loss, share, groups):
    rng = np.random.default_rng(seed)
    with grouped(Choices(groups=3 if groups else 10**9, size=2)):
        exact = exact_problem(rng, kind, loss)
    p = exact.packed
    poses = [(t, exact.saving(face, g, t)) for face, g, t in fitting_poses(rng, exact, 6)]
    threshold = share * float(max(saving for _, saving in poses))
    box = tuple(p.low.tolist()), tuple(p.high.tolist())
    rule = p.voters, p.groups, (0, p.size), ALL_ROTATIONS, box, 0, threshold, p.ballot
    tally = vote(*rule, make_booth(groups=groups))
    for t, saving in poses:
        kept = bool(np.all(tally.low <= t) and np.all(t <= tally.high))
        assert saving <= Fraction(tally.cut) or (kept and saving <= Fraction(tally.bound))


@given(seeds, kinds)
@settings(max_examples=60, deadline=None)
def test_votes_of_all_rotations_are_counted_as_by_hand(seed, kind):
    """Coordinate by coordinate R x is within |x| of the origin: no sharper, and a margin or two wider."""
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind)
    p, points, booth = exact.packed, points_of(exact.packed), make_booth()
    low, high = tuple(p.low.tolist()), tuple(p.high.tolist())
    grid = make_grid(low, high, float(np.max(p.high - p.low)) / rng.uniform(1.0, 9.0), 1000)
    plain_votes(p.voters, (0, p.size), ALL_ROTATIONS, grid, p.ballot, 4, booth)
    shape = tuple(n + 1 for n in grid.shape)
    votes = booth.grid[: int(np.prod(shape))].reshape(shape)[tuple(slice(n) for n in grid.shape)]
    edges = [grid.low[k] + grid.size[k] * np.arange(grid.shape[k] + 1) for k in range(3)]
    for grow, holds in ((0.0, np.less_equal), (2.0 * p.ballot.margin, np.greater_equal)):
        total = np.zeros(grid.shape, np.int64)
        for i, ballots in enumerate(ballots_of(p)):
            reach, y = points.norm[i] + points.xi[i] + grow, points.y[:, i]
            meets = [(edges[k][:-1] <= y[k] + reach) & (edges[k][1:] >= y[k] - reach) for k in range(3)]
            total += ballots * np.einsum("i,j,k->ijk", *meets)
        assert np.all(holds(total, votes))


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("share", [0.3, 0.8, 1.0099])
@pytest.mark.parametrize("many", [10**9, 0])
def test_roots_hold_every_pose_that_saves_more_than_the_floor(loss, share, many):
    pairs, pose, saving = synthetic(300, 0.5, loss=LOSSES[loss])
    with grouped(Choices(many=many)):
        stage = WholePose(pairs, LOSSES[loss], pose, share=share)
    nodes, p = stage.roots(), stage.packed
    assert len(nodes) == 108
    assert 0.0 < stage.floor <= min(1.0, share) * saving * (1.0 + 1e-12)
    assert saving <= nodes[0, BOUND] <= p.ceiling
    low, high = nodes[0, LOW + 3 : LOW + 6], nodes[0, HIGH + 3 : HIGH + 6]
    assert np.prod(high - low) < np.prod(p.high - p.low)  # something was cut off
    assert np.all((low <= 0.0) & (high >= 0.0))  # not the incumbent
    rng, outside = np.random.default_rng(0), 0
    for _ in range(300):
        i, rotation = rng.integers(300), random_rotation(rng)
        t = pairs.y[i] - rotation @ pairs.x[i]
        inside = t - p.shift + rotation @ p.mean
        found = full_saving(pairs, Pose(rotation, t), LOSSES[loss])
        if np.any((inside < low) | (inside > high)):
            outside += 1
            assert found <= stage.floor
        else:
            assert found <= nodes[0, BOUND]
    assert outside > 5


def test_roots_are_the_same_when_asked_again():
    pairs, pose, _ = synthetic(300, 0.5)
    stage = WholePose(pairs, LOSSES["tear"], pose)
    one, floor = stage.roots(), stage.floor
    assert np.array_equal(stage.roots(), one)
    assert stage.floor == floor


def test_nothing_is_left_when_nothing_saves_more_than_what_lengths_bound():
    pairs, pose, saving = synthetic(100, 0.5)
    every = np.arange(100)
    stage = WholePose(pairs, LOSSES["tear"], pose, Sifted(every, 2.0 * WholePose(pairs, LOSSES["tear"], pose).total))
    assert len(stage.roots()) == 0
    assert stage.floor >= saving
    stage = WholePose(pairs, LOSSES["tear"], pose, Sifted(every, 0.9 * saving))
    assert len(stage.roots()) == 108
    assert 0.9 * saving <= stage.floor <= saving


def test_a_start_that_saves_nothing_cuts_off_what_saves_nothing():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 3))
    pairs = bare(x, x + 1.0, 0.1)
    stage = WholePose(pairs, LOSSES["tear"], Pose(np.eye(3), np.full(3, 500.0)))
    assert stage.start()[0] == 0.0
    nodes = stage.roots()
    assert stage.floor == 0.0
    wanted = np.ones(3) - stage.packed.shift + stage.packed.mean  # the pose with which all agree
    assert np.all((nodes[0, LOW + 3 : LOW + 6] <= wanted) & (wanted <= nodes[0, HIGH + 3 : HIGH + 6]))
    assert nodes[0, BOUND] >= full_saving(pairs, Pose(np.eye(3), np.ones(3)), LOSSES["tear"])
