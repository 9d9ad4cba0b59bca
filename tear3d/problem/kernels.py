"""Which kernels a call needs, whether they were ever compiled, and their compilation in processes of their own.

The compiled code goes to Numba's cache on disk, where every later process finds it. Numba's compiler holds a lock, so
each group of kernels is compiled by another interpreter. How, `tear3d.cli.kernels` knows, which knows all layers.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tear3d.problem.pace import slowness

STARTUP = 2
"""Seconds until a process begins to compile, in the same units."""
_PAUSE = 0.02
"""Seconds between two looks at the processes; free choice."""


class Group(NamedTuple):
    """Kernels that are compiled together."""

    module: str
    kernel: str
    """The one that is compiled last: when it is in the cache, all are. Empty where no name can tell, as of kernels in
    another precision."""
    seconds: int
    """About what it takes on one of two cores while the other is as busy, on the machine of `tear3d.problem.pace`
    ("rows" and those of a prior are foreseen from the others), ..."""
    beside: str = ""
    """... in the process of this group, whose kernels it shares."""


GROUPS: dict[str, Group] = {
    "rows": Group("prove.row.subtree", "search_subtree", 11),
    "all rows": Group("", "", 20),
    "votes": Group("prove.pose.cells", "search_cells", 8),
    "confined votes": Group("prove.domains.allowed", "angle_of_cosine", 11),  # those of a prior
    "all votes": Group("", "", 16),
    "slopes": Group("prove.pose.ready", "search_ready", 7),
    "confined slopes": Group("prove.domains.allowed", "permits", 9),
    "all slopes": Group("", "", 16),
    "ascents": Group("judge.chance", "_count_kept", 4),  # shares kernels with slopes: among equals next to them
    "pivots": Group("find.pivots", "search_pivots", 2),
    "all pivots": Group("", "", 4),
    "all upright": Group("", "", 4),
    "upright": Group("find.upright", "search_upright", 2),
    "lengths": Group("prove.bounds.lengths", "find_followers", 2),
    "hubs": Group("prove.bounds.spokes", "search_spokes", 2),
    "confined hubs": Group("prove.bounds.spokes", "reaches", 3),
    "all hubs": Group("", "", 5),
    "tallies": Group("prove.bounds.tallies", "mark_voters", 4, beside="votes"),
    "clouds": Group("clouds.equations", "_error", 5),
    "sweeps": Group("prove.bounds.ranges", "rectangle_ranges", 4, beside="rows"),
}
WARMUP = tuple(name for name in GROUPS if f"all {name.removeprefix('confined ')}" not in GROUPS)
"""All of them."""
DOUBLE_LIMIT = 50_000
"""Rows of up to so many pairs are searched in float64, larger ones in float32 if that does not cost the certificate:
their kernels are compiled once more for that. Free choice, part of no bound."""
_settled: set[str] = set()
"""Groups that are in the cache, or that were tried: this process asks no more."""


def needed(
    certify: str | bool = "pose",
    *,
    pairs: int = 0,
    clouds: bool = False,
    method: str = "tear3d",
    upright: bool = False,
    prior: bool = False,
) -> tuple[str, ...]:
    """The groups that a call needs. Whether rows in float32 are in the cache cannot be told: they are left out, as are
    hubs of pairs that nobody matched here, which are asked for when they are wanted."""
    if method == "paper":
        return ("sweeps", "ascents")
    whole = ("confined votes", "confined slopes") if prior else ("votes", "slopes", "lengths")
    proof = () if not certify else whole if certify != "rows" else ("rows",)
    if certify == "rows" and pairs > DOUBLE_LIMIT:
        proof = ()
    find = ("upright", "ascents") if upright else ("pivots", "ascents")
    hubs = "hubs" if "lengths" in proof else "confined hubs" if "confined votes" in proof and not upright else ""
    matched = ("clouds", *((hubs,) if hubs else ())) if clouds else ()
    return (*proof, *find, *matched)


def needed_in_pieces(certify: str | bool) -> tuple[str, ...]:
    """The same for pairs that come in pieces."""
    return (*(("tallies", "votes", "slopes") if certify else ()), "pivots", "ascents")


def cold(names: Sequence[str]) -> list[str]:
    """Those of some groups that are not in the cache."""
    missing = [name for name in names if name not in _settled and not _in_cache(GROUPS[name])]
    _settled.update(name for name in names if name not in missing)
    return missing


def settle(names: Iterable[str] = tuple(GROUPS)) -> None:
    """From now on this process compiles by itself what it finds missing of these."""
    _settled.update(names)


def expected_seconds(names: Sequence[str], cores: int | None = None) -> int:
    """About how long these groups take together on this machine."""
    cores = cores or count_cores()
    longest = max(sum(GROUPS[name].seconds for name in share) for share in _shares(names, cores))
    return max(1, round(((STARTUP if cores > 1 else 0) + longest) * slowness()))


def count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return max(1, os.cpu_count() or 1)


def can_share() -> bool:
    """Whether other processes would be of use, and can be started: not from a program that only contains Python, nor
    from many workers at once."""
    import multiprocessing  # only who compiles wants it

    python = Path(sys.executable or "").stem.lower().startswith("python") and not getattr(sys, "frozen", False)
    return python and count_cores() > 1 and multiprocessing.parent_process() is None


def compile_groups(names: Sequence[str], tell: Callable[[str, float], object] | None = None) -> list[str]:
    """Compile groups, as many at once as there are cores; `tell` hears (groups, seconds).

    Returns those that failed: they are left to the run that needs them, which then says why.
    """
    failed = _compile_all(names, tell)
    for name in set(names) - set(failed):
        _renew(GROUPS[name])
    settle(names)
    return failed


def _in_cache(group: Group) -> bool:
    module = import_module(f"tear3d.{group.module}")
    if not hasattr(getattr(module, group.kernel), "stats"):  # run as plain Python
        return True
    changed = Path(module.__file__ or "").stat().st_mtime
    return any(file.stat().st_mtime >= changed for file in _indices(group))


def _indices(group: Group) -> list[Path]:
    """The files in which Numba says what it knows of the last kernel of a group."""
    stats = getattr(getattr(import_module(f"tear3d.{group.module}"), group.kernel), "stats", None)
    name = f"{group.module.split('.')[-1]}.{group.kernel}"
    return [] if stats is None else list(Path(stats.cache_path).glob(f"{name}-*.nbi"))


def _renew(group: Group) -> None:
    """What was found in the cache is as good as new: Numba may go by what a file says, and `_in_cache` goes by its
    time."""
    if group.module:
        with suppress(OSError):
            for file in _indices(group):
                os.utime(file)


def _shares(names: Iterable[str], cores: int) -> list[list[str]]:
    """One process a core: what groups have in common, and Python itself, takes a second each time."""
    shares: list[list[str]] = [[] for _ in range(cores)]
    for name in sorted(names, key=lambda name: -GROUPS[name].seconds):
        beside = {GROUPS[name].beside, f"all {GROUPS[name].beside}"}
        least = min(shares, key=lambda share: sum(GROUPS[name].seconds for name in share))
        next((share for share in shares if beside & set(share)), least).append(name)
    return [share for share in shares if share]


def _compile_all(names: Sequence[str], tell: Callable[[str, float], object] | None) -> list[str]:
    """All processes end with us, also by Ctrl-C."""
    began = time.perf_counter()
    failed: list[str] = []
    running: list[tuple[list[str], subprocess.Popen[bytes]]] = []
    try:
        for share in _shares(names, count_cores()):
            try:
                running.append((share, start(share)))
            except OSError:
                failed += share
        while running:
            time.sleep(_PAUSE)
            for share, process in [one for one in running if one[1].poll() is not None]:
                running.remove((share, process))
                failed += share if process.returncode else []
                if tell is not None:
                    tell(", ".join(share), time.perf_counter() - began)
    finally:
        for _, process in running:
            process.kill()
            process.wait()
    return failed


def start(names: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start to compile groups in an interpreter that finds the modules which this one finds."""
    code = f"import os, sys; sys.path[:] = {sys.path!r}; from tear3d.cli.kernels import compile_here; "
    code += f"compile_here({list(names)!r}); os._exit(0)"  # all is on disk: to tidy up would take half a second
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"},  # nobody reads them, all are made
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
