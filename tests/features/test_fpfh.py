import numpy as np
import pytest

import tear3d.features.fpfh as module
from tear3d.errors import InputError
from tear3d.features.fpfh import fpfh
from tear3d.features.normals import estimate_normals
from tests.bumpy import apply, bumpy_cloud, pose


def naive_angles(p, n, q, m):
    """Rusu et al.: the frame is at the point whose normal makes the smaller angle with the line."""
    line = (q - p) / np.linalg.norm(q - p)
    if abs(n @ line) < abs(m @ line):
        n, m, line = m, n, -line
    v = np.cross(line, n)
    v /= np.linalg.norm(v)
    return np.arctan2(np.cross(n, v) @ m, n @ m), v @ m, n @ line


def naive_fpfh(points, normals, radius, max_nn):
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    neighbours = []
    for i, row in enumerate(distances):
        order = [j for j in np.argsort(row, kind="stable") if row[j] < radius][:max_nn]
        neighbours.append([j for j in order if j != i])
    simple = np.zeros((len(points), 33))
    for i, near in enumerate(neighbours):
        for j in near:
            angles = naive_angles(points[i], normals[i], points[j], normals[j])
            for part, (angle, low, high) in enumerate(zip(angles, (-np.pi, -1, -1), (np.pi, 1, 1), strict=True)):
                simple[i, 11 * part + min(10, int(11 * (angle - low) / (high - low)))] += 100.0 / len(near)
    full = simple.copy()
    for i, near in enumerate(neighbours):
        if near:
            weights = 1.0 / distances[i, near] ** 2
            full[i] += (weights[:, None] * simple[near]).sum(axis=0) / weights.sum()
    return full


@pytest.fixture(scope="module")
def cloud():
    points = bumpy_cloud(300, 0)
    # Points that share a neighbourhood have equal normals, and rounding would decide on the frame.
    normals = estimate_normals(points, max_nn=12, orient="away")
    normals += np.random.default_rng(0).normal(scale=0.05, size=normals.shape)
    return points, normals / np.linalg.norm(normals, axis=1, keepdims=True)


@pytest.mark.parametrize(("radius", "max_nn"), [(0.4, 100), (0.8, 15), (0.15, 100)])
def test_equals_the_naive_one(cloud, radius, max_nn):
    assert np.abs(fpfh(*cloud, radius, max_nn) - naive_fpfh(*cloud, radius, max_nn)).max() < 1e-3


def test_each_histogram_sums_to_200(cloud):
    sums = fpfh(*cloud, 0.8).reshape(-1, 3, 11).sum(axis=2)
    assert np.allclose(sums, 200.0, atol=1e-2)


def test_rigid_motion_changes_nothing_even_far_away(cloud):
    points, normals = cloud
    T = pose([1.0, 2.0, -0.5], [5e5, 5e6, 100.0])
    moved = fpfh(apply(T, points), normals @ T[:3, :3].T, 0.5)
    assert np.mean(np.abs(moved - fpfh(points, normals, 0.5)).max(axis=1) < 0.1) > 0.98


def test_threads_and_memory_do_not_change_a_bit(monkeypatch):
    points = bumpy_cloud(5000, 0)
    normals = estimate_normals(points, radius=0.2, orient="away")
    one = fpfh(points, normals, 0.2, threads=1)
    assert np.array_equal(one, fpfh(points, normals, 0.2, threads=3))
    monkeypatch.setattr(module, "_KEEP_BYTES", 0)
    assert np.array_equal(one, fpfh(points, normals, 0.2))


def test_lonely_and_duplicate_points():
    points = np.array([[0.0, 0, 0], [0.0, 0, 0], [9.0, 0, 0]])
    described = fpfh(points, np.tile([0.0, 0, 1], (3, 1)), 1.0)
    assert np.isfinite(described).all()
    assert not described[2].any()
    assert fpfh(points[:1], np.ones((1, 3)), 1.0).shape == (1, 33)


@pytest.mark.parametrize(("normals", "radius", "max_nn"), [(4, 1.0, 100), (5, 0.0, 100), (5, 1.0, 1)])
def test_bad_input(normals, radius, max_nn):
    with pytest.raises(InputError):
        fpfh(np.zeros((5, 3)), np.zeros((normals, 3)), radius, max_nn)


def test_equals_open3d():
    open3d = pytest.importorskip("open3d")
    points = bumpy_cloud(5000, 0)
    cloud = open3d.geometry.PointCloud(open3d.utility.Vector3dVector(points))
    search = open3d.geometry.KDTreeSearchParamHybrid
    cloud.estimate_normals(search(0.15, 30))
    normals = np.asarray(cloud.normals)
    assert np.allclose(np.abs(np.einsum("ij,ij->i", normals, estimate_normals(points, radius=0.15))), 1.0, atol=1e-6)
    theirs = open3d.pipelines.registration.compute_fpfh_feature(cloud, search(0.3, 100)).data.T
    difference = np.abs(fpfh(points, normals, 0.3) - theirs).max(axis=1)
    # An angle on the border of two bins may fall on either side.
    assert np.mean(difference < 1e-3) > 0.99
    assert difference.max() < 5.0
