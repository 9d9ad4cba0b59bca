"""Kernels from Numba's cache, without what only its compiler needs.

Before it loads a kernel Numba fills the tables of all that it can compile, for which it imports two hundred modules,
SciPy's among them: a third of a second, in which nothing else happens. A compiled kernel needs none of it but the
functions that count references, and a compilation fills the tables itself.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.core import caching
from numba.core.runtime import rtsys

TESTED = "0.68."
"""The versions of Numba whose way of loading this is."""


def load_bare() -> None:
    """From now on this process loads kernels so; for programs that compile little, and nothing by other packages."""
    if numba.__version__.startswith(TESTED):
        caching.Cache.load_overload = _load_overload  # type: ignore[method-assign]


def _load_overload(self: Any, signature: Any, context: Any) -> Any:
    """As Numba's own, but for `context.refresh()`."""
    rtsys.initialize(context)
    with self._guard_against_spurious_io_errors():
        return self._load_overload(signature, context)
    return None
