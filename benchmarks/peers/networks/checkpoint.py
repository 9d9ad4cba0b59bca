"""Checkpoints that the user gives: where they are, whether they are there, whether they fit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import needs

if TYPE_CHECKING:
    from torch import nn

SHOWN = 6
"""Names of weights that an error lists of each kind."""


class CheckpointError(ValueError):
    """A file that is no checkpoint of the network it was given for."""


def missing(variable: str, where: str) -> str | None:
    """Why a peer cannot run whose checkpoint an environment variable names, or None."""
    reason = needs("torch", "torch")
    if reason is not None:
        return reason
    if not os.environ.get(variable):
        return f"no checkpoint given (set {variable} to the path of {where})"
    return None if given(variable).is_file() else f"{variable} names a file that is not there: {given(variable)}"


def given(variable: str) -> Path:
    """The path that an environment variable names."""
    return Path(os.environ[variable]).expanduser()


def load(network: nn.Module, path: Path, unused: frozenset[str] = frozenset()) -> None:
    """Fill a network with the weights of a file, all of them, except those that a release carries but does not use."""
    import torch

    try:
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zip and torch each have their own
        raise CheckpointError(f"{path} is not a checkpoint that PyTorch reads: {_first_line(error)}") from error
    if not isinstance(weights, dict) or not all(isinstance(name, str) for name in weights):
        raise CheckpointError(f"{path} holds a {type(weights).__name__}, expected a dictionary of named weights")
    weights = {name: value for name, value in weights.items() if name not in unused}
    expected = network.state_dict()
    problems = [
        *_listed("missing", [name for name in expected if name not in weights]),
        *_listed("unexpected", [name for name in weights if name not in expected]),
    ]
    if problems:
        raise CheckpointError(f"{path} does not fit {type(network).__name__}: {'; '.join(problems)}")
    try:
        network.load_state_dict(weights, strict=True)
    except (RuntimeError, TypeError) as error:  # sizes
        raise CheckpointError(f"{path} does not fit {type(network).__name__}: {error}") from error


def _listed(kind: str, names: list[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [f"{kind} {', '.join(names[:SHOWN])}{more}"]


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
