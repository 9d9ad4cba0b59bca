"""What every command shares: solving with a progress bar, output, exit codes, errors in one line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import tear3d

if TYPE_CHECKING:
    from tear3d.result import Result
    from tear3d.synthetic import Problem

BAD_INPUT = 2
NOT_PROVEN = 3
_NOT_PROVEN_STATUSES = ("no_consensus", "time_limit", "node_limit", "interrupted")


@contextmanager
def exit_on_bad_input() -> Iterator[None]:
    """Turn the library's errors into one line on stderr and exit code 2."""
    from tear3d.errors import TearError

    try:
        yield
    except TearError as error:
        message = str(error)
    except MemoryError as error:
        message = f"not enough memory: {error}" if str(error) else "not enough memory"
    except OSError as error:
        if error.filename is None:
            raise
        message = f"{error.filename}: {error.strerror}"
    else:
        return
    typer.secho("error: ", err=True, fg="red", bold=True, nl=False)
    typer.echo(" ".join(message.split()), err=True)
    raise typer.Exit(BAD_INPUT)


def check_output(path: Path | None) -> None:
    """Refuse a place that cannot be written to before the work, not after it."""
    from tear3d.errors import InputError

    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: pass the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: the folder {path.parent} is not writable")


def solve(source: Any, target: Any, *, quiet: bool, **options: Any) -> Result:
    """Call the library with a progress bar on stderr."""
    from tear3d.cli.progress import SearchBar

    if not quiet and not kernels_are_cached():
        typer.echo("compiling kernels, once; this takes up to 20 seconds ...", err=True)
    with SearchBar(options.get("rel_gap", 1e-3), enabled=not quiet) as bar:
        return tear3d.register(source, target, progress=bar, **options)


def finish(
    result: Result, *, out: Path | None, quiet: bool, as_json: bool, truth: Problem | None = None
) -> None:
    """Show and save the result, then leave with its exit code."""
    if out is not None:
        from tear3d.io.atomic import atomic_write

        with atomic_write(out) as file:
            file.write(_to_json(result).encode())
    if as_json:
        sys.stdout.write(_to_json(result))
    elif not quiet:
        from tear3d.cli import render

        render.print_result(result, truth)
        if out is not None:
            typer.echo(f"wrote {out}")
    if result.status in _NOT_PROVEN_STATUSES:
        raise typer.Exit(NOT_PROVEN)


def kernels_are_cached() -> bool:
    """Whether Numba has kernels of this package on disk, in any of the places it uses."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    package = Path(tear3d.__file__).parent
    if chosen:
        return _has_index(Path(chosen))
    return _has_index(package) or _has_index(Path.home() / ".cache" / "numba")


def _has_index(folder: Path) -> bool:
    return next(folder.rglob("*.nbi"), None) is not None


def _to_json(result: Result) -> str:
    return json.dumps(result.to_dict(), indent=2) + "\n"
