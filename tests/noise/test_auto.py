"""`register` without a noise bound."""

import logging

import numpy as np
import pytest

import tear3d
from tear3d.errors import InputError
from tear3d.metrics import rotation_error
from tear3d.synthetic import make_problem
from tests.real_data import require_pairs


def auto(problem, **options):
    return tear3d.register(
        **{"source": problem.source, "target": problem.target, "certify": False, "threads": 1} | options
    )


@pytest.mark.parametrize("cloud", [None, "teapot"])
@pytest.mark.parametrize("noise", [1e-6, 0.001, 0.01, 0.03])
def test_the_bound_is_that_of_the_paper(noise, cloud):
    problem = make_problem(1000, 0.9, noise=noise, cloud=cloud, seed=5)
    result = auto(problem)
    assert 0.7 < result.noise.noise_bound / problem.noise_bound < 1.4
    assert result.noise.low < problem.noise_bound < result.noise.high
    assert result.noise.sigma == pytest.approx(noise, rel=0.2)
    assert result.noise.trusted
    assert rotation_error(result.transformation, problem.transformation) < 100.0 * noise
    assert result.settings["noise_bound"] == pytest.approx(result.noise.noise_bound)


def test_it_goes_on_to_a_proof():
    problem = make_problem(1000, 0.9, seed=1)
    for bound in (None, "auto"):
        result = tear3d.register(problem.source, problem.target, noise_bound=bound)
        assert result.status == "optimal"
        assert "noise" in result.seconds
        assert result.message.endswith(result.noise.sentence)


def test_a_bound_that_is_given_is_not_estimated():
    problem = make_problem(300, 0.5, seed=1)
    result = auto(problem, noise_bound=problem.noise_bound)
    assert result.noise is None
    assert result.to_dict()["noise"] is None


@pytest.mark.parametrize(("unit", "away"), [(1000.0, 5e5), (2.0**-50, 0.0)])
def test_units_and_places_make_no_difference(unit, away):
    problem = make_problem(1000, 0.9, seed=2)
    source, target = unit * problem.source + away, unit * problem.target - away
    result = tear3d.register(source, target, certify=False)
    plain = auto(problem)
    assert result.noise.noise_bound == pytest.approx(unit * plain.noise.noise_bound, rel=0.1)
    assert rotation_error(result.transformation, plain.transformation) < 0.1


def test_where_nothing_is_the_bound_is_not_trusted():
    problem = make_problem(300, 1.0, seed=3)
    result = auto(problem)
    assert result.status == "no_consensus"
    assert not result.noise.trusted
    assert "not to be trusted" in result.message
    assert result.to_dict()["noise"]["sigma"] is None
    assert 1e-3 < result.noise.noise_bound < 2.0


def test_what_does_not_stand_out_in_the_end_is_not_trusted():
    problem = make_problem(200, 0.5, noise=0.0, seed=3)
    result = auto(problem, target=problem.source * [1.0, 1.0, -1.0])
    assert result.success == result.noise.trusted


def test_exact_pairs_keep_a_bound_beyond_rounding():
    problem = make_problem(300, 0.8, noise=0.0, seed=4)
    result = auto(problem)
    assert result.success
    assert result.num_inliers == 60
    assert 1e-14 < result.noise.noise_bound < 1e-9
    assert "digits" in result.noise.sentence


def test_digits_that_were_lost_are_minded():
    problem = make_problem(500, 0.8, noise=0.0, seed=4)
    result = tear3d.register((problem.source + 4096.0).astype(np.float32), problem.target, certify=False)
    assert result.success
    assert 10 * 2.0**-11 <= result.noise.noise_bound < 40 * 2.0**-11


def test_the_curve_spans_two_decades():
    result = auto(make_problem(1000, 0.9, seed=6))
    curve = result.noise.curve
    bounds = [at.noise_bound for at in curve]
    assert bounds == sorted(bounds)
    assert bounds[-1] / bounds[0] == pytest.approx(100.0)
    (own,) = [at for at in curve if at.noise_bound == pytest.approx(result.noise.noise_bound)]
    assert own.num_inliers == result.num_inliers == 100
    assert own.degrees < 0.01
    assert own.significance < -50.0
    counts = [at.num_inliers for at in curve]
    assert counts[0] < 30 < 100 <= counts[-1]
    # Lost pairs at one end, chance at the other: in between the pose stands out most.
    assert min(at.significance for at in curve[3:9]) < min(curve[0].significance, curve[-1].significance) - 20.0


def test_the_number_of_threads_makes_no_difference():
    problem = make_problem(3000, 0.97, seed=7)
    one, two = (auto(problem, threads=threads) for threads in (1, 2))
    assert one.noise.noise_bound == two.noise.noise_bound
    assert (one.transformation == two.transformation).all()
    assert [at[:1] + at[2:] for at in one.noise.curve] == [at[:1] + at[2:] for at in two.noise.curve]


def test_what_was_chosen_is_said(caplog):
    with caplog.at_level(logging.INFO, logger="tear3d"):
        result = auto(make_problem(300, 0.8, seed=8))
    assert result.noise.sentence in caplog.text
    assert f"noise bound {result.noise.noise_bound:.3g}" in str(result)


def test_limits_hold():
    problem = make_problem(5000, 0.99, seed=9)
    assert auto(problem, time_limit=0.0).status == "time_limit"
    assert auto(problem, progress=lambda seen: False).status == "interrupted"


def test_weights_count():
    problem = make_problem(1000, 0.9, seed=10)
    weights = np.where(problem.inlier_mask, 1.0, 0.2)
    result = auto(problem, weights=weights)
    assert result.noise.noise_bound == pytest.approx(problem.noise_bound, rel=0.3)


def test_what_cannot_be_estimated_is_an_error():
    problem = make_problem(100, 0.5, seed=1)
    with pytest.raises(InputError, match="noise_bound"):
        auto(problem, noise_bound="car")
    with pytest.raises(InputError, match="coincide"):
        tear3d.register(np.ones((10, 3)), np.ones((10, 3)))
    with pytest.raises(InputError, match="source"):
        tear3d.register(np.full((10, 3), np.nan), np.ones((10, 3)))
    with pytest.raises(InputError, match="at least 3 pairs"):
        tear3d.register(np.eye(3)[:2], np.eye(3)[:2])


@pytest.mark.parametrize("name", ["3dmatch_kitchen_0_7_fpfh", "kitti_turboreg_050_fpfh", "stanford_dragon_120_72_fpfh"])
def test_real_pairs_need_no_bound(name):
    from benchmarks.real_pairs import read

    pair = read(require_pairs() / f"{name}.npz")
    result = tear3d.register(pair.source, pair.target, certify=False)
    assert pair.right(result.transformation)
    assert 0.2 < result.noise.noise_bound / pair.noise_bound < 10.0


def test_every_motion_knows_the_noise_bound_it_was_found_with():
    problem = make_problem(300, 0.5, seed=1)
    result = tear3d.register(problem.source, problem.target, max_instances=2, certify=False)
    assert [one.noise.noise_bound for one in result.instances] == [result.noise.noise_bound]
