"""Time the steps of a pipeline and report how far each one is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tear3d.problem.limits import Progress, ProgressCallback

Tick = Callable[[float], object]
"""Told the fraction of a step that is done."""

_INTERVAL = 0.1


def part_of(tick: Tick | None, low: float, high: float) -> Tick | None:
    """The tick of a part of a step that takes it from `low` to `high`."""
    return None if tick is None else lambda done: tick(low + (high - low) * done)


class Steps:
    """`with steps("match") as tick:` times a step; `tick(fraction)` reports from inside it."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._started = time.perf_counter()
        self._reported = self._started

    @contextmanager
    def __call__(self, name: str) -> Iterator[Tick]:
        def tick(done: float) -> None:
            if time.perf_counter() - self._reported >= _INTERVAL:
                self._report(name, done)

        self._report(name, 0.0)
        began = time.perf_counter()
        yield tick
        self.seconds[name] = time.perf_counter() - began
        self._report(name, 1.0)

    def _report(self, name: str, done: float) -> None:
        self._reported = time.perf_counter()
        if self._progress is not None:
            self._progress(Progress(name, 0.0, float("inf"), 0, self._reported - self._started, done))
