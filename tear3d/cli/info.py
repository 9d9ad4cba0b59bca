"""`tear3d info`: what a file of points holds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tear3d.cli import carried, options, saying
from tear3d.cli.session import Session, compile_when_cold, exit_on_errors

_FAR = 1000.0
"""So many times its own size from the origin, a cloud has coordinates of a map; free choice."""
_USUAL = (0.05, 2000.0)
"""Longest sides, in metres, of what is usually scanned; free choice."""


def info(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"A cloud: {carried.FORMATS}.")],
    max_bytes: options.FileBytes = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what a file of points holds: how many, where, how dense.

    \b
    Examples:
      tear3d info scan.ply
      tear3d info scan.laz --json
    """
    with exit_on_errors(context), Session(context, quiet=False) as session:
        with session.step(f"read {file.name}"):
            cloud = carried.read(file, max_bytes)
        compile_when_cold(session, ("clouds",))
        with session.step("measure"):
            facts = _facts(file, cloud)
        session.bar.stop()
        saying.tell("info", facts, _rows(facts), as_json=as_json, quiet=False)


def _facts(file: Path, cloud: Any) -> dict[str, Any]:
    from tear3d.features.voxel import sampling

    points = carried.points(cloud)
    low, high = points.min(axis=0), points.max(axis=0)
    spacing = sampling(points)[0]
    facts = {
        "path": str(file),
        "bytes": file.stat().st_size,
        "format": carried.kind(file),
        "num_points": len(points),
        "attributes": list(carried.attributes(cloud)),
        "crs": cloud.crs,
        "crs_name": carried.reference(cloud) or None,
        "low": low.tolist(),
        "high": high.tolist(),
        "size": (high - low).tolist(),
        "centre": points.mean(axis=0).tolist(),
        "spacing": spacing,
    }
    sampled = "a mesh: these points are spread over its faces, the file has none of them"
    return {**facts, "notes": [*([sampled] if facts["format"] == "mesh" else []), *_notes(facts)]}


def _notes(facts: dict[str, Any]) -> Iterator[str]:
    from tear3d.report.words import count, number

    longest, shortest = max(facts["size"]), min(facts["size"])
    if longest == 0.0:
        yield "all points coincide"
        return
    if shortest == 0.0:
        yield "flat: the points have one coordinate in common"
    away = sum(value**2 for value in facts["centre"]) ** 0.5
    if away > _FAR * longest:
        yield f"far from the origin, {count(round(away / longest))} times its size: coordinates of a map?"
    if not _USUAL[0] <= longest <= _USUAL[1]:
        yield (
            f"the file does not say its unit: its longest side is {count(round(longest))}, "
            f"in millimetres that would be {number(longest / 1000.0, 3)} m"
            if longest > _USUAL[1]
            else f"the file does not say its unit: its longest side is only {number(longest, 3)}"
        )


def _rows(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    from tear3d.report.words import count, number

    yield "file", f"{facts['path']}, {facts['format']}, {count(facts['bytes'])} bytes"
    yield "points", count(facts["num_points"])
    if facts["attributes"]:
        yield "attributes", ", ".join(facts["attributes"])
    if facts["crs_name"]:
        yield "reference", facts["crs_name"]
    names = {"low": "from", "high": "to", "size": "size", "centre": "centre"}
    longest = max(facts["size"]) or 1.0
    decimals = min(12, max(0, 5 - math.floor(math.log10(longest))))
    numbers = [[f"{value:.{decimals}f}" for value in facts[name]] for name in names]
    widths = [max(map(len, column)) for column in zip(*numbers, strict=True)]
    for name, values in zip(names.values(), numbers, strict=True):
        yield name, "  ".join(value.rjust(width) for value, width in zip(values, widths, strict=True))
    if facts["spacing"]:
        yield "spacing", f"about {number(facts['spacing'], 3)} between neighbours"
    for note in facts["notes"]:
        yield "note", note
