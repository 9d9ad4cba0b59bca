"""When a call must stop, and how it tells the world where it stands."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

READING = "reading"
"""The step in which threads wait for pairs that come from elsewhere."""
Stop = Literal["interrupted", "time_limit", "node_limit"]


def relative_gap(saving: float, bound: float) -> float:
    """How much more than `saving` any solution could save, as a fraction of `saving`."""
    excess = max(0.0, bound - saving)
    if excess == 0.0:
        return 0.0
    return excess / saving if saving > 0.0 else float("inf")


@dataclass(frozen=True)
class Progress:
    """One report of a running call, passed to the `progress` callback."""

    stage: str
    saving: float
    saving_bound: float
    cells: int
    seconds: float
    done: float = 0.0
    """Fraction of the work of this stage that is surely done, 0 to 1 (a rough guide)."""

    @property
    def gap(self) -> float:
        return relative_gap(self.saving, self.saving_bound)


ProgressCallback = Callable[[Progress], object]


@dataclass
class Limits:
    """Time, cells and cancellation, shared by all steps of one call.

    The callback may return False to stop the call; it is called at most every `interval` seconds, in the thread of the
    caller only. `cells` is counted in that thread only too.
    """

    time_limit: float | None = None
    node_limit: int | None = None
    progress: ProgressCallback | None = None
    proof_limit: float | None = None
    """Seconds for a proof alone, where the call as a whole has no limit."""
    interval: float = 0.1
    started: float = field(default_factory=time.perf_counter)
    cells: int = 0
    cancelled: bool = False
    laps: dict[str, float] = field(default_factory=dict)
    """Seconds spent in each step."""
    _last_report: float = -1.0

    @property
    def seconds(self) -> float:
        """Since the start, which `problem.compiling` moves on by what it takes to compile."""
        return time.perf_counter() - self.started

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to a step's, without what it waits for pairs to be read: a step itself."""
        began, read = self.seconds, self.laps.get(READING, 0.0)
        try:
            yield
        finally:
            took = self.seconds - began - (self.laps.get(READING, 0.0) - read)
            self.laps[name] = self.laps.get(name, 0.0) + took

    @contextmanager
    def proving(self) -> Iterator[None]:
        """While the block runs, the clock of the proof runs too."""
        whole = self.time_limit
        if whole is None and self.proof_limit is not None:
            self.time_limit = self.seconds + self.proof_limit
        try:
            yield
        finally:
            self.time_limit = whole

    def cancel(self) -> None:
        self.cancelled = True

    def cells_left(self) -> int:
        """How many more cells may be visited (a huge number without a limit)."""
        return 2**62 if self.node_limit is None else max(0, self.node_limit - self.cells)

    def over(self) -> bool:
        """Whether time or patience has run out: for threads, between two slices of work."""
        return self.cancelled or (self.time_limit is not None and self.seconds >= self.time_limit)

    def exceeded(self) -> Stop | None:
        """What ends the call, or None while it may go on."""
        if self.cancelled:
            return "interrupted"
        if self.time_limit is not None and self.seconds >= self.time_limit:
            return "time_limit"
        if self.node_limit is not None and self.cells >= self.node_limit:
            return "node_limit"
        return None

    def report(self, stage: str, saving: float, saving_bound: float, done: float = 0.0) -> None:
        """Call the progress callback if one is set and enough time has passed."""
        if self.progress is None:
            return
        now = self.seconds
        if now - self._last_report < self.interval and self._last_report >= 0.0:
            return
        self._last_report = now
        try:
            answer = self.progress(Progress(stage, saving, saving_bound, self.cells, now, done))
        except KeyboardInterrupt:
            answer = False
        if isinstance(answer, bool | np.bool_) and not answer:
            self.cancel()


@contextmanager
def ctrl_c_cancels(limits: Limits) -> Iterator[None]:
    """While the block runs, Ctrl-C cancels `limits` instead of raising somewhere in the middle; a second one raises.

    Only in the main thread, the one that receives signals, and only if nobody else handles Ctrl-C.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def handle(number: int, frame: object) -> None:
        if limits.cancelled:
            raise KeyboardInterrupt
        limits.cancel()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
