"""The first use of a kernel compiles it: that is said, and is no part of what a search takes."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

from tear3d.problem.limits import Limits

log = logging.getLogger("tear3d")

COMPILING = "compiling"
"""The name of the step that it is."""


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
                log.warning("compiling for some seconds, once after installation; `tear3d warmup` does it ahead")
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            seconds = time.perf_counter() - self._began
            self.limits.laps[COMPILING] += seconds
            self.limits.started += seconds


@contextmanager
def compiled_apart(limits: Limits) -> Iterator[None]:
    """While the block runs, time that goes into compiling is a step of its own and counts for no time limit."""
    with event.install_listener("numba:compile", _Watch(limits)):
        yield
