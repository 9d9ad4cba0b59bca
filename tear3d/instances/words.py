"""What is said of several motions."""

from __future__ import annotations

from tear3d.problem.limits import Stop

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_ENDED = {"time_limit": "the time limit", "node_limit": "the node limit", "interrupted": "an interruption"}


def among(message: str, pairs: int, before: int, dropped: int) -> str:
    """A message about a motion for which so many pairs are left.

    `before` counts the instances that come before it, `dropped` the poses that could be chance.
    """
    parts = []
    if before:
        parts.append("the first one" if before == 1 else f"the first {_number(before)}")
    if dropped:
        parts.append(f"{_number(dropped)} pose{'s' if dropped > 1 else ''} that could be chance")
    if not parts:
        return message
    leave = "leaves" if before + dropped == 1 else "leave"
    return f"among the {pairs} pairs that {' and '.join(parts)} {leave}: {message}"


def how_many(message: str, count: int, asked: int, ended: Stop | None) -> str:
    """The message of the first motion, after how many there are and why not more were sought."""
    if count == 0:
        return message
    motions = f"{_number(count)} motion{'s' if count > 1 else ''}"
    if count == asked:
        found = f"{motions}, as many as were asked for"
    elif ended is not None:
        found = f"{motions} until {_ENDED[ended]} ended the search for more"
    else:
        found = f"{motions}, and what {'it leaves' if count == 1 else 'they leave'} could be chance"
    return f"{found}; {'it' if count == 1 else 'the first'}: {message}"


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)
