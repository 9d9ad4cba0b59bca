"""The picture of a figure in space: its markers and lines, as its camera sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.report.picture.canvas import FINER, GREY, HEIGHT, WIDTH, Canvas
from tear3d.report.picture.space import Dots, along, splat, view_of
from tear3d.report.picture.values import numbers
from tear3d.report.words import number

TOP = 30
SIDE = HEIGHT - TOP - 26


def draw_space(sheet: Canvas, figure: Any) -> None:
    """Draw what is visible of scatter3d traces."""
    traces = [trace for trace in figure.data if trace.visible in (None, True)]
    places = [np.column_stack([numbers(v) for v in (t.x, t.y, t.z)]) for t in traces]
    known = np.concatenate([part[np.isfinite(part).all(axis=1)] for part in places] or [np.empty((0, 3))])
    if len(known) == 0:
        return
    view = view_of(figure.layout.scene, known)
    every: list[Dots] = []
    for trace, points in zip(traces, places, strict=True):
        if trace.mode == "lines":
            points = along(view, _pieces(points), SIDE * FINER)
            tones = _tones(trace.line.color, 1.0, len(points))
            radii = np.asarray(0.5 * (trace.line.width or 2.0) - 0.5)
        else:
            tones = _tones(trace.marker.color, _opacity(trace), len(points), trace.marker.colorscale)
            radii = 0.5 * FINER * np.maximum(numbers(trace.marker.size), 1.0)
        faint = trace.mode != "lines" and _opacity(trace) < 0.5
        every.append(Dots(points, tones, np.broadcast_to(radii, len(points)), np.full(len(points), faint)))
    columns: Any = (np.concatenate(part) for part in zip(*every, strict=True))
    dots = Dots(*columns)
    sheet.paste(splat(view, dots, SIDE * FINER), (WIDTH - SIDE) // 2, TOP)
    _legend(sheet, traces)
    sheet.words(14, HEIGHT - 16, f"the view is {number(view.side, 3)} wide at its middle", colour=GREY, size=12)


def _legend(sheet: Canvas, traces: list[Any]) -> None:
    y = 58.0
    for trace in traces:
        scale = None if trace.mode == "lines" else trace.marker.colorscale
        if scale is not None:
            values = numbers(trace.marker.color)
            for k, tone in enumerate(_tones(np.linspace(0.0, 1.0, 60), 1.0, 60, scale)):
                sheet.box((14 + k, y - 5, 15 + k, y + 5), "#" + bytes(tone).hex())
            label = trace.marker.colorbar.title.text or ""
            spread = f"{number(values.min(), 3)} to {number(values.max(), 3)}" if len(values) else ""
            sheet.words(80, y, f"{trace.name}: {label} {spread}", size=12)
        else:
            colour = trace.line.color if trace.mode == "lines" else trace.marker.color
            sheet.dot(19, y, colour, 5.0)
            sheet.words(31, y, trace.name or "", size=12)
        y += 20


def _opacity(trace: Any) -> float:
    return 1.0 if trace.marker.opacity is None else float(trace.marker.opacity)


def _tones(colour: Any, opacity: float, count: int, scale: Any = None) -> NDArray[np.uint8]:
    """A colour for each point, paler where it is to be seen through."""
    if isinstance(colour, str):
        found = np.tile(_rgb(colour), (count, 1))
    else:
        values = numbers(colour)
        spread = float(np.ptp(values)) if count else 0.0
        share = (values - values.min()) / spread if spread else np.zeros(count)
        stops = np.array([stop for stop, _ in scale])
        tones = np.array([_rgb(each) for _, each in scale])
        found = np.column_stack([np.interp(share, stops, tones[:, k]) for k in range(3)])
    return np.asarray(255.0 - opacity * (255.0 - found)).astype(np.uint8)


def _rgb(colour: str) -> FloatArray:
    return np.array(list(bytes.fromhex(colour.removeprefix("#"))), dtype=np.float64)


def _pieces(points: FloatArray) -> FloatArray:
    """(N, 2, 3): neighbours between which nothing is missing."""
    pairs = np.stack([points[:-1], points[1:]], axis=1)
    return np.asarray(pairs[np.isfinite(pairs).all(axis=(1, 2))])
