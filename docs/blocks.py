"""Run the code blocks of a page; `python -m docs.blocks [PAGE ...]` puts what they print into the page.

- ```python blocks of a page run one after the other in one namespace, inside an empty folder.
- ```shell blocks hold `tear3d …` lines, run through the command line in the same folder. A line may end in a
  comment, `# exit code 3`.
- A ```text block with nothing between it and a block that runs is what that block prints. Words must agree;
  numbers and times may differ. Any other ```text block is for reading only.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r"#\s*exit code (\d+)")
_TIME = re.compile(r"\d[\d.]*\s*(?:ms|s|min)\b")
_NUMBER = re.compile(r"[-−]?\d[\d.,\u202f]*(?:e[-+]?\d+)?|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|10⁻?")


@dataclass(frozen=True)
class Block:
    """A fenced block; `start` and `end` are where its text lies in the page."""

    language: str
    code: str
    start: int
    end: int
    line: int


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(text: str) -> list[Block]:
    return [
        Block(found[1], found[2], found.start(2), found.end(2), text.count("\n", 0, found.start()) + 2)
        for found in _FENCE.finditer(text)
    ]


def outputs(page: Path) -> Iterator[tuple[Block, str, Block | None]]:
    """Run a page: each block that runs, what it printed, and the block that shows this (if any)."""
    from tear3d.problem import ranks

    ranks.load()  # the first run of a process says that it waited for this
    text = page.read_text(encoding="utf-8")
    found = blocks(text)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, _inside(folder):
        for block, after in zip(found, [*found[1:], None], strict=False):
            if block.language not in ("python", "shell"):
                continue
            printed = _python(block, namespace, page) if block.language == "python" else _shell(block, page)
            shown = after is not None and after.language == "text" and not _between(text, block, after)
            yield block, printed, after if shown else None


def same_words(printed: str, shown: str) -> bool:
    return _masked(printed) == _masked(shown)


def refresh(page: Path) -> None:
    """Replace what the page shows by what its blocks print."""
    text = page.read_text(encoding="utf-8")
    for _, printed, shown in reversed(list(outputs(page))):
        if shown is not None:
            text = text[: shown.start] + printed.rstrip() + "\n" + text[shown.end :]
    page.write_text(re.sub(r"[ \t\u202f]+$", "", text, flags=re.MULTILINE), encoding="utf-8")


def _between(text: str, block: Block, after: Block) -> str:
    return re.sub(r"^```\w*[^\n]*$", "", text[block.end : after.start], flags=re.MULTILINE).strip()


def _masked(text: str) -> str:
    text = _NUMBER.sub("#", _TIME.sub("#", text))
    return " ".join(re.sub(r"─+", "─", text).split())


def _python(block: Block, namespace: dict[str, Any], page: Path) -> str:
    # Empty lines first, so that a traceback names the line of the page.
    code = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, namespace)
    return out.getvalue()


def _shell(block: Block, page: Path) -> str:
    from typer.testing import CliRunner

    from tear3d.cli.app import app

    printed = []
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] != "tear3d":
            raise ValueError(f"{page.name}: only tear3d commands can run, not {line!r}: mark the block as text")
        result = CliRunner(env={"COLUMNS": "80"}).invoke(app, words[1:], prog_name="tear3d")
        wanted = _EXIT.search(line)
        if result.exit_code != (int(wanted[1]) if wanted else 0):
            raise RuntimeError(
                f"{page.name}: {line!r} left with {result.exit_code}: {result.output}"
            ) from result.exception
        printed.append(result.stdout if result.exit_code != 2 else result.stderr)
    return "".join(printed)


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    for chosen in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        for _ in outputs(chosen):  # once before, so that the times shown are not those of compiling
            pass
        refresh(chosen)
