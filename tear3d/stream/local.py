"""Passes over pieces in the threads of one machine, with a piece read ahead."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from tear3d.problem.crew import Crew
from tear3d.problem.limits import READING, Limits
from tear3d.stream.pieces import Piece, Pieces

Sum = TypeVar("Sum")

AHEAD = 1
"""Pieces that are read before somebody asks for them (memory; free choice)."""


class Pass(Protocol[Sum]):
    """Something to be found out by looking at every piece once, whichever way they are shared out.

    A pass, and what `begin` makes, travel to other processes; so the order of the pieces must not matter.
    """

    def begin(self) -> Sum:
        """Before any piece."""

    def add(self, total: Sum, number: int, piece: Piece, over: Callable[[], bool]) -> Sum | None:
        """With one more piece, which may change `total`; None when `over` said that it is time to stop."""

    def merge(self, one: Sum, other: Sum) -> Sum:
        """Of the pieces of both."""


class Runner(Protocol):
    """Whatever runs passes over all pieces."""

    num_pairs: int
    passes: int
    """That were begun."""

    def run(self, work: Pass[Sum], limits: Limits, tick: Callable[[float], object] | None = None) -> Sum | None:
        """What a pass finds out; None when the limits were over before. `tick` hears which share is done."""


class Local:
    """Threads of this process."""

    def __init__(self, pieces: Pieces, threads: int) -> None:
        self.pieces, self.threads = pieces, max(1, min(threads, len(pieces)))
        self.num_pairs = pieces.num_pairs
        self.passes = 0

    def run(self, work: Pass[Any], limits: Limits, tick: Callable[[float], object] | None = None) -> Any:
        self.passes += 1
        reader = _Reader(self.pieces)
        done = 0

        def share(_: int, space: None) -> Any:
            nonlocal done
            total: Any = work.begin()
            while (item := reader.next()) is not None:
                total = None if limits.over() else work.add(total, *item, limits.over)
                if total is None:
                    reader.stop()
                    return None
                done += 1
            return total

        try:
            with Crew[None](self.threads, limits) as crew:
                totals = crew.map(share, range(self.threads), lambda: tick and tick(done / len(self.pieces)))
        finally:
            reader.close()
            limits.laps[READING] = limits.laps.get(READING, 0.0) + reader.waited / self.threads
        if any(total is None for total in totals) or reader.stopped:
            return None
        first, *others = totals
        for other in others:
            first = work.merge(first, other)
        if tick is not None:  # a quick pass was over before anybody asked
            tick(1.0)
        return first


class _Reader:
    """Hands out pieces in order, each once, and reads the next ones meanwhile."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces, self._lock = pieces, threading.Lock()
        self._pool = ThreadPoolExecutor(1)
        self._futures: list[tuple[int, Future[Piece]]] = []
        self._next = 0
        self.waited, self.stopped = 0.0, False

    def next(self) -> tuple[int, Piece] | None:
        with self._lock:
            while self._next < len(self._pieces) and len(self._futures) <= AHEAD and not self.stopped:
                self._futures.append((self._next, self._pool.submit(self._pieces.read, self._next)))
                self._next += 1
            if not self._futures or self.stopped:
                return None
            number, future = self._futures.pop(0)
        began = time.perf_counter()
        piece = future.result()
        self.waited += time.perf_counter() - began
        return number, piece

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
