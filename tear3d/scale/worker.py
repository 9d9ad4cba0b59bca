"""A process that solves problems: they come in by its standard input, answers go out by its standard output.

When the input ends, as it does when the parent is killed, so does the process, in the middle of a problem too.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO

from tear3d.scale.outcome import Reply
from tear3d.scale.task import PROTOCOL, portable, run_one

_LENGTH = 8
"""Bytes that tell how many follow."""


def send(stream: BinaryIO, message: bytes) -> None:
    stream.write(len(message).to_bytes(_LENGTH, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes:
    """The next message; EOFError when it does not come, or not as a whole."""
    length = int.from_bytes(_exactly(stream, _LENGTH), "little")
    return _exactly(stream, length)


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data


def main() -> None:
    """What the process does. The first message is the function, every other one a problem."""
    ignore_interrupts()
    answers, source = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)  # what a function prints must not be taken for an answer
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # nor may it, or a program that it starts, read what is meant for us
    os.close(nothing)
    problems: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    first = receive(source)
    threading.Thread(target=_listen, args=(source, problems), daemon=True).start()
    function, missing = _load(first)
    heard = _Heard()
    gc.set_threshold(50_000, 20, 50)  # what is imported stays: to look through it again and again is for nothing
    while True:
        packed = problems.get()
        reply = Reply(None, missing, 0.0) if missing is not None else run_one(function, packed)
        try:
            send(answers, _dumps(reply._replace(said=heard.take())))
        except OSError:  # nobody is there any more
            os._exit(0)


class _Heard(logging.Handler):
    """What the library warns of goes back with the answer, to the log of the parent."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[tuple[int, str]] = []
        logger = logging.getLogger("tear3d")
        logger.addHandler(self)
        logger.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append((record.levelno, record.getMessage()))

    def take(self) -> tuple[tuple[int, str], ...]:
        said, self._lines = tuple(self._lines), []
        return said


def ignore_interrupts() -> None:
    """Ctrl-C is for the parent, which ends us. It was held back while the interpreter started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _listen(source: BinaryIO, problems: queue.SimpleQueue[bytes]) -> None:
    """Also while a problem is being solved: that is how the end of the parent is noticed."""
    code = 1
    try:
        while True:
            problems.put(receive(source))
    except EOFError:
        code = 0
    except MemoryError:  # half a problem: what follows it makes no sense any more
        sys.stderr.write("a process that solves problems ends: one of them does not fit into memory\n")
        sys.stderr.flush()
    finally:
        os._exit(code)


def _load(packed: bytes) -> tuple[Any, BaseException | None]:
    from tear3d.problem import kernels

    kernels.settle()  # the parent has compiled what it could, for all of us
    try:
        return pickle.loads(packed), None
    except Exception as error:
        return None, portable(error)


def _dumps(reply: Reply) -> bytes:
    try:
        return pickle.dumps(reply, PROTOCOL)
    except Exception as error:
        return pickle.dumps(reply._replace(result=None, error=portable(error)), PROTOCOL)
