"""One self-contained HTML page about a map."""

from __future__ import annotations

import os
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tear3d.io.atomic import atomic_write
from tear3d.mapping.graph import FLOOR, TRUNCATION
from tear3d.mapping.merge import Merged, colours
from tear3d.mapping.result import Map, MapEdge
from tear3d.report import boxes, facts, sections, words
from tear3d.report.frame import VIEWER, framed
from tear3d.report.map_graph import centres, graph
from tear3d.report.sampling import thin
from tear3d.report.scene import _frame, _orientation, _radius, pack

POINT_BUDGET = 60_000
"""Points that the page shows."""
_LABELS = {"kept": "kept", "dropped": "dropped", "doubtful": "doubtful", "rejected": "rejected", "failed": "failed"}
_STAGES = {"order": "order", "pair": "coarse look", "bridge": "bridge", "loop": "loop"}


def write_map_page(
    path: str | os.PathLike[str], found: Map, *, cloud: Merged | None = None, title: str | None = None
) -> Path:
    """Write a page that shows the map, its graph and the verdict of every edge; it opens offline.

    Parameters
    ----------
    path : path
        The HTML file; written completely or not at all.
    found : Map
    cloud : Merged, optional
        What to show; `found.merged()` by default.
    title : str, optional
        Shown above the verdict; the file's name by default.
    """
    path = Path(path)
    page = _page(found, found.merged() if cloud is None else cloud, title or path.stem)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))
    return path


def _page(found: Map, cloud: Merged, title: str) -> str:
    rows = thin(cloud.points, POINT_BUDGET)
    shown = words.count(len(rows)) + ("" if len(rows) == len(cloud.points) else f" of {words.count(len(cloud.points))}")
    versions = facts.versions()
    settings = {name: facts.plain(value) for name, value in found.settings.items()}
    settings |= {"voxel_size": found.voxel_size, "noise_bound": found.noise_bound}
    parts = {
        "tone": "good" if found.success else "warn" if len(found.components[0]) > 1 else "bad",
        "label": "one map" if found.success else "not all decided" if len(found.components) == 1 else "not all placed",
        "headline": escape(found.message[0].upper() + found.message[1:] + "."),
        "notes": boxes.reasons(found.notes),
        "tiles": _tiles(found),
        "caption": f"{shown} points, one colour for each scan; edges join the middles of scans.",
        "graph": graph(found),
        "table": sections.table(
            ("source", "target", "tried by", "became", "residual", "fit", "overlap", "matches", "its clouds say"),
            [tuple(_edge(edge, found.names)) for edge in found.edges],
            (4, 5, 6),
            stacked=True,
        ),
        "limit": words.number(float(np.sqrt(TRUNCATION)), 3),
        "floor": words.number(FLOOR, 2),
        "scans": sections.table(
            ("number", "scan", "its middle", "standard deviation there", "where"),
            list(_scans(found)),
            (3,),
            stacked=True,
        ),
        "settings": f'<table class="facts">{sections.facts(settings)}</table>',
        "versions": f'<table class="facts">{sections.facts(versions)}</table>',
    }
    return framed("map_page", title, parts, (*VIEWER, "map_page.js"), _data(found, cloud, rows))


def _data(found: Map, cloud: Merged, rows: Any) -> dict[str, Any]:
    """What the 3D view draws: centred in float64 before it becomes float32."""
    points = cloud.points[rows]
    origin = np.median(points, axis=0)
    scale = _radius(points - origin) or 1.0
    points = (points - origin) / scale
    places = {scan: (place - origin) / scale for scan, place in centres(found).items()}
    lines = {
        fate: [
            np.concatenate([places[edge.target], places[edge.source]])
            for edge in found.edges
            if edge.fate == fate and edge.target in places and edge.source in places
        ]
        for fate in ("kept", "dropped")
    }
    return {
        "points": pack(points),
        "scans": pack(cloud.scans[rows]),
        "colours": colours(len(found.names)).tolist(),
        "frame": _frame(points),
        "orientation": _orientation(points).ravel().tolist(),
        **{fate: pack(np.array(ends).reshape(-1, 6)) for fate, ends in lines.items()},
    }


def _tiles(found: Map) -> str:
    tried = len(found.edges)
    alone = sum(edge.alone for edge in found.edges)
    everywhere = ", in all parts" if len(found.components) > 1 else ""
    rows = (
        ("Scans in the map", f"{len(found.components[0])} of {len(found.names)}", f"{len(found.components)} parts"
         if len(found.components) > 1 else "all hang together"),
        ("Edges kept", words.count(found.count("kept")), f"of {tried} pairs tried{everywhere}"),
        ("Edges dropped", words.count(found.count("dropped")), "confirmed by their clouds, contradicted by others"),
        ("Edges alone", words.count(alone), "kept, but no loop bears them out"),
        ("Time", words.seconds(found.seconds), f"voxel size {words.number(found.voxel_size)}"),
    )  # fmt: skip
    parts = (
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in rows
    )
    return f'<dl class="tiles">{"".join(parts)}</dl>'


def _edge(edge: MapEdge, names: tuple[str, ...]) -> Iterator[str]:
    yield names[edge.source]
    yield names[edge.target]
    yield _STAGES.get(edge.stage, edge.stage)
    yield _LABELS[edge.fate] + (", alone" if edge.alone else "") + (", may be right" if edge.undecided else "")
    yield words.number(edge.residual, 3)
    yield words.number(edge.fit, 2)
    yield words.percent(edge.overlap) if np.isfinite(edge.overlap) else "–"
    yield edge.status.replace("_", " ")
    yield "; ".join(edge.reasons)


def _scans(found: Map) -> Iterator[tuple[str, ...]]:
    places = centres(found)
    part = {scan: number for number, scans in enumerate(found.components, 1) for scan in scans}
    for scan, name in enumerate(found.names):
        covariance = found.covariances[scan]
        where = exact = "–"
        if covariance is not None and scan in places:
            where = "  ".join(words.number(float(value)) for value in places[scan])
            exact = "the frame of the map" if scan == found.origin else words.number(_deviation(found, scan), 2)
        yield str(scan), name, where, exact, "the map" if part[scan] == 1 else f"part {part[scan]}"


def _deviation(found: Map, scan: int) -> float:
    """Of where the middle of a scan lies, along the direction in which it is least certain."""
    x, y, z = found.graph.centres[scan]
    motion = np.hstack([np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]), np.eye(3)])
    spread = motion @ found.covariances[scan] @ motion.T
    return float(np.sqrt(max(0.0, np.linalg.eigvalsh(spread)[-1])))
