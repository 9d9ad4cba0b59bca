"""One problem as it travels, and what is done with it where it arrives."""

from __future__ import annotations

import inspect
import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from tear3d.errors import InputError, WorkerError
from tear3d.scale.outcome import Reply

PROTOCOL = 5
"""Of pickle: arrays that are read-only stay so."""


def pack(problem: object, own: Mapping[str, Any]) -> bytes:
    """The arguments of a problem, with those of `own` that it does not give itself."""
    if not isinstance(problem, Mapping):
        raise InputError(f"problem is {_kind(problem)}: expected a mapping of arguments, such as a dict")
    try:
        arguments = {**own, **problem}
    except Exception as error:
        raise InputError(f"problem cannot be read ({_why(error)}): expected a mapping of arguments") from error
    for name in arguments:
        if not isinstance(name, str):
            raise InputError(f"problem has the key {name!r}: expected names of arguments")
    if arguments.get("progress") is not None:
        raise InputError("progress is no argument of one problem among many: a callback cannot travel to where it runs")
    try:
        return pickle.dumps(arguments, PROTOCOL)
    except Exception as error:
        raise InputError(f"problem cannot be sent to where it would be solved ({_why(error)}): pass arrays") from error


def own_arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """One thread for each problem, if the function can be told: the others have work enough."""
    try:
        return {"threads": 1} if "threads" in inspect.signature(function).parameters else {}
    except (TypeError, ValueError):
        return {}


def run_one(function: Callable[..., Any], packed: bytes) -> Reply:
    """Call a function with the arguments of a problem. Whatever it raises is part of the answer."""
    began = time.perf_counter()
    result, raised = None, None
    try:
        result = function(**pickle.loads(packed))
    except BaseException as error:  # a SystemExit too must not end those who solve the others
        raised = portable(error)
    return Reply(result, raised, time.perf_counter() - began)


def portable(error: BaseException) -> BaseException:
    """The exception as it will arrive: with its traceback as a note, and of another class if its own cannot travel."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    try:
        error.add_note(f"where it was raised:\n{trace}")
        arrived: BaseException = pickle.loads(pickle.dumps(error, PROTOCOL))
    except Exception:
        arrived = WorkerError(f"{type(error).__name__}: {error}")
        arrived.add_note(f"where it was raised:\n{trace}")
    return arrived


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"
