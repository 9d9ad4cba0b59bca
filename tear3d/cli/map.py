"""`tear3d map`: a folder of scans to one map."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tear3d.cli import options, saying
from tear3d.cli.session import NOT_PROVEN, Session, compile_when_cold, exit_on_errors

if TYPE_CHECKING:
    from tear3d.mapping import Map, MapProgress

_FEATURES = "Pairs"


def map(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Scans, one to a file, taken by name.")],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Folder to write: cloud, trajectories, graph, JSON and a page to look at."),
    ],
    voxel_size: Annotated[
        float | None,
        typer.Option(
            "--voxel-size",
            "-v",
            help="Size to which scans are thinned, in their units; chosen from five of them unless given.",
            show_default=False,
        ),
    ] = None,
    noise_bound: Annotated[
        float | None,
        typer.Option(
            "--noise-bound",
            "-n",
            help="How far matched points may be apart; 1.5 voxels unless given.",
            show_default=False,
        ),
    ] = None,
    unordered: Annotated[
        bool,
        typer.Option(
            "--unordered",
            help="Names say nothing about the order: look at all pairs with coarse voxels first.",
            rich_help_panel=_FEATURES,
        ),
    ] = False,
    reach: Annotated[
        int, typer.Option(min=1, help="Try every scan with so many before it.", rich_help_panel=_FEATURES)
    ] = 2,
    loop: Annotated[
        bool,
        typer.Option(
            "--loop/--no-loop",
            help="Also try pairs that overlap as far as the poses tell.",
            rich_help_panel=_FEATURES,
        ),
    ] = True,
    max_tries: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Register so many pairs at most; no limit unless given.",
            show_default=False,
            rich_help_panel=_FEATURES,
        ),
    ] = None,
    certify: Annotated[
        options.Proven, typer.Option(help="What to prove of every pair.", rich_help_panel=_FEATURES)
    ] = options.Proven.none,
    map_voxel: Annotated[
        float | None,
        typer.Option(help="Voxels of the merged cloud; half of --voxel-size unless given.", show_default=False),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Pairs that are registered at once; one for each core unless given.", show_default=False
        ),
    ] = None,
    seed: options.SearchSeed = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Place the scans of a folder in one frame: a map, the poses, and a page that shows what holds them.

    \b
    Examples:
      tear3d map scans --out map
      tear3d map scans --out map --voxel-size 0.25 --reach 3
      tear3d map scans --out map --unordered

    Pairs of scans are registered as by align; a pose graph that leaves out wrong edges does the rest.

    \b
    Exit codes:
      0    all scans are in one map, held by pairs that their clouds confirm
      2    bad input
      3    scans are left over, or an edge was dropped that may be right
      130  interrupted; nothing was written
    """
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        import tear3d
        from tear3d.cli.map_folder import check_map_folder, write_map_folder
        from tear3d.features.voxel import check_voxel_size
        from tear3d.mapping.scans import scans_of
        from tear3d.problem.kernels import needed

        check_map_folder(out, folder)
        if map_voxel is not None:
            check_voxel_size(map_voxel)
        proof = options.proof(certify, False, False)
        scans = scans_of(folder)
        if len(scans) < 2:
            from tear3d.errors import InputError

            raise InputError(f"{folder}: has {len(scans)} scans that can be read, a map needs at least two")
        compile_when_cold(session, needed(proof, clouds=True))
        found = tear3d.build_map(
            scans,
            voxel_size=voxel_size,
            noise_bound=noise_bound,
            order=not unordered,
            reach=reach,
            loops=loop,
            max_tries=max_tries,
            certify=proof,
            seed=seed,
            processes=processes,
            progress=_Lines(session),
        )
        with session.step("write"):
            names = write_map_folder(out, found, session, map_voxel)
        session.bar.stop()
        _show(found, out, names, as_json=as_json, quiet=quiet)
    if not found.success:
        raise typer.Exit(NOT_PROVEN)


class _Lines:
    """A line on stderr for every pair, and the step in the bar."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, report: MapProgress) -> None:
        from tear3d.problem.limits import Progress

        step = {"read": "read scans", "coarse": "look at pairs"}.get(report.stage, f"register ({report.stage})")
        done = report.done / report.total if report.total else 0.0
        bar = self._session.bar
        bar(Progress(step, 0.0, float("inf"), 0, 0.0, done=done))
        if report.text:
            line = f"{report.stage} {report.done}/{report.total}  {report.text}"
            logging.getLogger("tear3d").info("%s", line)
            if not self._session.quiet:
                bar.say(line)


def _show(found: Map, out: Path, names: list[str], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        from tear3d.cli.folder import to_json

        sys.stdout.write(to_json(found.to_dict()))
    elif not quiet:
        from tear3d.cli.map_render import print_map

        print_map(found)
        saying.wrote(out, f" ({', '.join(names)})")
