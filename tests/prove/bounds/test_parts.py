"""Boxes with nothing between them: every voxel above the threshold is in one, and none is larger than it must be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.prove.bounds.parts import COLUMNS, FIRST, LAST, MOST, MOST_PARTS, boxes_of, find_parts
from tear3d.prove.bounds.voxels import EDGE, MAX_SIDE, make_grid, survivors
from tests.naive_pose import parts_of

seeds = st.integers(0, 2**32 - 1)
sides = st.tuples(*[st.integers(1, 12)] * 3)


def padded(votes):
    """With a margin behind each axis as in a grid of votes, but full of votes that are none."""
    wide = np.full(np.add(votes.shape, 1), 2**30, np.int32)
    wide[tuple(slice(n) for n in votes.shape)] = votes
    return wide.ravel()


def found_parts(votes, threshold):
    flat, shape, row = padded(votes), votes.shape, votes.shape[2] + 1
    parts, filled = np.full((MOST_PARTS, COLUMNS), -7, np.int64), np.full((3, MAX_SIDE), 9, np.uint8)
    hull = survivors(flat, shape, row, threshold)
    count = find_parts(flat, shape, row, threshold, hull, parts, filled)
    assert np.array_equal(flat, padded(votes))
    return parts[:count]


def checked_parts(votes, threshold):
    """The parts of a grid with survivors, which are those of the twin and all that they should be."""
    parts = found_parts(votes, threshold)
    expected = [
        [*places.min(axis=0), *places.max(axis=0), max(votes[tuple(place)] for place in places)]
        for places in parts_of(votes, threshold, MOST_PARTS)
    ]
    assert parts.tolist() == np.array(expected).tolist()
    assert 1 <= len(parts) <= MOST_PARTS
    times = np.zeros(votes.shape, int)
    for part in parts:
        box = tuple(slice(part[FIRST + k], part[LAST + k] + 1) for k in range(3))
        times[box] += 1
        beats = votes[box] > threshold
        assert part[MOST] == votes[box].max() > threshold
        for k in range(3):
            slabs = beats.any(axis=tuple({0, 1, 2} - {k}))
            assert slabs[0]
            assert slabs[-1]
            assert slabs.all() or len(parts) == MOST_PARTS
    assert times.max() == 1
    assert np.all(times[votes > threshold] == 1)
    return parts


def blobs(rng, shape, count, values):
    """Boxes of votes here and there."""
    votes = np.zeros(shape, np.int32)
    for _ in range(count):
        a = rng.integers(shape)
        b = np.minimum(a + rng.integers(1, 4, 3), shape)
        votes[tuple(slice(i, j) for i, j in zip(a, b, strict=True))] += rng.integers(1, values + 1)
    return votes


@given(seeds, sides, st.integers(1, 60), st.integers(0, 6))
@settings(max_examples=300, deadline=None)
def test_parts_of_blobs(seed, shape, count, threshold):
    votes = blobs(np.random.default_rng(seed), shape, count, 9)
    if votes.max() > threshold:
        checked_parts(votes, threshold)


@given(seeds, sides, st.floats(0.0, 1.0))
@settings(max_examples=200, deadline=None)
def test_parts_of_single_voxels(seed, shape, share):
    rng = np.random.default_rng(seed)
    votes = np.where(rng.uniform(size=shape) < share, rng.integers(5, 9, shape), rng.integers(0, 5, shape))
    if votes.max() > 4:
        checked_parts(votes.astype(np.int32), 4)


def test_random_grids_fall_into_any_number_of_parts():
    rng, seen = np.random.default_rng(0), set()
    for _ in range(300):
        votes = blobs(rng, tuple(rng.integers(4, 20, 3)), int(rng.integers(1, 20)), 9)
        seen.add(len(checked_parts(votes, 0)))
    assert seen == set(range(1, MOST_PARTS + 1))


@pytest.mark.parametrize("shape", [(1, 1, 1), (MAX_SIDE, 2, 3), (1, 1, MAX_SIDE), (9, 8, 7)])
def test_one_voxel_anywhere_and_a_full_grid_are_one_part(shape):
    votes = np.full(shape, 3, np.int32)
    assert checked_parts(votes, 2).tolist() == [[0, 0, 0, *np.subtract(shape, 1), 3]]
    rng = np.random.default_rng(0)
    for place in [(0, 0, 0), tuple(np.subtract(shape, 1)), tuple(rng.integers(shape))]:
        votes[:] = 2
        votes[place] = 5
        assert checked_parts(votes, 2).tolist() == [[*place, *place, 5]]


def test_blobs_that_no_empty_slab_keeps_apart_are_one_part():
    votes = np.zeros((4, 4, 4), np.int32)
    for k in range(4):
        votes[k, k, k] = 1
    assert len(checked_parts(votes, 0)) == 1
    votes[2, 2, 2] = 0
    assert len(checked_parts(votes, 0)) == 2


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("count", [MOST_PARTS - 1, MOST_PARTS, MOST_PARTS + 1, MAX_SIDE // 2])
def test_more_blobs_than_parts(axis, count):
    """None is forgotten, however many there are."""
    votes = np.zeros(np.where(np.arange(3) == axis, MAX_SIDE, 2), np.int32)
    np.moveaxis(votes, axis, 0)[: 2 * count : 2, 1, 0] = np.arange(1, count + 1)
    parts = checked_parts(votes, 0)
    assert len(parts) == min(count, MOST_PARTS)
    assert parts[:, MOST].max() == count


def exact_edges(low, size, first, last):
    return Fraction(low) + first * Fraction(size), Fraction(low) + (last + 1) * Fraction(size)


@given(seeds, st.floats(-12.0, 2.0), st.floats(-3.0, 6.0))
@settings(max_examples=200, deadline=None)
def test_boxes_of_parts_hold_their_voxels_and_hardly_more(seed, width, away):
    """In rational arithmetic, for boxes of t that are narrow and far from the origin."""
    rng = np.random.default_rng(seed)
    low = 10.0**away * rng.normal(size=3)
    high = low + 10.0**width * rng.uniform(size=3) * rng.choice([0.0, 1.0], 3, p=[0.2, 0.8])
    grid = make_grid(tuple(low.tolist()), tuple(high.tolist()), 10.0**width / rng.uniform(1.0, 15.0), 4000)
    votes = blobs(rng, grid.shape, int(rng.integers(1, 12)), 9)
    parts = found_parts(votes, 0)
    boxes = np.full((MOST_PARTS, 6), np.nan)
    volume = boxes_of(grid, tuple(high.tolist()), parts, len(parts), boxes)
    assert np.all(np.isnan(boxes[len(parts) :]))
    total = 0.0
    for part, box in zip(parts.tolist(), boxes, strict=False):
        for k in range(3):
            start, stop = exact_edges(grid.low[k], grid.size[k], part[FIRST + k], part[LAST + k])
            slack = 2 * Fraction(EDGE) * (abs(Fraction(low[k])) + abs(Fraction(high[k])))
            assert low[k] <= box[k] <= box[3 + k] <= high[k]
            assert start - slack <= box[k] <= max(start, Fraction(low[k]))
            assert min(stop, Fraction(high[k])) <= box[3 + k] <= stop + slack
        total += float(np.prod((np.subtract(part[LAST : LAST + 3], part[FIRST : FIRST + 3]) + 1) * grid.size))
    assert volume == pytest.approx(total, rel=1e-12)
