"""Cells and the poses that are allowed: nothing that is allowed is cut off, and what is far outside is."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.lab.synthetic import random_rotation
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.prove.domains.allowed import PLAIN, charted, confine, permits, turned_in
from tear3d.prove.domains.rotations import cell_frame, rotation_at
from tear3d.prove.pose.confined import chart_of, sides_within
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, roots
from tear3d.prove.pose.points import pack
from tests.naive import chart_point
from tests.prove.pose.priors import KINDS, allowed_pose, make_prior, small

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)


def packed_with(rng, kind):
    """Pairs, a prior for them, and the pairs packed about an allowed pose."""
    x = rng.normal(size=(20, 3))
    truth = Pose(random_rotation(rng), rng.normal(size=3))
    pairs = Pairs.of(x, truth.apply(x), 0.1)
    inside = pairs.frame.inside(truth)
    pairs = replace(pairs, prior=make_prior(rng, inside, 1.0, kind))
    pose = pairs.allow(Pose(small(rng, 0.2) @ inside.rotation, inside.translation))
    return pairs, pose, pack(pairs, LOSSES["tear"], pose)


def seen(packed, pose):
    """Face, g and t of a pose for packed pairs."""
    turn = packed.chart.T @ pose.rotation @ packed.rotation.T
    face, g = chart_point(turn)
    return face, g, pose.translation + pose.rotation @ packed.mean - packed.shift


@given(seeds, kinds)
@settings(max_examples=120, deadline=None)
def test_cells_begin_where_every_allowed_pose_is(seed, kind):
    rng = np.random.default_rng(seed)
    pairs, pose, packed = packed_with(rng, kind)
    nodes = roots(packed.low - 1e9, packed.high + 1e9, 1.0, sides_within(pairs.prior, pose))
    for _ in range(5):
        face, g, _ = seen(packed, allowed_pose(rng, pairs.prior, 1.0))
        inside = (
            (nodes[:, FACE] == face)
            & np.all(nodes[:, LOW : LOW + 3] <= g + 1e-12, axis=1)
            & np.all(nodes[:, HIGH : HIGH + 3] >= g - 1e-12, axis=1)
        )
        on_two = np.abs(np.abs(g) - 1.0).min() < 1e-9
        assert inside.any() or on_two


@given(seeds, kinds)
@settings(max_examples=150, deadline=None)
def test_nothing_that_is_allowed_is_cut_off(seed, kind):
    rng = np.random.default_rng(seed)
    pairs, _, packed = packed_with(rng, kind)
    for _ in range(5):
        pose = allowed_pose(rng, pairs.prior, 1.0)
        face, g, t = seen(packed, pose)
        around, width = 10.0 ** rng.uniform(-4.0, -0.3, (2, 3)), 10.0 ** rng.uniform(-3.0, 1.0, (2, 3))
        low, high = tuple((g - around[0]).tolist()), tuple((g + around[1]).tolist())
        frame = charted(cell_frame(face, low, high), packed.allowed.chart)
        inside, least, largest = confine(packed.allowed, frame, tuple(t - width[0]), tuple(t + width[1]))
        assert inside
        assert np.all(np.array(least) <= t + 1e-9)
        assert np.all(np.array(largest) >= t - 1e-9)


@given(seeds, kinds)
@settings(max_examples=100, deadline=None)
def test_a_pose_is_permitted_when_the_prior_contains_it(seed, kind):
    rng = np.random.default_rng(seed)
    pairs, _, packed = packed_with(rng, kind)
    assume_cells = pairs.prior.tilt == 0.0 or pairs.prior.fixed  # their cells hold no other rotations
    for _ in range(5):
        pose = allowed_pose(rng, pairs.prior, 1.0)
        if not assume_cells and rng.uniform() < 0.5:
            pose = Pose(small(rng, 1.0) @ pose.rotation, pose.translation + rng.normal(size=3))
        face, g, t = seen(packed, pose)
        answer = permits(packed.allowed, face, np.concatenate([g, t]))
        if answer:
            assert pairs.prior.contains(pose, 1e-6)
        if not pairs.prior.contains(pose, 1e-6):
            assert not answer


def test_what_is_far_outside_is_not_searched():
    rng = np.random.default_rng(0)
    pairs, _, packed = packed_with(rng, "around")
    small_cell = (-0.01,) * 3, (0.01,) * 3
    far = charted(cell_frame(1, *small_cell), packed.allowed.chart)
    assert not confine(packed.allowed, far, (-1.0,) * 3, (1.0,) * 3)[0] or pairs.prior.turn > 2.0
    near = charted(cell_frame(0, *small_cell), packed.allowed.chart)
    assert not confine(packed.allowed, near, (50.0,) * 3, (51.0,) * 3)[0]


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_a_chart_turns_the_frame_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    chart = random_rotation(rng)
    nine, face = tuple(chart.ravel().tolist()), int(rng.integers(4))
    c, h = rng.uniform(-0.8, 0.8, 3), rng.uniform(0.0, 0.2, 3)
    plain = cell_frame(face, tuple(c - h), tuple(c + h))
    turned = charted(plain, nine)
    assert np.allclose(np.reshape(turned.rotation, (3, 3)), chart @ np.reshape(plain.rotation, (3, 3)))
    assert np.allclose(np.reshape(turned.axes, (3, 3)), np.reshape(plain.axes, (3, 3)) @ chart.T)
    assert turned[2:] == plain[2:]
    allowed = packed_with(rng, KINDS[0])[2].allowed
    rotation = turned_in(allowed._replace(chart=nine), face, tuple(c))
    assert np.allclose(np.reshape(rotation, (3, 3)), chart @ rotation_at(face, c))
    assert charted(plain, PLAIN) == plain
    assert turned_in(None, face, tuple(c)) == turned_in(allowed._replace(chart=PLAIN), face, tuple(c))


@pytest.mark.parametrize("axis", [*np.eye(3), *-np.eye(3), np.array([1.0, 2.0, 3.0]) / 14**0.5])
def test_the_third_column_of_a_chart_is_the_axis(axis):
    chart = chart_of(Prior(axis=axis, source_axis=axis, tilt=0.0))
    assert np.array_equal(chart[:, 2], axis)
    assert np.allclose(chart @ chart.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(chart) > 0.0
