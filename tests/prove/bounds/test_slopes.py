"""Bounds of boxes of poses by their corners: the same as point by point, above the saving, sharp to second order."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tear3d.find.ascent import climb
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.corners import corner_values, face_values
from tear3d.prove.bounds.slopes import BLOCK, LANES, LINES, VALUE, Sums, make_work
from tear3d.prove.pose.boxes import shrink
from tear3d.prove.pose.nodes import BOXES, FACE, HIGH, LOW, NEAR, NODE
from tear3d.prove.pose.points import pack
from tests import naive
from tests.naive_pose import cell_of, convex_bound, fractions, pose_saving
from tests.prove.pose.cases import (
    KINDS,
    convex_of,
    exact_problem,
    mixed_pairs,
    node_around,
    node_of,
    points_of,
    poses_in,
    random_box,
)

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=40, deadline=None)
losses = st.sampled_from(sorted(LOSSES))
dtypes = st.sampled_from([np.float32, np.float64])
SIGNS = np.array(list(product((-1.0, 1.0), repeat=6)))


@given(seeds, st.sampled_from(KINDS), losses)
@settings(max_examples=150, deadline=None)
def test_corners_are_summed_as_point_by_point(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p, points = exact.packed, points_of(exact.packed)
    node, _ = node_around(rng, exact, rng.choice([BOXES, NEAR]))
    # Sides of some length and a centre off every pair: slopes of residuals that are zero are rounding's choice.
    node[LOW : LOW + 3] -= 1e-4 * rng.uniform(0.5, 1.0, 3)
    node[HIGH + 3 : HIGH + 6] += 1e-3 * p.ballot.xi * rng.uniform(0.5, 1.0, 3)
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    convex = convex_of(p, node)
    cell, half = cell_of(int(node[FACE]), low[:3], high[:3]), 0.5 * (high - low)
    values, lone, matter = convex_bound(points, cell, (0.5 * (low + high)[3:], half[3:]), loss, *convex.tangents)
    assert matter <= convex.active
    away = float(points.norm.max()) + float(np.abs(points.y).max())
    if loss == "cm":  # whether a pair on the edge of its bound counts is rounding's choice
        edge = sum(points.w[i] for i in convex.active - matter)
        assert convex.bound == convex.sums.lone == pytest.approx(lone + edge, rel=1e-12)
        return
    # Of residuals, times what a unit of them is worth.
    reach = 10.0 if loss == "tear" else 10.0 * (points.xi + np.abs(half).max() * (1.0 + away))
    loose = float(np.sum(points.w * reach)) * 1e-11 * away + 1e-12 * lone
    assert convex.sums.lone == pytest.approx(lone, abs=loose)
    assert np.allclose(convex.values, values, rtol=1e-12, atol=loose)


@given(seeds, st.booleans(), losses, dtypes)
@settings(max_examples=100, deadline=None)
def test_corners_lie_above_the_saving_in_the_whole_box(seed, unequal, loss, dtype):
    rng = np.random.default_rng(seed)
    p = pack(Pairs.of(*mixed_pairs(rng, unequal=unequal)), LOSSES[loss], Pose.identity())
    points = points_of(p)
    g, face = random_box(rng, 0.1), int(rng.integers(4))
    side = 0.3 * rng.uniform(0.01, 1.0) * rng.uniform(0.2, 1.0, 3)
    i = rng.integers(p.size)
    rotation = naive.chart_rotation(face, 0.5 * (g[0] + g[1]))
    centre = points.y[:, i] - rotation @ points.x[:, i] + rng.normal(size=3) * 0.05
    node = node_of(p.ceiling, rng.choice([BOXES, NEAR]), face, g, (centre - side, centre + side))
    convex = convex_of(p, node, dtype)
    for pose in poses_in(rng, node, 60):
        savings = pose_saving(points, naive.chart_rotation(face, pose[:3]), pose[3:], loss)
        # A convex function is at most the mean of its values at the corners, weighed by where the pose is.
        at = (pose - convex.middle) / convex.half
        assert savings.sum() <= np.prod(0.5 * (1.0 + SIGNS * at), axis=1) @ convex.values * (1.0 + 1e-12)
        assert savings.sum() <= convex.sums.lone
        assert set(np.flatnonzero(savings > 1e-12).tolist()) <= convex.active


@given(seeds, losses, dtypes)
@few
def test_at_the_centre_of_a_tiny_box_everything_is_the_saving(seed, loss, dtype):
    rng = np.random.default_rng(seed)
    p = pack(Pairs.of(*mixed_pairs(rng, unequal=True)), LOSSES[loss], Pose.identity())
    points, face, g = points_of(p), int(rng.integers(4)), rng.uniform(-1, 1, 3)
    i = rng.integers(p.size)
    rotation = naive.chart_rotation(face, g)
    t = points.y[:, i] - rotation @ points.x[:, i] + 0.02 * rng.normal(size=3)
    node = node_of(p.ceiling, BOXES, face, (g, g), (t, t))
    convex, exact = convex_of(p, node, dtype), 1e-9 if dtype == np.float64 else 2e-3
    saving = float(pose_saving(points, rotation, t, loss).sum())
    assume(saving > 0.0)
    assert convex.sums.centre == pytest.approx(saving, rel=exact)
    assert convex.bound == pytest.approx(saving, rel=exact)
    assert convex.sums.lone == pytest.approx(saving, rel=exact)
    node[LOW : LOW + 6] -= 1e-3
    node[HIGH : HIGH + 6] += 1e-3
    assert convex_of(p, node, dtype).sums.centre == pytest.approx(saving, rel=0.2)  # of the inward centre


@given(seeds, dtypes, st.integers(1, 3 * BLOCK))
@few
def test_corners_are_sums_of_lines_that_are_cut_at_zero(seed, dtype, n):
    rng = np.random.default_rng(seed)
    work, count = make_work(n, dtype), -(-n // LANES) * LANES
    work.lines[:, :n] = rng.normal(size=(LINES, n))
    lines, slope = work.lines.astype(float), tuple(rng.normal(size=6).tolist())
    most = corner_values(Sums(40.0, slope, count, 0.0, 0.5, 0.0, 0.0, slope), work)
    expected = 40.5 + SIGNS @ slope + np.maximum(0.0, lines[VALUE] + SIGNS @ lines[:VALUE]).sum(axis=1)
    assert np.allclose(work.values, expected, rtol=1e-4 if dtype == np.float32 else 1e-12)
    assert most == work.values.max()
    values = work.values.copy()
    face_values(work.values, work.faces)
    for side in range(6):
        assert work.faces[side].tolist() == [values[SIGNS[:, side] == sign].max() for sign in (-1.0, 1.0)]


def at_corners(values):
    """Work space with these values."""
    work = make_work(1, np.float64)
    work.values[:] = values
    return work


def convex_function(rng, half):
    """A convex function of a box about the origin, and its values at the corners."""
    m, k = rng.normal(size=8), rng.normal(size=(8, 6)) * rng.choice([0.1, 1.0, 5.0], 6) / half

    def value(pose):
        return float(np.maximum(0.0, m + k @ pose).sum())

    return value, np.array([value(corner) for corner in SIGNS * half])


@given(seeds)
@few
def test_shrinking_cuts_only_where_the_bound_is_low(seed):
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.1, 1.0, 6)
    value, values = convex_function(rng, half)
    threshold = values.max() * rng.uniform(0.2, 0.999)
    node = np.zeros(NODE)
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    low[:], high[:] = -half, half
    left = shrink(node, np.zeros(6), half, at_corners(values), threshold)
    assert left == pytest.approx(np.prod((high - low) / (2.0 * half)), abs=1e-6)
    for _ in range(200):
        pose = half * np.clip(rng.normal(size=6) + rng.choice(SIGNS), -1.0, 1.0)
        assert value(pose) <= threshold * (1.0 + 1e-12) or np.all((low <= pose) & (pose <= high))


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_just_beyond_a_cut_the_bound_is_low_exactly(seed):
    """Also for boxes that are tiny and far from the origin, where edges are rounded most."""
    rng = np.random.default_rng(seed)
    centre, half = 10.0 ** rng.uniform(-3, 3, 6) * rng.normal(size=6), 10.0 ** rng.uniform(-12, 0, 6)
    node = np.zeros(NODE)
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    low[:], high[:] = centre - half, centre + half
    middle, reach = 0.5 * (low + high), 0.5 * (high - low) * (1.0 + 1e-13) + 1e-300
    slopes = rng.normal(size=6) * 10.0 ** rng.uniform(-3, 0, 6)
    constant = float(np.abs(slopes).sum()) + 1.0
    exact = [constant + sum(Fraction(s) * Fraction(v) for s, v in zip(slopes, c, strict=True)) for c in SIGNS]
    values = np.array([np.nextafter(float(value), np.inf) for value in exact])
    threshold = constant + rng.uniform(-1.0, 1.0) * float(np.abs(slopes).sum())
    best, old = np.sign(slopes), (low.copy(), high.copy())
    shrink(node, middle, reach, at_corners(values), threshold)
    for j in range(6):
        for edge, was, way in ((low[j], old[0][j], -1), (high[j], old[1][j], 1)):
            if edge != was:
                beyond = Fraction(float(edge)) + way * Fraction(1, 2**200)
                place = (beyond - Fraction(float(middle[j]))) / Fraction(float(reach[j]))
                others = sum(abs(a) for k, a in enumerate(fractions(slopes)) if k != j)
                assert best[j] == -way
                assert Fraction(constant) + others + Fraction(float(slopes[j])) * place <= Fraction(float(threshold))


@pytest.mark.parametrize("loss", ["tear", "tls"])
def test_corners_are_sharp_to_second_order(loss):
    """With an optimum in the box, away from its centre, halving the box divides the excess by about four."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 3))
    pairs = Pairs.of(x, x + rng.uniform(-1, 1, x.shape) * 0.07, 0.2)
    pose, saving = climb(pairs, Pose.identity(), LOSSES[loss])
    p = pack(pairs, LOSSES[loss], pose)
    excess = []
    for size in (0.006, 0.003):
        low, high = np.full(6, -0.3 * size), np.full(6, size)
        node = node_of(p.ceiling, BOXES, 0, (low[:3], high[:3]), (low[3:], high[3:]))
        convex = convex_of(p, node, np.float32)
        excess.append(convex.bound - saving)
        assert convex.sums.centre < saving
    assert 0.0 <= excess[1] < excess[0] / 2.5
    assert excess[1] < 0.03 * saving
