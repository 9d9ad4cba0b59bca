"""Alternatives and ambiguity: symmetric things are flagged, others never, and what is said of the others is true."""

import numpy as np
import pytest

from tear3d import register
from tear3d.judge.chance import SIGNIFICANT
from tear3d.lab.synthetic import make_problem, random_rotation
from tests.bumpy import bumpy_cloud
from tests.problem.cases import rotation_about

XI, NOISE = 0.04, 0.006


def saving(source, target, pose):
    residuals = np.abs(target - source @ pose[:3, :3].T - pose[:3, 3])
    inside = np.linalg.norm(residuals, axis=1) <= XI
    return np.sum(np.maximum(0.0, XI - residuals.sum(axis=1))[inside]), int(inside.sum())


def matched(points, turns, seed, wrong=0.5):
    """Each point is matched to one of its images under `turns`; some at random."""
    rng = np.random.default_rng(seed)
    images = np.einsum("nij,nj->ni", np.asarray(turns)[rng.integers(0, len(turns), len(points))], points)
    order = np.arange(len(points))
    bad = rng.uniform(size=len(points)) < wrong
    order[bad] = rng.permutation(order[bad])
    motion = random_rotation(rng)
    return points, images[order] @ motion.T + rng.normal(0.0, NOISE, points.shape) + rng.normal(size=3)


def folded(count, seed):
    """A bumpy thing with `count`-fold symmetry about z, and its turns."""
    turns = [rotation_about([0, 0, 1], 2.0 * np.pi * k / count) for k in range(count)]
    wedge = bumpy_cloud(1200 // count, seed)
    wedge[:, 0] += 1.5
    return np.concatenate([wedge @ turn.T for turn in turns]), turns


def cylinder(seed):
    rng = np.random.default_rng(seed)
    angle, height = rng.uniform(0, 2 * np.pi, 2000), rng.uniform(-1, 1, 2000)
    return np.c_[0.5 * np.cos(angle), 0.5 * np.sin(angle), height]


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_turns_that_leave_a_thing_as_it_is(count):
    for seed in range(3):
        source, target = matched(*folded(count, seed), seed)
        result = register(source, target, noise_bound=XI, certify=False)
        assert result.success
        assert result.ambiguous
        assert "ambiguous" in result.message
        assert len(result.alternatives) >= count - 1


def test_a_cylinder_turns_freely():
    source = cylinder(0)
    turns = [rotation_about([0, 0, 1], angle) for angle in np.linspace(0, 2 * np.pi, 500)]
    result = register(*matched(source, turns, 0, wrong=0.2), noise_bound=XI, certify=False)
    assert result.ambiguous


def test_equal_columns():
    rng = np.random.default_rng(3)
    column = np.c_[0.1 * np.cos(a := rng.uniform(0, 2 * np.pi, 300)), 0.1 * np.sin(a), rng.uniform(0, 1, 300)]
    source = np.concatenate([column + np.array([x, 0, 0]) for x in (0.0, 1.0, 2.0, 3.0)])
    which = rng.integers(0, 2, len(source))
    target = source + np.c_[which, np.zeros((len(source), 2))] + rng.normal(0.0, NOISE, source.shape)
    assert register(source, target, noise_bound=XI, certify=False).ambiguous


def test_an_asymmetric_thing_never():
    for seed in range(6):
        source, target = matched(bumpy_cloud(1500, seed), [np.eye(3)], seed, wrong=0.9)
        result = register(source, target, noise_bound=XI, certify=False)
        assert result.success
        assert not result.ambiguous


def test_two_motions_of_a_size_are_ambiguous_and_one_is_not():
    points = np.random.default_rng(4).uniform(-1, 1, (1000, 3))
    turns = [random_rotation(np.random.default_rng(seed)) for seed in (1, 2)]
    source, target = matched(points, turns, 0)
    both = register(source, target, noise_bound=XI, certify=False)
    assert both.ambiguous
    assert both.success
    source, target = matched(points, [turns[0]] * 3 + [turns[1]], 0)
    one = register(source, target, noise_bound=XI, certify=False)
    assert not one.ambiguous
    assert one.success


def test_alternatives_are_what_they_say():
    source, target = matched(*folded(4, 5), 5)
    result = register(source, target, noise_bound=XI, certify=False)
    poses = [result.transformation, *(other.transformation for other in result.alternatives)]
    for other in result.alternatives:
        worth, count = saving(source, target, other.transformation)
        assert other.saving == pytest.approx(worth, rel=1e-6)
        assert other.num_inliers == pytest.approx(count, abs=1)
        assert not other.transformation.flags.writeable
    savings = [other.saving for other in result.alternatives]
    assert savings == sorted(savings, reverse=True)
    for i, one in enumerate(poses):
        for two in poses[i + 1 :]:
            moved = (source @ (one - two)[:3, :3].T) + (one - two)[:3, 3]
            assert np.linalg.norm(moved, axis=1).max() > 2.0 * XI
    assert sum(other.significance <= SIGNIFICANT for other in result.alternatives) >= 3


def test_units_and_weights():
    source, target = matched(*folded(2, 6), 6)
    plain = register(source, target, noise_bound=XI, certify=False)
    scaled = register(
        1e3 * source, 1e3 * target, noise_bound=1e3 * XI, weights=np.full(len(source), 4.0), certify=False
    )
    assert scaled.ambiguous
    assert scaled.alternatives[0].saving == pytest.approx(4e3 * plain.alternatives[0].saving, rel=1e-3)


def test_where_nothing_is_found_nothing_is_ambiguous():
    problem = make_problem(500, 1.0, seed=9)
    result = register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)
    assert not result.success
    assert not result.ambiguous


@pytest.mark.parametrize("loss", ["tear", "tls", "cm"])
@pytest.mark.parametrize("wrong", [0, 300])
def test_a_line_turns_about_itself(loss, wrong):
    rng = np.random.default_rng(0)
    rod = np.array([3.0, 0.0, 0.0]) + np.outer(rng.uniform(-1.0, 1.0, 200), [0.6, 0.0, 0.8])
    noise = rng.normal(0.0, NOISE, (2, 200, 3))
    source, target = (np.vstack([rod + part, rng.uniform(-1, 4, (wrong, 3))]) for part in noise)
    result = register(source, target, noise_bound=XI, loss=loss, certify=False)
    assert result.success
    assert result.ambiguous
    (turn,) = result.ambiguity.free
    assert turn.step is None
    np.testing.assert_allclose(np.abs(turn.axis), [0.6, 0.0, 0.8], atol=0.02)
    assert np.linalg.norm(np.cross(np.subtract(turn.through, [3.0, 0.0, 0.0]), turn.axis)) < XI


def test_a_flat_or_thick_thing_does_not():
    rng = np.random.default_rng(0)
    for thickness in ([1.0, 1.0, 0.0], [1.0, 10 * NOISE, 10 * NOISE], [1.0, 10 * NOISE, 0.0]):
        source = rng.uniform(-1, 1, (300, 3)) * thickness
        target = source + rng.normal(0.0, NOISE, source.shape)
        assert not register(source, target, noise_bound=XI, certify=False).ambiguous
