"""One run in a process of its own: `python -m benchmarks.runs.worker TASK FOLDER`, for benchmarks/runs/process.py.

Makes the problem, compiles and loads what the system needs, creates FOLDER/started, registers, creates
FOLDER/finished, and writes FOLDER/result.json.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import peers, problems
from benchmarks.memory import PeakMemory
from benchmarks.output import plain
from benchmarks.passes import pass_seconds
from benchmarks.problems import Given
from benchmarks.runs.task import Row, Task
from tear3d.metrics import precision_recall_f1, rotation_error, translation_error

UNIT_PAIRS = 100_000
PR_SET_PDEATHSIG = 1


def run(task: Task, started: Path, finished: Path) -> Row:
    """The registration and what it took."""
    keep_to(task.threads)
    given = problems.make(task.problem)
    peer = peers.peer(task.peer)
    prepared = time.perf_counter()
    peer.prepare()
    prepared = time.perf_counter() - prepared
    unit = _unit()
    started.touch()
    with PeakMemory() as memory:
        cpu, wall = _cpu(), time.perf_counter()
        found = peer.register(given.source, given.target, given.noise_bound)
        wall, cpu = time.perf_counter() - wall, _cpu() - cpu
    finished.touch()
    return {
        "outcome": "done",
        "wall": wall,
        "cpu": cpu,
        "unit": min(unit, _unit()),
        "prepared": prepared,
        "peak_bytes": memory.peak,
        "extra_bytes": memory.extra,
        "pairs": len(given.source),
        "right_pairs": int(given.inlier_mask.sum()),
        "dataset": given.dataset,
        "version": peer.version,
        **errors(found, given),
        "rules": given.verdicts(found.pose) if given.verdicts else {},
        "notes": found.notes,
    }


def errors(found: peers.Found, given: Given) -> Row:
    """How far the answer is from the truth; a system without a pose is judged by the pairs it names."""
    pose = found.pose
    there = bool(np.isfinite(pose).all())
    turn = float(rotation_error(pose, given.truth)) if there else math.inf
    shift = float(translation_error(pose, given.truth)) if there else math.inf
    inliers = found.inliers
    if inliers is None and there:
        residuals = np.linalg.norm(given.target - given.source @ pose[:3, :3].T - pose[:3, 3], axis=1)
        inliers = residuals <= given.noise_bound
    return {
        "posed": there,
        "rotation_error": turn,
        "translation_error": shift,
        "right": turn <= given.limits.rotation and shift <= given.limits.translation,
        "f1": 0.0 if inliers is None else precision_recall_f1(inliers, given.inlier_mask).f1,
    }


def keep_to(threads: int) -> None:
    """Pin the process to so many cores, whatever the system itself believes it has."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def die_with_parent() -> None:
    """A benchmark that was killed leaves no run behind that nobody caps (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _cpu() -> float:
    """Seconds of all threads, and of child processes that have ended."""
    return sum(os.times()[:4])


def _unit() -> float:
    points = np.random.default_rng(0).normal(size=(2, UNIT_PAIRS, 3))
    return pass_seconds(points[0], points[1])


def main(text: str, folder: str) -> None:
    die_with_parent()
    row = run(Task.of(json.loads(text)), Path(folder) / "started", Path(folder) / "finished")
    (Path(folder) / "result.json").write_text(json.dumps(plain(row), allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
