"""Entries for Python of kernels, which take as long to compile as the kernels themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Watch(event.Listener):  # type: ignore[misc]
    """Knows how many compilations are under way, one within the other."""

    def __init__(self) -> None:
        self._depth = 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        kernel, inner = event.data["dispatcher"], self._depth > 1
        kernel.targetoptions.update(no_cfunc_wrapper=True, no_cpython_wrapper=inner)
        # Whoever calls an inner kernel from Python must not find it without an entry.
        if inner:
            kernel._cache.disable()
        else:
            kernel._cache.enable()

    def on_end(self, event: Any) -> None:
        self._depth -= 1


@contextmanager
def entries_for_calls() -> Iterator[None]:
    """While the block runs, only kernels that Python calls get an entry, and go to the cache; those that they call
    become part of them.

    A call of a kernel ends the process when the same version of it became part of another before: this is for a process
    that calls each for the first time and does nothing else.
    """
    with event.install_listener("numba:compile", _Watch()):
        yield
