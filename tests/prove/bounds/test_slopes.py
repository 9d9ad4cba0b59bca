"""First-order bounds of boxes of poses: the same as point by point, above the saving, sharp to second order."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tear3d.find.ascent import climb
from tear3d.problem.losses import LOSSES
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.pose.boxes import shrink
from tear3d.prove.pose.nodes import BOXES, FACE, HIGH, LOW, NODE
from tear3d.prove.pose.points import pack
from tests import naive
from tests.naive_pose import affine_bound, cell_of, fractions, pose_saving
from tests.prove.pose.cases import (
    KINDS,
    affine_of,
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


@given(seeds, st.sampled_from(KINDS), losses)
@settings(max_examples=150, deadline=None)
def test_slopes_are_summed_as_point_by_point(seed, kind, loss):
    rng = np.random.default_rng(seed)
    exact = exact_problem(rng, kind, loss)
    p, points = exact.packed, points_of(exact.packed)
    node, _ = node_around(rng, exact)
    # Sides of some length and a centre off every pair: signs of residuals that are zero are rounding's choice.
    node[LOW : LOW + 3] -= 1e-4 * rng.uniform(0.5, 1.0, 3)
    node[HIGH + 3 : HIGH + 6] += 1e-3 * p.ballot.xi * rng.uniform(0.5, 1.0, 3)
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    half = 0.5 * (high - low)
    toward = rng.uniform(-1.0, 1.0, 6) * half * rng.choice([0.0, 1.0])
    affine, _, active = affine_of(p, node, toward)
    cell = cell_of(int(node[FACE]), low[:3], high[:3])
    value, slopes, lone, matter = affine_bound(points, cell, (0.5 * (low + high)[3:], half[3:]), toward, loss)
    assert matter <= active
    away = float(points.norm.max()) + float(np.abs(points.y).max())
    if loss == "cm":  # whether a pair on the edge of its bound counts is rounding's choice
        edge = sum(points.w[i] for i in active - matter)
        assert affine.value == affine.lone == pytest.approx(value + edge, rel=1e-12)
        assert affine.slope == (0.0,) * 6
        return
    # Of residuals, times what a unit of them is worth.
    reach = 1.0 if loss == "tear" else 10.0 * (points.xi + np.abs(half).max() * (1.0 + away))
    loose = float(np.sum(points.w * reach)) * 1e-11 * away + 1e-12 * value
    assert affine.value == pytest.approx(value, abs=loose)
    assert affine.lone == pytest.approx(lone, abs=loose)
    assert np.allclose(np.array(affine.slope) * half, slopes * half, atol=loose)


@given(seeds, st.booleans(), losses)
@settings(max_examples=80, deadline=None)
def test_slopes_lie_above_the_saving_in_the_whole_box(seed, unequal, loss):
    rng = np.random.default_rng(seed)
    p = pack(Pairs.of(*mixed_pairs(rng, unequal=unequal)), LOSSES[loss], Pose.identity())
    points = points_of(p)
    g, face = random_box(rng, 0.1), int(rng.integers(4))
    side = 0.3 * rng.uniform(0.01, 1.0) * rng.uniform(0.2, 1.0, 3)
    i = rng.integers(p.size)
    rotation = naive.chart_rotation(face, 0.5 * (g[0] + g[1]))
    centre = points.y[:, i] - rotation @ points.x[:, i] + rng.normal(size=3) * 0.05
    node = node_of(p.ceiling, BOXES, face, g, (centre - side, centre + side))
    half = 0.5 * (node[HIGH : HIGH + 6] - node[LOW : LOW + 6])
    affine, _, active = affine_of(p, node, rng.uniform(-1, 1, 6) * half * rng.choice([0.0, 1.0]))
    middle = 0.5 * (node[HIGH : HIGH + 6] + node[LOW : LOW + 6])
    for pose in poses_in(rng, node, 60):
        savings = pose_saving(points, naive.chart_rotation(face, pose[:3]), pose[3:], loss)
        assert savings.sum() <= affine.value + affine.slope @ (pose - middle)
        assert savings.sum() <= affine.lone
        assert set(np.flatnonzero(savings > 1e-12).tolist()) <= active


@given(seeds, losses)
@few
def test_at_the_centre_of_a_tiny_box_everything_is_the_saving(seed, loss):
    rng = np.random.default_rng(seed)
    p = pack(Pairs.of(*mixed_pairs(rng, unequal=True)), LOSSES[loss], Pose.identity())
    points, face, g = points_of(p), int(rng.integers(4)), rng.uniform(-1, 1, 3)
    i = rng.integers(p.size)
    rotation = naive.chart_rotation(face, g)
    t = points.y[:, i] - rotation @ points.x[:, i] + 0.02 * rng.normal(size=3)
    node = node_of(p.ceiling, BOXES, face, (g, g), (t, t))
    affine, _, _ = affine_of(p, node)
    saving = float(pose_saving(points, rotation, t, loss).sum())
    assume(saving > 0.0)
    assert affine.centre == pytest.approx(saving, rel=1e-9)
    assert affine.value == pytest.approx(saving, rel=1e-9)
    assert affine.lone == pytest.approx(saving, rel=1e-9)
    node[LOW : LOW + 6] -= 1e-3
    node[HIGH : HIGH + 6] += 1e-3
    assert affine_of(p, node)[0].centre == pytest.approx(saving, rel=0.2)  # of the inward centre


@given(seeds)
@few
def test_shrinking_cuts_only_where_the_affine_bound_is_low(seed):
    rng = np.random.default_rng(seed)
    half, slopes = rng.uniform(0.1, 1.0, 6), rng.normal(size=6) * rng.choice([0.1, 1.0, 5.0], 6)
    bound = 1.0 + np.abs(slopes) @ half
    threshold = bound - rng.uniform(0.01, 1.0) * np.abs(slopes) @ half
    node = np.zeros(NODE)
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    low[:], high[:] = -half, half
    left = shrink(node, half, tuple(slopes.tolist()), bound, threshold)
    assert left == pytest.approx(np.prod((high - low) / (2.0 * half)), abs=1e-6)
    for _ in range(200):
        pose = np.sign(slopes) * half * (1.0 - 2.0 * rng.uniform(size=6) * (rng.uniform(size=6) < 0.3))
        if 1.0 + slopes @ pose > threshold:
            assert np.all((low <= pose) & (pose <= high))


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_just_beyond_a_cut_the_affine_bound_is_low_exactly(seed):
    """Also for boxes that are tiny and far from the origin, where edges are rounded most."""
    rng = np.random.default_rng(seed)
    centre, half = 10.0 ** rng.uniform(-3, 3, 6) * rng.normal(size=6), 10.0 ** rng.uniform(-12, 0, 6)
    node = np.zeros(NODE)
    low, high = node[LOW : LOW + 6], node[HIGH : HIGH + 6]
    low[:], high[:] = centre - half, centre + half
    middle, reach = fractions(0.5 * (low + high)), 0.5 * (high - low) * (1.0 + 1e-13) + 1e-300
    slopes = rng.normal(size=6) / half * 10.0 ** rng.uniform(-3, 0, 6)
    old, best = (low.copy(), high.copy()), fractions(np.where(slopes > 0.0, high, low))

    def affine(pose):
        return 1 + sum(a * (b - c) for a, b, c in zip(fractions(slopes), pose, middle, strict=True))

    bound = np.nextafter(float(affine(best)), np.inf)
    threshold = bound - rng.uniform(0.0, 1.0) * float(np.abs(slopes) @ reach)
    shrink(node, reach, tuple(slopes.tolist()), bound, threshold)
    for j in range(6):
        for edge, was, way in ((low[j], old[0][j], -1), (high[j], old[1][j], 1)):
            if edge != was:
                beyond = [*best[:j], Fraction(float(edge)) + way * Fraction(1, 2**200), *best[j + 1 :]]
                assert affine(beyond) <= Fraction(float(threshold))


@pytest.mark.parametrize("loss", ["tear", "tls"])
def test_slopes_are_sharp_to_second_order(loss):
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
        affine, half, _ = affine_of(p, node, -0.5 * (low + high))
        excess.append(affine.value + np.abs(affine.slope) @ half - saving)
        assert affine.centre < saving
    assert 0.0 <= excess[1] < excess[0] / 2.5
    assert excess[1] < 0.06 * saving
