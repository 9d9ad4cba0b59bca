"""How to do a run again: the command line, and the same in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

_OUTPUTS = {"out", "report", "pose", "g2o", "as_json", "quiet", "verbose", "help"}
"""Options that change what is written, not what is found."""


def command_line(context: typer.Context) -> str:
    """The command with every option that differs from its default, and with the seed."""
    parts = ["tear3d", str(context.info_name)]
    for parameter in context.command.params:
        if parameter.name not in _OUTPUTS:
            parts += _words(parameter, context.params.get(str(parameter.name)))
    return shlex.join(parts)


def _words(parameter: Any, value: Any) -> Iterator[str]:
    text = ",".join(map(repr, value)) if isinstance(value, tuple) else str(getattr(value, "value", value))
    if parameter.param_type_name == "argument":
        yield text
        return
    if value is None or (value == parameter.default and parameter.name != "seed"):
        return
    name = max(parameter.opts, key=len)
    if isinstance(value, bool):
        yield name if value else max(parameter.secondary_opts, key=len)
    else:
        yield from (name, text)


def aligned_in_python(source: Path, target: Path, options: dict[str, Any]) -> str:
    """What `tear3d align` does."""
    from tear3d.clouds.register import register_clouds
    from tear3d.report.about import python_call

    read = "\n".join(
        f"{name} = tear3d.read_cloud({str(path)!r}, keep_invalid=True)"
        for name, path in (("source", source), ("target", target))
    )
    return f"import tear3d\n\n{read}\nfound = {python_call(register_clouds, 'source, target', options)}"


def registered_in_python(path: Path, options: dict[str, Any], *, own_bound: bool) -> str:
    """What `tear3d register` does; `own_bound` when the file carries the noise bound."""
    from tear3d.api import register
    from tear3d.report.about import Code, python_call

    if own_bound:
        options = options | {"noise_bound": Code("pairs.noise_bound")}
    if options["weights"] is not None:
        options = options | {"weights": Code("pairs.weights")}
    call = python_call(register, "pairs.source, pairs.target", options)
    return (
        f"import tear3d\nfrom tear3d.io.pairs import read_pairs\n\npairs = read_pairs({str(path)!r})\nresult = {call}"
    )
