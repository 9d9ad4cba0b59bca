"""Thinned clouds keep their attributes."""

from __future__ import annotations

import numpy as np
import pytest

from tear3d.clouds import downsample
from tear3d.errors import InputError
from tear3d.features.voxel import voxel_downsample
from tear3d.io.cloud import Cloud


def test_one_point_per_voxel_with_what_its_points_have():
    points = np.array([[0, 0, 0], [0.2, 0, 0], [0.4, 0, 0], [5, 5, 5], [np.nan, 0, 0]])
    attributes = {
        "colors": np.array([[0] * 3, [10] * 3, [11] * 3, [7] * 3, [99] * 3], np.uint8),
        "normals": np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 2], [0, 0, 1]], np.float32),
        "classification": np.array([1, 2, 3, 4, 5], np.uint8),
        "time": np.array([1.0, 2.0, 6.0, 4.0, 5.0]),
    }
    found = downsample(Cloud(points, attributes, crs="here"), 1.0)
    np.testing.assert_allclose(found.points, [[0.2, 0, 0], [5, 5, 5]])
    np.testing.assert_array_equal(found.attributes["colors"], [[7] * 3, [7] * 3])
    np.testing.assert_allclose(found.attributes["normals"], [[np.sqrt(0.5), np.sqrt(0.5), 0], [0, 0, 1]], atol=1e-6)
    np.testing.assert_array_equal(found.attributes["classification"], [2, 4])
    np.testing.assert_array_equal(found.attributes["time"], [3, 4])
    assert found.crs == "here"
    assert [found.attributes[name].dtype for name in attributes] == [v.dtype for v in attributes.values()]


def test_the_points_are_those_of_the_features():
    points = np.random.default_rng(0).normal(size=(2000, 3))
    np.testing.assert_array_equal(downsample(points, 0.3).points, voxel_downsample(points, 0.3))
    with pytest.raises(InputError, match="voxel_size"):
        downsample(points, 0.0)


def test_normals_that_cancel():
    found = downsample(Cloud(np.zeros((2, 3)), {"normals": np.array([[0, 0, 1.0], [0, 0, -1.0]])}), 1.0)
    np.testing.assert_array_equal(np.abs(found.attributes["normals"]), [[0, 0, 1]])
