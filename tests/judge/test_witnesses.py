"""Voxels are numbered as a dictionary would."""

import numpy as np
import pytest

from tear3d.judge.witnesses import Witnesses, voxel_numbers


def by_hand(points, size):
    """The number of each point's voxel, in the order in which voxels are met."""
    known: dict[tuple, int] = {}
    cells = np.floor((points - points.min(axis=0)) / size).astype(int).tolist()
    return [known.setdefault(tuple(cell), len(known)) for cell in cells], len(known)


@pytest.mark.parametrize(("n", "size"), [(1, 0.1), (2, 0.1), (500, 0.05), (500, 0.7), (5000, 0.2)])
def test_numbers_are_those_of_a_dictionary(n, size):
    points = np.random.default_rng(n).normal(size=(n, 3))
    numbers, count = voxel_numbers(points, size)
    assert (numbers.tolist(), count) == by_hand(points, size)


def test_tiny_voxels_are_limited_in_number():
    points = np.random.default_rng(0).uniform(size=(300, 3))
    numbers, count = voxel_numbers(points, 1e-30)
    assert count == 300
    assert sorted(numbers) == list(range(300))
    assert voxel_numbers(np.ones((5, 3)), 0.0)[1] == 1


def test_hits_and_chances_are_means_over_voxels():
    points = np.random.default_rng(1).normal(size=(800, 3))
    side = Witnesses(points, 0.6)
    numbers, count = by_hand(points, 0.6)
    held = np.bincount(numbers)
    assert side.count == count
    for p0 in (1e-9, 0.01, 0.5, 1.0):
        assert side.chance(p0) == pytest.approx(np.mean(1.0 - (1.0 - p0) ** held), rel=1e-6)
    rows = np.arange(0, 800, 7)
    assert side.hit(rows) == len({numbers[row] for row in rows})
    assert side.hit(rows[:0]) == 0
