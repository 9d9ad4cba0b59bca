"""The graph of a map as a drawing: scans where they lie, edges by what became of them."""

from __future__ import annotations

from html import escape

import numpy as np

from tear3d.mapping.merge import colours
from tear3d.mapping.result import Map, MapEdge
from tear3d.problem.arrays import FloatArray
from tear3d.report import words

WIDTH, HEIGHT, MARGIN = 1100, 620, 34
NAMED = 60
"""Scans up to which their numbers are written beside them."""
_ORDER = {"rejected": 0, "doubtful": 0, "failed": 0, "kept": 1, "dropped": 2}


def centres(found: Map) -> dict[int, FloatArray]:
    """Where the middle of each scan in the map lies."""
    middle = found.graph.centres
    return {
        scan: pose[:3, :3] @ middle[scan] + pose[:3, 3] for scan, pose in enumerate(found.poses) if pose is not None
    }


def style(edge: MapEdge) -> str:
    """The class of an edge: as it is drawn."""
    return edge.fate if edge.fate in ("kept", "dropped") else "other"


def graph(found: Map) -> str:
    """An SVG, seen along the direction in which the scans differ least."""
    places = centres(found)
    flat = _flat(np.array(list(places.values())))
    at = dict(zip(places, flat.round(1).tolist(), strict=True))
    lines = "".join(_line(edge, at, found.names) for edge in sorted(found.edges, key=lambda edge: _ORDER[edge.fate]))
    tints = colours(len(found.names))
    nodes = "".join(_node(scan, place, found.names[scan], tints[scan], len(at)) for scan, place in at.items())
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="The pose graph">{lines}{nodes}</svg>'
    )


def _flat(places: FloatArray) -> FloatArray:
    """In pixels: the plane of the two widest directions, to scale."""
    away = places - places.mean(axis=0)
    axes = np.linalg.svd(away, full_matrices=False)[2][:2]
    axes *= np.sign(axes[np.arange(len(axes)), np.argmax(np.abs(axes), axis=1)])[:, None]
    flat = np.zeros((len(places), 2))
    flat[:, : len(axes)] = away @ axes.T
    low, high = flat.min(axis=0), flat.max(axis=0)
    room = np.array([WIDTH, HEIGHT]) - 2.0 * MARGIN
    scale = float((room / np.maximum(high - low, 1e-300)).min())
    drawn = (flat - 0.5 * (low + high)) * (scale if np.isfinite(scale) and (high > low).any() else 1.0)
    return np.column_stack([0.5 * WIDTH + drawn[:, 0], 0.5 * HEIGHT - drawn[:, 1]])


def _line(edge: MapEdge, at: dict[int, list[float]], names: tuple[str, ...]) -> str:
    if edge.source not in at or edge.target not in at:
        return ""
    (x1, y1), (x2, y2) = at[edge.target], at[edge.source]
    says = f"{names[edge.source]} to {names[edge.target]}: {edge.fate}"
    if np.isfinite(edge.residual):
        says += f", residual {words.number(edge.residual, 2)}"
    kind = f"edge {style(edge)}{' alone' if edge.alone else ''}"
    return f'<line class="{kind}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"><title>{escape(says)}</title></line>'


def _node(scan: int, place: list[float], name: str, tint: FloatArray, total: int) -> str:
    x, y = place
    rgb = ",".join(str(int(v)) for v in tint)
    label = f'<text class="node-name" x="{x + 11:.1f}" y="{y - 7:.1f}">{scan}</text>' if total <= NAMED else ""
    radius = 8 if total <= NAMED else 5
    return (
        f'<circle class="node" cx="{x}" cy="{y}" r="{radius}" fill="rgb({rgb})"><title>{escape(name)}</title>'
        f"</circle>{label}"
    )
