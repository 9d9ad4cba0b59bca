"""Proofs about the poses that are allowed: no such pose saves more, by cells, boxes or lengths."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import residuals
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.lengths import _differences, _point
from tear3d.prove.pose.lots import make_lot
from tear3d.prove.pose.nodes import NODE, sides_to_halve
from tests.prove.pose.priors import KINDS, allowed_pose, confined_case, make_prior, small
from tests.prove.pose.problems import examine, make_case


@pytest.mark.parametrize("first", range(0, 48, 6))
def test_no_allowed_pose_saves_more_than_the_bound(first):
    for seed in range(first, first + 6):
        case = confined_case(make_case(seed))
        assert not examine(case, tries=12).wrong, f"seed {seed}: {case.told}"


def test_one_pair_that_can_agree_is_enough_for_a_proof():
    """In a plane that all but one pair leave; the size of a cloud of one point was not a number."""
    case = confined_case(make_case(42051))
    assert np.count_nonzero(case.pairs.possible) == 1
    assert case.pairs.take(np.array([3])).radius == 0.0
    assert not examine(case, tries=5).wrong


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
@settings(max_examples=80, deadline=None)
def test_residuals_of_allowed_poses_are_no_smaller_than_differences_say(seed, kind):
    rng = np.random.default_rng(seed)
    truth = Pose(random_rotation(rng), rng.normal(size=3))
    x = rng.normal(size=(12, 3)) * 10.0 ** rng.uniform(-1.0, 1.0)
    pairs = Pairs.of(x, truth.apply(x) + 0.05 * rng.normal(size=(12, 3)), 0.2)
    inside = pairs.frame.inside(truth)
    pairs = replace(pairs, prior=make_prior(rng, inside, 1.0, kind))
    lot = make_lot(pairs, LOSSES["tear"])
    poses = [allowed_pose(rng, pairs.prior, 1.0), pairs.allow(inside)]
    poses.append(pairs.allow(Pose(small(rng, 0.1) @ inside.rotation, inside.translation)))
    apart = np.empty(len(pairs), np.float32)
    for pose in poses:
        rho = residuals(pairs, pose)
        for i in range(len(pairs)):
            _differences(lot.rows, lot.turn, lot.lean, 0, len(pairs), _point(lot.rows, i), apart)
            assert np.all(apart - lot.slop <= rho[i] + rho + 1e-12)


def test_a_side_without_length_is_not_halved():
    node = np.zeros(NODE)
    node[:] = 0.0
    node[0], node[9:12] = 1e9, (0.0, 0.0, 0.5)  # the largest g; the least is 0
    assert sides_to_halve(node, 0.1, 1.0, 1.0) == (False, False, True)
