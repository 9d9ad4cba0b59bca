"""Values that are made once and kept, whoever asks: several threads may."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

from tear3d.features.steps import Tick

_PATIENCE = 0.1
"""Seconds between two looks at the clock."""


class Kept:
    """Values by group and name. Of the groups only the latest `most` that were asked for are kept."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._groups: OrderedDict[Hashable, dict[Hashable, Any]] = OrderedDict()
        self._forget_threads()

    def _forget_threads(self) -> None:
        self._lock = threading.Lock()
        self._busy: dict[tuple[Hashable, Hashable], threading.Event] = {}

    def get(self, group: Hashable, name: Hashable, make: Callable[[], Any], tick: Tick) -> Any:
        """The value, made by the first who asks while the others wait, with `tick` called now and then.

        When `make` or `tick` raises, nothing is kept, and the next of those who wait makes it.
        """
        while True:
            with self._lock:
                if group in self._groups:
                    self._groups.move_to_end(group)
                if name in self._groups.get(group, {}):
                    return self._groups[group][name]
                theirs = self._busy.get((group, name))
                if theirs is None:
                    self._busy[group, name] = mine = threading.Event()
            if theirs is None:
                return self._make(group, name, make, mine)
            while not theirs.wait(_PATIENCE):
                tick(0.0)

    def _make(self, group: Hashable, name: Hashable, make: Callable[[], Any], done: threading.Event) -> Any:
        try:
            value = make()
            with self._lock:
                self._groups.setdefault(group, {})[name] = value
                while len(self._groups) > self.most:
                    self._groups.popitem(last=False)
        finally:
            with self._lock:
                self._busy.pop((group, name)).set()
        return value

    def groups(self) -> list[Hashable]:
        """The one that was asked for last at the end."""
        with self._lock:
            return list(self._groups)

    def values(self) -> list[Any]:
        with self._lock:
            return [value for known in self._groups.values() for value in known.values()]

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: without the locks, and without what is being made."""
        with self._lock:
            return {"most": self.most, "_groups": OrderedDict((g, dict(known)) for g, known in self._groups.items())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget_threads()
