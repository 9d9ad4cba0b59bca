"""Entries for Python of kernels, which take as long to compile as the kernels themselves, and machine code for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numba
from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core import codegen, cpu, event

from tear3d.cli.loading import TESTED
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

    def optimised(self, own: Any) -> Any:
        """What is linked into others is made better there, here only what helps to inline it."""

        def _optimize_final_module(library: Any) -> None:
            if self._depth < 2:
                own(library)
                return
            passes, builder = library._codegen._module_pass_manager(
                loop_vectorize=False, slp_vectorize=False, opt=0, cost="cheap"
            )
            passes.run(library._final_module, builder)

        return _optimize_final_module


def _lightly(own: Any) -> Any:
    """The passes over each function, before those over all that do the same again: at the lowest level that has any."""

    def _optimize_functions(library: Any, module: Any) -> None:
        module.data_layout = library._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                passes, builder = library._codegen._function_pass_manager(opt=1)
                passes.run(function, builder)

    return _optimize_functions


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
        ExitStack() as stack,
    ):
        if numba.__version__.startswith(TESTED):
            stack.enter_context(replaced(codegen.JITCodeLibrary, "_optimize_final_module", watch.optimised))
            stack.enter_context(replaced(codegen.JITCodeLibrary, "_optimize_functions", _lightly))
        yield
