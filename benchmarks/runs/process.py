"""A run in a fresh process, watched from outside: what exceeds a cap is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks import peers
from benchmarks.runs.task import Row, Task

ROOT = Path(__file__).resolve().parents[2]
INTERVAL = 0.02
PREPARING = 600.0
"""Seconds for imports, the problem and compilers, all before the clock starts."""
LIBRARIES = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")


def run(task: Task) -> Row:
    """Its row: what it took and gave, or which cap it reached, or how it ended."""
    with tempfile.TemporaryDirectory(prefix="tear3d-run-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            command = [sys.executable, "-m", "benchmarks.runs.worker", json.dumps(task.to_dict()), folder]
            process = subprocess.Popen(
                command, cwd=ROOT, env=_environment(task), stdout=output, stderr=output, start_new_session=True
            )
            try:
                stopped = _watch(process, task, Path(folder))
            finally:
                _kill(process)
        return task.to_dict() | (stopped or _read(Path(folder) / "result.json", process.returncode, log))


def _environment(task: Task) -> dict[str, str]:
    """NumPy's and its relatives' threads are limited before they are loaded; systems are told the cap on their time."""
    threads = {f"{name}_NUM_THREADS": str(task.threads) for name in LIBRARIES}
    return os.environ | threads | {peers.CAP: str(task.seconds)}


def _watch(process: subprocess.Popen[bytes], task: Task, folder: Path) -> Row | None:
    """Wait for the end; a row if a cap was reached first."""
    began, running = time.perf_counter(), None
    most = 0
    while process.poll() is None:
        now = time.perf_counter()
        if running is None and (folder / "started").exists():
            running = now
        most = max(most, _resident(process.pid))
        if most > task.gigabytes * 2**30:
            return {"outcome": "memory", "reason": f"more than {task.gigabytes:g} GiB", "peak_bytes": most}
        if running is not None and now - running > task.seconds and not (folder / "finished").exists():
            return {"outcome": "time", "reason": f"more than {task.seconds:g} s", "peak_bytes": most}
        if running is None and now - began > PREPARING:
            return {"outcome": "crashed", "reason": f"not ready after {PREPARING:g} s"}
        time.sleep(INTERVAL)
    return None


def _resident(pid: int) -> int:
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The process and whatever it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _read(result: Path, code: int, log: Path) -> Row:
    if code == 0 and result.is_file():
        row: Row = json.loads(result.read_text(encoding="utf-8"))
        return row
    end = log.read_bytes()[-20_000:]
    if b"MemoryError" in end or b"bad_alloc" in end:
        return {"outcome": "memory", "reason": "an allocation failed"}
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return {"outcome": "crashed", "reason": f"{how}: {lines[-1][:200] if lines else 'no message'}"}
