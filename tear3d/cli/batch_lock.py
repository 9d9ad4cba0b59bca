"""One batch at a time in a folder, and no worker of an earlier one: `kill -9` ends a batch before its workers know."""

from __future__ import annotations

import errno
import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tear3d.errors import InputError, WorkerError

LOCK, WORKERS = ".lock", ".workers"
_PATIENCE = 2.0
"""Seconds after which the wait for the workers of an earlier batch is told; they need hundredths. Free choice."""
log = logging.getLogger("tear3d")


@contextmanager
def alone_in(folder: Path) -> Iterator[str]:
    """Nobody else may until the block ends; yields what workers must show.

    The system lets go of a lock when its process ends, however it ends. The file of the workers has the number of the
    batch, and each worker shares its lock while it is at work: once the number is new and the lock is free, those of
    earlier batches have ended, or will find that their number is an old one.
    """
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _lock(handle)
        except OSError as error:
            raise InputError(f"{folder}: {_why(error)}") from None
        token = secrets.token_hex(16)
        (folder / WORKERS).write_text(token, "ascii")
        _wait_for_workers(folder)
        yield token
    finally:
        os.close(handle)


@contextmanager
def at_work(folder: Path, token: str) -> Iterator[None]:
    """Of a worker, while it registers a pair of the batch that has this number."""
    handle = os.open(folder / WORKERS, os.O_RDWR)
    try:
        _share(handle)
        if os.read(handle, 2 * len(token)) != token.encode("ascii"):
            raise WorkerError("the batch that asked for it has ended, and another is at work")
        yield
    finally:
        os.close(handle)


def stamp(file: str | os.PathLike[str]) -> tuple[int, int]:
    """Size and time of the last change: another means another content."""
    state = os.stat(file)
    return state.st_size, state.st_mtime_ns


def _wait_for_workers(folder: Path) -> None:
    handle = os.open(folder / WORKERS, os.O_RDWR)
    began, told = time.perf_counter(), False
    try:
        while not _free(handle):
            if not told and time.perf_counter() > began + _PATIENCE:
                log.warning("%s: waiting for processes of a batch that was killed to end", folder)
                told = True
            time.sleep(0.01)
    finally:
        os.close(handle)


def _why(error: OSError) -> str:
    if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
        return "another batch is at work in it; wait for it, or pass another --out"
    return f"cannot be kept for one batch ({error.strerror}); pass an --out on a disk that has locks"


def _lock(handle: int) -> None:
    with suppress(ImportError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    with suppress(ImportError):  # Windows
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]


def _share(handle: int) -> None:
    """Where locks can be shared; elsewhere the number alone tells."""
    with suppress(ImportError):
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_SH)


def _free(handle: int) -> bool:
    """Whether nobody shares it; the lock that shows it ends with the handle."""
    with suppress(ImportError):
        import fcntl

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
