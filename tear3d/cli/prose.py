"""Text that is not broken within a number or before its unit."""

from __future__ import annotations

from typing import Any

from rich.text import Text

_CLOSE = "\u00a0\u202f"
"""Spaces that do not break: rich would break lines at them all the same."""
_HELD = "\ue000\ue001"
"""What stands for them meanwhile; no font has anything there."""


class Prose(Text):
    """A text for sentences, as a part of something else: a console joins texts on their own to another."""

    def wrap(self, *args: Any, **options: Any) -> Any:
        """Into lines, with the spaces that do not break put aside."""
        held = self.copy()
        held.plain = held.plain.translate(str.maketrans(_CLOSE, _HELD))
        lines = Text.wrap(held, *args, **options)
        for line in lines:
            line.plain = line.plain.translate(str.maketrans(_HELD, _CLOSE))
        return lines
