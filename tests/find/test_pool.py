"""The pool: distinct poses, best first, each refined once."""

import numpy as np
import pytest

from tear3d.find import pool as module
from tear3d.find.pool import Pool
from tear3d.lab.synthetic import make_problem, random_rotation
from tear3d.problem.limits import Limits
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import full_saving
from tear3d.problem.pose import Pose
from tests.problem.cases import rotation_about, unchecked

TEAR = LOSSES["tear"]


def two_motions():
    p, q = (make_problem(400, 0.0, seed=seed) for seed in (1, 2))
    target = p.target.copy()
    target[300:] = p.source[300:] @ q.rotation.T + q.translation
    pairs = unchecked(p.source, target, p.noise_bound)
    return pairs, *(Pose.of(m.rotation, m.translation) for m in (p, q))


def nudged(pose, angle, seed=0):
    turn = rotation_about(np.random.default_rng(seed).normal(size=3), angle)
    return Pose(turn @ pose.rotation, pose.translation)


def test_members_are_distinct_and_ranked():
    pairs, large, small = two_motions()
    pool = Pool(pairs, TEAR, lambda pose: 0.0, Limits())
    assert pool.best is None
    for seed, start in enumerate([small, large, small, large]):
        member = pool.offer(nudged(start, 0.01, seed).row)
        assert member.saving == full_saving(pairs, member.pose, TEAR)
    assert len(pool.members) == 2
    assert [member.count for member in pool.members] == [300, 100]
    assert pool.best is pool.members[0]
    assert pool.ceiling == pytest.approx(pairs.total(TEAR))


def test_a_start_like_one_before_is_not_refined_again(monkeypatch):
    pairs, large, _ = two_motions()
    calls = []
    monkeypatch.setattr(module, "climb_from", lambda here, *given, graduated: calls.append(given) or here)
    pool = Pool(pairs, TEAR, lambda pose: 0.0, Limits())
    first = pool.offer(large.row)
    assert pool.offer(nudged(large, 1e-4).row) is first
    assert len(calls) == 1
    pool.offer(nudged(large, 0.5).row)
    assert len(calls) == 2


def test_the_worst_leave_when_it_is_full():
    pairs, large, _ = two_motions()
    pool = Pool(pairs, TEAR, lambda pose: 0.0, Limits())
    pool.offer(large.row)
    rng = np.random.default_rng(3)
    for _ in range(3 * module.SIZE):
        rotation = random_rotation(rng)
        pool.offer(Pose(rotation, pairs.y[0] - rotation @ pairs.x[0]).row)
    assert len(pool.members) == module.SIZE
    assert pool.best.count == 300
    savings = [member.saving for member in pool.members]
    assert savings == sorted(savings, reverse=True)


def test_polish_never_loses_and_does_nothing_when_time_is_up():
    pairs, large, _ = two_motions()
    limits = Limits()
    pool = Pool(pairs, TEAR, lambda pose: 0.0, limits)
    member = pool.offer(large.row)
    assert pool.polish(member).saving >= member.saving
    limits.cancel()
    assert pool.polish(member) is member


def test_the_judge_is_asked_once_per_member():
    pairs, large, _ = two_motions()
    asked = []
    pool = Pool(pairs, TEAR, lambda pose: asked.append(pose) or -7.0, Limits())
    member = pool.offer(large.row)
    assert [pool.significance(member) for _ in range(3)] == [-7.0] * 3
    assert asked == [member.pose]


def test_images_are_where_the_probes_go():
    pairs, large, small = two_motions()
    pool = Pool(pairs, TEAR, lambda pose: 0.0, Limits())
    images = pool.probes.images(np.array([large.row, small.row]))
    for image, pose in zip(images, (large, small), strict=True):
        np.testing.assert_allclose(image.reshape(6, 3), pose.apply(pool.probes.points), atol=1e-12)
    np.testing.assert_array_equal(pool.probes.same(images, images[0]), [True, False])


@pytest.mark.parametrize("size", [0.5, 0.999, 1.001, 3.0])
def test_images_are_the_same_when_all_their_points_are(size):
    pairs, large, _ = two_motions()
    probes = Pool(pairs, TEAR, lambda pose: 0.0, Limits()).probes
    own = probes.images(large.row)
    images = np.tile(own, (6, 1))
    for k in range(6):  # each moves another point
        images[k, 3 * k + k % 3] += size * probes.limit
    apart = np.linalg.norm((images - own).reshape(6, 6, 3), axis=2).max(axis=1)
    np.testing.assert_array_equal(probes.same(images, own), apart < probes.limit)
    assert probes.same(images[:0], own).shape == (0,)
