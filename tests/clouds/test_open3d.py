import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tear3d.errors import InputError, MissingExtraError
from tear3d.interop import as_correspondences, as_points, to_open3d
from tear3d.result import Certificate, Result


def test_arrays_lists_and_clouds():
    points = np.arange(12, dtype=np.float32).reshape(4, 3)
    tensor = SimpleNamespace(cpu=lambda: SimpleNamespace(numpy=lambda: points))
    for holder in (
        points,
        points.tolist(),
        points.astype(int),
        SimpleNamespace(points=points.tolist()),
        SimpleNamespace(point={"positions": tensor}),
    ):
        converted = as_points(holder, "source")
        assert converted.dtype == np.float64
        assert np.array_equal(converted, points)


def test_float64_arrays_are_not_copied():
    points = np.zeros((4, 3))
    assert as_points(points, "source") is points


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (np.zeros((3, 1000)), r"target has 3 rows and 1000 columns: pass points as rows"),
        (np.zeros(3), "target has 1 dimensions"),
        ([[1, 2, 3], [1, 2]], "target cannot be made an array"),
        (np.zeros((2, 3), complex), "target has dtype complex128"),
        (np.array([["a", "b", "c"]]), "target has dtype"),
        (np.array([[0.0, 0, 0], [0, np.nan, 0]]), "1 of 2 points with NaN.*row 1"),
        (None, "target has 0 dimensions"),
    ],
)
def test_bad_points(obj, message):
    with pytest.raises(InputError, match=message):
        as_points(obj, "target")


def test_correspondences():
    pairs = np.array([[0, 5], [3, 2]], dtype=np.int32)
    assert np.array_equal(as_correspondences(pairs), pairs)
    assert np.array_equal(as_correspondences(SimpleNamespace(correspondence_set=pairs)), pairs)
    assert as_correspondences([]).shape == (0, 2)


@pytest.mark.parametrize("obj", [np.zeros((2, 3), int), np.zeros((2, 2)), [[-1, 0]]])
def test_bad_correspondences(obj):
    with pytest.raises(InputError, match="correspondences"):
        as_correspondences(obj)


def make_result():
    mask = np.array([True, False, True])
    return Result(np.diag([1.0, -1, -1, 1]), mask, 0.5, 1.0, "optimal", "", Certificate(), -9.0, {})


def test_without_open3d(monkeypatch):
    monkeypatch.setitem(sys.modules, "open3d", None)
    with pytest.raises(MissingExtraError, match=r"tear3d\[open3d\]"):
        to_open3d(make_result())


def test_with_open3d():
    open3d = pytest.importorskip("open3d")
    points = np.random.default_rng(0).normal(size=(50, 3))
    cloud = to_open3d(points)
    assert isinstance(cloud, open3d.geometry.PointCloud)
    assert np.array_equal(as_points(cloud, "source"), points)
    tensors = open3d.t.geometry.PointCloud(open3d.core.Tensor(points))
    assert np.array_equal(as_points(tensors, "source"), points)

    result = make_result()
    converted = to_open3d(result, [[4, 5], [6, 7], [8, 9]])
    assert np.array_equal(converted.transformation, result.transformation)
    assert converted.fitness == pytest.approx(2 / 3)
    assert converted.inlier_rmse == 0.5
    assert as_correspondences(converted).tolist() == [[4, 5], [8, 9]]
    assert as_correspondences(to_open3d(result)).tolist() == [[0, 0], [2, 2]]
    with pytest.raises(InputError, match="pairs"):
        to_open3d(result, [[0, 1]])
