"""Pairs: refused with a message that names what is wrong, or centred, scaled and weighed so that nothing is lost."""

import numpy as np
import pytest

from tear3d.errors import InputError, TearError
from tear3d.lab.synthetic import make_problem, random_rotation
from tear3d.problem import pairs as module
from tear3d.problem.frame import Frame
from tear3d.problem.losses import LOSSES
from tear3d.problem.objective import inlier_mask, residuals
from tear3d.problem.pairs import Pairs, take
from tear3d.problem.pose import Pose
from tests.problem.cases import pairs_of, truth_inside

RNG = np.random.default_rng(0)
SOURCE, TARGET = RNG.normal(size=(10, 3)), RNG.normal(size=(10, 3))


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


def first(count):
    """1 for the first pairs, 0 for the others."""
    return (np.arange(10) < count).astype(float)


BAD = {
    "unequal lengths": ({"target": TARGET[:9]}, "source has 10 points and target 9: row i of one must be matched"),
    "two pairs": ({"source": SOURCE[:2], "target": TARGET[:2]}, "source has 2 points: a pose needs at least 3 pairs"),
    "no pairs": (
        {"source": np.empty((0, 3)), "target": np.empty((0, 3))},
        "source has 0 points: a pose needs at least 3 pairs",
    ),
    "columns are points": ({"source": SOURCE.T}, "source has 3 rows and 10 columns: pass points as rows (N×3)"),
    "masked source": ({"source": np.ma.array(SOURCE)}, "source is a masked array"),
    "masked target": ({"target": np.ma.array(TARGET, mask=TARGET > 1)}, "target is a masked array"),
    "masked noise bound": ({"noise_bound": np.ma.array(np.ones(10))}, "noise_bound is a masked array"),
    "masked weights": ({"weights": np.ma.array(np.ones(10))}, "weights is a masked array"),
    "complex": ({"source": SOURCE + 1j}, "source has dtype complex128"),
    "text": ({"target": TARGET.astype(str)}, "target has dtype <U"),
    "truth": ({"target": TARGET > 0.0}, "target has dtype bool"),
    "objects": ({"target": TARGET.astype(object)}, "target has numbers too large for float64, or no numbers"),
    "nan": ({"source": changed(SOURCE, (4, 1), np.nan)}, "source has 1 of 10 points with NaN"),
    "squares overflow": ({"target": changed(TARGET, (3, 1), 1e155)}, "target has coordinates beyond 1e+150 (row 3)"),
    "text noise bound": ({"noise_bound": "0.05"}, "noise_bound has dtype <U4: expected real numbers"),
    "truth as noise bound": ({"noise_bound": True}, "noise_bound has dtype bool"),
    "complex noise bound": ({"noise_bound": 0.1 + 1j}, "noise_bound has dtype complex128"),
    "huge noise bound": ({"noise_bound": 10**400}, "noise_bound has numbers too large for float64"),
    "huge noise bound of a pair": ({"noise_bound": [0.1] * 9 + [10**400]}, "noise_bound "),
    "zero noise bound": ({"noise_bound": 0.0}, "noise_bound is 0: expected a positive number"),
    "negative noise bound": ({"noise_bound": -0.1}, "noise_bound is -0.1: expected a finite number, 0 or more"),
    "nan noise bound": ({"noise_bound": np.nan}, "noise_bound is nan: expected a finite number"),
    "infinite noise bound": ({"noise_bound": np.inf}, "noise_bound is inf: expected a finite number"),
    "no noise bound": ({"noise_bound": None}, "noise_bound "),
    "too few noise bounds": ({"noise_bound": np.ones(9)}, "noise_bound has shape (9,): expected a number or one per"),
    "no positive noise bound": ({"noise_bound": np.zeros(10)}, "noise_bound is 0"),
    "two positive noise bounds": ({"noise_bound": first(2)}, "only 2 pairs have a positive weight and noise bound"),
    "two positive weights": ({"weights": first(2)}, "only 2 pairs have a positive weight and noise bound"),
    "two with both": ({"weights": first(6), "noise_bound": 1.0 - first(4)}, "only 2 pairs have a positive weight"),
    "weights of nothing": ({"weights": np.zeros(10)}, "weights are all 0: expected at least 3 positive ones"),
    "vanishing weights": ({"weights": np.full(10, 5e-324)}, "weights go up to 4.94066e-324 only: scale them"),
    "enormous weights": ({"weights": np.full(10, 1e308)}, "weights has entries beyond 1e+150"),
    "negative weight": ({"weights": changed(np.ones(10), 6, -1.0)}, "weights has negative entries (the first at 6)"),
    "nan weight": ({"weights": changed(np.ones(10), 6, np.nan)}, "weights has NaN or infinite entries (first at 6)"),
    "too many weights": ({"weights": np.ones(11)}, "weights has shape (11,): expected a number or one per pair (10)"),
    "huge weight": ({"weights": [1] * 9 + [10**400]}, "weights "),
    "in one place where it counts": (
        {"source": changed(np.ones((10, 3)), slice(7, None), SOURCE[7:]), "weights": first(7)},
        "all source points coincide",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_pairs_are_refused_by_name(case):
    arguments, message = BAD[case]
    with pytest.raises(InputError) as caught:
        Pairs.of(**({"source": SOURCE, "target": TARGET, "noise_bound": 0.1} | arguments))
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, TearError)


def test_what_is_accepted():
    pairs = Pairs.of(SOURCE.tolist(), TARGET.astype(np.float32), np.full(10, 0.2), np.full(10, 1.0))
    assert (len(pairs), pairs.num_given, pairs.rows) == (10, 10, None)
    assert pairs.x.dtype == pairs.y.dtype == np.float64
    np.testing.assert_array_equal(pairs.xi, [0.2])  # equal for all: kept once
    np.testing.assert_array_equal(pairs.w, [1.0])
    mixed = Pairs.of(SOURCE, TARGET, first(5), first(7) + 1.0)
    np.testing.assert_array_equal(mixed.xi, first(5))
    np.testing.assert_array_equal(mixed.w * mixed.frame.weight, first(7) + 1.0)
    for source in (
        SOURCE * [1.0, 1.0, 0.0],
        np.arange(30).reshape(10, 3) ** 2,
        SOURCE + np.array([5e5, 4e6, 100.0]),
        SOURCE.astype(np.longdouble),
    ):
        assert len(Pairs.of(source, TARGET, 1)) == 10


def test_the_input_is_left_alone():
    x, y, xi, w = SOURCE.copy(), TARGET.copy(), np.linspace(0.1, 0.2, 10), np.linspace(1, 2, 10)
    Pairs.of(1e60 * x, 1e60 * y, 1e60 * xi, 1e60 * w)
    given = (SOURCE.copy(), TARGET.copy(), xi.copy(), w.copy())
    Pairs.of(x, y, xi, w)
    for before, after in zip(given, (x, y, xi, w), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("scale", [1e-140, 1e-60, 1e-6, 1.0, 1e6, 1e60, 1e140])
def test_units_do_not_matter(scale):
    problem = make_problem(60, 0.3, seed=1)
    plain, pairs = pairs_of(problem), Pairs.of(*(scale * a for a in (problem.source, problem.target, 0.05)))
    assert module.PLAIN >= np.abs(pairs.x).max() >= 1.0 / module.PLAIN
    ratio = scale / pairs.frame.unit
    np.testing.assert_allclose(pairs.x, ratio * plain.x, atol=1e-13 * ratio)
    np.testing.assert_allclose(pairs.y, ratio * plain.y, atol=1e-13 * ratio)
    np.testing.assert_allclose(pairs.xi, ratio * 0.05, rtol=1e-13)
    assert pairs.given_bound == pytest.approx(0.05 * scale, rel=1e-13)
    inside = truth_inside(problem, plain)
    outside = pairs.frame.outside(Pose(inside.rotation, ratio * inside.translation))
    np.testing.assert_allclose(outside.rotation, problem.rotation, atol=1e-15)
    np.testing.assert_allclose(outside.translation / scale, problem.translation, atol=1e-12)
    for loss in LOSSES.values():
        if abs(np.log10(scale)) * loss.power < 200:
            total = pairs.frame.saving_unit(loss) * pairs.total(loss)
            assert total == pytest.approx(60 * 0.05**loss.power * scale**loss.power, rel=1e-12)


@pytest.mark.parametrize("power", [-490, -200, -3, -1, 1, 8, 450])
def test_weights_times_a_power_of_two_change_nothing_inside(power):
    w = RNG.uniform(0.3, 3.0, 10)
    plain, pairs = (Pairs.of(SOURCE, TARGET, 0.1, f * w) for f in (1.0, 2.0**power))
    for name in ("x", "y", "xi", "w"):
        np.testing.assert_array_equal(getattr(pairs, name), getattr(plain, name))
    assert pairs.frame.weight == plain.frame.weight * 2.0**power
    assert 1.0 <= pairs.w.max() < 2.0
    np.testing.assert_array_equal(pairs.w * pairs.frame.weight, w * 2.0**power)


def test_blocks_cover_all_pairs_in_order():
    xi, w = np.linspace(0.1, 0.2, 10), np.linspace(1.0, 2.0, 10)
    for pairs in (Pairs.of(SOURCE, TARGET, xi, w), Pairs.of(SOURCE, TARGET, 0.1)):
        for size in (1, 3, 5, 10, 11):
            blocks = list(pairs.blocks(size))
            rows = np.concatenate([np.arange(block.rows.start, block.rows.stop) for block in blocks])
            np.testing.assert_array_equal(rows, np.arange(10))
            assert max(len(block.x) for block in blocks) <= size
            for block in blocks:
                np.testing.assert_array_equal(block.x, pairs.x[block.rows])
                np.testing.assert_array_equal(block.y, pairs.y[block.rows])
                np.testing.assert_array_equal(block.xi, take(pairs.xi, block.rows))
                np.testing.assert_array_equal(block.w, take(pairs.w, block.rows))


@pytest.mark.parametrize("index", [np.array([7, 1, 1]), slice(2, 9, 3), np.arange(10) % 2 == 0])
def test_some_of_the_pairs(index):
    xi = np.linspace(0.1, 0.2, 10)
    some = Pairs.of(SOURCE, TARGET, xi).take(index)
    np.testing.assert_allclose(some.x * some.frame.unit + some.frame.source, SOURCE[index], atol=1e-15)
    np.testing.assert_array_equal(some.xi, xi[index])
    np.testing.assert_array_equal(some.w, [1.0])
    np.testing.assert_array_equal(Pairs.of(SOURCE, TARGET, 0.1).take(index).xi, [0.1])


def test_swapped_roles_have_the_inverse_poses_with_the_same_residuals():
    problem = make_problem(50, 0.5, seed=2)
    pairs = Pairs.of(problem.source + 5.0, 1e13 * problem.target, 0.1e13, np.linspace(1, 2, 50))
    swapped, pose = pairs.swapped, Pose(random_rotation(RNG), RNG.normal(size=3))
    np.testing.assert_allclose(residuals(swapped, pose.inverse), residuals(pairs, pose), rtol=1e-12)
    np.testing.assert_array_equal(swapped.w, pairs.w)
    np.testing.assert_allclose(
        swapped.frame.outside(pose.inverse).matrix @ pairs.frame.outside(pose).matrix, np.eye(4), atol=1e-2
    )
    again = swapped.swapped
    np.testing.assert_array_equal(again.x, pairs.x)
    np.testing.assert_array_equal(again.y, pairs.y)
    assert swapped.radius == pytest.approx(np.sqrt(np.trace(pairs.target_covariance)))


def test_many_pairs_are_not_copied_and_give_the_same_problem(monkeypatch):
    problem = make_problem(module.COPY_LIMIT + 1, 0.5, seed=3)
    large = pairs_of(problem)
    assert np.shares_memory(large.x, problem.source)
    assert np.abs(large.x_mean).max() > 0.0
    monkeypatch.setattr(module, "COPY_LIMIT", 10**9)
    copied = pairs_of(problem)
    assert not np.shares_memory(copied.x, problem.source)
    np.testing.assert_array_equal(copied.x_mean, 0.0)
    np.testing.assert_allclose(large.x - large.x_mean, copied.x, atol=1e-12)
    np.testing.assert_allclose(large.y - large.y_mean, copied.y, atol=1e-12)
    assert large.radius == pytest.approx(copied.radius)
    masks = [inlier_mask(pairs, truth_inside(problem, pairs)) for pairs in (large, copied)]
    np.testing.assert_array_equal(*masks)
    far = Pairs.of(problem.source + 1e6, problem.target, problem.noise_bound)
    np.testing.assert_array_equal(far.x_mean, 0.0)  # centring saves digits here


def test_frame_there_and_back():
    frame = Frame(np.array([1.0, 2.0, 3.0]), np.array([-4.0, 0.0, 9.0]), 0.5, 4.0)
    inside = Pose(random_rotation(RNG), RNG.normal(size=3))
    x = RNG.normal(size=(6, 3))
    given = frame.outside(inside).apply(0.5 * x + frame.source)
    np.testing.assert_allclose(given, 0.5 * inside.apply(x) + frame.target, atol=1e-13)
    assert [frame.saving_unit(LOSSES[name]) for name in ("tear", "cm", "tls")] == [2.0, 4.0, 1.0]


def test_typical_and_given_bounds():
    xi = np.array([0.0] * 3 + [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 70.0])
    pairs = Pairs.of(SOURCE, TARGET, xi)
    assert pairs.typical_bound == pytest.approx(0.4)
    assert pairs.given_bound == {"lowest": 0.0, "highest": 70.0}
    assert Pairs.of(SOURCE, TARGET, 0.3).given_bound == 0.3
