"""The 1-D solvers against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import CM, TEAR, TLS, row_saving
from tear3d.prove.bounds import sweep
from tests import naive

LOSSES = {"tear": TEAR, "cm": CM, "tls": TLS}
LATTICE = st.integers(-16, 16).map(lambda k: k / 8)
FREE = st.floats(-4, 4, allow_subnormal=False)
XI = st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, allow_subnormal=False))
WEIGHT = st.one_of(st.sampled_from([1.0, 2.0]), st.floats(0.01, 10))
OFFSET = st.sampled_from([0.0, 1.0, -1e6, 1e6 + 0.3])


@st.composite
def problems(draw, point=FREE):
    values = st.one_of(LATTICE, point)
    rows = draw(
        st.lists(st.tuples(values, st.one_of(st.just(0.0), st.floats(0, 1)), XI, WEIGHT), min_size=1, max_size=7)
    )
    copies = draw(st.integers(1, 2))
    lo, width, xi, w = (np.array(column) for column in zip(*rows * copies, strict=True))
    lo = lo + draw(OFFSET)
    return lo, lo + width, xi, w


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=60, deadline=None)
@given(problems())
def test_max_saving_is_a_tight_upper_bound(loss, problem):
    lo, hi, xi, w = problem
    exact, _ = naive.max_saving(lo, hi, xi, w, loss)
    saving, t = sweep.max_saving(lo, hi, xi, w, LOSSES[loss])
    assert saving >= exact
    # CM jumps: ends that miss each other by rounding count as touching.
    slightly_more = xi + 1e-15 * np.max(np.abs(np.concatenate([lo, hi, xi]))) * 4 if loss == "cm" else xi
    ceiling = naive.max_saving(lo, hi, slightly_more, w, loss)[0]
    assert saving <= float(ceiling) * (1 + 1e-12) + 1e-10
    reached = naive.interval_saving(lo, hi, slightly_more, w, t, loss)
    # t is rounded to its own size, which may be far above ξ.
    assert reached >= float(exact) * (1 - 1e-12) - (1e-8 if np.max(np.abs(lo)) > 100 else 1e-13)


@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=60, deadline=None)
@given(problems(point=LATTICE))
def test_best_shift_reaches_the_optimum(loss, problem):
    b, _, xi, w = problem
    b, xi = np.round(b * 8) / 8, np.round(xi * 8) / 8  # exact ties stay exact
    exact, _ = naive.max_saving(b, b, xi, w, loss)
    saving, t = sweep.best_shift(b, xi, w, LOSSES[loss])
    assert saving == pytest.approx(float(exact), rel=1e-9, abs=1e-9)
    assert saving == pytest.approx(naive.interval_saving(b, b, xi, w, t, loss), rel=1e-12, abs=1e-12)


def test_closed_intervals_that_touch_overlap():
    one = np.ones(2)
    assert sweep.best_shift(np.array([0.0, 2.0]), one, one, LOSSES["cm"]) == (2.0, 1.0)
    assert sweep.best_shift(np.array([-1.0, 1.0]), one, one, LOSSES["cm"]) == (2.0, 0.0)
    assert sweep.max_saving(np.array([0.0, 2.5]), np.array([0.0, 2.5]), one, one, LOSSES["cm"])[0] == 1.0


def test_rounding_of_weights_is_covered():
    zero, w = np.zeros(7), np.array([1.0] * 6 + [0.16140872035135156])
    saving, _ = sweep.max_saving(zero, zero, zero, w, LOSSES["cm"])
    assert saving >= sum(Fraction(v) for v in w.tolist())


def test_minus_zero_ties_with_zero():
    keys, order = sweep._sorted_with_order(np.array([0.0, -0.0, -1.0, 0.0, -0.0]))
    assert order.tolist() == [2, 0, 1, 3, 4]
    assert keys.tolist() == [-1.0, 0.0, 0.0, 0.0, 0.0]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=50))
def test_sort_is_numpys_stable_sort(values):
    values = np.array(values, np.float64)
    keys, order = sweep._sorted_with_order(values)
    np.testing.assert_array_equal(order, np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(keys, np.sort(values))


@pytest.mark.parametrize("loss", LOSSES)
def test_bound_survives_thousands_of_points_far_apart(loss):
    rng = np.random.default_rng(1)
    n = 3000
    lo = np.concatenate([rng.normal(size=n), rng.normal(size=n) * 1e4, rng.normal(size=10) * 1e8])
    w, xi = rng.uniform(0.1, 3.0, lo.size), rng.uniform(0.0, 0.1, lo.size)
    hi = lo + rng.uniform(0, 0.05, lo.size)
    saving, t = sweep.max_saving(lo, hi, xi, w, LOSSES[loss])
    near = np.abs(lo - t) < 1.0
    exactly = naive.interval_saving(*(v[near].tolist() for v in (lo, hi, xi, w)), t, loss)
    assert exactly * (1 - 1e-12) <= saving <= exactly * (1 + 1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_single_point_and_nothing(loss):
    one = np.array([0.5])
    cap = {"tear": 0.5, "cm": 1.0, "tls": 0.25}[loss]
    assert sweep.best_shift(np.array([7.0]), one, 2 * one, LOSSES[loss])[0] == cap
    none = np.empty(0)
    assert sweep.max_saving(none, none, none, none, LOSSES[loss]) == (0.0, 0.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_row_saving(loss):
    rng = np.random.default_rng(2)
    b, xi, w = rng.normal(size=50), rng.uniform(0, 1, 50), rng.uniform(0, 2, 50)
    expected = naive.interval_saving(b, b, xi, w, 0.1, loss)
    assert row_saving(b, 0.1, xi, w, LOSSES[loss]) == pytest.approx(expected, rel=1e-12)
