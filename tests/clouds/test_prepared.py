"""A prepared target gives the bits of the target itself, sooner, to several threads at once."""

import os
import pickle
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import tear3d
from tear3d.clouds.kept import Kept
from tear3d.clouds.prepared import MOST_SIZES
from tear3d.errors import InputError, StoppedError
from tear3d.lab.town import Town
from tests.bumpy import bumpy_cloud
from tests.clouds.support import halves
from tests.clouds.town import SIZE, problem


def register(source, target, **options):
    return tear3d.register_clouds(source, target, certify=False, **options)


def said(found):
    """Everything that a result says, but for the time it took."""
    words = found.to_dict()
    for times in (words, words["matches"], *words["tries"]):
        times.pop("seconds")
    return words


def assert_same(one, other):
    for name in ("transformation", "covariance", "pairs", "source_points", "target_points"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert said(one) == said(other)


@pytest.fixture(scope="module")
def here():
    """In a small town: a map still, and the bits of a large one are no others."""
    return problem(0, town=Town(50.0))


@pytest.fixture(scope="module")
def plain(here):
    return register(here.scan, here.map, voxel_size=SIZE)


@pytest.fixture(scope="module")
def prepared(here):
    return tear3d.prepare(here.map, voxel_size=SIZE)


@pytest.fixture(scope="module")
def large():
    """Points that nobody prepares in a second."""
    points = problem(0).map
    return np.tile(points, (8, 1)) + np.repeat(np.arange(8), len(points))[:, None] * 1e-4


def test_same_bits_as_the_map_itself_and_again(here, plain, prepared):
    assert plain.evidence.in_map
    for _ in range(2):
        assert_same(register(here.scan, prepared), plain)


def test_without_a_size_the_first_call_chooses_one_and_the_next_finds_what_it_kept(here, monkeypatch):
    prepared = tear3d.prepare(here.map)
    assert prepared.voxel_sizes == ()
    first = register(here.scan, prepared)
    assert prepared.voxel_sizes == (first.voxel_size,)
    assert_same(first, register(here.scan, here.map))
    counts = []
    features = tear3d.clouds.describe.Description.features
    monkeypatch.setattr(
        tear3d.clouds.describe.Description,
        "features",
        lambda self, points, *rest: counts.append(len(points)) or features(self, points, *rest),
    )
    assert_same(register(here.scan, prepared), first)
    assert counts == [len(first.source_points)], "of the map nothing is described again"


def test_clouds_of_similar_size_too():
    source, target = halves()
    assert_same(register(source, tear3d.prepare(target)), register(source, target))


def test_four_threads_at_once_get_the_same_bits(here, plain):
    prepared = tear3d.prepare(here.map)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: register(here.scan, prepared, voxel_size=SIZE, threads=1), range(4)):
            assert_same(found, plain)
    assert prepared.voxel_sizes == (SIZE,)


def test_pickled_with_what_it_holds(here, plain, prepared):
    again = pickle.loads(pickle.dumps(prepared))
    assert again.voxel_sizes == (SIZE,)
    assert again.nbytes == pytest.approx(prepared.nbytes, rel=0.2)
    assert_same(register(here.scan, again), plain)


def test_what_it_keeps_is_bounded_and_counted(here):
    prepared = tear3d.prepare(here.map)
    sizes = [3.0, 2.5, 2.0, 1.6, 1.25]
    for size in sizes:
        prepared.for_scans(size)
    assert prepared.voxel_sizes == tuple(sizes[-MOST_SIZES:])
    thinned = sum(len(prepared.thinned(size, lambda done: None)) for size in sizes[-MOST_SIZES:])
    # Coordinates, normals, 33 numbers of a descriptor, its row, and trees.
    assert 24 + 24 + 132 + 8 + 8 < prepared.nbytes / thinned < 400
    assert f"{len(here.map)} points" in repr(prepared)
    assert "1.25" in repr(prepared)


def test_another_descriptor_is_refused_and_other_sizes_and_keypoints_are_kept_too():
    here = problem(0)
    prepared = tear3d.prepare(here.map, voxel_size=2.0, keypoints="iss")
    with pytest.raises(InputError, match=r"descriptor is .*, but target was prepared with 'fpfh': pass the same"):
        register(here.scan, prepared, descriptor=lambda points, size: points)
    found = register(here.scan, prepared)
    assert (found.voxel_size, found.tries[0].keypoints) == (2.0, "iss")
    other = register(here.scan, prepared, voxel_size=1.6)
    assert other.voxel_size == 1.6
    assert prepared.voxel_sizes == (2.0, 1.6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"voxel_size": -1.0}, "voxel_size is -1"),
        ({"descriptor": "shot"}, "descriptor is 'shot'"),
        ({"keypoints": "harris"}, "keypoints is 'harris'"),
    ],
)
def test_options_are_checked_before_any_work(options, words):
    with pytest.raises(InputError, match=words):
        tear3d.prepare(bumpy_cloud(100, 0), **options)


def test_a_cloud_that_cannot_be_used():
    with pytest.raises(InputError, match="target has 2 points"):
        tear3d.prepare(np.zeros((2, 3)))


def test_holes_are_dropped_and_said_by_every_call():
    source, target = halves()
    prepared = tear3d.prepare(np.vstack((target, np.full((5, 3), np.nan))))
    for _ in range(2):
        found = register(source, prepared)
        assert found.dropped == (0, 5)
        assert "dropped 5 of" in found.notes[0]


def test_as_a_source_it_is_a_cloud_like_any_other():
    source, target = halves()
    assert_same(register(tear3d.prepare(source), target), register(source, target))


@pytest.mark.clock
def test_a_time_limit_holds_while_the_target_is_prepared_and_nothing_half_done_is_kept(here, plain, large):
    prepared = tear3d.prepare(large)
    began = time.perf_counter()
    with pytest.raises(StoppedError, match="time limit"):
        register(here.scan, prepared, voxel_size=0.1, time_limit=1.0)
    assert time.perf_counter() - began < 3.5
    whole = tear3d.prepare(here.map)
    with pytest.raises(StoppedError):
        register(
            here.scan, whole, voxel_size=SIZE, progress=lambda at: not (at.stage == "describe target" and at.done > 0.2)
        )
    assert_same(register(here.scan, whole, voxel_size=SIZE), plain)


@pytest.mark.clock
def test_ctrl_c_ends_prepare(large):
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tear3d.prepare(large, voxel_size=0.02)
    assert time.perf_counter() - began < 3.5


def test_who_waits_makes_it_when_the_first_gives_up():
    kept, entered, go = Kept(2), threading.Event(), threading.Event()

    def fails():
        entered.set()
        go.wait(10.0)
        raise StoppedError("enough")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, 1, "value", fails, lambda done: None)
        assert entered.wait(10.0)
        ticks = []
        second = pool.submit(kept.get, 1, "value", lambda: 7, ticks.append)
        while not ticks:
            time.sleep(0.01)
        go.set()
        with pytest.raises(StoppedError):
            first.result(10.0)
        assert second.result(10.0) == 7
    assert kept.get(1, "value", fails, lambda done: None) == 7


def test_who_waits_can_be_stopped():
    kept, entered, go = Kept(2), threading.Event(), threading.Event()

    def enough(done):
        raise StoppedError("enough")

    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(kept.get, 1, "value", lambda: (entered.set(), go.wait(10.0)), lambda done: None)
        assert entered.wait(10.0)
        with pytest.raises(StoppedError):
            kept.get(1, "value", lambda: None, enough)
        go.set()
        assert slow.result(10.0)
