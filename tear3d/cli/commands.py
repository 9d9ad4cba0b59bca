"""Commands whose help shows a flag as a name without a value, and cuts no name where there is little room."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.core import TyperCommand, TyperGroup

WIDE = 80
"""Columns below which tables in frames would cut the names of options."""
_NAMES = 24
"""Columns for names; what is longer has a line of its own."""


class Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:
        return _plainly(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if _is_narrow():
            _write(self, ctx, formatter)
            return
        with _fitted(self):
            super().format_help(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            message = getattr(error, "message", None)
            if isinstance(message, str):
                error.message = message.removeprefix("Value error, ")  # type: ignore[attr-defined]
            raise


class Group(TyperGroup):
    def get_params(self, ctx: Any) -> Any:
        return _plainly(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        if _is_narrow():
            _write(self, ctx, formatter)
            return
        with _fitted(self):
            super().format_help(ctx, formatter)


def _is_narrow() -> bool:
    return shutil.get_terminal_size().columns < WIDE


def _write(command: Any, ctx: Any, formatter: Any) -> None:
    """The help as plain text."""
    formatter.width = max(shutil.get_terminal_size().columns - 2, 2 * _NAMES)
    command.format_usage(ctx, formatter)
    formatter.write("".join(f"{line}\n" for line in _text(command.help or "", formatter.width)))
    sections: dict[str, list[tuple[str, str]]] = {}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            usual = "Arguments" if param.param_type_name == "argument" else "Options"
            sections.setdefault(getattr(param, "rich_help_panel", None) or usual, []).append(record)
    for name, one in getattr(command, "commands", {}).items():
        first = inspect.cleandoc(one.help or "").split("\n\n")[0]
        sections.setdefault("Commands", []).append((name, " ".join(first.split())))
    for name, records in sections.items():
        with formatter.section(name):
            formatter.write_dl(records, col_max=_NAMES)


def _text(help_text: str, width: int) -> Iterator[str]:
    """Paragraphs, indented."""
    for paragraph in inspect.cleandoc(help_text).split("\n\n"):
        yield ""
        if not paragraph.startswith("\b"):
            yield from textwrap.wrap(paragraph, width, initial_indent="  ", subsequent_indent="  ")
            continue
        for line in paragraph.splitlines()[1:]:
            yield from _hung(f"  {line}", width)


@contextmanager
def _fitted(command: Any) -> Iterator[None]:
    """While the block runs, paragraphs are one line each, and lines that are to stay apart have the width.

    Commands are left alone: in frames lines are filled with spaces, behind which they could not go on.
    """
    width, kept = shutil.get_terminal_size().columns - 2, command.help
    first, *others = inspect.cleandoc(kept or "").split("\n\n")
    fitted = [" ".join(first.split())]
    for paragraph in others:
        if paragraph.startswith("\b"):
            lines = paragraph.splitlines()[1:]
            parts = [[line] if line.lstrip().startswith("tear3d ") else _hung(line, width) for line in lines]
            fitted.append("\n".join(("\b", *(part for each in parts for part in each))))
        else:
            fitted.append(" ".join(paragraph.split()))
    command.help = "\n\n".join(fitted)
    try:
        yield
    finally:
        command.help = kept


def _hung(line: str, width: int) -> Iterator[str]:
    """A line that goes on farther right, a command so that it can be pasted."""
    indent = line[: len(line) - len(line.lstrip())]
    column = re.match(r"\s*\S+\s{2,}", line)
    command = line.lstrip().startswith("tear3d ")
    parts = textwrap.wrap(
        line.strip(),
        width - 2 * command,
        initial_indent=indent,
        subsequent_indent=" " * (len(column[0]) if column else len(indent) + 4),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
    yield from (f"{part} \\" if command else part for part in parts[:-1])
    yield parts[-1]


def _plainly(params: Any) -> Any:
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
        if getattr(param, "nargs", 1) == -1 and hasattr(param, "display_type_rich"):
            param.display_type_rich = lambda ctx: "<path>"  # and not the type of a list of them
    return params
