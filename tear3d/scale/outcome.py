"""What became of one problem of many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

FAILED = "failed"
"""The status of a problem that has no result."""
DONE = "done"
"""That of a result which has none of its own."""


class Reply(NamedTuple):
    """What comes back from where a problem was solved."""

    result: Any
    error: BaseException | None
    seconds: float
    said: tuple[tuple[int, str], ...] = ()
    """Levels and texts that were logged there, from warnings on."""


@dataclass(frozen=True)
class Outcome:
    """What became of one problem: its result, or the exception that it ended with."""

    index: int
    """Of the problem in the iterable; the first is 0."""
    result: Any = field(repr=False)
    """What the function returned, a `Result` from `register`; None when it raised."""
    error: BaseException | None
    """What it raised instead. Its notes have the traceback from where it was raised."""
    seconds: float
    """That the call took, without the time it waited for its turn."""

    def __str__(self) -> str:
        why = "" if self.error is None else f", {type(self.error).__name__}: {self.error}"
        return f"problem {self.index}: {self.status}, {self.seconds:.3f} s{why}"

    @property
    def status(self) -> str:
        """That of the result, of its matches if it is one between clouds; "failed" when there is none, and "done" for
        what a function of your own returned if that has no status."""
        if self.error is not None:
            return FAILED
        found = getattr(self.result, "status", None) or getattr(getattr(self.result, "result", None), "status", None)
        return str(found or DONE)

    @property
    def success(self) -> bool:
        """That of the result; False when there is none. What has no `success` of its own came without an exception."""
        return self.error is None and bool(getattr(self.result, "success", True))
