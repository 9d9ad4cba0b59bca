"""`register` with `estimate_scale` and without a noise bound."""

import math

import numpy as np
import pytest

import tear3d
from benchmarks.noise_scale import made_up, right
from tear3d.errors import InputError
from tear3d.metrics import scale_error
from tear3d.synthetic import make_problem


def auto(source, target, **options):
    return tear3d.register(source, target, **{"estimate_scale": True, "certify": False, "threads": 1} | options)


@pytest.mark.parametrize("scale", [0.2, 1.7, 5.0])
@pytest.mark.parametrize(("noise", "cloud"), [(1e-6, None), (0.001, "teapot"), (0.01, "teapot"), (0.03, None)])
def test_the_bound_is_that_of_the_paper_in_units_of_the_target(noise, cloud, scale):
    problem = make_problem(1000, 0.9, noise=scale * noise, scale=scale, cloud=cloud, seed=5)
    result = auto(problem.source, problem.target)
    assert result.success
    assert right(problem, result.transformation)
    assert 0.7 < result.noise.noise_bound / problem.noise_bound < 1.4
    assert result.noise.low < problem.noise_bound < result.noise.high
    assert result.noise.sigma == pytest.approx(scale * noise, rel=0.2)
    assert result.noise.trusted
    assert result.settings["noise_bound"] == pytest.approx(result.noise.noise_bound)


def test_it_goes_on_to_a_proof():
    problem = made_up(1000, 0.9, 0.01, 3)
    for bound in (None, "auto"):
        result = auto(problem.source, problem.target, noise_bound=bound, certify=True)
        assert result.status == "optimal"
        assert "with a scale from 0.1 to 10" in result.message
        assert result.message.endswith(result.noise.sentence)
        again = auto(problem.source, problem.target, noise_bound=result.noise.noise_bound, certify=True)
        assert again.noise is None
        assert scale_error(again.transformation, result.transformation) < 1e-3
        assert again.num_inliers == result.num_inliers


def test_the_curve_is_in_units_of_the_target():
    """Every point of it says how many pairs its similarity maps to within its bound, counted here on what was given."""
    problem = made_up(1000, 0.9, 0.01, 6)
    source, target = 0.001 * problem.source + 5.0, problem.target - 3.0
    result = auto(source, target, scale_range=(100.0, 10_000.0))
    assert result.scale == pytest.approx(1000.0 * problem.scale, rel=0.01)
    curve = result.noise.curve
    assert curve[-1].noise_bound / curve[0].noise_bound == pytest.approx(100.0)
    for at in curve:
        moved = source @ at.transformation[:3, :3].T + at.transformation[:3, 3]
        inside = np.linalg.norm(target - moved, axis=1) <= at.noise_bound * (1.0 + 1e-9)
        assert np.count_nonzero(inside) == at.num_inliers
        assert at.scale == pytest.approx(np.cbrt(np.linalg.det(at.transformation[:3, :3])))
    (own,) = [at for at in curve if at.noise_bound == pytest.approx(result.noise.noise_bound)]
    assert own.num_inliers == result.num_inliers
    assert own.scale == pytest.approx(result.scale, rel=1e-3)
    assert own.degrees < 0.1
    assert own.shift < result.noise.sigma
    assert result.to_dict()["noise"]["curve"][0]["scale"] == curve[0].scale


@pytest.mark.parametrize("seed", range(6))
def test_shuffled_pairs_are_no_success(seed):
    problem = made_up(200 if seed % 2 else 500, 0.0, 0.01, seed)
    order = np.random.default_rng(seed).permutation(len(problem.source))
    result = auto(problem.source, problem.target[order])
    assert result.status == "no_consensus"
    assert not result.noise.trusted
    assert math.isnan(result.noise.sigma)
    assert "not to be trusted" in result.message


@pytest.mark.parametrize("spread", [1e-3, 0.05, 1.0])
def test_a_cloud_that_could_be_shrunk_onto_a_heap_is_no_success(spread):
    """With a bound as large as the heap and a small scale every pair agrees, however they are put together."""
    rng = np.random.default_rng(2)
    source, heap = rng.normal(size=(300, 3)), 4.0 + spread * rng.normal(size=(300, 3))
    result = auto(source, heap, scale_range=(1e-5, 10.0))
    assert result.status == "no_consensus"
    assert not result.noise.trusted


@pytest.mark.parametrize("cloud", ["source", "target"])
def test_a_collapsed_cloud_is_a_status(cloud):
    points = np.random.default_rng(0).normal(size=(50, 3))
    one = np.tile([1.0, 2.0, 3.0], (50, 1))
    result = auto(*((one, points) if cloud == "source" else (points, one)))
    assert result.status == "no_consensus"
    assert not result.inlier_mask.any()
    assert result.noise is None
    assert f"all {cloud} points coincide" in result.message


def test_a_source_that_no_scale_makes_large_enough_is_a_status():
    rng = np.random.default_rng(1)
    result = auto(1e-9 * rng.normal(size=(100, 3)), rng.normal(size=(100, 3)), scale_range=(0.5, 2.0))
    assert result.status == "no_consensus"
    assert not result.noise.trusted


def test_the_range_of_scales_is_kept_to():
    problem = made_up(500, 0.8, 0.01, 4)
    narrow = auto(problem.source, problem.target, scale_range=(0.9 * problem.scale, 1.1 * problem.scale))
    assert right(problem, narrow.transformation)
    span = (1.5 * problem.scale, 3.0 * problem.scale)
    elsewhere = auto(problem.source, problem.target, scale_range=span)
    assert span[0] * (1 - 1e-9) <= elsewhere.scale <= span[1] * (1 + 1e-9)
    assert not elsewhere.success


def test_one_scale_is_the_rigid_problem():
    problem = make_problem(500, 0.8, seed=3)
    rigid = tear3d.register(problem.source, problem.target, certify=False)
    same = auto(problem.source, problem.target, scale_range=(1, 1))
    assert same.noise.to_dict() == rigid.noise.to_dict()
    assert same.message == rigid.message
    half = auto(problem.source / 2, problem.target, scale_range=(2, 2))
    assert half.scale == 2.0
    assert half.noise.noise_bound == pytest.approx(rigid.noise.noise_bound, rel=1e-6)
    assert {at.scale for at in half.noise.curve} == {2.0}
    assert np.allclose(half.noise.curve[0].transformation[:3, :3], 2.0 * rigid.noise.curve[0].transformation[:3, :3])


def test_the_number_of_threads_makes_no_difference():
    problem = made_up(1000, 0.95, 0.01, 7)
    one, two = (auto(problem.source, problem.target, threads=threads) for threads in (1, 2))
    assert one.noise.noise_bound == two.noise.noise_bound
    assert (one.transformation == two.transformation).all()


def test_limits_hold():
    problem = made_up(5000, 0.98, 0.01, 9)
    assert auto(problem.source, problem.target, time_limit=0.0).status == "time_limit"
    assert auto(problem.source, problem.target, progress=lambda seen: False).status == "interrupted"


def test_what_does_not_go_together_is_an_error():
    problem = made_up(100, 0.5, 0.01, 1)
    with pytest.raises(InputError, match="estimate_scale does not go with"):
        auto(problem.source, problem.target, rotation=np.eye(3))
    with pytest.raises(InputError, match="max_instances and estimate_scale"):
        auto(problem.source, problem.target, max_instances=2)
