"""Processes on this machine that solve one problem at a time each, and what happens when one of them dies."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import tear3d
from tear3d.errors import WorkerError
from tear3d.scale.outcome import Reply
from tear3d.scale.task import PROTOCOL
from tear3d.scale.worker import receive, send

TRIES = 2
"""A problem that has cost so many workers is given up; the later tries run alone, so that neither another problem nor
its memory is to blame. Free choice."""
_ROOT = str(Path(tear3d.__file__).resolve().parents[1])
"""Where the tear3d of this process lies: a worker takes the same, whatever else its path has."""
_FAREWELL = 1.0
"""Seconds that a process has to end after its pipe was closed; free choice."""
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Workers:
    """A pool of interpreters, started one by one as problems come in.

    They are no children of `multiprocessing`: a script needs no `if __name__ == "__main__"`, and each has pipes of its
    own, so that one that is killed, in the middle of an answer even, leaves the others as they are.
    """

    def __init__(self, function: Callable[..., Any], processes: int) -> None:
        self._function = pickle.dumps(function, PROTOCOL)
        self._most = processes
        self._todo: queue.SimpleQueue[tuple[Future[Reply], bytes] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._gate = _Gate()
        self._closed = False
        self._owner = os.getpid()

    def submit(self, packed: bytes) -> Future[Reply]:
        future: Future[Reply] = Future()
        self._todo.put((future, packed))
        if len(self._threads) < self._most:
            thread = threading.Thread(target=self._serve, name=f"tear3d worker {len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def close(self) -> None:
        """End all processes at once, whatever they do; futures that are not done stay so."""
        if os.getpid() != self._owner:  # a fork of the process whose workers they are
            return
        with self._lock:
            self._closed = True
            for process in self._running:
                process.kill()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        """The thread of one process: hands it problems, and starts another when it dies."""
        if hasattr(signal, "pthread_sigmask"):  # a process starts with it, so that Ctrl-C does not meet it half-made
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        process: subprocess.Popen[bytes] | None = None
        try:
            while (task := self._todo.get()) is not None and not self._closed:
                future, packed = task
                if not future.set_running_or_notify_cancel():
                    continue
                began = time.perf_counter()
                for tried in range(TRIES):
                    try:
                        with self._gate.alone() if tried else self._gate.shared():
                            process = process or self._start()
                            send(process.stdin, packed)  # type: ignore[arg-type]
                            answer = receive(process.stdout)  # type: ignore[arg-type]
                        reply = _read(answer, began)
                        break
                    except (EOFError, OSError) as error:
                        if self._closed:
                            return
                        reply = Reply(None, _obituary(self._end(process), error), time.perf_counter() - began)
                        process = None
                    except MemoryError as error:  # half of the problem or of the answer may still be in the pipes
                        if process is not None:
                            process.kill()
                            self._end(process)
                        process, reply = None, Reply(None, _unread(error), time.perf_counter() - began)
                        break
                future.set_result(reply)
        finally:
            self._end(process)

    def _start(self) -> subprocess.Popen[bytes]:
        path = [place for place in sys.path if isinstance(place, str)]  # others are of no use to Python either
        code = (
            "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
            f"import sys; sys.path[:0] = [{_ROOT!r}]; import tear3d; sys.path[:] = {path!r}; "
            "from tear3d.scale.worker import main; main()"
        )
        with self._lock:
            if self._closed:
                raise EOFError
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**dict.fromkeys(_ONE_THREAD, "1"), **os.environ},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
            self._running.add(process)
        send(process.stdin, self._function)  # type: ignore[arg-type]
        return process

    def _end(self, process: subprocess.Popen[bytes] | None) -> int | None:
        if process is None:
            return None
        try:
            code = process.wait(0.0 if self._closed else _FAREWELL)  # it may be on its way out: how, is to be told
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        with self._lock:
            self._running.discard(process)
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # a problem that was on its way to it
                stream.close()  # type: ignore[union-attr]
        return code


def _read(answer: bytes, began: float) -> Reply:
    try:
        return pickle.loads(answer)  # type: ignore[no-any-return]
    except Exception as error:  # of a class that does not load here, say
        return Reply(None, _unread(error), time.perf_counter() - began)


def _unread(error: Exception) -> WorkerError:
    return WorkerError(f"the result cannot be read: {str(error) or type(error).__name__}")


def _obituary(code: int | None, error: BaseException) -> WorkerError:
    if code is None:
        return WorkerError(f"no process could be started to solve the problem: {error}")
    how = f"with exit code {code}"
    if code < 0:
        try:
            how = f"by {signal.Signals(-code).name}"
        except ValueError:
            how = f"by signal {-code}"
        how += ", as when memory runs out" if code == -getattr(signal, "SIGKILL", 9) else ""
    return WorkerError(f"the process that solved the problem ended {how}; so did another, in which it ran alone")


class _Gate:
    """Lets many pass together, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: self._inside == 0)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
