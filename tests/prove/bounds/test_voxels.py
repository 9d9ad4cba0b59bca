"""Boxes of translations cut into voxels: sums, hulls and edges are those of their twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.bounds.voxels import MAX_SIDE, Hull, left_of, make_grid, sum_up, survivors
from tests.naive_pose import fractions, hull

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=40, deadline=None)


def random_grid(rng, room):
    low, width = rng.normal(size=3), 10.0 ** rng.uniform(-9, 3, 3) * rng.choice([0.0, 1.0], 3, p=[0.1, 0.9])
    low, high = tuple(low.tolist()), tuple((low + width).tolist())
    return make_grid(low, high, 10.0 ** rng.uniform(-6, 1), room), high


@given(seeds, st.sampled_from([8, 1000, 1 << 16]))
@few
def test_grids_have_no_more_voxels_than_allowed(seed, room):
    rng = np.random.default_rng(seed)
    grid, high = random_grid(rng, room)
    shape = np.array(grid.shape)
    assert np.prod(shape + 1) <= room
    assert np.all((shape >= 1) & (shape <= MAX_SIDE))
    width = np.array(high) - np.array(grid.low)
    assert np.allclose(shape * np.array(grid.size), width, rtol=1e-12, atol=1e-290)


@given(seeds)
@few
def test_running_sums_and_survivors_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 8, 3).tolist())
    row = shape[2] + 1 + int(rng.integers(3))
    given_ = rng.integers(-5, 9, (shape[0] + 1, shape[1] + 1, row)).astype(np.int32)
    voxels = given_.reshape(-1).copy()
    sum_up(voxels, shape, row)
    inside = tuple(slice(n) for n in shape)
    sums = given_[inside].cumsum(axis=0).cumsum(axis=1).cumsum(axis=2)
    summed = voxels.reshape(given_.shape)[inside]
    assert np.array_equal(summed, sums)
    voxels = np.abs(voxels)
    threshold = int(rng.integers(-1, 30))
    found = survivors(voxels, shape, row, threshold)
    most, below, first, last = hull(np.abs(sums), threshold)
    assert (found.most, found.below) == (most, below)
    if most:
        assert (found.first, found.last) == (first, last)


@given(seeds)
@few
def test_what_is_left_holds_the_voxels_of_the_hull_exactly_and_no_more_than_the_box(seed):
    rng = np.random.default_rng(seed)
    grid, high = random_grid(rng, 1 << 16)
    first = tuple(int(rng.integers(n)) for n in grid.shape)
    last = tuple(int(rng.integers(a, n)) for a, n in zip(first, grid.shape, strict=True))
    low_left, high_left = left_of(grid, high, Hull(1, 0, first, last))
    for k in range(3):
        low, top, size, a, b = fractions(np.array([grid.low[k], high[k], grid.size[k], low_left[k], high_left[k]]))
        assert low <= a
        assert b <= top
        assert a <= max(low, low + first[k] * size)
        assert b >= min(top, low + (last[k] + 1) * size)
        assert (a, b) == (low, top) or b - a <= (last[k] + 1 - first[k]) * size + (abs(low) + abs(top)) / 2**48
        if last[k] == grid.shape[k] - 1:
            assert b == top or b >= low + grid.shape[k] * size
