"""Grids on which other poses are guessed, against SciPy's."""

import numpy as np
from scipy import fft
from scipy.ndimage import distance_transform_edt, maximum_filter

from tear3d.clouds.shifts import _fast_length, _largest_around
from tear3d.clouds.turns import Field


def test_distances_to_a_cloud():
    points = np.random.default_rng(0).normal(size=(300, 3)) * [1.0, 0.5, 0.1]
    field = Field(points)
    free = np.ones(field.distance.shape, dtype=bool)
    free[tuple(((points - field.corner) / field.cell).astype(np.int64).T)] = False
    assert np.array_equal(field.distance, np.minimum(distance_transform_edt(free), 4.0).astype(np.float32))


def test_largest_of_neighbours():
    values = np.random.default_rng(1).normal(size=(7, 5, 6))
    assert np.array_equal(_largest_around(values), maximum_filter(values, 3, mode="wrap"))


def test_lengths_for_transforms():
    assert [_fast_length(n) for n in range(1, 200)] == [fft.next_fast_len(n, real=True) for n in range(1, 200)]
