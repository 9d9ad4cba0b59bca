"""`tear3d batch`: many pairs of scans, resumable."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tear3d.cli import options, saying
from tear3d.cli.session import INTERRUPTED, NOT_PROVEN, exit_on_errors

if TYPE_CHECKING:
    from tear3d.cli.batch_run import Batch

_MOST = 20
"""Rows that the end of a run lists; free choice."""


def batch(
    context: typer.Context,
    manifest: Annotated[
        Path,
        typer.Argument(
            metavar="MANIFEST",
            help="A folder of scans, whose neighbours in the order of their names are pairs; or a CSV file with the "
            "columns source and target (or pairs), and any of name, voxel_size, noise_bound, certify, refine, "
            "keypoints, ratio, top_k, mutual, time_limit, rel_gap, seed. Its paths are relative to it.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Where results go. A batch that was stopped goes on from what is there."
        ),
    ],
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Of a folder: every scan with every other, not neighbours only.")
    ] = False,
    voxel_size: Annotated[
        float | None,
        typer.Option(
            "--voxel-size", "-v", help="As for align, where a row does not say otherwise.", show_default=False
        ),
    ] = None,
    noise_bound: Annotated[
        float | None,
        typer.Option(
            "--noise-bound", "-n", help="As for align, where a row does not say otherwise.", show_default=False
        ),
    ] = None,
    refine: Annotated[options.Refine, typer.Option(help="How to refine poses on the clouds.")] = options.Refine.gicp,
    time_limit: options.TimeLimit = None,
    rel_gap: options.RelGap = None,
    seed: options.SearchSeed = 0,
    certify: options.Certify = None,
    max_bytes: options.MaxBytes = None,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes", "-p", min=1, help="Pairs at a time; one for each core unless given.", show_default=False
        ),
    ] = None,
    reports: Annotated[
        bool, typer.Option("--reports", help="Write a page for each pair, as align --report does.")
    ] = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Register many pairs of scans, several at a time; what is done stays done.

    \b
    Examples:
      tear3d batch scans/ --out survey
      tear3d batch scans/ --all-pairs --certify none --out survey
      tear3d batch pairs.csv --out survey --reports

    \b
    DIR gets
      index.html     all pairs with their verdicts, those that need a look first
      summary.csv    the same as a table, summary.json with everything
      pairs/         the result of each pair, by the content of its files

    Stopped or killed, the same command goes on: a pair is done again only if one of its files, an option or the
    version of tear3d has changed, or if it failed.

    \b
    Exit codes:
      0    all pairs registered
      2    bad input, or a folder that cannot be written
      3    some not: not registered, or failed
      130  interrupted; what was done is kept
    """
    with exit_on_errors(context):
        from tear3d.cli.again import command_line
        from tear3d.cli.batch_board import Board
        from tear3d.cli.batch_run import Batch, How
        from tear3d.cli.batch_store import Store
        from tear3d.cli.manifest import read_manifest
        from tear3d.cli.outputs import check_folder_name, check_parent

        given = _given(voxel_size, noise_bound, refine, time_limit, rel_gap, seed, certify)
        jobs = read_manifest(manifest, out, given, all_pairs=all_pairs)
        check_folder_name(out)
        check_parent(out)
        board, store = Board(quiet=quiet), Store(out)
        command = f"{command_line(context)} --out {shlex.quote(str(out))}"
        work = Batch(jobs, store, How(command, processes, reports, max_bytes), board)
        board.look = work.look
        interrupted = False
        with store.opened(), board:
            try:
                work.run()
            except KeyboardInterrupt:
                interrupted = True
        _show(work, out, as_json=as_json, quiet=quiet)
        if interrupted:
            typer.echo("interrupted; what is done is kept, and the same command goes on from there", err=True)
            raise typer.Exit(INTERRUPTED)
        if not all(row["registered"] for row in work.rows):
            raise typer.Exit(NOT_PROVEN)


def _given(
    voxel_size: float | None,
    noise_bound: float | None,
    refine: options.Refine,
    time_limit: Any,
    rel_gap: float | None,
    seed: int,
    certify: options.Proven | None,
) -> dict[str, Any]:
    """The options that are not the library's own defaults."""
    named: dict[str, Any] = {"voxel_size": voxel_size, "noise_bound": noise_bound, "rel_gap": rel_gap}
    found = {name: value for name, value in named.items() if value is not None}
    if refine is not options.Refine.gicp:
        found["refine"] = None if refine is options.Refine.none else refine.value
    if time_limit is not None:
        found["time_limit"] = options.seconds(time_limit)
    if seed:
        found["seed"] = seed
    if certify is not None:
        found["certify"] = options.proof(certify, False, False)
    return found


def _show(work: Batch, out: Path, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        from tear3d.cli.folder import to_json

        sys.stdout.write(to_json(work.summary()))
        return
    if quiet:
        return
    from rich.console import Console

    from tear3d.cli import batch_board, batch_rows

    found = batch_rows.counts(work.rows)
    parts = [f"{found['registered']} registered"]
    parts += [f"{found[name]} {text}" for name, text in _REST if found[name]]
    typer.echo(f"{found['pairs']} pair{'s' * (found['pairs'] != 1)}: {', '.join(parts)}")
    if found["earlier"]:
        typer.echo(f"{found['earlier']} of them {'was' if found['earlier'] == 1 else 'were'} found by an earlier run")
    look = [row for row in work.rows if row["state"] != batch_rows.WAITING and not row["registered"]]
    if look:
        console = Console(highlight=False)
        console.print(batch_board.table(look[:_MOST], console.width))
    for row in [row for row in look if row["state"] == batch_rows.FAILED][:_MOST]:
        typer.echo(f"{row['name']}: {row['reason']}")
    if len(look) > _MOST:
        typer.echo(f"and {len(look) - _MOST} more")
    saying.wrote(out / "index.html", ", summary.csv, summary.json and pairs/")


_REST = (("not_registered", "not registered"), ("failed", "failed"), ("waiting", "not done yet"))
