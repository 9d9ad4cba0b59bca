"""`tear3d transform`: a cloud moved by a pose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tear3d.cli import carried, options, saying
from tear3d.cli.session import Session, exit_on_errors

CloudOut = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help=f"The cloud to write: {carried.WRITTEN}.", show_default=False),
]


def transform(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"The cloud to move: {carried.FORMATS}.")],
    pose: Annotated[
        Path,
        typer.Argument(metavar="POSE", help="A pose: 4×4 text, a KITTI or TUM line, or .npz, as --pose writes it."),
    ],
    out: CloudOut,
    inverse: Annotated[bool, typer.Option("--inverse", help="Move it back instead.")] = False,
    max_bytes: options.FileBytes = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Move a cloud by a pose.

    \b
    Examples:
      tear3d transform scan1.ply aligned/pose.txt -o moved.ply
      tear3d transform scan2.ply aligned/pose.txt --inverse -o back.ply
    """
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        carried.check(out, [file, pose])
        matrix = carried.read_pose(pose)
        if inverse:
            matrix = carried.inverted(matrix)
        with session.step(f"read {file.name}"):
            cloud = carried.read(file, max_bytes)
        with session.step(f"write {out.name}"):
            carried.write(out, carried.moved(cloud, matrix))
        session.bar.stop()
        if not quiet:
            from tear3d.io.clouds import REFERENCED

            told = carried.reference(cloud)
            still = (
                f"; it still says the coordinate reference {told}" if told and out.suffix.lower() in REFERENCED else ""
            )
            saying.wrote(out, f": {len(carried.points(cloud))} points{still}")
