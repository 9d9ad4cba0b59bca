"""Charts of the rotation group, and what the frame of a cell says about its rotations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.prove.domains.rotations import ANYTHING, cell_frame, rotation_at
from tests import naive
from tests.naive_pose import cell_of, exact_rotation
from tests.prove.pose.cases import random_box

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=40, deadline=None)


def chart_of(rotation):
    """The face and the chart point of a rotation."""
    r = np.asarray(rotation, np.float64)
    trace = float(np.trace(r))
    face = int(np.argmax([trace, r[0, 0], r[1, 1], r[2, 2]]))
    if face:
        r = r * np.where(np.arange(3) == face - 1, 1.0, -1.0)
    skew = np.array([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]])
    return face, skew / (1.0 + np.trace(r))


def triple(values):
    return tuple(np.asarray(values, float).tolist())


@given(seeds)
@few
def test_charts_cover_all_rotations_once(seed):
    rotation = random_rotation(np.random.default_rng(seed))
    face, g = chart_of(rotation)
    assert np.abs(g).max() <= 1.0 + 1e-12
    assert np.allclose(rotation_at(face, g), rotation, atol=1e-12)
    assert np.allclose(naive.chart_rotation(face, g), rotation, atol=1e-12)


@given(seeds, st.integers(0, 3))
@few
def test_the_rotation_of_a_chart_point_is_that_of_exact_arithmetic(seed, face):
    """To 14 units of 2⁻⁵³ in a row: section 6.4."""
    g = np.random.default_rng(seed).uniform(-1, 1, 3)
    exact = np.array([[float(v) for v in row] for row in exact_rotation(face, g)])
    assert np.linalg.norm(rotation_at(face, g) - exact, axis=1).max() <= 15.0 * 2.0**-53
    assert np.allclose(exact, naive.chart_rotation(face, g), atol=1e-14)


@given(seeds)
@few
def test_points_move_as_the_frame_of_a_cell_says(seed):
    rng = np.random.default_rng(seed)
    (low, high), face = random_box(rng), int(rng.integers(4))
    frame = cell_frame(face, triple(low), triple(high))
    centre, axes = np.array(frame.rotation).reshape(3, 3), np.array(frame.axes).reshape(3, 3)
    middle = 0.5 * (low + high)
    for k in range(30):
        g = low + (rng.choice([0.0, 1.0], 3) if k % 2 else rng.uniform(size=3)) * (high - low)
        x = rng.normal(size=3)
        moved, p = naive.chart_rotation(face, g) @ x, centre @ x
        turn = np.cross((g - middle) @ axes, p)
        rest = moved - p - turn
        assert np.linalg.norm(rest) <= frame.remainder * np.linalg.norm(x)
        # Section 6.3: there is one factor f up to `stretch` that leaves no more than `bend`.
        factors = np.linspace(0.0, frame.stretch, 2001)[1:, None]
        assert np.linalg.norm(moved - p - factors * turn, axis=1).min() <= (frame.bend + 1e-6) * np.linalg.norm(x)
        reach = frame.stretch * np.abs(np.cross(axes, p)).T @ frame.half + frame.bend * np.linalg.norm(x)
        assert np.all(np.abs(moved - p) <= reach)
        assert np.all(np.abs(g - middle) <= frame.half)
        angle_cosine = moved @ p / (np.linalg.norm(moved) * np.linalg.norm(p))
        assert angle_cosine >= frame.cosine - 1e-12


@given(seeds)
@few
def test_a_frame_and_its_twin(seed):
    rng = np.random.default_rng(seed)
    (low, high), face = random_box(rng), int(rng.integers(4))
    frame, cell = cell_frame(face, triple(low), triple(high)), cell_of(face, low, high)
    inner = 1.0 - cell.mu
    assert np.allclose(np.array(frame.rotation).reshape(3, 3), inner * cell.rotation, atol=1e-14)
    assert np.allclose(np.array(frame.axes).reshape(3, 3), cell.motion.T / inner, atol=1e-13)
    assert np.allclose(frame.half, cell.half, atol=1e-15)
    assert frame.remainder == pytest.approx(cell.remainder, rel=1e-11)
    assert frame.inward == pytest.approx(inner)
    assert frame.stretch == pytest.approx(cell.stretch, rel=1e-12)
    assert frame.bend == pytest.approx(cell.bend, rel=1e-11, abs=2e-15)
    assert frame.stretch > cell.stretch
    assert frame.bend > cell.bend
    assert frame.cosine == pytest.approx(np.cos(cell.angle))
    assert frame.sine == pytest.approx(np.sin(cell.angle) if cell.angle < np.pi / 2 else 1.0)


def test_the_remainder_is_of_second_order():
    rests = [cell_frame(0, (0.3 - h,) * 3, (0.3 + h,) * 3).remainder for h in (0.1, 0.05)]
    assert 3.5 < rests[0] / rests[1] < 4.6


def test_the_frame_of_a_cell_too_large_for_its_centre_says_nothing():
    frame = cell_frame(0, (-1.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    assert frame.remainder < ANYTHING
    frame = cell_frame(0, (-0.9, -0.9, -0.9), (1.0, 1.0, 1.0))
    assert frame.remainder < ANYTHING
    frame = cell_frame(0, (-1.0, -1.0, -1.0), (3.0, 3.0, 3.0))  # not a cell of the cube
    assert (frame.remainder, frame.cosine, frame.sine, frame.inward) == (ANYTHING, -1.0, 1.0, 1.0)
    assert (frame.stretch, frame.bend) == (1.0, ANYTHING)
