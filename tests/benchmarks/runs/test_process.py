"""A run is a process of its own, its figures are its own, and its caps hold."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from benchmarks import peers
from benchmarks.problems import make
from benchmarks.runs import process, worker
from benchmarks.runs.task import Problem, Task
from tear3d.metrics import rotation_error

SMALL = Problem(500, 0.5)


def test_a_run_is_measured():
    row = process.run(Task("ransac", SMALL))
    assert row["outcome"] == "done"
    assert row["right"]
    assert row["rotation_error"] < 1.0
    assert row["f1"] > 0.95
    assert (row["pairs"], row["right_pairs"]) == (500, 250)
    assert 0.0 < row["cpu"] < 60.0
    assert 0.0 < row["wall"] < 60.0
    assert row["peak_bytes"] > row["extra_bytes"] > 0
    assert Task.of(row) == Task("ransac", SMALL)


def test_time_and_memory_are_capped():
    started = time.perf_counter()
    slow = process.run(Task("ransac", Problem(200_000, 0.9), seconds=0.05))
    large = process.run(Task("ransac", SMALL, gigabytes=0.01))
    assert (slow["outcome"], slow["reason"]) == ("time", "more than 0.05 s")
    assert (large["outcome"], large["reason"]) == ("memory", "more than 0.01 GiB")
    assert time.perf_counter() - started < 60.0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent is gone")
def test_a_killed_benchmark_leaves_no_run_behind():
    command = "from benchmarks.runs import process; from benchmarks.runs.task import *; process.run(Task('ransac', {}))"
    problem = "Problem(1_000_000, 0.9)"
    parent = subprocess.Popen([sys.executable, "-c", command.format(problem)], cwd=process.ROOT)
    try:
        deadline = time.perf_counter() + 60.0
        while not (runs := psutil.Process(parent.pid).children()) and time.perf_counter() < deadline:
            time.sleep(0.02)
        time.sleep(1.0)  # it has to come as far as asking for it
    finally:
        parent.kill()
        parent.wait()
    _, alive = psutil.wait_procs(runs, timeout=3.0)
    assert runs
    assert not alive


def test_systems_are_told_the_cap(monkeypatch):
    monkeypatch.setenv(peers.CAP, "10")
    assert peers.time_limit(60.0) == 9.0
    assert peers.time_limit(5.0) == 5.0
    monkeypatch.delenv(peers.CAP)
    assert peers.time_limit(60.0) == 60.0


def test_a_crash_is_a_row_with_its_message():
    row = process.run(Task("ransac", Problem(0, 0.5)))
    assert row["outcome"] == "crashed"
    assert "n is 0" in row["reason"]


def test_a_downsampled_problem_keeps_its_truth():
    whole, part = make(Problem(2000, 0.5, seed=1)), make(Problem(2000, 0.5, seed=1, keep=100))
    assert len(part.source) == len(part.target) == len(part.inlier_mask) == 100
    assert rotation_error(whole.truth, part.truth) == 0.0
    moved = part.source @ part.truth[:3, :3].T + part.truth[:3, 3]
    near = np.linalg.norm(moved - part.target, axis=1) < part.noise_bound
    assert near[part.inlier_mask].mean() > 0.9
    assert near[~part.inlier_mask].mean() < 0.1


def test_no_pose_is_wrong_and_named_pairs_are_believed():
    given = make(SMALL)
    nothing = worker.errors(peers.Found(peers.nowhere()), given)
    assert (nothing["right"], nothing["posed"], nothing["f1"]) == (False, False, 0.0)
    named = worker.errors(peers.Found(peers.nowhere(), given.inlier_mask), given)
    assert (named["right"], named["f1"]) == (False, 1.0)
    posed = worker.errors(peers.Found(given.truth), given)
    assert posed["right"]
    assert posed["f1"] > 0.95


def test_systems_in_metres_get_the_problem_in_their_size(monkeypatch):
    given, seen = make(SMALL), {}

    def register(source, target, noise_bound):
        seen["bound"] = noise_bound
        seen["size"] = np.ptp(source)
        pose = given.truth.copy()
        pose[:3, 3] *= 0.1 / given.noise_bound
        return pose

    module = peers.peer("ransac").module
    monkeypatch.setattr(module, "register", register)
    monkeypatch.setattr(module, "METRES", True, raising=False)
    found = peers.peer("ransac").register(given.source, given.target, given.noise_bound)
    assert seen["bound"] == pytest.approx(0.1)
    assert seen["size"] == pytest.approx(np.ptp(given.source) * 0.1 / given.noise_bound)
    assert np.allclose(found.pose, given.truth)
