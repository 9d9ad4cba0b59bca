import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tear3d.errors import InputError
from tear3d.features.voxel import (
    FEWEST_POINTS,
    MOST_POINTS,
    WANTED_POINTS,
    _order,
    choose_voxel_size,
    occupied_voxels,
    voxel_downsample,
)
from tests.bumpy import bumpy_cloud


def naive_downsample(points, size):
    voxels = {}
    for local in points - points.min(axis=0):
        voxels.setdefault(tuple(np.floor(local / size).astype(int)), []).append(local)
    return points.min(axis=0) + np.array([np.mean(voxels[key], axis=0) for key in sorted(voxels)])


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.floats(0.05, 3.0), st.integers(0, 1000))
def test_centroid_of_every_voxel(count, size, seed):
    points = np.random.default_rng(seed).normal(size=(count, 3))
    assert np.allclose(voxel_downsample(points, size), naive_downsample(points, size), atol=1e-12)


def test_far_point_and_tiny_voxels_fall_back_to_sorting_axes():
    points = np.vstack((bumpy_cloud(200, 0), [[1e9, -1e9, 1e9]]))
    assert np.allclose(voxel_downsample(points, 0.3), naive_downsample(points, 0.3), atol=1e-9)


def test_utm_coordinates_lose_nothing():
    points = np.round(bumpy_cloud(5000, 1) * 1024) / 1024
    offset = np.array([500_000.0, 5_400_000.0, 300.0])
    assert np.array_equal(offset + points - offset, points)
    assert np.abs(voxel_downsample(points + offset, 0.1) - offset - voxel_downsample(points, 0.1)).max() < 2e-9


def test_empty_cloud():
    assert voxel_downsample(np.empty((0, 3)), 1.0).shape == (0, 3)


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf])
def test_bad_size(size):
    with pytest.raises(InputError, match="voxel_size"):
        voxel_downsample(np.zeros((3, 3)), size)


def test_size_too_small_for_the_extent():
    with pytest.raises(InputError, match="too small"):
        voxel_downsample(np.array([[0.0, 0, 0], [1e12, 0, 0]]), 1e-9)


def test_chosen_size_leaves_the_wanted_number():
    source, target = bumpy_cloud(60_000, 0), bumpy_cloud(50_000, 1)
    size = choose_voxel_size(source, target)
    assert 0.7 * WANTED_POINTS < occupied_voxels(source, size) < 1.3 * WANTED_POINTS


@pytest.mark.parametrize("scale", [1e-4, 1e3])
def test_chosen_size_scales_with_the_data(scale):
    source, target = bumpy_cloud(30_000, 0), bumpy_cloud(30_000, 1)
    size = choose_voxel_size(source, target)
    assert choose_voxel_size(source * scale, target * scale) == pytest.approx(size * scale, rel=0.06)


def test_chosen_size_ignores_outlying_points():
    source, target = bumpy_cloud(30_000, 0), bumpy_cloud(30_000, 1)
    far = np.vstack((source, np.random.default_rng(0).normal(size=(5, 3)) * 1e5))
    assert choose_voxel_size(far, target) == pytest.approx(choose_voxel_size(source, target), rel=0.06)


def test_sparse_clouds_are_thinned_only_as_their_sampling_needs():
    cloud = bumpy_cloud(3000, 0)
    assert 600 < occupied_voxels(cloud, choose_voxel_size(cloud, cloud)) < 1500
    regular = np.stack(np.meshgrid(*[np.arange(50.0)] * 2, [0.0]), axis=-1).reshape(-1, 3)
    assert choose_voxel_size(regular, regular) == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize(("count", "least"), [(50, 40), (100, 80), (200, 110), (500, 300), (1000, 400)])
def test_the_smallest_clouds_keep_most_points(count, least):
    for seed in range(5):
        cloud, other = bumpy_cloud(count, seed), bumpy_cloud(4 * count, seed + 100)
        assert occupied_voxels(cloud, choose_voxel_size(cloud, cloud)) >= least
        assert occupied_voxels(cloud, choose_voxel_size(cloud, other)) >= least


@pytest.mark.parametrize("count", [0, 1, 2, 5, 400])
def test_points_are_ordered_as_by_all_their_coordinates(count):
    rng = np.random.default_rng(count)
    for digits in range(4):
        points = np.round(rng.normal(size=(count, 3)), digits)
        points[: count // 3] = points[count // 3 : 2 * (count // 3)]
        np.testing.assert_array_equal(_order(points), np.lexsort(points.T))


def test_duplicates_do_not_hide_the_spacing():
    cloud = bumpy_cloud(1500, 0)
    assert choose_voxel_size(np.repeat(cloud, 3, axis=0), cloud) == choose_voxel_size(cloud, cloud)


def test_small_part_of_a_large_scene_keeps_points():
    scene = np.random.default_rng(0).uniform(size=(150_000, 3)) * [20.0, 20.0, 0.01]
    part = scene[(scene[:, 0] < 4.0) & (scene[:, 1] < 4.0)]
    size = choose_voxel_size(part, scene)
    assert occupied_voxels(part, size) > 0.6 * FEWEST_POINTS
    assert occupied_voxels(scene, size) < 1.2 * MOST_POINTS


def test_coincident_points():
    with pytest.raises(InputError, match="coincide"):
        choose_voxel_size(np.ones((10, 3)), np.ones((10, 3)))
