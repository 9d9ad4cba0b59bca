"""Entries for Python of kernels, which take as long to compile as the kernels themselves, and machine code for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import codegen, cpu, event

from tear3d.cli.shortcuts import replaced


class _Watch(event.Listener):  # type: ignore[misc]
    """Knows the kernels whose compilation is under way, one within the other."""

    def __init__(self) -> None:
        self._depth = 0
        self._inner: list[Any] = []
        # Without entries: what was compiled of each kernel, by the types of its arguments.
        self._known: dict[Any, dict[Any, Any]] = {}

    def on_start(self, event: Any) -> None:
        self._depth += 1
        kernel, inner = event.data["dispatcher"], self._depth > 1
        kernel.targetoptions.update(no_cfunc_wrapper=True, no_cpython_wrapper=inner)
        if inner and kernel.stats.cache_path:  # those of Numba itself have none
            self._inner.append(kernel)
            kernel._cache.disable()
        elif not inner:
            kernel._cache.enable()
            self._known.pop(kernel, None)
            for other, compiled in self._known.items():
                other.overloads.update(compiled)

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            for kernel in self._inner:
                self._known[kernel] = dict(kernel.overloads)
                kernel.targetoptions.update(no_cpython_wrapper=False)
                kernel._cache.enable()
            self._inner.clear()
            for kernel in self._known:  # to call what has no entry would end the process
                kernel._reset_overloads()

    def executable(self, own: Any) -> Any:
        """What is only linked into others needs no machine code of its own: nor does Python call it."""

        def get_executable(context: Any, library: Any, fndesc: Any, env: Any) -> Any:
            if self._depth < 2 or _from_cache(library):
                return own(context, library, fndesc, env)
            library._ensure_finalized()
            return _dynfunc.make_function(
                fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "", 0, env, (library,)
            )

        return get_executable

    def finalized(self, own: Any) -> Any:
        def _finalize_final_module(library: Any) -> None:
            if self._depth < 2 or _from_cache(library):
                own(library)
                return
            library._finalize_dynamic_globals()
            library._verify_declare_only_symbols()
            library._finalized = True

        return _finalize_final_module


def _from_cache(library: Any) -> bool:
    """Whether machine code was found there, with an entry: such a kernel is not forgotten."""
    return getattr(library, "_compiled_object", None) is not None  # some never ask for any


@contextmanager
def entries_for_calls() -> Iterator[None]:
    """While the block runs, only kernels that Python calls get an entry, and go to the cache; those that they call
    become part of them, and are known to none but other kernels. For a process that calls each once: others would
    compile some of them twice.
    """
    watch = _Watch()
    with (
        event.install_listener("numba:compile", watch),
        replaced(cpu.CPUContext, "get_executable", watch.executable),
        replaced(codegen.JITCodeLibrary, "_finalize_final_module", watch.finalized),
    ):
        yield
