"""Work in pieces or aside, on threads, while the caller's thread keeps watch."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import TypeVar

from tear3d.features.steps import Tick

CHUNK = 2048
_PATIENCE = 0.1
"""Seconds between two looks at the clock."""

In = TypeVar("In")
Out = TypeVar("Out")


def thread_count(threads: int | None) -> int:
    """The number of threads to use: as asked, or as many as this process may run on."""
    if threads is not None:
        return max(1, threads)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_chunks(
    work: Callable[[int, int], object],
    count: int,
    threads: int | None,
    *,
    chunk: int = CHUNK,
    tick: Tick | None = None,
) -> None:
    """Call `work(start, stop)` over `range(count)`; `work` must write to its own rows only.

    A chunk should take a tenth of a second at most: what `tick` raises comes out when those under way are done.
    """
    ranges = [(start, min(start + chunk, count)) for start in range(0, count, chunk)]
    workers = min(thread_count(threads), len(ranges))
    if workers <= 1:
        for start, stop in ranges:
            work(start, stop)
            if tick is not None:
                tick(stop / count)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            # Few wait at a time: to hand out thousands at once, against threads that work, takes seconds.
            waiting: deque[Future[object]] = deque()
            ahead = iter(ranges)
            for start, stop in ranges:
                waiting.extend(pool.submit(work, *each) for each in islice(ahead, 3 * workers - len(waiting)))
                _watch(waiting.popleft(), tick, start / count)
                if tick is not None:
                    tick(stop / count)
        except BaseException:
            # Must not wait for the chunks that have not begun.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def each(work: Callable[[In], Out], items: Sequence[In], tick: Tick | None = None) -> list[Out]:
    """`work` of each item, several at a time: for calls that let other threads run."""
    done: dict[int, Out] = {}

    def one(start: int, stop: int) -> None:
        done[start] = work(items[start])

    in_chunks(one, len(items), None, chunk=1, tick=tick)
    return [done[k] for k in range(len(items))]


def aside(work: Callable[[], Out], tick: Tick | None, done: float = 0.0) -> Out:
    """`work()` on a thread of its own, for a single long call that lets other threads run.

    What `tick` raises comes out at once. The call cannot be stopped: it goes on to its end, and nobody hears of it.
    """
    if tick is None:
        return work()
    future: Future[Out] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run).start()
    return _watch(future, tick, done)


def _watch(future: Future[Out], tick: Tick | None, done: float) -> Out:
    while not wait([future], _PATIENCE).done:
        if tick is not None:
            tick(done)
    return future.result()
