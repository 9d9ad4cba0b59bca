"""Options of Numba kernels that only other kernels call."""

from __future__ import annotations

from typing import Any

INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""They are compiled without the code that Python would call them by, which takes long where tuples of arrays are given.
A call from Python would crash: `tests/problem/test_inner.py` sees that there is none."""
