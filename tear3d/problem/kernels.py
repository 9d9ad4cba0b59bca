"""Which kernels a call needs, whether they were ever compiled, and their compilation in processes of their own.

The compiled code goes to Numba's cache on disk, where every later process finds it. Numba's compiler holds a lock, so
each group of kernels is compiled by another interpreter. How, `tear3d.cli.kernels` knows, which knows all layers.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

_PAUSE = 0.02
"""Seconds between two looks at the processes; free choice."""


class Group(NamedTuple):
    """Kernels that are compiled together."""

    module: str
    kernel: str
    """The one that is compiled last: when it is in the cache, all are. Empty for those that run whole registrations,
    after the others, whose kernels they find in the cache."""
    seconds: int
    """What it takes on one core of two of an AMD EPYC server (`tear3d warmup` tells)."""

    @property
    def after(self) -> bool:
        return not self.kernel


GROUPS: dict[str, Group] = {
    "rows": Group("prove.row.subtree", "search_subtree", 20),  # the longest first
    "votes": Group("prove.pose.cells", "search_cells", 11),
    "slopes": Group("prove.pose.boxes", "search_boxes", 9),
    "pivots": Group("find.pivots", "search_pivots", 5),
    "ascents": Group("judge.chance", "_repaired_hits", 5),
    "lengths": Group("prove.bounds.lengths", "find_followers", 4),
    "features": Group("features.iss", "_local_maxima", 4),
    "refinement": Group("clouds.equations", "_error", 4),
    "many pairs": Group("", "", 6),
    "other losses": Group("", "", 8),
}
_settled: set[str] = set()
"""Groups that are in the cache, or that were tried: this process asks no more."""


def needed(certify: str | bool = "pose", *, clouds: bool = False) -> tuple[str, ...]:
    """The groups that a call needs."""
    proof = ("rows",) if certify == "rows" else ("votes", "slopes", "lengths") if certify else ()
    return (*proof, "pivots", "ascents", *(("features", "refinement") if clouds else ()))


def cold(names: Sequence[str]) -> list[str]:
    """Those of some groups that are not in the cache."""
    missing = [name for name in names if name not in _settled and not _in_cache(GROUPS[name])]
    _settled.update(name for name in names if name not in missing)
    return missing


def settle(names: Iterable[str] = tuple(GROUPS)) -> None:
    """From now on this process compiles by itself what it finds missing of these."""
    _settled.update(names)


def expected_seconds(names: Sequence[str], cores: int | None = None) -> int:
    """About how long these groups take together."""
    each = [GROUPS[name].seconds for name in names]
    return max(-(-sum(each) // (cores or count_cores())), *each)


def count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return max(1, os.cpu_count() or 1)


def can_share() -> bool:
    """Whether other processes would be of use, and can be started: not from a program that only contains Python, nor
    from many workers at once."""
    python = Path(sys.executable or "").stem.lower().startswith("python") and not getattr(sys, "frozen", False)
    return python and count_cores() > 1 and multiprocessing.parent_process() is None


def compile_groups(names: Sequence[str], tell: Callable[[str, float], object] | None = None) -> list[str]:
    """Compile groups, as many at once as there are cores; `tell` hears (group, seconds).

    Returns those that failed: they are left to the run that needs them, which then says why.
    """
    failed: list[str] = []
    for later in (False, True):
        failed += _compile_all([name for name in names if GROUPS[name].after == later], tell)
    settle(names)
    return failed


def _in_cache(group: Group) -> bool:
    if group.after:
        return False
    module = import_module(f"tear3d.{group.module}")
    stats = getattr(getattr(module, group.kernel), "stats", None)
    if stats is None:  # run as plain Python
        return True
    files = Path(stats.cache_path).glob(f"{module.__name__.split('.')[-1]}.{group.kernel}-*.nbi")
    changed = Path(module.__file__ or "").stat().st_mtime
    return any(file.stat().st_mtime >= changed for file in files)


def _compile_all(names: list[str], tell: Callable[[str, float], object] | None) -> list[str]:
    """All of them end with us, also by Ctrl-C."""
    waiting, failed = list(names), []
    running: dict[str, tuple[subprocess.Popen[bytes], float]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < count_cores():
                running[waiting[0]] = start(waiting[0]), time.perf_counter()
                del waiting[0]
            for name, (process, started) in list(running.items()):
                if process.poll() is None:
                    continue
                del running[name]
                if process.returncode:
                    failed.append(name)
                if tell is not None:
                    tell(name, time.perf_counter() - started)
            time.sleep(_PAUSE)
    except OSError:  # no process can be started
        failed += [*running, *waiting]
    finally:
        for process, _ in running.values():
            process.kill()
            process.wait()
    return failed


def start(name: str) -> subprocess.Popen[bytes]:
    """Start to compile a group in an interpreter that finds the modules which this one finds."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from tear3d.cli.kernels import compile_group; "
    return subprocess.Popen(
        [sys.executable, "-c", code + f"compile_group({name!r})"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
