"""Scans in a map many times as large: found where they were taken, and only there."""

import numpy as np
import pytest

import tear3d
import tear3d.clouds.sizes as module
from tear3d.clouds.describe import Description
from tear3d.clouds.evidence import Scene
from tear3d.clouds.prepared import prepare
from tear3d.clouds.region import WIDE, Region
from tear3d.clouds.sizes import choose_size
from tear3d.clouds.verdict import ALONE_FIT, CloudEvidence, judge
from tear3d.features.matching import match
from tear3d.features.voxel import choose_voxel_size, occupied_voxels, voxel_downsample
from tear3d.lab.town import Town
from tests.bumpy import apply, bumpy_cloud, pose
from tests.clouds.support import halves
from tests.clouds.town import SIZE, problem


def no_tick(done):
    pass


@pytest.fixture(scope="module")
def town():
    """The map of all scans here, described once."""
    return prepare(problem(0).map, voxel_size=SIZE)


def register(source, target, **options):
    return tear3d.register_clouds(source, target, certify=False, **options)


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 8))])
def test_scans_are_found_where_they_were_taken(town, seed):
    here = problem(seed)
    found = register(here.scan, town)
    assert len(found.target_points) > WIDE * len(found.source_points)
    assert found.success, found.reasons
    assert here.error(found.transformation) < 2.0 * found.noise_bound
    assert here.error(found.transformation) < 0.1, "refined to a fraction of a voxel"
    assert found.evidence.in_map
    assert found.evidence.overlap_target > 0.3, "of the map around the scan, which is a hundredth of all"
    assert "of the target around it" in found.reasons[0]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_scans_of_another_town_are_not_confirmed(town, seed):
    there = problem(seed, place=Town(90.0, seed=50 + seed))
    found = register(there.scan, town)
    assert found.verdict != "confirmed"
    assert not found.success


@pytest.mark.parametrize("repeats", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_place_that_there_is_twice_is_ambiguous(repeats):
    here = problem(4, town=Town(90.0, seed=4, repeats=repeats))
    found = register(here.scan, here.map, voxel_size=SIZE)
    assert found.verdict == "doubtful"
    away = 90.0 / repeats
    words = [f"the source fits the target as well {k * away:.3g} away from there" for k in range(1, repeats)]
    assert found.ambiguity.sentence in words
    assert any("ambiguous: " in reason for reason in found.reasons)


def test_the_default_voxel_size_suits_the_scan():
    here = problem(1, town=Town(60.0))
    found = register(here.scan, here.map)
    assert found.voxel_size == SIZE
    assert found.success
    assert here.error(found.transformation) < 2.0 * found.noise_bound


def sheet(size, count, seed):
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-0.5, 0.5, (count, 2)) * size
    return np.column_stack((flat, np.sin(flat[:, 0]) * np.cos(flat[:, 1])))


def test_clouds_of_similar_size_have_the_size_that_they_had():
    for source, target in (halves(), (bumpy_cloud(6000, 0), sheet(8.0, 30_000, 1))):
        assert choose_size(source, prepare(target), no_tick)[:2] == (choose_voxel_size(source, target), False)


def test_sizes_for_maps_suit_the_scan_and_are_those_of_a_series():
    target = prepare(sheet(60.0, 600_000, 1))
    scans = [sheet(3.0 + 0.05 * k, 50_000, k) for k in (0, 2)]
    sizes = {choose_size(each, target, no_tick)[:2] for each in scans}
    assert len(sizes) == 1, "what is kept for one scan serves the next"
    size, wide = sizes.pop()
    assert wide
    assert size in (0.16, 0.2), "the sampling of the map supports no finer ones"
    usual = choose_voxel_size(scans[0], target.points)
    assert len(voxel_downsample(scans[0], size)) > 3 * len(voxel_downsample(scans[0], usual))


def test_a_map_is_not_cut_into_dust(monkeypatch):
    monkeypatch.setattr(module, "MAP_POINTS", 100_000)
    large = sheet(60.0, 600_000, 1)
    size, wide, _ = choose_size(sheet(3.0, 50_000, 0), prepare(large), no_tick)
    assert wide
    assert 70_000 < occupied_voxels(large, size) <= 130_000


def test_the_sampling_of_a_large_map_is_that_of_all_its_points():
    assert prepare(sheet(10.0, 800_000, 0)).finest(no_tick) == pytest.approx(2.0 * 10.0 / 800_000**0.5, rel=0.3)


def test_the_region_is_the_box_around_the_moved_scan():
    rng = np.random.default_rng(0)
    box = rng.uniform(-1.0, 1.0, (5000, 3)) * [6.0, 2.0, 1.0]
    motion = pose([0.3, -0.5, 1.0], [10.0, 20.0, 30.0])
    everywhere = rng.uniform(-10.0, 10.0, (20_000, 3))
    rows = Region.of(box).rows(apply(motion, everywhere), motion, 0.5)
    inside = np.flatnonzero(np.all(np.abs(everywhere) <= [6.5, 2.5, 1.5], axis=1))
    assert len(np.setxor1d(rows, inside)) < 0.1 * len(inside)
    stray = np.vstack((box, [[500.0, 0.0, 0.0]]))
    assert len(Region.of(stray).rows(apply(motion, everywhere), motion, 0.5)) < 1.3 * len(inside)


def test_a_pose_beside_the_map_has_nothing_to_compare():
    here = problem(0)
    clouds = [voxel_downsample(cloud, SIZE) for cloud in (here.scan, here.map)]
    scene = Scene.of(*clouds, SIZE, 1, no_tick, wide=True)
    far = here.truth.copy()
    far[:3, 3] += [500.0, 0.0, 0.0]
    assert np.array_equal(scene.settle(far), far)
    known = scene.measure(far, far, 1.0)
    assert (known.overlap_source, known.overlap_target, known.fit) == (0.0, 0.0, 0.0)
    assert judge(known, -50.0).verdict == "rejected"
    right = scene.measure(here.truth, here.truth, 1.0)
    assert right.fit > 0.5
    whole = Scene.of(*clouds, SIZE, 1, no_tick).measure(here.truth, here.truth, 1.0)
    assert whole.overlap_target < 0.05 < 0.3 < right.overlap_target


def test_more_is_asked_for_in_a_map():
    def verdict(fit, significance, in_map):
        known = CloudEvidence(0.95, 0.6, 0.9, fit, fit, 500.0, 0.0, 0.0, 0.0, 0.3, 1.0, in_map)
        return judge(known, significance)

    assert verdict(ALONE_FIT - 0.01, -50.0, False).verdict == "confirmed"
    assert verdict(ALONE_FIT - 0.01, -50.0, True).verdict == "doubtful"
    assert "best of many places" in verdict(ALONE_FIT - 0.01, -50.0, True).reasons[0]
    assert verdict(ALONE_FIT + 0.01, -50.0, True).verdict == "confirmed"
    assert verdict(0.5, 0.0, True).verdict == "doubtful"


def test_unless_matches_are_beyond_chance_the_scan_must_lie_on_the_map():
    """What three scans of made-up towns had in the map of another, and one in its own."""

    def verdict(inside, fit, significance, in_map=True):
        return judge(
            CloudEvidence(inside, 0.74, 0.98, fit, fit, 55.0, perhaps_contradicted=0.0, in_map=in_map), significance
        )

    assert verdict(0.53, 0.68, -3.5).verdict == "doubtful"
    assert verdict(0.85, 0.53, -4.6).verdict == "doubtful"
    assert "only 85 % of the source lie on the map" in verdict(0.85, 0.53, -4.6).reasons[-1]
    assert verdict(1.0, 0.64, -4.0).verdict == "confirmed"
    assert verdict(0.53, 0.35, -6.3).verdict == "doubtful"
    assert verdict(0.53, 0.35, -16.0).verdict == "confirmed", "matches beyond all chance"


def test_normals_that_are_told_by_what_is_near_make_more_matches_right():
    here = problem(2, town=Town(60.0))
    scan, large = (voxel_downsample(cloud, SIZE) for cloud in (here.scan, here.map))
    right = []
    for local in (False, True):
        way = Description(local=local)
        pairs = match(way.features(scan, SIZE, no_tick), way.features(large, SIZE, no_tick))
        apart = np.linalg.norm(apply(here.truth, scan[pairs[:, 0]]) - large[pairs[:, 1]], axis=1)
        right.append(np.count_nonzero(apart < 1.5 * SIZE))
    assert right[1] > 1.5 * right[0]


def test_a_small_map_in_a_large_scan_is_compared_as_ever():
    """Only the target may be a map."""
    here = problem(0)
    size, wide, _ = choose_size(here.map, prepare(here.scan), no_tick)
    assert (size, wide) == (choose_voxel_size(here.map, here.scan), False)
