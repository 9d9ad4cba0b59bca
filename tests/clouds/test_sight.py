"""Free space: what a scan saw through."""

import math

import numpy as np
import pytest

from tear3d.clouds.sight import Sight, contradicted, sights
from tear3d.features.voxel import voxel_downsample
from tests.bumpy import bumpy_cloud

VOXEL = 0.1


def room(seed=0, count=6000):
    """The walls of a box around a sensor at the origin."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1.0, 1.0, (count, 3))
    axis = rng.integers(0, 3, count)
    points[np.arange(count), axis] = rng.choice([-1.0, 1.0], count)
    return points * [2.0, 1.5, 1.2]


def relief(seed=0, count=6000):
    """What a camera far up sees: one height for every place."""
    flat = np.random.default_rng(seed).uniform(-1.0, 1.0, (count, 2))
    return np.column_stack((flat, 0.3 * np.sin(3.0 * flat[:, 0]) * np.cos(2.0 * flat[:, 1])))


def test_a_sensor_in_the_middle_is_sure():
    seen = sights(room(), VOXEL)
    assert seen.sure
    assert [sight.axis for sight in seen.sights] == [None]


def test_a_range_image_is_explained_by_places_far_along_its_axis():
    seen = sights(relief() + np.array([0.0, 0.0, 5.0]), VOXEL)
    axes = [tuple(sight.axis) for sight in seen.sights if sight.axis is not None]
    assert not seen.sure
    assert {(0.0, 0.0, 1.0), (0.0, 0.0, -1.0)} <= set(axes)


def test_points_in_the_room_are_seen_through_and_those_beyond_the_walls_are_not():
    scan = Sight(room(), VOXEL, None)
    inside = np.random.default_rng(1).uniform(-0.6, 0.6, (300, 3))
    inside = inside[np.linalg.norm(inside, axis=1) > 0.2]
    assert np.mean(scan.through(inside)) > 0.95
    assert not scan.through(4.0 * room(2, 300)).any()
    assert np.mean(scan.through(room(3, 300), own=False)) < 0.02


def test_through_against_every_ray():
    """A point is seen through when a ray passes within half a voxel and all of the four nearest that do go on."""
    points = room(4, 400)
    probes = np.random.default_rng(5).uniform(-2.0, 2.0, (200, 3))
    found = Sight(points, VOXEL, None).through(probes)
    depth = np.linalg.norm(points, axis=1)
    for probe, flag in zip(probes, found, strict=True):
        own = np.linalg.norm(probe)
        apart = np.linalg.norm(points / depth[:, None] - probe / own, axis=1)
        four = np.argsort(apart)[:4]
        near = four[apart[four] <= 0.5 * VOXEL / own]
        assert flag == (len(near) > 0 and depth[near].min() > own + 3.0 * VOXEL)


@pytest.mark.parametrize("axis", [np.array([0.0, 0.0, 1.0]), np.array([0.0, -1.0, 0.0])])
def test_far_sights_measure_depth_along_their_axis(axis):
    sight = Sight(relief(), VOXEL, axis)
    assert np.allclose(sight.depth, relief() @ axis)
    before = relief(1, 500) - 0.8 * axis
    if axis[2]:
        assert np.mean(sight.through(before)) > 0.5
        assert not sight.through(relief(1, 500) + 0.8 * axis).any()


def test_contradiction_is_a_share_of_what_could_be_compared():
    scan, middle = room(), np.full((50, 3), 0.3)
    on_walls = room(6, 150)
    points = np.vstack((on_walls, middle))
    near = np.arange(len(points)) < 150
    assert contradicted(sights(scan, VOXEL), points, near, ~near) == pytest.approx(50 / 200)
    assert contradicted(sights(scan, VOXEL), on_walls, near[:150], ~near[:150]) == 0.0


def test_without_a_plausible_place_nothing_is_known():
    shells = [bumpy_cloud(20_000, k) * scale for k, scale in enumerate((1.0, 0.8, 0.6, 0.4))]
    shell = voxel_downsample(np.vstack(shells), 0.05) + np.array([9.0, 3.0, 4.0])
    seen = sights(shell, 0.05)
    assert not seen.sights
    assert math.isnan(contradicted(seen, shell, np.ones(len(shell), bool), np.zeros(len(shell), bool)))
