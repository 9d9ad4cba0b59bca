"""`tear3d merge`: several clouds in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tear3d.cli import carried, options, saying
from tear3d.cli.session import Session, exit_on_errors
from tear3d.cli.transform import CloudOut


def merge(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help=f"The clouds: {carried.FORMATS}.")],
    out: CloudOut,
    pose: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Moves a file first: given once, the first, twice, the second, too. Others stay as they are.",
        ),
    ] = None,
    voxel_size: Annotated[
        float | None,
        typer.Option(help="Keep one point for each voxel of this size, the middle of those in it.", show_default=False),
    ] = None,
    ignore_crs: Annotated[
        bool,
        typer.Option(
            "--ignore-crs",
            help="Merge files of different coordinate references as they are; the result says that of the first.",
        ),
    ] = False,
    max_bytes: options.FileBytes = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Put several clouds into one file.

    \b
    Examples:
      tear3d merge left.ply right.ply -o both.ply
      tear3d merge scan1.ply scan2.ply --pose aligned/pose.txt -o both.ply
      tear3d merge scans/a.laz scans/b.laz --voxel-size 0.05 -o thin.ply

    Files that say different coordinate references are refused, but for those that --pose moves: they are taken to be
    in the frame of the others then.
    """
    poses = pose or []
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        from tear3d.errors import InputError

        carried.check(out, [*files, *poses])
        if len(poses) > len(files):
            raise InputError(f"--pose is given {len(poses)} times, for {len(files)} files")
        matrices = [carried.read_pose(path) for path in poses]
        clouds = []
        for number, path in enumerate(files):
            with session.step(f"read {path.name}"):
                cloud = carried.read(path, max_bytes)
                clouds.append(carried.moved(cloud, matrices[number]) if number < len(matrices) else cloud)
        named = [(path.name, cloud) for path, cloud in zip(files, clouds, strict=True)]
        clouds = carried.one_reference(named, len(matrices), ignore=ignore_crs)
        whole = carried.joined(clouds)
        if voxel_size is not None:
            with session.step("thin"):
                whole = carried.thinned(whole, voxel_size)
        with session.step(f"write {out.name}"):
            carried.write(out, whole)
        session.bar.stop()
        if not quiet:
            every = sum(len(carried.points(cloud)) for cloud in clouds)
            kept = len(carried.points(whole))
            saying.wrote(out, f": {kept} points" + (f" of {every}" if kept != every else ""))
