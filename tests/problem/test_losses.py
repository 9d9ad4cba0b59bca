"""The table of losses against what the table says in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.problem.losses import LOSSES, point_saving, row_saving
from tests import naive

SPELLED_OUT = {
    "tear": lambda r, xi: min(np.abs(r).sum(), xi),
    "cm": lambda r, xi: 0.0 if np.linalg.norm(r) <= xi else 1.0,
    "tls": lambda r, xi: min(r @ r, xi * xi),
}
CAPS = {"tear": lambda xi: xi, "cm": lambda xi: 1.0, "tls": lambda xi: xi * xi}


def test_every_loss_is_here():
    assert set(LOSSES) == set(SPELLED_OUT)
    assert len({loss.code for loss in LOSSES.values()}) == len(LOSSES)
    assert all(loss.name == name for name, loss in LOSSES.items())


@pytest.mark.parametrize("name", LOSSES)
@given(st.integers(0, 10**6), st.floats(1e-3, 10.0))
@settings(max_examples=60, deadline=None)
def test_cap_minus_saving_is_the_loss_of_a_point(name, seed, xi):
    loss, rng = LOSSES[name], np.random.default_rng(seed)
    r = xi * rng.uniform(0.0, 1.5) * rng.normal(size=3)
    cap = loss.caps(np.array([xi]))[0]
    assert cap == CAPS[name](xi)
    inside = r @ r <= xi * xi
    saving = point_saving(loss.code, xi, np.abs(r).sum(), r @ r) if inside else 0.0
    assert saving >= 0.0
    assert cap - saving == pytest.approx(SPELLED_OUT[name](r, xi), abs=1e-14 * cap)


@pytest.mark.parametrize("name", LOSSES)
@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_saving_of_a_row_is_the_sum_over_its_points(name, seed):
    rng = np.random.default_rng(seed)
    b, t, xi, w = rng.normal(size=20), rng.normal(), rng.uniform(0.0, 2.0, 20), rng.random(20)
    expected = sum(wi * naive.saving_of(abs(bi - t), x, name) for bi, x, wi in zip(b, xi, w, strict=True))
    assert row_saving(b, t, xi, w, LOSSES[name].code) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_the_edge_is_inside(name):
    value = row_saving(np.array([0.25]), 0.0, np.array([0.25]), np.ones(1), LOSSES[name].code)
    assert value == (1.0 if name == "cm" else 0.0)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("scale", [2.0**-30, 3.0, 2.0**40])
def test_savings_scale_with_a_power_of_the_unit(name, scale):
    loss, rng = LOSSES[name], np.random.default_rng(1)
    b, xi, w = rng.normal(size=50), rng.uniform(0.1, 1.0, 50), rng.random(50)
    plain = row_saving(b, 0.1, xi, w, loss.code)
    scaled = row_saving(scale * b, scale * 0.1, scale * xi, w, loss.code)
    assert scaled == pytest.approx(scale**loss.power * plain, rel=1e-9)
    np.testing.assert_allclose(loss.caps(scale * xi), scale**loss.power * loss.caps(xi), rtol=1e-12)
    square = 0.3 * scale * scale
    assert point_saving(loss.code, scale, 0.7 * scale, square) == pytest.approx(
        scale**loss.power * point_saving(loss.code, 1.0, 0.7, 0.3)
    )


@pytest.mark.parametrize("name", LOSSES)
def test_what_rows_leave_over_adds_up_to_the_point(name):
    """A point within ξ passes three rows one after the other, each with what is left; one beyond fails at one of them.

    For TEAR in ‖·‖₁, for the others in ‖·‖₂.
    """
    rng, left = np.random.default_rng(2), LOSSES[name].left
    norm = 1 if name == "tear" else 2
    r = rng.normal(size=(500, 3))
    r *= (rng.uniform(0.0, 2.0, 500) / np.linalg.norm(r, norm, axis=1))[:, None]
    xi, passes = np.ones(500), np.ones(500, bool)
    for z in np.abs(r.T):
        passes &= z <= xi
        xi = left(np.maximum(xi, z), z)
    np.testing.assert_array_equal(passes, np.linalg.norm(r, norm, axis=1) <= 1.0)


def test_caps_are_new_arrays():
    xi = np.ones(3)
    for loss in LOSSES.values():
        loss.caps(xi)[0] = 7.0
    np.testing.assert_array_equal(xi, 1.0)
