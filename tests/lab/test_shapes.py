import numpy as np
import pytest

from tear3d.errors import InputError
from tear3d.shapes import ellipsoid, teapot, teapot_patches


def test_teapot_has_32_patches_and_newells_dimensions():
    assert teapot_patches().shape == (32, 4, 4, 3)
    points = teapot(200_000)
    np.testing.assert_allclose(points.min(axis=0), [-3.0, -2.0, 0.0], atol=0.01)
    np.testing.assert_allclose(points.max(axis=0), [3.434, 2.0, 3.15], atol=0.01)


def test_teapot_is_symmetric_left_to_right_but_has_a_spout_and_a_handle():
    points = teapot(200_000)
    assert abs(points[:, 1].mean()) < 0.01
    spout, handle = points[points[:, 0] > 2.2], points[points[:, 0] < -2.2]
    assert spout[:, 2].max() > handle[:, 2].max()
    assert np.abs(handle[:, 1]).max() < 0.31


def test_teapot_is_uniform_by_area_on_the_surface_of_revolution():
    """Points between two heights of the upper body are as many as its area of revolution says."""
    t = np.linspace(0.0, 1.0, 20_001)[:, None]
    control = np.array([(1.5, 2.4), (1.75, 1.875), (2.0, 1.35), (2.0, 0.9)])
    r, z = (
        (1 - t) ** 3 * control[0]
        + 3 * (1 - t) ** 2 * t * control[1]
        + 3 * (1 - t) * t**2 * control[2]
        + t**3 * control[3]
    ).T
    area = np.hypot(np.diff(r), np.diff(z)) * (r[1:] + r[:-1]) / 2
    middle = (z[1:] + z[:-1]) / 2

    points = teapot(400_000)
    radius = np.hypot(points[:, 0], points[:, 1])
    expected_radius = np.interp(points[:, 2], z[::-1], r[::-1])
    on_body = np.abs(radius - expected_radius) < 0.02  # the quarter circles are not exact circles
    away_from_tubes = np.abs(points[:, 1]) > 0.7
    heights = points[on_body & away_from_tubes & (points[:, 2] > 0.9) & (points[:, 2] < 2.3), 2]
    # The strip |y| > 0.7 cuts a share of each ring that depends on its radius.
    visible = area * np.arccos(0.7 / ((r[1:] + r[:-1]) / 2))
    for low, high in [(0.9, 1.3), (1.3, 1.8), (1.8, 2.3)]:
        share = np.mean((heights >= low) & (heights < high))
        inside = (middle > 0.9) & (middle < 2.3)
        wanted = visible[(middle >= low) & (middle < high)].sum() / visible[inside].sum()
        assert share == pytest.approx(wanted, abs=0.006)


def test_ellipsoid_lies_on_its_surface_and_is_uniform_by_area():
    axes = np.array([3.0, 1.0, 1.0])
    points = ellipsoid(200_000, axes, seed=4)
    np.testing.assert_allclose(np.sum((points / axes) ** 2, axis=1), 1.0, atol=1e-12)
    x = np.linspace(0.0, 3.0, 100_001)
    strip = np.sqrt(np.maximum(1 - x**2 / 9, 0) + x**2 / 81)  # dA/dx = 2π·√(r² + (r r')²)
    wanted = strip[x < 1.5].sum() / strip.sum()
    assert np.mean(np.abs(points[:, 0]) < 1.5) == pytest.approx(wanted, abs=0.005)


@pytest.mark.parametrize("shape", [teapot, lambda n, seed: ellipsoid(n, seed=seed)])
def test_seed_decides_the_points(shape):
    np.testing.assert_array_equal(shape(1000, seed=1), shape(1000, seed=1))
    assert not np.array_equal(shape(1000, seed=1), shape(1000, seed=2))
    assert shape(0, seed=1).shape == (0, 3)
    with pytest.raises(InputError, match="n is -1"):
        shape(-1, seed=0)


@pytest.mark.parametrize("axes", [(1.0, 2.0), (1.0, 0.0, 1.0), (1.0, np.nan, 1.0)])
def test_ellipsoid_rejects_bad_axes(axes):
    with pytest.raises(InputError, match="three positive numbers"):
        ellipsoid(10, axes)
