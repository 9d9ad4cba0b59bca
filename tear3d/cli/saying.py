"""What a command found: for a person as a few lines, for a program as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

SCHEMA = 1
"""Of the JSON of every command: raised when a field changes its meaning or goes."""
_MAX_WIDTH = 96
_NARROW = 72
"""Columns below which a pose has no room beside its name."""


def to_json(kind: str, facts: dict[str, Any]) -> str:
    """Strict JSON that begins with its schema and its kind."""
    import json

    from tear3d.problem.strict import strict

    whole = {"schema": SCHEMA, "kind": kind, **facts}
    return json.dumps(strict(whole), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def wrote(path: Any, more: str = "") -> None:
    """Name a file that was written; what is said of it goes on in further lines, a name is never broken."""
    import re
    import shutil
    import textwrap

    import typer

    kept = str(path).replace(" ", "\0")
    more = re.sub(r"(\d) (\w)", "\\1\0\\2", more)  # a number and what it counts
    width = min(_MAX_WIDTH, shutil.get_terminal_size().columns)
    lines = textwrap.wrap(
        f"wrote\0{kept}{more}", width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    typer.echo("\n".join(lines).replace("\0", " "))


def print_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Names and what they are, in two columns; a text of several lines keeps them, and has all the width where there is
    little."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from tear3d.cli.prose import Prose

    console = Console()
    if console.width > _MAX_WIDTH:
        console = Console(width=_MAX_WIDTH)
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, text in rows:
        if "\n" in text and console.width < _NARROW:
            console.print(Padding(Text(f"{name}:\n{text}"), (0, 2)))
        else:
            table.add_row(name, Prose(text, overflow="fold"))
    console.print(Padding(table, (0, 2)))


def tell(kind: str, facts: dict[str, Any], rows: Iterable[tuple[str, str]], *, as_json: bool, quiet: bool) -> None:
    """One of the two."""
    if as_json:
        sys.stdout.write(to_json(kind, facts))
    elif not quiet:
        print_rows(rows)
