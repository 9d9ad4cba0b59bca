"""A limit holds in every feature at a million points: each looks at the clock while it works."""

from contextlib import suppress

import numpy as np
import pytest

from tear3d.errors import StoppedError
from tear3d.features.fpfh import fpfh
from tear3d.features.iss import iss_keypoints
from tear3d.features.matching import match
from tear3d.features.normals import estimate_normals
from tear3d.features.steps import Steps
from tear3d.features.voxel import choose_voxel_size, voxel_downsample
from tear3d.problem.limits import Limits
from tests.bumpy import bumpy_cloud

# The promise is half a second; the rest is for machines with other things to do. What is not stopped takes far longer.
SLACK = 2.5

STEPS = {
    "normals": lambda cloud, tick: estimate_normals(cloud, radius=0.05, tick=tick),
    "fpfh": lambda cloud, tick: fpfh(cloud, cloud, 0.05, 200, tick=tick),
    "iss": lambda cloud, tick: iss_keypoints(cloud, salient_radius=0.05, non_max_radius=0.05, tick=tick),
    "match": lambda cloud, tick: match(cloud, cloud, tick=tick),
    "mutual": lambda cloud, tick: match(cloud[:50], cloud, mutual=True, top_k=2, tick=tick),
}


@pytest.fixture(scope="module")
def million():
    warm = bumpy_cloud(500, 0)
    for step in STEPS.values():
        step(warm, None)
    return bumpy_cloud(1_000_000, 0)


@pytest.mark.parametrize("seconds", [0.1, 1.5])
@pytest.mark.parametrize("name", ["normals", "fpfh", "iss", "match"])
def test_a_long_step_is_stopped_at_its_limit(million, name, seconds):
    limits = Limits(time_limit=seconds)
    with pytest.raises(StoppedError, match=name), Steps(limits)(name) as tick:
        STEPS[name](million, tick)
    assert seconds <= limits.seconds < seconds + SLACK


@pytest.mark.parametrize("name", list(STEPS))
def test_a_step_asks_while_it_works_and_heeds_the_answer(name):
    cloud = bumpy_cloud(60_000, 0)
    seen = []

    def progress(report):
        seen.append(report.done)
        return len(seen) < 4

    with pytest.raises(StoppedError, match="progress"), Steps(Limits(progress=progress, interval=0.0))(name) as tick:
        STEPS[name](cloud, tick)
    assert len(seen) == 4
    assert seen == sorted(seen)


@pytest.mark.clock
@pytest.mark.parametrize("size", [0.02, 1e-4])
def test_downsampling_can_be_left_at_any_time(million, size):
    limits = Limits(time_limit=0.1)
    with suppress(StoppedError), Steps(limits)("downsample") as tick:
        voxel_downsample(million, size, tick=tick)
    assert limits.seconds < 0.1 + SLACK


@pytest.mark.clock
def test_choosing_a_voxel_size_can_be_left_at_any_time(million):
    limits = Limits(time_limit=0.1)
    with pytest.raises(StoppedError), Steps(limits)("downsample") as tick:
        choose_voxel_size(million, million, tick=tick)
    assert limits.seconds < 0.1 + SLACK


def test_ticks_change_nothing():
    cloud = bumpy_cloud(4000, 0)

    def tick(done):
        assert 0.0 <= done <= 1.0

    for step in STEPS.values():
        assert np.array_equal(step(cloud, tick), step(cloud, None))
    assert np.array_equal(voxel_downsample(cloud, 0.1, tick=tick), voxel_downsample(cloud, 0.1))
    assert choose_voxel_size(cloud, cloud, tick=tick) == choose_voxel_size(cloud, cloud)
