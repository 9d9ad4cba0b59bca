"""The first use of a kernel compiles it: that is said, and is no part of what a search takes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numba.core import event

from tear3d.problem import kernels
from tear3d.problem.limits import Limits

log = logging.getLogger("tear3d")

COMPILING = "compiling"
"""The name of the step that it is."""
_lock = threading.Lock()
_ONCE = "for %s seconds, once after installation; `tear3d warmup` does it ahead"


class _Watch(event.Listener):  # type: ignore[misc]
    """Adds up the seconds of compilations; those within one another count once."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._depth = 0
        self._began = 0.0

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
            if COMPILING not in self.limits.laps:
                self.limits.laps[COMPILING] = 0.0
                log.warning("compiling %s", _ONCE % "some")
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            _book(self.limits, time.perf_counter() - self._began)


def _book(limits: Limits, seconds: float) -> None:
    limits.laps[COMPILING] = limits.laps.get(COMPILING, 0.0) + seconds
    limits.started += seconds


def compile_cold(groups: Sequence[str], limits: Limits) -> None:
    """Compile the groups of kernels that are not in the cache yet, on all cores, or say that this process will."""
    began, waits = time.perf_counter(), _lock.locked()  # who comes second waits, and finds them
    with _lock:
        missing = kernels.cold(groups)
        if not missing and not waits:
            return
        if missing and kernels.can_share():
            log.warning("compiling %s", _ONCE % f"about {kernels.expected_seconds(missing)}")
            missing = kernels.compile_groups(missing)
        if missing:
            alone = _ONCE % f"about {kernels.expected_seconds(missing, 1)}"
            log.warning("compiling %s in this process, %s", " and ".join(missing), alone)
            kernels.settle(missing)
    _book(limits, time.perf_counter() - began)


@contextmanager
def compiled_apart(limits: Limits, groups: Sequence[str] = ()) -> Iterator[None]:
    """Before the block, groups of kernels are compiled if they never were; while it runs, time that goes into compiling
    more is a step of its own and counts for no time limit."""
    compile_cold(groups, limits)
    with event.install_listener("numba:compile", _Watch(limits)):
        yield
