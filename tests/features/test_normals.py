import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.features.normals import estimate_normals
from tests.bumpy import apply, bumpy_cloud, pose


def naive_normal(points, i, radius, max_nn):
    distances = np.linalg.norm(points - points[i], axis=1)
    order = np.argsort(distances)[:max_nn]
    near = points[order[distances[order] < radius]]
    if len(near) < 3:
        return np.array([0.0, 0.0, 1.0])
    return np.linalg.svd(near - near.mean(axis=0))[2][2]


@pytest.mark.parametrize(("radius", "max_nn"), [(0.3, 30), (0.15, 500), (np.inf, 12)])
def test_normals_equal_the_naive_ones(radius, max_nn):
    points = bumpy_cloud(600, 0)
    normals = estimate_normals(points, radius=radius, max_nn=max_nn)
    for i in range(0, 600, 7):
        assert abs(normals[i] @ naive_normal(points, i, radius, max_nn)) == pytest.approx(1.0, abs=1e-9)


def test_orientation():
    directions = np.random.default_rng(0).normal(size=(2000, 3))
    sphere = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    away = estimate_normals(sphere + 5.0, radius=0.3, orient="away")
    assert np.all(np.einsum("ij,ij->i", away, sphere) > 0.9)
    towards = estimate_normals(sphere + 5.0, radius=0.3, orient="towards", viewpoint=np.full(3, 5.0))
    assert np.array_equal(away, -towards)


def test_lonely_points_get_the_z_axis():
    points = np.array([[0.0, 0, 0], [10.0, 0, 0], [10.0, 0.1, 0]])
    assert np.array_equal(estimate_normals(points, radius=1.0), np.tile([0.0, 0, 1], (3, 1)))
    assert estimate_normals(np.empty((0, 3)), radius=1.0).shape == (0, 3)


def test_normals_turn_with_the_cloud_even_far_away():
    points, T = bumpy_cloud(3000, 2), pose([0.3, -1.0, 2.0], [5e5, 5e6, 100.0])
    turned = estimate_normals(apply(T, points), radius=0.2, orient="away")
    expected = estimate_normals(points, radius=0.2, orient="away") @ T[:3, :3].T
    assert np.mean(np.einsum("ij,ij->i", turned, expected) > 1.0 - 1e-6) > 0.999


def test_threads_do_not_change_a_bit():
    points = bumpy_cloud(6000, 2)
    one = estimate_normals(points, radius=0.2, threads=1)
    assert np.array_equal(one, estimate_normals(points, radius=0.2, threads=3))


@pytest.mark.parametrize("options", [{"radius": 0.0}, {"radius": 1.0, "max_nn": 2}, {"orient": "up"}])
def test_bad_options(options):
    with pytest.raises(InputError):
        estimate_normals(np.zeros((5, 3)), **options)
