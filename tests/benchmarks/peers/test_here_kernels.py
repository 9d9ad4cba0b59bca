"""HERE's kernels against obvious twins."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from benchmarks.peers.here_order import agree_with, neighbour_sums, scores
from benchmarks.peers.here_rotation import across, axis_arcs, find_angle, find_axis
from benchmarks.peers.here_stab import inside, stab, wrapped
from benchmarks.peers.here_translation import arcs, best_angle, point, search, upper_bound
from tests.benchmarks.peers.odd_pairs import turn

# A coarse grid, so that arcs meet, coincide, are points, pass 0 and fill the circle.
ARCS = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 12)), max_size=12)


@settings(deadline=None, max_examples=300)
@given(ARCS)
def test_stabbing(pairs):
    starts, ends = np.array(pairs, dtype=np.float64).reshape(-1, 2).T.copy()
    angle, count = stab(starts, ends)
    twin = [sum(inside(a, b, at) for a, b in zip(starts, ends, strict=True)) for at in (0.0, *starts)]
    assert count == max(twin)
    assert count == sum(inside(a, b, angle) for a, b in zip(starts, ends, strict=True))


def test_wrapped():
    for angle in (-1e-20, -7.0, 0.0, 6.2, 100.0):
        assert 0.0 <= wrapped(angle, 2.0 * math.pi) < 2.0 * math.pi
        assert math.cos(wrapped(angle, 2.0 * math.pi)) == pytest.approx(math.cos(angle))


def shells(seed: int, count: int = 30):
    """A sphere, and shells around points: anywhere, above its centre, and balls (shorter than wide) on it."""
    rng = np.random.default_rng(seed)
    centre, y = rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, (count, 3))
    radius, lengths = rng.uniform(0.1, 1.0), rng.uniform(0.0, 1.5, count)
    y[:3, :2] = centre[:2]
    directions = rng.normal(size=(8, 3))
    y[3:11] = centre + radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    lengths[3:11] = rng.uniform(0.0, 0.1, 8)
    return centre, radius, y, lengths, 0.1


def shells_of(at, y, lengths, width):
    return np.abs(np.linalg.norm(y - at, axis=1) - lengths) <= width


@pytest.mark.parametrize("seed", range(10))
def test_arcs_are_the_shells(seed):
    centre, radius, y, lengths, width = shells(seed)
    rng = np.random.default_rng(seed)
    for height in centre[2] + radius * rng.uniform(-1.0, 1.0, 5):
        starts, ends = arcs(centre, radius, height, y, lengths, width)
        for angle in rng.uniform(0.0, 2.0 * math.pi, 40):
            got = [any(inside(starts[k], ends[k], angle) for k in (2 * i, 2 * i + 1)) for i in range(len(y))]
            assert np.array_equal(got, shells_of(point(centre, radius, height, angle), y, lengths, width))


@pytest.mark.parametrize("seed", range(10))
def test_bound_of_a_slab(seed):
    centre, radius, y, lengths, width = shells(seed)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        low, high = np.sort(centre[2] + radius * rng.uniform(-1.0, 1.0, 2))
        bound = upper_bound(centre, radius, low, high, y, lengths, width)
        for height in rng.uniform(low, high, 20):
            assert best_angle(centre, radius, height, y, lengths, width)[1] <= bound
    assert upper_bound(centre, radius, centre[2], centre[2], y, lengths, width) >= 1


@pytest.mark.parametrize("seed", range(30))
def test_search_beats_every_height_of_a_grid(seed):
    centre, radius, y, lengths, width = shells(seed)
    at, kept = search(centre, radius, y, lengths, width, 1e-4)
    assert np.linalg.norm(at - centre) == pytest.approx(radius)
    # A stabber is the end of an arc, so that the shell of that arc is met up to rounding only.
    assert shells_of(at, y, lengths, width - 1e-9).sum() >= kept.sum() - 1
    assert np.array_equal(kept, shells_of(at, y, lengths, width + 1e-9))
    grid = np.linspace(centre[2] - radius, centre[2] + radius, 201)
    assert kept.sum() >= max(best_angle(centre, radius, h, y, lengths, width)[1] for h in grid)


@pytest.mark.parametrize("seed", range(6))
def test_axis_arcs_are_the_nearly_orthogonal(seed):
    rng = np.random.default_rng(seed)
    m = rng.normal(size=3)
    a, b = across(m / np.linalg.norm(m))
    assert np.allclose(np.array([a, b]) @ np.column_stack([a, b, m]), [[1, 0, 0], [0, 1, 0]], atol=1e-12)
    moves = rng.normal(size=(30, 3)) * rng.uniform(0.0, 1.0, (30, 1))
    starts, ends = axis_arcs(a, b, moves, 0.2)
    for angle in rng.uniform(0.0, math.pi, 50):
        near = np.abs(moves @ (math.cos(angle) * a + math.sin(angle) * b)) <= 0.2
        assert np.array_equal([inside(s, e, angle) for s, e in zip(starts, ends, strict=True)], near)


def test_axis_and_angle_of_a_rotation():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.0, 1.0, (3, 60))
    rotation, translation = turn(), np.array([0.3, -0.2, 0.5])
    y = rotation @ x + translation[:, None]
    y[:, 20:] = rng.uniform(-1.0, 1.0, (3, 40))
    members = np.arange(60)
    axis, agreeing = find_axis(x, y, translation, members, 1e-3, 2e-3, 20)
    assert set(range(20)) <= set(agreeing)
    assert np.allclose(rotation @ axis, axis, atol=1e-3)
    angle, last = find_angle(x, y, translation, axis, members, 5e-3)
    assert set(last) == set(range(20))
    assert np.allclose(Rotation.from_rotvec(angle * axis).as_matrix(), rotation, atol=2e-2)


def test_scores_are_degrees_and_neighbours_degrees():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1.0, 1.0, (2, 3, 80))
    y[:, :30] = x[:, :30] + 1.0
    a, b = (np.linalg.norm(p[:, :, None] - p[:, None], axis=0) for p in (x, y))
    graph = (np.abs(a - b) <= 0.1) & ~np.eye(80, dtype=bool)
    degrees = graph.sum(axis=0)
    with ThreadPoolExecutor(3) as pool:
        assert np.allclose(scores(x, y, 0.1, pool, 3), 0.4 * degrees + 0.1 * graph @ degrees)
    assert np.array_equal(neighbour_sums(x, y, 0.1, np.ones(80), 0, 1), degrees)
    assert np.array_equal(agree_with(x.T, y.T, 5, np.arange(80), 0.1), graph[5])
