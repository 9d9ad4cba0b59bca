"""`tear3d refine`: a pose that is nearly right, made better on the clouds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tear3d.cli import carried, options, saying, spans
from tear3d.cli.session import NOT_PROVEN, Session, compile_when_cold, exit_on_errors

if TYPE_CHECKING:
    from tear3d.clouds.refine import RefineResult
    from tear3d.problem.arrays import FloatArray


def refine(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help=f"The cloud to move: {carried.FORMATS}.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The cloud it is moved onto.")],
    initial: Annotated[
        Path | None,
        typer.Option(
            help="The pose to begin with, target ← source: 4×4 text, a KITTI or TUM line, or .npz. Unless given, the "
            "clouds as they lie.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        options.Refinement, typer.Option(help="Generalised ICP, point to point, or point to plane.")
    ] = options.Refinement.gicp,
    max_distance: Annotated[
        float | None,
        typer.Option(
            help="Points farther apart are not matched; 3 voxels unless given, or 6 of its own choice.",
            show_default=False,
        ),
    ] = None,
    voxel_size: Annotated[
        float | None,
        typer.Option("--voxel-size", "-v", help="Size to which both clouds are thinned.", show_default=False),
    ] = None,
    threads: options.Threads = None,
    pose: options.Pose = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write the source, moved.", show_default=False)
    ] = None,
    as_json: options.AsJson = False,
    max_bytes: options.FileBytes = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Refine a pose on the clouds, without a search: the start has to be right up to a few voxels.

    \b
    Examples:
      tear3d refine scan1.ply scan2.ply --initial pose.txt --pose refined.txt
      tear3d refine a.ply b.ply --initial pose.txt --method plane -o moved.ply

    \b
    Exit codes:
      0    converged
      2    bad input
      3    not converged, or the start was better than what came of it
    """
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        import numpy as np

        from tear3d.cli.outputs import check_new
        from tear3d.clouds.refine import refine_icp
        from tear3d.io.poses import write_pose
        from tear3d.problem.limits import Limits

        inputs = [source, target, *([] if initial is None else [initial])]
        if pose is not None:
            check_new(pose, inputs)
        if out is not None:
            carried.check(out, [*inputs, *([] if pose is None else [pose])])
        start = np.eye(4) if initial is None else carried.read_pose(initial)
        clouds = []
        for path in (source, target):
            with session.step(f"read {path.name}"):
                clouds.append(carried.read(path, max_bytes))
        doubt = ""
        if initial is None:
            doubt = carried.references_differ([(path.name, cloud) for path, cloud in zip(inputs, clouds, strict=False)])
        compile_when_cold(session, ("clouds",))
        points, names = [carried.points(cloud) for cloud in clouds], (source.name, target.name)
        with session.step("voxel size"):
            size = spans.voxels(names, points, voxel_size)
        found = refine_icp(
            points[0],
            points[1],
            start,
            method=method.value,
            max_distance=max_distance,
            voxel_size=size,
            threads=threads,
            limits=Limits(progress=session.bar),
        )
        if pose is not None:
            pose.parent.mkdir(parents=True, exist_ok=True)
            write_pose(pose, found.transformation)
        if out is not None:
            carried.write(out, carried.moved_onto(clouds[0], clouds[1], found.transformation))
        session.bar.stop()
        after, before = (carried.points(carried.moved(clouds[0], T)) for T in (found.transformation, start))
        shift = float(np.linalg.norm(after - before, axis=1).mean())
        notes = [note for note in (doubt, spans.units(names, points)) if note]
        facts = {**found.to_dict(), "initial": start, "mean_shift": shift, "notes": notes}
        rows = [*_rows(found, points[0].mean(axis=0), shift), *(("note", note) for note in facts["notes"])]
        saying.tell("refinement", facts, rows, as_json=as_json, quiet=quiet)
        if not (quiet or as_json):
            for path in filter(None, (pose, out)):
                saying.wrote(path)
    if not found.converged:
        raise typer.Exit(NOT_PROVEN)


def _rows(found: RefineResult, centre: FloatArray, shift: float) -> Iterator[tuple[str, str]]:
    from tear3d.cli.render import matrix
    from tear3d.report import judged, words

    def number(value: Any) -> str:
        return words.number(value, 3)

    reach = f"within {number(found.max_distance)} of the target"
    kept = "" if found.iterations and shift > 0.0 else "; the start was kept"
    yield "pose", f"{matrix(found.transformation)}\ntarget = pose · source"
    yield "converged", f"{'yes' if found.converged else 'no'}, after {found.iterations} steps{kept}"
    yield "moved", f"the points by {number(shift)} on average"
    yield "before", f"{words.part(found.initial_fitness)} of the source {reach}, rmse {number(found.initial_rmse)}"
    yield "after", f"{words.part(found.fitness)} of the source {reach}, rmse {number(found.rmse)}"
    known = judged.deviations(found.covariance, centre)
    if known is not None:
        turn, place = (words.number(value, 2) for value in known)
        yield "uncertainty", f"about {turn}° and {place} at the centre, one standard deviation, if it is the right pose"
    yield "voxel size", number(found.voxel_size)
