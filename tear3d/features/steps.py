"""Time the steps of a call, report how far each one is, and stop it when its limits say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import overload

from tear3d.errors import StoppedError
from tear3d.problem.limits import Limits

Tick = Callable[[float], object]
"""Told the fraction of a step that is done, ten times a second or so, in the caller's thread; raises to stop it."""


@overload
def part_of(tick: Tick, low: float, high: float) -> Tick: ...


@overload
def part_of(tick: None, low: float, high: float) -> None: ...


def part_of(tick: Tick | None, low: float, high: float) -> Tick | None:
    """The tick of a part of a step that takes it from `low` to `high`."""
    return None if tick is None else lambda done: tick(low + (high - low) * done)


class Steps:
    """`with steps("match") as tick:` times a step; `tick(fraction)` reports from inside it.

    When the limits are over, `tick` raises a StoppedError.
    """

    def __init__(self, limits: Limits) -> None:
        self.seconds: dict[str, float] = {}
        self._limits = limits
        self._told_to_stop = False

    @contextmanager
    def __call__(self, name: str) -> Iterator[Tick]:
        def tick(done: float) -> None:
            self._report(name, done)
            if self._limits.over():
                raise self._stopped(name)

        self._report(name, 0.0, at_once=True)
        began = self._limits.seconds
        try:
            yield tick
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + self._limits.seconds - began
        self._report(name, 1.0, at_once=True)

    def _report(self, name: str, done: float, *, at_once: bool = False) -> None:
        """Tell the callback, but never again once the call is to stop; `at_once`: however recent the last report."""
        limits = self._limits
        if limits.over():
            return
        usual = limits.interval
        limits.interval = 0.0 if at_once else usual
        try:
            limits.report(name, 0.0, float("inf"), done)
        finally:
            limits.interval = usual
        self._told_to_stop = limits.cancelled

    def _stopped(self, name: str) -> StoppedError:
        if not self._limits.cancelled:
            return StoppedError(
                f"the time limit of {self._limits.time_limit:g} s was reached at the step '{name}', before there was a "
                "pose: allow more time, or use a larger voxel_size",
                "time_limit",
            )
        stopped = "stopped by progress, which returned False," if self._told_to_stop else "interrupted"
        return StoppedError(f"{stopped} at the step '{name}', before there was a pose")
