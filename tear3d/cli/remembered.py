"""What Numba finds out about the types of a call, it finds out again for every call of the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.types import Function


@contextmanager
def types_remembered() -> Iterator[None]:
    """While the block runs, the signature of a function of Numba for the same types of arguments is looked up once: a
    kernel adds and multiplies the same few types a thousand times, and each took the trial of a dozen rules."""
    find, known = Function.get_call_type, {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = (self, context, args)
        if kws or key not in known:
            found = find(self, context, args, kws)
            if kws or found is None:
                return found
            known[key] = found
        return known[key]

    Function.get_call_type = get_call_type  # type: ignore[method-assign]
    try:
        yield
    finally:
        Function.get_call_type = find  # type: ignore[method-assign]
