"""No pose saves more than a proof allows, anywhere or elsewhere: random problems, and a hard search for such a pose."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.driver import maximise
from tear3d.prove.pose import stage as module
from tear3d.prove.pose.stage import ELSEWHERE, WholePose
from tests.prove.pose.problems import displacement, examine, make_case, moved


def test_nothing_beats_a_proof():
    """`python -m tests.prove.pose.fuzz` does the same by the thousand."""
    proven, grouped, copied, apart = set(), 0, 0, 0
    for seed in range(60):
        case = make_case(seed)
        verdict = examine(case._replace(limit=min(case.limit, 6_000)), tries=8)
        assert not verdict.wrong, f"seed {seed}: {case.told}: {verdict.wrong}"
        grouped, copied = grouped + verdict.grouped, copied + verdict.copied
        apart += verdict.apart
        if verdict.certificate.closed:
            proven.add(case.loss.name)
    assert proven == set(LOSSES)
    assert min(grouped, copied, apart) > 10


def two_motions(start):
    """Thirty-five pairs moved by −0.6 ξ, twenty-five by 2.5 ξ: rivals 3.1 ξ apart. Also the poses of both."""
    x, xi = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 3)), 0.02
    shift = np.where(np.arange(60) < 35, -0.6 * xi, 2.5 * xi)[:, None] * np.eye(3)[0]
    pairs = Pairs.of(x, x + shift, xi)
    poses = [pairs.frame.inside(Pose(np.eye(3), move * xi * np.eye(3)[0])) for move in (start, -0.6, 2.5)]
    return WholePose(pairs, LOSSES["tear"], poses[0], share=0.65), *poses[1:]


@pytest.mark.parametrize("start", [0.0, -0.6])
def test_elsewhere_is_elsewhere_from_the_pose_returned(start):
    """The rival is near a start between the two, and far from the pose that is returned."""
    stage, best, rival = two_motions(start)
    saving = full_saving(stage.pairs, rival, stage.loss)
    bounds = []
    for stayed in (stage.stayed, lambda _: True):
        with (
            mock.patch.multiple(module, SURE=10**15),
            mock.patch.object(stage, "stayed", stayed),
        ):
            known = full_saving(stage.pairs, best, stage.loss), best
            found = maximise(stage, known, rel_gap=0.05, limits=Limits(node_limit=100_000))
        assert found.certificate.closed
        assert displacement(stage.pairs, rival, found.solution) > ELSEWHERE * 0.02
        bounds.append(found.certificate.elsewhere)
    assert bounds[0] >= saving
    assert (bounds[1] >= saving) == (start == -0.6)  # the question is asked for a reason


def test_a_pose_has_stayed_when_it_moved_no_point_far():
    stage, _, _ = two_motions(0.0)
    rng, xi = np.random.default_rng(1), 0.02
    room = ELSEWHERE - module.NEAR_ZONE
    assert stage.stayed(stage.pose)
    for _ in range(20):
        assert not stage.stayed(moved(rng, stage.pairs, stage.pose, 1.01 * room))
        assert stage.stayed(moved(rng, stage.pairs, stage.pose, 0.2 * room))
    pose = Pose(stage.pose.rotation, stage.pose.translation + 1.001 * room * xi * np.eye(3)[1])
    assert not stage.stayed(pose)
