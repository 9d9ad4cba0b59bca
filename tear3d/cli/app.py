"""The `tear3d` command."""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer
from typer.models import CommandInfo

from tear3d.cli.align import align
from tear3d.cli.batch import batch
from tear3d.cli.commands import Command, Group
from tear3d.cli.compare import compare
from tear3d.cli.demo import demo
from tear3d.cli.info import info
from tear3d.cli.map import map
from tear3d.cli.merge import merge
from tear3d.cli.refine import refine
from tear3d.cli.register import register
from tear3d.cli.streams import patient
from tear3d.cli.synth import synth
from tear3d.cli.transform import transform
from tear3d.cli.view import view
from tear3d.cli.warmup import warmup

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
for command in (align, register, map, batch, refine, compare, view, info, transform, merge, demo, synth, warmup):
    app.command(cls=Command)(command)


def main() -> None:
    """Entry point of the `tear3d` command."""
    sys.stdout, sys.stderr = patient(sys.stdout), patient(sys.stderr)
    gc.set_threshold(50_000, 20, 50)  # what is imported stays: to look through it again and again is for nothing
    if "_TEAR3D_COMPLETE" not in os.environ:
        app.registered_commands = _asked_for(sys.argv[1:])
    try:
        app(prog_name="tear3d")
    finally:
        gc.freeze()  # and to look through it once more before all ends takes some tenths of a second


def _asked_for(words: list[str]) -> list[CommandInfo]:
    """The command to run, or all where that is not the question: each takes milliseconds to be made of its options."""
    every = app.registered_commands
    name = words[0] if words else ""
    found = [one for one in every if one.callback is not None and one.callback.__name__ == name]
    return found or (every[:1] if words == ["--version"] else every)


def _print_version(wanted: bool) -> None:
    if wanted:
        from tear3d.cli.versions import lines

        typer.echo("\n".join(lines()))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Show the versions of tear3d and of what it computes with.",
        ),
    ] = False,
) -> None:
    """Certified 3D registration of point pairs when almost all of them are wrong.

    \b
    Try it:
      tear3d demo --report demo.html
      tear3d align scan1.ply scan2.ply --out aligned
      tear3d view scan1.ply scan2.ply --pose aligned/pose.txt
      tear3d map scans --out map
      tear3d batch scans/ --out survey
      tear3d synth pairs.npz --pairs 10000 --outliers 0.95
      tear3d register pairs.npz --out result.json

    \b
    Exit codes:
      0    registered: not by chance, and proven (or with --certify none); of a batch, all pairs
      2    bad input
      3    anything else: status and message say what is missing
      130  interrupted before there was a result
    """
