"""Passes over pieces that lie on the workers of a Dask cluster: cells travel there, sums come back.

Every worker adds up what its own pieces say, and the sums of the workers are added in a tree; since no sum depends on
the order, the result is that of one machine with the same pieces, bit for bit, whichever worker does what. Pieces of a
worker that is lost are made anew by Dask from what they were made of.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from tear3d.errors import ClusterError, InputError, MissingExtraError
from tear3d.problem import kernels
from tear3d.problem.arrays import FloatArray
from tear3d.problem.limits import Limits
from tear3d.stream.inputs import is_dask
from tear3d.stream.local import Pass
from tear3d.stream.pieces import Piece, check_shapes, split_edges

PAUSE, QUICK, SHARE = 0.2, 1e-3, 0.05
"""Seconds between two looks at a running pass, at most and at least; and which share of what it took so far (free
choices: few looks, and little time lost)."""
PATIENCE, ROLL_CALL = 60.0, 2.0
"""Seconds without any worker after which nobody is expected to come; and between two looks (free choices: a nanny takes
some two to bring one back)."""
ALIVE = ("running", "connecting")
_NOBODY = f"the cluster has had no workers for {PATIENCE:.0f} seconds: start some, and call again"


class Cluster:
    """The workers of a client."""

    def __init__(self, client: Any, source: Any, target: Any, numbers: tuple[Any, Any], size: int) -> None:
        """`numbers` are noise bounds and weights: arrays with one entry for all, or Dask arrays with one per pair."""
        self.client = client
        self._seen = time.monotonic()
        check_shapes(source, target)
        source = source.rechunk({1: -1})
        rows = source.chunks[0]
        columns = [source, target.rechunk((rows, -1)), *(_like(values, rows) for values in numbers)]
        starts = np.cumsum((0, *rows)).tolist()
        self.edges = split_edges(starts, size)
        self.num_pairs = int(starts[-1])
        self.passes = 0
        self._chunks = self._placed(columns, starts)

    def _placed(self, columns: list[Any], starts: list[int]) -> list[Any]:
        """Chunks as futures, each with the edges of its pieces."""
        from dask import delayed

        blocks = [_blocks(values, len(starts) - 1) for values in columns]
        make = delayed(_Chunk, pure=False)
        lazy = [
            make([edge for edge in self.edges if first <= edge < last] + [last], self.edges.index(first), *parts)
            for first, last, *parts in zip(starts, starts[1:], *blocks, strict=False)
            if first < last
        ]
        with self._connected():
            return list(self.client.compute(lazy))

    def close(self) -> None:
        """Let the workers forget their chunks; what the chunks were made of is the caller's."""
        _release(self._chunks)
        self._chunks = []

    def compile(self, groups: tuple[str, ...]) -> None:
        """Compile kernels, once on every machine; where it fails the pass will say why."""
        with self._connected():
            try:
                self.client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError:
                raise ClusterError(_NOBODY) from None
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            hosts = {facts["host"]: address for address, facts in workers.items()}
            self.client.run(_compile, groups, workers=list(hosts.values()), on_error="ignore")

    def run(self, work: Pass[Any], limits: Limits, tick: Callable[[float], object] | None = None) -> Any:
        from distributed import CancelledError, KilledWorker
        from distributed.comm import CommClosedError

        self.passes += 1
        futures: list[Any] = []
        try:
            with self._connected():
                if not self._waited(self._chunks, limits):
                    return None
                left = None if limits.time_limit is None else max(0.0, limits.time_limit - limits.seconds)
                sums = [self.client.submit(_add_up, work, left, *chunks, pure=False) for chunks in self._shares()]
                parts = list(sums)
                futures.extend(sums)
                while len(parts) > 1:
                    merged = [
                        self.client.submit(_merge, work, parts[k], parts[k + 1], pure=False)
                        for k in range(0, len(parts) - 1, 2)
                    ]
                    futures.extend(merged)
                    parts = merged + parts[2 * len(merged) :]
                if not self._waited(parts, limits, lambda: tick and tick(sum(one.done() for one in sums) / len(sums))):
                    self.client.cancel(futures, force=True)
                    return None
            try:
                found = parts[0].result()  # an error of a chunk, as of a file that is not there, is raised as it is
            except KilledWorker as error:
                raise ClusterError(
                    f"workers were killed again and again while they looked at a chunk: {error}"
                ) from error
            except (CancelledError, CommClosedError) as error:
                raise ClusterError(_lost(error, self.client)) from error
            if tick is not None and found is not None:
                tick(1.0)
            return found
        finally:
            _release(futures)  # at once: sums are large, and collectors of garbage take their time

    @contextmanager
    def _connected(self) -> Iterator[None]:
        """What a lost scheduler raises is one error."""
        from distributed import CancelledError

        try:
            yield
        except ClusterError:
            raise
        except (CancelledError, OSError) as error:
            raise ClusterError(_lost(error, self.client)) from error
        except Exception as error:
            if self.client.status in ALIVE:
                raise
            raise ClusterError(_lost(error, self.client)) from error

    def _waited(self, futures: list[Any], limits: Limits, tick: Callable[[], object] | None = None) -> bool:
        """Wait for futures; False when the limits were over before."""
        began = time.monotonic()
        while not all(future.done() for future in futures):
            if limits.over():
                return False
            self._check()
            time.sleep(min(PAUSE, max(QUICK, SHARE * (time.monotonic() - began))))
            if tick is not None:
                tick()
        self._check()
        return True

    def _shares(self) -> Iterator[list[Any]]:
        """Chunks that lie on the same worker, in as many lists as it has threads; wherever they are, all of them."""
        where = self.client.who_has(self._chunks)
        threads: dict[str, int] = self.client.nthreads()
        by_worker: dict[str, list[Any]] = {}
        for chunk in self._chunks:
            holders = where.get(chunk.key, ())
            by_worker.setdefault(min(holders, default=""), []).append(chunk)
        for worker, chunks in sorted(by_worker.items()):
            lists = min(len(chunks), max(1, threads.get(worker, 1)))
            yield from (chunks[k::lists] for k in range(lists))

    def _check(self) -> None:
        """That there still is a cluster, and now and then whether anybody works there."""
        if self.client.status not in ALIVE:
            raise ClusterError(_lost(None, self.client))
        now = time.monotonic()
        if now - self._seen > ROLL_CALL:
            if self.client.nthreads():
                self._seen = now
            elif now - self._seen > PATIENCE:
                raise ClusterError(_NOBODY)


class _Chunk:
    """A chunk of pairs on its worker."""

    def __init__(self, edges: list[int], number: int, x: Any, y: Any, xi: FloatArray, w: FloatArray) -> None:
        self.edges, self.number = edges, number
        self.columns = x, y, np.asarray(xi, np.float64).reshape(-1), np.asarray(w, np.float64).reshape(-1)

    def pieces(self) -> Iterator[tuple[int, Piece]]:
        first, last = self.edges[0], self.edges[-1]
        Piece.checked(first, last, *self.columns)
        for k, (start, stop) in enumerate(zip(self.edges, self.edges[1:], strict=False)):
            rows = slice(start - first, stop - first)
            parts = (values if len(values) == 1 and values.ndim == 1 else values[rows] for values in self.columns)
            yield self.number + k, Piece.checked(start, stop, *parts)


def _add_up(work: Pass[Any], seconds: float | None, *chunks: _Chunk) -> Any:
    """The sum over some chunks; None when the time was over."""
    until = None if seconds is None else time.monotonic() + seconds

    def over() -> bool:
        return until is not None and time.monotonic() >= until

    total = work.begin()
    for chunk in chunks:
        for number, piece in chunk.pieces():
            total = None if over() else work.add(total, number, piece, over)
            if total is None:
                return None
    return total


def _merge(work: Pass[Any], one: Any, other: Any) -> Any:
    """Of two workers. What Dask hands out belongs to it, and must not be changed."""
    if one is None or other is None:
        return None
    return work.merge(work.merge(work.begin(), one), other)


def _release(futures: Iterable[Any]) -> None:
    for future in futures:
        future.release()


def _compile(groups: tuple[str, ...]) -> list[str]:
    missing = kernels.cold(groups)
    return kernels.compile_groups(missing) if missing else []


def _like(values: Any, rows: tuple[int, ...]) -> Any:
    return values.rechunk((rows,)) if is_dask(values) else values


def _blocks(values: Any, count: int) -> list[Any]:
    return list(values.to_delayed().ravel()) if is_dask(values) else [values] * count


def _lost(error: BaseException | None, client: Any) -> str:
    reason = f" ({type(error).__name__}: {error})" if error is not None and str(error) else ""
    return (
        f"the cluster was lost (client {client.status}){reason}: connect again; a call with the same checkpoint goes "
        "on from where this one was"
    )


def connect(client: Any) -> Any:
    """A client of distributed, or an error that says what is expected."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError("distributed", "cluster", "a cluster") from None
    if not isinstance(client, Client):
        raise InputError(f"client is {client!r}: expected a distributed.Client")
    if client.asynchronous:
        raise InputError("client is asynchronous: expected one that waits for its results")
    return client
