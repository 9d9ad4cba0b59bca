"""What a pose explains, and which poses are the same: compared with the obvious."""

from __future__ import annotations

import numpy as np

from tear3d.instances.peel import alike, left_by, same_as
from tear3d.instances.words import among, how_many
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
XI = RNG.uniform(0.05, 0.1, 400)
PAIRS = Pairs.of(X, X + RNG.normal(size=(400, 3)) * RNG.uniform(0.0, 0.4, (400, 1)), XI)


def shifted(along: float) -> Pose:
    return PAIRS.frame.inside(Pose(np.eye(3), np.array([along, 0.0, 0.0])))


def distances(pose: Pose) -> np.ndarray:
    return np.linalg.norm(PAIRS.y - PAIRS.x @ pose.rotation.T - pose.translation, axis=1) / PAIRS.xi


def test_pairs_within_three_bounds_are_explained_unless_another_has_them():
    pose, other = shifted(0.0), shifted(0.2)
    own, theirs = distances(pose), distances(other)
    expected = [i for i in range(400) if own[i] > 1.0 and (own[i] > 3.0 or theirs[i] <= 1.0)]
    assert left_by(PAIRS, [pose], [other]).tolist() == expected
    assert left_by(PAIRS, [pose]).tolist() == np.flatnonzero(own > 3.0).tolist()
    assert np.any(own[expected] <= 3.0)
    assert left_by(PAIRS, []).tolist() == list(range(400))


def test_poses_are_alike_where_the_pairs_of_the_first_lie():
    pose = shifted(0.0)
    bounds = np.sort(PAIRS.xi[distances(pose) <= 1.0])
    middle = 3.0 * float(np.median(bounds))  # a shift moves all pairs by as much
    assert alike(PAIRS, pose, shifted(0.98 * middle))
    assert not alike(PAIRS, pose, shifted(1.02 * middle))


def test_the_nearest_of_several_is_the_same():
    poses = [shifted(0.0), shifted(0.1), shifted(2.0)]
    assert same_as(PAIRS, poses, shifted(0.02)) == 0
    assert same_as(PAIRS, poses, shifted(0.09)) == 1
    assert same_as(PAIRS, poses, shifted(4.0)) is None
    assert same_as(PAIRS, [], shifted(4.0)) is None


def test_words():
    assert among("m", 7, 0, 0) == "m"
    assert among("m", 7, 1, 0) == "among the 7 pairs that the first one leaves: m"
    assert among("m", 7, 2, 1) == "among the 7 pairs that the first two and one pose that could be chance leave: m"
    assert among("m", 7, 0, 2) == "among the 7 pairs that two poses that could be chance leave: m"
    assert how_many("m", 0, 3, None) == "m"
    assert how_many("m", 1, 3, None) == "one motion, and what it leaves could be chance; it: m"
    assert how_many("m", 11, 12, "interrupted") == (
        "11 motions until an interruption ended the search for more; the first: m"
    )
    assert how_many("m", 3, 3, "time_limit") == "three motions, as many as were asked for; the first: m"
