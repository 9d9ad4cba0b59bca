"""`tear3d transform`: a cloud moved by a pose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tear3d.cli import carried, options, saying
from tear3d.cli.session import Session, exit_on_errors

if TYPE_CHECKING:
    from tear3d.problem.arrays import FloatArray

_LEAST = 1e-12
"""Units of length are not farther apart; free choice."""

CloudOut = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help=f"The cloud to write: {carried.WRITTEN}.", show_default=False),
]


def transform(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"The cloud to move: {carried.FORMATS}.")],
    pose: Annotated[
        Path | None,
        typer.Argument(
            metavar="POSE",
            help="A pose: 4×4 text, a KITTI or TUM line, or .npz, as --pose writes it.",
            show_default=False,
        ),
    ] = None,
    *,
    out: CloudOut,
    scale: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="Multiply the coordinates by this, before the pose: 0.001 makes metres of millimetres.",
            show_default=False,
        ),
    ] = None,
    inverse: Annotated[bool, typer.Option("--inverse", help="Move it back instead.")] = False,
    max_bytes: options.FileBytes = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Move a cloud by a pose, or bring it to another unit.

    \b
    Examples:
      tear3d transform scan1.ply aligned/pose.txt -o moved.ply
      tear3d transform scan2.ply aligned/pose.txt --inverse -o back.ply
      tear3d transform part_mm.ply --scale 0.001 -o part_m.ply
    """
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        carried.check(out, [file, *([] if pose is None else [pose])])
        matrix = _matrix(pose, scale)
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


def _matrix(pose: Path | None, scale: float | None) -> FloatArray:
    """4×4: the scale first, then the pose."""
    import numpy as np

    from tear3d.errors import InputError

    if pose is None and scale is None:
        raise InputError("nothing to do: pass a POSE, --scale, or both")
    if scale is not None and not _LEAST <= scale <= 1.0 / _LEAST:
        raise InputError(f"--scale is {scale:g}: expected a number from {_LEAST:g} to {1.0 / _LEAST:g}")
    matrix = np.eye(4) if pose is None else carried.read_pose(pose)
    if scale is not None:
        matrix[:3, :3] *= scale
    return matrix
