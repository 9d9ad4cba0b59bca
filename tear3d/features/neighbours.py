"""Nearest neighbours within a radius, in chunks, on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tear3d.features.steps import Tick

CHUNK = 2048

Neighbours = tuple[NDArray[np.int32], NDArray[np.float32]]


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
    """Call `work(start, stop)` over `range(count)`; `work` must write to its own rows only."""
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
            for (_, stop), done in zip(ranges, [pool.submit(work, *each) for each in ranges], strict=True):
                done.result()
                if tick is not None:
                    tick(stop / count)
        except BaseException:
            # Ctrl-C must not wait for the chunks that have not begun.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def search(tree: cKDTree, start: int, stop: int, radius: float, max_nn: int) -> Neighbours:
    """The up to `max_nn` nearest points nearer than `radius` of the tree's points `start:stop`.

    Returns
    -------
    indices : (stop - start, K) int32
        Nearest first, the point itself (or a duplicate of it) among them; unused places hold -1.
    squared : (stop - start, K) float32
        Squared distances.
    """
    k = min(max_nn, tree.n)
    distances, found = tree.query(tree.data[start:stop], k=[*range(1, k + 1)], distance_upper_bound=radius)
    missing = found == tree.n
    squared = np.square(np.where(missing, 0.0, distances))
    return np.where(missing, -1, found).astype(np.int32), squared.astype(np.float32)
