"""What every command shares: progress, log, errors in one line, exit codes."""

from __future__ import annotations

import datetime
import errno
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

import tear3d
from tear3d.problem import kernels

if TYPE_CHECKING:
    from tear3d.cli.folder import Run
    from tear3d.cli.outputs import Outputs
    from tear3d.cli.truth import Truth
    from tear3d.clouds.register import CloudResult
    from tear3d.lab.synthetic import Problem
    from tear3d.report.about import About
    from tear3d.result import Result

BAD_INPUT = 2
NOT_PROVEN = 3
INTERRUPTED = 130
_LOG_STYLE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


@contextmanager
def exit_on_errors(context: typer.Context | None = None) -> Iterator[None]:
    """Turn the library's errors into one line on stderr, in terms of the options of a command, and an exit code."""
    from tear3d.errors import StoppedError, TearError

    code, label = BAD_INPUT, "error: "
    try:
        yield
    except StoppedError as error:
        label, message = "stopped: ", f"{error}; nothing was written"
        code = INTERRUPTED if error.ended == "interrupted" else NOT_PROVEN
    except TearError as error:
        message = str(error)
    except MemoryError as error:
        message = f"not enough memory: {error}" if str(error) else "not enough memory"
    except OSError as error:
        if error.errno in (None, errno.EPIPE):
            raise
        message = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    except KeyboardInterrupt:
        message, code = "interrupted before there was a result; nothing was written", INTERRUPTED
    else:
        return
    typer.secho(label, err=True, fg="red", bold=True, nl=False)
    from tear3d.cli.spoken import as_options

    typer.echo(as_options(" ".join(message.split()), context), err=True)
    raise typer.Exit(code)


class Session:
    """One run of a command: its progress bar on stderr, and its log in memory until it is written."""

    def __init__(self, context: typer.Context, *, quiet: bool, rel_gap: float = 1e-2) -> None:
        from tear3d.cli.progress import SearchBar
        from tear3d.errors import InputError

        self.quiet = quiet
        self._context = context
        self.seconds: dict[str, float] = {}
        self._began = time.perf_counter()
        self.bar = SearchBar(rel_gap, enabled=not quiet)
        self.started = datetime.datetime.now().astimezone()
        verbose = bool(context.params.get("verbose"))
        if verbose and quiet:
            raise InputError("--verbose and --quiet contradict each other: pass one of them")
        self._log = _MemoryLog(self.bar.say if not quiet else None, logging.INFO if verbose else logging.WARNING)
        self._logger = logging.getLogger("tear3d")
        self._level = self._logger.level

    def __enter__(self) -> Session:
        self._logger.addHandler(self._log)
        self._logger.setLevel(logging.INFO)
        self.bar.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.bar.stop()
        self._logger.setLevel(self._level)
        self._logger.removeHandler(self._log)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show a step in the progress bar and note its time in the log."""
        began = time.perf_counter()
        self.bar.show(name)
        yield
        self.seconds[name] = time.perf_counter() - began
        self._logger.info("%s: %.3f s", name, self.seconds[name])

    def settings(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        """How the command was called, for `settings.json`."""
        from tear3d.cli.again import command_line
        from tear3d.report.facts import plain

        return {
            "command": self._context.info_name,
            "command_line": command_line(self._context),
            "options": {name: plain(value) for name, value in self._context.params.items()},
            "inputs": inputs,
            "started": self.started.isoformat(timespec="seconds"),
        }

    def about(self, run: Run, inputs: list[dict[str, Any]]) -> About:
        """How the run came about, for the report."""
        from tear3d.cli.again import command_line
        from tear3d.report.about import About

        return About(
            found=run.found,
            command=command_line(self._context),
            python=run.python,
            inputs=tuple(inputs),
            seconds=dict(self.seconds),
            elapsed=time.perf_counter() - self._began,
        )

    @property
    def log(self) -> str:
        return "".join(line + "\n" for line in self._log.lines)


def solve(session: Session, source: Any, target: Any, **options: Any) -> Result:
    """Call the library under the session's progress bar."""
    method = options.get("method", "tear3d")
    upright = options.get("rotation_axis") is not None
    prior = upright or options.get("initial") is not None
    given, pairs = options.get("certify", True), len(source)
    compile_when_cold(session, kernels.needed(given, pairs=pairs, method=method, upright=upright, prior=prior))
    return tear3d.register(source, target, progress=session.bar, **options)


def compile_when_cold(session: Session, needed: Sequence[str]) -> None:
    """The first run after installation compiles what it needs, on all cores; where it cannot, the library says so."""
    from tear3d.cli.loading import load_bare

    load_bare()
    missing = kernels.cold(needed)
    if not missing or not kernels.can_share():
        return
    if not session.quiet:
        seconds = kernels.expected_seconds(missing)
        session.bar.say(f"compiling what this run needs, once after installation; about {seconds} seconds ...")
    with session.step("compile"):
        kernels.compile_groups(missing)


def finish(
    session: Session,
    run: Run,
    outputs: Outputs,
    inputs: list[dict[str, Any]],
    *,
    as_json: bool,
    truth: Truth | Problem | None = None,
) -> None:
    """Save and show the result, then leave with its exit code."""
    logging.getLogger("tear3d").info("%s", run.found or run.result)
    run = replace(run, about=session.about(run, inputs))
    with session.step("write"):
        written = outputs.write(run, session.settings(inputs), session.log)
    session.bar.stop()
    if as_json:
        from tear3d.cli.folder import to_json

        sys.stdout.write(to_json(run.summary))
    elif not session.quiet:
        from tear3d.cli import render, saying

        render.print_result(run, truth)
        for name in written:
            saying.wrote(*name)
    code = exit_code(run.result, run.found)
    if code:
        raise typer.Exit(code)


def exit_code(result: Result, found: CloudResult | None = None) -> int:
    """0 when the pose can be trusted and what was asked for was done: its proof, or none with --certify none.

    A pose between clouds can be trusted when the clouds confirm it, proof or no proof, unless a limit for that was
    given; others when the consensus stands out from chance and no other pose may be meant just as well. Of several
    motions, when all that holds for each of them.
    """
    if result.instances:
        return max(exit_code(one, found) for one in result.instances)
    trusted = result.success and not result.ambiguous if found is None else found.success
    unasked = result.status == "uncertified" and result.settings.get("certify") is False
    if found is not None and result.status == "time_limit":
        unasked = result.settings.get("time_limit") == "auto"
    return 0 if trusted and (result.proven or unasked) else NOT_PROVEN


class _MemoryLog(logging.Handler):
    """Keeps the lines, and passes those of a level on."""

    def __init__(self, say: Any, told: int) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(logging.Formatter(_LOG_STYLE))
        self.lines: list[str] = []
        self._say = say
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
        if self._say is not None and record.levelno >= self._told:
            label = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
            self._say(f"{label}{record.getMessage()}")
