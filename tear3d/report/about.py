"""What the report tells besides the result: the clouds, and how to repeat the run."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tear3d.clouds.result import CloudResult
from tear3d.problem.compiling import COMPILING
from tear3d.result import Result


@dataclass(frozen=True)
class About:
    """Where a result comes from."""

    found: CloudResult | None = None
    """What the clouds say, when the pairs are matches between clouds."""
    command: str = ""
    """The command line that does the same again."""
    python: str = ""
    """The same in Python."""
    inputs: tuple[dict[str, Any], ...] = ()
    """Of each file: `path`, `bytes` and `sha256`."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Steps before those of the call, such as reading."""
    elapsed: float = float("nan")
    """Seconds from the start of the run until the report; NaN when only the call was timed."""


def total_seconds(result: Result, about: About) -> float:
    """Of the whole run until now, as far as it was timed."""
    return sum(_steps(result, about).values()) if math.isnan(about.elapsed) else about.elapsed


def all_steps(result: Result, about: About) -> dict[str, float]:
    """With what lies between them, so that they add up to the total."""
    steps = _steps(result, about)
    if math.isnan(about.elapsed):
        return steps
    return steps | {"everything else": max(0.0, about.elapsed - sum(steps.values()))}


def search_steps(result: Result) -> dict[str, float]:
    """Those of search and proof among the pairs, without compiling, which is a step of the whole call."""
    return {name: seconds for name, seconds in result.seconds.items() if name != COMPILING}


def _steps(result: Result, about: About) -> dict[str, float]:
    return about.seconds | (result if about.found is None else about.found).seconds


def python_call(function: Callable[..., Any], positional: str, options: dict[str, Any]) -> str:
    """A call as text, without the options that have their defaults, but with the seed."""
    from tear3d.api import register  # slow to import, and wanted for reports only

    defaults = inspect.signature(register).parameters | inspect.signature(function).parameters
    given = [
        f"{name}={value if isinstance(value, Code) else repr(value)}"
        for name, value in options.items()
        if name == "seed" or name not in defaults or value != defaults[name].default
    ]
    return f"tear3d.{function.__name__}({', '.join((positional, *given))})"


class Code(str):
    """The name of a variable, to be written as it is."""
