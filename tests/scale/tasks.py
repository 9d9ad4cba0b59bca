"""Functions that workers import: well-behaved ones, and some that are not."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np


def echo(value=None, wait=0.0, threads=None):
    time.sleep(wait)
    return value, threads, os.getpid()


def plain(value):
    return value


def die(value=None, **_):
    os.kill(os.getpid(), signal.SIGKILL)


def kill_when_told(value):
    return die() if value == "killer" else value


def die_once(marker, value=None):
    """Dies the first time."""
    if not Path(marker).exists():
        Path(marker).touch()
        die()
    return value


def die_of_company(folder, value, killer=False):
    """The killer dies unless it is alone; the others wait a while."""
    mine = Path(folder) / f"{value}-{os.getpid()}"
    mine.touch()
    try:
        if killer:
            time.sleep(0.3)
            if len(list(Path(folder).iterdir())) > 1:
                mine.unlink()
                die()
        else:
            time.sleep(1.0)
        return value
    finally:
        mine.unlink(missing_ok=True)


def die_speaking(value=None):
    """Half an answer is on its way when the end comes."""
    for handle in range(3, 20):
        try:
            if stat.S_ISFIFO(os.fstat(handle).st_mode):
                os.write(handle, (10**6).to_bytes(8, "little") + b"half an answer")
        except OSError:
            continue
    die()


def large(count):
    return np.arange(count, dtype=np.float64)


def leave(value=None):
    sys.exit(3)


def speak(value=None):
    """Prints, which must not be taken for an answer."""
    print("x" * 10_000)
    os.write(1, b"raw" * 1000)
    return value


class OddError(Exception):
    """Cannot be rebuilt from its arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def odd(value=None):
    raise OddError("this", "that")


def unsendable(value=None):
    return threading.Lock()


def read_input(value=None):
    """Reads what it must not, itself and by a program that it starts."""
    return value, sys.stdin.read(), subprocess.run(["cat"], capture_output=True, check=True).stdout


def narrow(value=None, bytes_left=None):
    """From now on this process has only so much memory left."""
    if bytes_left is not None:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + bytes_left, used + bytes_left))
    return os.getpid(), len(value or b"")


class LoadsNowhereElse:
    """Can be sent, and not be read where it arrives."""

    def __reduce__(self):
        return refuse, (os.getpid(),)


def refuse(pid):
    if pid != os.getpid():
        raise OSError("not here")


def unreadable(value=None):
    return LoadsNowhereElse() if value is None else (value, os.getpid())


def warn(value=None):
    import logging

    logging.getLogger("tear3d").warning("something about %s", value)
    return value
