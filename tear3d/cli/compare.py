"""`tear3d compare`: how far one cloud lies from another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tear3d.cli import carried, options, saying, spans
from tear3d.cli.session import Session, compile_when_cold, exit_on_errors

if TYPE_CHECKING:
    from tear3d.problem.arrays import FloatArray

_SHARES = (0.5, 0.9, 0.95, 0.99)
_BINS = 12
_BAR = 24


def compare(
    context: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help=f"The cloud that is measured: {carried.FORMATS}.")],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The cloud it is measured against.")],
    pose: Annotated[Path | None, typer.Option(help="Moves the source first.", show_default=False)] = None,
    max_distance: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="Leave out points farther away: where the clouds do not overlap.", show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            "-r",
            help="Write a page with the source coloured by distance (HTML, opens offline).",
            show_default=False,
        ),
    ] = None,
    as_json: options.AsJson = False,
    max_bytes: options.FileBytes = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Measure how far each point of a cloud lies from the nearest point of another.

    \b
    Examples:
      tear3d compare scan1.ply scan2.ply --pose aligned/pose.txt
      tear3d compare before.ply after.ply --max-distance 0.5 --report changes.html

    Distances are to points, not to a surface: those of dense clouds that agree are about half their spacing.
    """
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        from tear3d.cli.outputs import check_new, check_page
        from tear3d.features.tree import Tree

        if report is not None:
            check_new(report, [source, target, *([] if pose is None else [pose])])
            check_page(report)
        matrix = None if pose is None else carried.read_pose(pose)
        with session.step(f"read {source.name}"):
            cloud = carried.read(source, max_bytes)
            moved = carried.points(cloud if matrix is None else carried.moved(cloud, matrix))
        with session.step(f"read {target.name}"):
            against = carried.read(target, max_bytes)
            other = carried.points(against)
        doubt = ""
        if matrix is None:
            doubt = carried.references_differ([(source.name, cloud), (target.name, against)])
        compile_when_cold(session, ("clouds",))
        with session.step("measure"):
            distances = Tree(other).nearest(moved)[0]
            facts = {**_facts(source, target, distances, max_distance), "pose": None if pose is None else str(pose)}
            facts["notes"] = [f"{doubt}: the distances are between numbers of two references"] if doubt else []
            unlike = spans.units((source.name, target.name), (moved, other))
            facts["notes"] += [unlike] if unlike else []
        if report is not None:
            from tear3d.report.distances import write_distances_page

            report.parent.mkdir(parents=True, exist_ok=True)
            near = distances <= (float("inf") if max_distance is None else max_distance)
            with session.step("write"):
                write_distances_page(report, (source.name, moved[near], distances[near]), (target.name, other), facts)
        session.bar.stop()
        saying.tell("comparison", facts, _rows(facts), as_json=as_json, quiet=quiet)
        if report is not None and not (quiet or as_json):
            saying.wrote(report)


def _facts(source: Path, target: Path, distances: FloatArray, max_distance: float | None) -> dict[str, Any]:
    import numpy as np

    from tear3d.errors import InputError

    near = distances if max_distance is None else distances[distances <= max_distance]
    if len(near) == 0:
        raise InputError(f"no point of {source} lies within {max_distance:g} of {target}; pass a larger --max-distance")
    top = float(near.max())
    counts, edges = np.histogram(near, bins=_BINS, range=(0.0, top or 1.0))
    return {
        "source": str(source),
        "target": str(target),
        "num_points": len(distances),
        "num_compared": len(near),
        "max_distance": max_distance,
        "mean": float(near.mean()),
        "rms": float(np.sqrt(np.mean(near**2))),
        "quantiles": {f"{share:g}": float(np.quantile(near, share)) for share in _SHARES},
        "max": top,
        "histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
    }


def _rows(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from tear3d.report import words

    far = facts["num_points"] - facts["num_compared"]
    left = f", {words.count(far)} farther away than {facts['max_distance']:g} left out" if far else ""
    by = f", moved by {facts['pose']}," if facts["pose"] else ""
    number = words.count(facts["num_compared"])
    yield "compared", f"{number} points of {facts['source']}{by} with {facts['target']}{left}"
    for note in facts["notes"]:
        yield "note", note
    yield "mean", f"{words.number(facts['mean'])}, root mean square {words.number(facts['rms'])}"
    yield "median", words.number(facts["quantiles"]["0.5"])
    for share in ("0.9", "0.95", "0.99"):
        yield f"{100 * float(share):g} % within", words.number(facts["quantiles"][share])
    yield "largest", words.number(facts["max"])
    counts, edges = facts["histogram"]["counts"], facts["histogram"]["edges"]
    widest = max(len(words.number(edge, 3)) for edge in edges)
    for count, edge in zip(counts, edges[1:], strict=True):
        bar = "█" * max(1 if count else 0, round(_BAR * count / max(counts)))
        yield "up to", f"{words.number(edge, 3).rjust(widest)}  {bar} {words.count(count)}"
