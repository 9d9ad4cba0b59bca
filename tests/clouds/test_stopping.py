"""Limits, Ctrl-C, `progress` and its exceptions end `register_clouds` promptly, in every step."""

import os
import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

import tear3d.clouds.job as module
from tear3d.errors import StoppedError
from tests.bumpy import bumpy_cloud
from tests.clouds.support import TRUTH, halves, register_clouds

FEATURE_STEPS = ("downsample", "describe source", "describe target", "match")
# The promise is half a second; the rest is for machines with other things to do. What is not stopped takes far longer.
SLACK = 2.5


@pytest.fixture(scope="module")
def million():
    warm = bumpy_cloud(600, 0)
    register_clouds(warm, warm, refine="gicp", certify=False)  # compiled code is loaded before the clock runs
    return bumpy_cloud(1_000_000, 0), bumpy_cloud(1_000_000, 1)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("step", FEATURE_STEPS)
def test_progress_that_returns_false_ends_the_features_and_the_error_names_the_step(solver, step):
    seen = []

    def progress(report):
        seen.append(report.stage)
        return report.stage != step

    with pytest.raises(StoppedError, match=f"progress.*{step}") as caught:
        register_clouds(*halves(), progress=progress)
    assert caught.value.ended == "interrupted"
    assert seen.count(step) == 1, "nobody is asked again after the answer was to stop"
    assert seen[-1] == step
    assert not solver.calls


@pytest.mark.parametrize("step", [*FEATURE_STEPS, "register", "refine"])
def test_an_exception_in_progress_arrives(solver, step):
    class Enough(Exception):
        pass

    def progress(report):
        if report.stage == step:
            raise Enough

    with pytest.raises(Enough):
        register_clouds(*halves(), progress=progress)


@pytest.mark.parametrize("step", FEATURE_STEPS)
def test_ctrl_c_in_the_features_is_a_stopped_error(solver, step):
    sent = []

    def progress(report):
        if report.stage == step and report.done == 1.0 and not sent:
            sent.append(interrupt())

    following = (*FEATURE_STEPS, "register")[FEATURE_STEPS.index(step) + 1]
    if following == "register":
        found = register_clouds(*halves(), progress=progress)
        assert np.array_equal(found.transformation, TRUTH)
    else:
        with pytest.raises(StoppedError, match=following):
            register_clouds(*halves(), progress=progress)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("how", ["progress", "ctrl-c"])
@pytest.mark.parametrize("step", ["register", "refine"])
def test_once_there_are_matches_the_best_pose_comes_back(solver, step, how):
    sent = []

    def progress(report):
        if report.stage == step and not sent:
            sent.append(interrupt() if how == "ctrl-c" else None)
            return how == "ctrl-c"
        return True

    found = register_clouds(*halves(), progress=progress)
    assert np.array_equal(found.transformation, TRUTH)
    if step == "register":
        assert found.verdict == "doubtful"
        assert found.refinement is None
        assert "the clouds were not compared: stopped before" in str(found)
    else:
        assert not found.refinement.converged
        assert np.isnan(found.refinement.fitness)
        assert found.to_dict()["refinement"]["fitness"] is None
        assert "not refined" in str(found)
    assert found.ambiguity is None
    assert found.reasons[-1].endswith("in another pose was not asked: stopped before")


def test_the_error_of_a_time_limit_says_what_to_do():
    with pytest.raises(StoppedError, match=r"time limit of 0 s .*'downsample'.*larger voxel_size") as caught:
        register_clouds(*halves(), time_limit=0)
    assert caught.value.ended == "time_limit"


def test_a_slow_descriptor_ends_the_call_after_it(solver):
    def slow(points, voxel_size):
        time.sleep(0.3)
        return points

    with pytest.raises(StoppedError, match="describe source"):
        register_clouds(*halves(), descriptor=slow, voxel_size=0.1, time_limit=0.25)


def test_the_search_leaves_time_for_the_refinement(solver, monkeypatch):
    limits = []
    answer = module.Poses.solve

    def spy(self, found, options, shared):
        limits.append((shared, shared.time_limit, shared.seconds))
        return answer(self, found, options, shared)

    monkeypatch.setattr(module.Poses, "solve", spy)
    found = register_clouds(*halves(), time_limit=1000.0)
    register_clouds(*halves(), time_limit=1000.0, refine=None)
    (shared, during, seconds), *_, (_, alone, _) = limits
    assert during == pytest.approx(seconds + 0.8 * (1000.0 - seconds), abs=0.1)
    assert shared.time_limit == alone == 1000.0
    assert found.refinement.converged


@pytest.mark.clock
@pytest.mark.parametrize("options", [{}, {"voxel_size": 1e-4}, {"voxel_size": 0.01, "keypoints": "iss"}])
def test_a_limit_holds_for_a_million_points(million, options):
    began = time.perf_counter()
    with suppress(StoppedError):
        register_clouds(*million, time_limit=1.0, **options)
    assert time.perf_counter() - began < 1.0 + SLACK


@pytest.mark.clock
def test_ctrl_c_from_outside_stops_a_million_points(million):
    timer = threading.Timer(0.5, interrupt)
    began = time.perf_counter()
    timer.start()
    with pytest.raises(StoppedError, match="interrupted at the step") as caught:
        register_clouds(*million, voxel_size=1e-4)
    assert 0.4 < time.perf_counter() - began < 0.5 + SLACK
    assert caught.value.ended == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_ctrl_c_is_left_alone(solver):
    found = []
    thread = threading.Thread(target=lambda: found.append(register_clouds(*halves(), refine=None)))
    thread.start()
    thread.join()
    assert np.array_equal(found[0].transformation, TRUTH)
