"""Schedulers and workers in processes of their own, quick to start, for tests that kill them."""

from __future__ import annotations

import asyncio
import multiprocessing
import multiprocessing.forkserver
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any

from distributed import Client, Scheduler, Worker


def _schedule(told: Any) -> None:
    async def run() -> None:
        async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
            told.put(scheduler.address)
            await scheduler.finished()

    asyncio.run(run())


def _work(address: str) -> None:
    async def run() -> None:
        async with Worker(address, nthreads=1, dashboard=False) as worker:
            await worker.finished()

    asyncio.run(run())


def forked() -> Any:
    """How processes are started: forked from one that has imported what they need."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.stream.kills", "tear3d.stream.cluster", "tear3d.stream.solve"])
    multiprocessing.forkserver.ensure_running()
    return context


@contextmanager
def outside() -> Iterator[tuple[Client, BaseProcess]]:
    """A scheduler and a worker: the client, and the scheduler's process."""
    context = forked()
    told = context.Queue()
    scheduler = context.Process(target=_schedule, args=(told,))
    scheduler.start()
    processes: list[BaseProcess] = [scheduler]
    try:
        address = told.get(timeout=60)
        worker = context.Process(target=_work, args=(address,))
        worker.start()
        processes.append(worker)
        with Client(address, timeout=15) as client:  # so long a client also tries to find a lost scheduler again
            client.wait_for_workers(1, timeout=60)
            yield client, scheduler
    finally:
        for process in processes:
            process.kill()
            process.join()
