"""`register` with `estimate_scale`."""

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.io.g2o import g2o_edge
from tear3d.problem.pairs import Pairs


def seek(problem, **options):
    given = {"noise_bound": problem.noise_bound, "estimate_scale": True, "threads": 1} | options
    return tear3d.register(problem.source, problem.target, **given)


def off(result, problem):
    metrics = tear3d.metrics
    return (
        metrics.scale_error(result.transformation, problem.transformation),
        metrics.rotation_error(result.transformation, problem.transformation),
    )


def test_scale_rotation_and_translation_are_found_and_proven():
    problem = tear3d.synthetic.make_problem(1000, 0.95, scale=3.3, seed=2)
    result = seek(problem)
    assert result.status == "optimal"
    assert result.certificate.gap <= 0.01
    assert "with a scale from 0.1 to 10" in result.message
    scale, turn = off(result, problem)
    assert scale < 0.01
    assert turn < 1.0
    assert np.allclose(result.scale * result.rotation, result.transformation[:3, :3])
    assert np.linalg.det(result.rotation) == pytest.approx(1.0)
    moved = problem.source @ result.transformation[:3, :3].T + result.translation
    inside = np.linalg.norm(problem.target - moved, axis=1) <= problem.noise_bound
    assert np.array_equal(inside, result.inlier_mask)
    centre = problem.source.mean(axis=0)
    assert np.allclose(result.centre, centre)
    found = result.to_dict()
    assert found["scale"] == result.scale
    assert found["scale_std"] == pytest.approx(result.scale_std)
    assert found["settings"]["scale"] == [0.1, 10.0]
    with pytest.raises(InputError, match="scale"):
        g2o_edge(result.transformation, result.covariance)
    saved = np.maximum(0.0, problem.noise_bound - np.abs(problem.target - moved).sum(axis=1)).sum()
    assert result.saving == pytest.approx(saved)


def test_threads_do_not_matter():
    problem = tear3d.synthetic.make_problem(300, 0.8, scale=0.6, seed=1)
    one, two, four = (seek(problem, threads=count, scale_range=(0.5, 0.8)) for count in (1, 2, 4))
    for other in (two, four):
        assert np.array_equal(one.transformation, other.transformation)
        assert one.certificate.to_dict() == other.certificate.to_dict()


def test_one_scale_is_the_rigid_problem():
    problem = tear3d.synthetic.make_problem(800, 0.9, seed=3)
    rigid = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
    same = seek(problem, scale_range=(1, 1))
    assert np.array_equal(rigid.transformation, same.transformation)
    assert rigid.message == same.message
    assert same.scale == 1.0
    half = tear3d.register(
        problem.source / 2, problem.target, noise_bound=problem.noise_bound, estimate_scale=True, scale_range=(2, 2)
    )
    assert half.scale == 2.0
    assert np.allclose(half.rotation, rigid.rotation)
    assert np.allclose(half.covariance[3:, 3:] * 4.0, rigid.covariance[3:, 3:])


def test_units():
    problem = tear3d.synthetic.make_problem(600, 0.9, scale=1.02, seed=5)
    result = tear3d.register(
        problem.source,
        1000 * problem.target,
        noise_bound=1000 * problem.noise_bound,
        estimate_scale=True,
        scale_range=(900, 1100),
    )
    assert result.status == "optimal"
    assert result.scale == pytest.approx(1020, rel=0.01)
    assert "from 900 to 1100" in result.message


@pytest.mark.parametrize("cloud", ["source", "target"])
def test_a_collapsed_cloud_is_a_status(cloud):
    points = np.random.default_rng(0).normal(size=(50, 3))
    one = np.tile([1.0, 2.0, 3.0], (50, 1))
    given = (one, points) if cloud == "source" else (points, one)
    result = tear3d.register(*given, noise_bound=0.05, estimate_scale=True)
    assert result.status == "no_consensus"
    assert not result.success
    assert not result.inlier_mask.any()
    assert f"all {cloud} points coincide" in result.message
    result.to_dict()
    with pytest.raises(InputError, match="coincide"):
        tear3d.register(*given, noise_bound=0.05)


@pytest.mark.parametrize("spread", [1e-6, 0.01])
def test_targets_within_the_noise_are_no_pose(spread):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 3))
    result = tear3d.register(points, 1.0 + spread * rng.normal(size=(400, 3)), noise_bound=0.05, estimate_scale=True)
    assert result.status == "no_consensus"
    tiny = tear3d.register(1e-6 * points, rng.normal(size=(400, 3)), noise_bound=0.05, estimate_scale=True)
    assert tiny.status == "no_consensus"
    assert "shrunk into the noise" in tiny.message


def test_what_a_scale_outside_the_range_leads_to():
    problem = tear3d.synthetic.make_problem(600, 0.9, scale=3.0, seed=1)
    assert not seek(problem, scale_range=(0.5, 2.0)).success
    near = seek(problem, scale_range=(3.005, 10.0), certify=False)
    assert near.scale == pytest.approx(3.005)
    assert "smallest that was looked at" in near.message


def test_scales_that_shrink_the_source_are_left_out():
    problem = tear3d.synthetic.make_problem(400, 0.8, scale=1.5, seed=1)
    result = seek(problem, scale_range=(1e-3, 10.0))
    assert result.status == "optimal"
    assert "shrink the source into its noise" in result.message
    low = float(result.message.split("scale from ")[1].split(" to ")[0])
    assert low == pytest.approx(problem.noise_bound / Pairs.of(problem.source, problem.target, 1.0).radius, rel=0.15)


def test_limits_leave_a_status():
    problem = tear3d.synthetic.make_problem(600, 0.9, scale=2.0, seed=1)
    assert seek(problem, time_limit=0.0).status == "time_limit"
    few = seek(problem, node_limit=10)
    assert few.status == "node_limit"
    assert few.scale == pytest.approx(2.0, rel=0.01)
    assert few.certificate.gap > 0.01
    stopped = seek(problem, progress=lambda now: False)
    assert stopped.status in ("interrupted", "no_consensus")
    assert seek(problem, certify=False).status == "uncertified"


@pytest.mark.parametrize("n", [3, 4, 6, 12])
def test_few_pairs(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 3))
    turn = tear3d.synthetic.make_problem(1, 0.0, seed=n).rotation
    result = tear3d.register(x, 1.7 * x @ turn.T + 2.0, noise_bound=0.01, estimate_scale=True)
    assert result.scale == pytest.approx(1.7, rel=1e-3)
    assert result.num_inliers == n
    assert result.success == (n >= 6)


def test_stray_pairs_and_far_off_clouds():
    problem = tear3d.synthetic.make_problem(500, 0.8, scale=2.0, seed=1)
    source, target = problem.source + np.array([1e5, 0, 2e5]), problem.target.copy()
    source[0], target[1] = [1e10, 0, 0], [0, 1e9, 0]
    result = tear3d.register(
        source, target, noise_bound=problem.noise_bound, estimate_scale=True, scale_range=(1.5, 2.5)
    )
    assert result.status == "optimal"
    assert result.scale == pytest.approx(2.0, rel=0.01)


def test_wrong_options_are_named():
    problem = tear3d.synthetic.make_problem(20, 0.5, seed=1)
    for options, words in (
        ({"scale_range": (2, 1)}, "lowest ≤ highest"),
        ({"scale_range": "12"}, "lowest, highest"),
        ({"scale_range": (True, 2)}, "lowest, highest"),
        ({"scale_range": (0, 1)}, "0 < lowest"),
        ({"estimate_scale": False, "scale_range": (1, 2)}, "without estimate_scale"),
        ({"certify": "rows"}, "do not go together"),
        ({"rotation_axis": (0, 0, 1)}, "does not go with"),
    ):
        with pytest.raises(InputError, match=words):
            seek(problem, **options)


def test_three_pairs_are_similar_to_any_of_their_shape():
    x = np.random.default_rng(1).normal(size=(3, 3))
    result = tear3d.register(x, 2.0 * x, noise_bound=0.01, estimate_scale=True)
    assert result.message.startswith("3 pairs agree with this pose, as any 3 pairs whose lengths all change by one fac")


def test_a_scale_that_is_given_is_named():
    problem = tear3d.synthetic.make_problem(300, 0.7, scale=2.0, seed=1)
    result = seek(problem, scale_range=(2.0, 2.0))
    assert result.status == "optimal"
    assert result.message.endswith("; the scale is the one given, 2")


def test_a_pose_is_not_lost_to_what_saves_more_and_is_none():
    problem = tear3d.synthetic.make_problem(120, 0.8, scale=2.0, seed=1)
    rng = np.random.default_rng(1)
    source, target = problem.source.copy(), problem.target.copy()
    wrong = np.flatnonzero(~problem.inlier_mask)[:40]
    source[wrong], target[wrong] = (middle + 0.01 * rng.normal(size=(40, 3)) for middle in (0.5, -1.0))
    result = tear3d.register(source, target, noise_bound=problem.noise_bound, estimate_scale=True, time_limit=30.0)
    assert result.success
    assert result.status == "uncertified"
    assert result.scale == pytest.approx(2.0, rel=0.01)
    assert "since one saves more that shrinks the pairs which agree with it" in result.message
    assert not result.certificate.stages
