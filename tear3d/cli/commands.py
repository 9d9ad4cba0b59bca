"""Commands whose help shows a flag as a name without a value, and cuts no name where there is little room."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator
from typing import Any

from typer.core import TyperCommand, TyperGroup

WIDE = 80
"""Columns below which tables in frames would cut the names of options."""
_NAMES = 24
"""Columns for names; what is longer has a line of its own."""


class Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:
        return _flags_alone(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        columns = shutil.get_terminal_size().columns
        if columns >= WIDE:
            super().format_help(ctx, formatter)
            return
        formatter.width = max(columns - 2, 2 * _NAMES)
        self.format_usage(ctx, formatter)
        formatter.write("".join(f"{line}\n" for line in _text(self.help or "", formatter.width)))
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                usual = "Arguments" if param.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records, col_max=_NAMES)


def _text(help_text: str, width: int) -> Iterator[str]:
    """Paragraphs, indented; lines that are to stay apart go on farther right, commands so that they can be pasted."""
    for paragraph in inspect.cleandoc(help_text).split("\n\n"):
        yield ""
        if not paragraph.startswith("\b"):
            yield from textwrap.wrap(paragraph, width, initial_indent="  ", subsequent_indent="  ")
            continue
        for line in paragraph.splitlines()[1:]:
            column = re.match(r"\s*\S+\s{2,}", line)
            command = line.startswith("  tear3d ")
            parts = textwrap.wrap(
                line,
                width - 2 * command,
                initial_indent="  ",
                subsequent_indent=" " * (len(column[0]) + 2 if column else 8),
                break_long_words=False,
                break_on_hyphens=False,
            )
            yield from (f"{part} \\" if command else part for part in parts[:-1])
            yield parts[-1]


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> Any:
        return _flags_alone(super().get_params(ctx))


def _flags_alone(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params
