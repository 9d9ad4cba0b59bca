"""Entries for Python of kernels, which take as long to compile as the kernels themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Watch(event.Listener):  # type: ignore[misc]
    """Knows the kernels whose compilation is under way, one within the other."""

    def __init__(self) -> None:
        self._depth = 0
        self._inner: list[Any] = []

    def on_start(self, event: Any) -> None:
        self._depth += 1
        kernel, inner = event.data["dispatcher"], self._depth > 1
        kernel.targetoptions.update(no_cfunc_wrapper=True, no_cpython_wrapper=inner)
        if inner and kernel.stats.cache_path:  # those of Numba itself have none
            self._inner.append(kernel)
            kernel._cache.disable()
        elif not inner:
            kernel._cache.enable()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            for kernel in self._inner:  # to call what has no entry would end the process
                kernel._reset_overloads()
                kernel.targetoptions.update(no_cpython_wrapper=False)
                kernel._cache.enable()
            self._inner.clear()


@contextmanager
def entries_for_calls() -> Iterator[None]:
    """While the block runs, only kernels that Python calls get an entry, and go to the cache; those that they call
    become part of them and are forgotten. For a process that calls each once: others would compile some of them twice.
    """
    with event.install_listener("numba:compile", _Watch()):
        yield
