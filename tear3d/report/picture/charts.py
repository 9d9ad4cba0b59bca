"""The picture of a figure in the plane: its lines, bars, marks and axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.report.axes import Scale
from tear3d.report.picture.canvas import FAINT, GREY, HEIGHT, INK, WIDTH, Canvas
from tear3d.report.picture.values import numbers
from tear3d.report.words import number

LEFT, RIGHT, TOP, BOTTOM = 74, WIDTH - 24, 92, HEIGHT - 52
COLOURS = ("#636EFA", "#EF553B", "#00CC96", "#AB63FA", "#FFA15A")
"""Of lines that have none; those of plotly."""


class Axes(NamedTuple):
    x: Scale
    y: Scale

    def places(self, xs: FloatArray, ys: FloatArray) -> FloatArray:
        return np.array([(self.x(a), self.y(b)) for a, b in zip(xs.tolist(), ys.tolist(), strict=True)])


def draw_charts(sheet: Canvas, figure: Any) -> None:
    """Draw scatter and bar traces, on one vertical axis or on several, one above the other."""
    layout = figure.layout
    traces = [trace for trace in figure.data if trace.visible in (None, True)]
    log = layout.xaxis.type == "log"
    x = _scale([_xs(trace) for trace in traces], log, LEFT, RIGHT)
    names = sorted({trace.yaxis or "y" for trace in traces})
    for k, name in enumerate(names):
        axis = layout["yaxis" + name[1:]]
        own = [trace for trace in traces if (trace.yaxis or "y") == name]
        low, high = axis.domain or (0.0, 1.0)
        start, end = (BOTTOM - share * (BOTTOM - TOP) for share in (low, high))
        axes = Axes(x, _scale([_ys(trace) for trace in own], axis.type == "log", start, end))
        _grid(sheet, axes, axis.title.text or "", last=k == len(names) - 1, label=layout.xaxis.title.text or "")
        for trace in own:
            _trace(sheet, axes, trace, _colour(trace, traces.index(trace)))
    for shape in layout.shapes:
        if shape.type == "line" and shape.x0 == shape.x1:
            _upright(sheet, x, float(shape.x0), shape.line.dash or "solid")
    for note in layout.annotations:
        at = 10.0**note.x if log else note.x
        sheet.words(x(at) + (note.xshift or 0.0), TOP - 8, note.text, size=13, anchor="mm")
    if layout.showlegend is not False:
        _legend(sheet, traces)


def _trace(sheet: Canvas, axes: Axes, trace: Any, colour: str) -> None:
    xs, ys = (numbers(v) for v in (trace.x, trace.y))
    if trace.type == "bar":
        floor = axes.y.start
        for left, width, count in zip(xs.tolist(), numbers(trace.width).tolist(), ys.tolist(), strict=True):
            if count > 0:
                sheet.box((axes.x(left), axes.y(count), axes.x(left + width), floor), colour, "white")
        return
    known = np.isfinite(xs) & np.isfinite(ys)
    xs, ys = xs[known], ys[known]
    if trace.line.shape == "hv":
        xs, ys = np.repeat(xs, 2)[1:], np.repeat(ys, 2)[:-1]
    if len(xs) == 0:
        return
    places = axes.places(xs, ys)
    sheet.line(places, colour, 2.0, trace.line.dash or "solid")
    if "markers" in (trace.mode or ""):
        for place in places:
            sheet.dot(float(place[0]), float(place[1]), colour)


def _grid(sheet: Canvas, axes: Axes, title: str, *, last: bool, label: str) -> None:
    for tick in axes.y.ticks(5):
        sheet.line(np.array([[LEFT, axes.y(tick)], [RIGHT, axes.y(tick)]]), FAINT)
        sheet.words(LEFT - 8, axes.y(tick), number(tick), size=12, colour=GREY, anchor="rm")
    sheet.words(LEFT, axes.y.end - 10, title, size=12, colour=INK)
    for tick in axes.x.ticks():
        sheet.line(np.array([[axes.x(tick), axes.y.start], [axes.x(tick), axes.y.start + 4]]), GREY)
        if last:
            sheet.words(axes.x(tick), BOTTOM + 15, number(tick), size=12, colour=GREY, anchor="mm")
    sheet.line(np.array([[LEFT, axes.y.start], [RIGHT, axes.y.start]]), GREY)
    if last:
        sheet.words(0.5 * (LEFT + RIGHT), HEIGHT - 16, label, size=13, anchor="mm")


def _legend(sheet: Canvas, traces: list[Any]) -> None:
    x = float(LEFT)
    for k, trace in enumerate(traces):
        colour = _colour(trace, k)
        if trace.type == "bar":
            sheet.box((x, 57, x + 14, 67), colour)
        else:
            sheet.line(np.array([[x, 62.0], [x + 22.0, 62.0]]), colour, 2.0, trace.line.dash or "solid")
        x += 44.0 + sheet.words(x + 27, 62, trace.name or "", size=11)


def _upright(sheet: Canvas, x: Scale, value: float, dash: str) -> None:
    if x.low <= value <= x.high:
        sheet.line(np.array([[x(value), TOP], [x(value), BOTTOM]]), INK, 1.5, dash)


def _scale(values: list[FloatArray], log: bool, start: float, end: float) -> Scale:
    """All values, with a little air; on a logarithmic axis those above zero."""
    flat = np.concatenate(values or [np.empty(0)])
    flat = flat[np.isfinite(flat) & (flat > 0.0 if log else True)]
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (1.0, 10.0)
    if log:
        air = (high / low) ** 0.04 if high > low else 2.0
        return Scale(low / air, high * air, start, end, log=True)
    air = 0.04 * (high - low) or max(abs(high), 1.0)
    return Scale(low - air if low != 0.0 else 0.0, high + air, start, end)


def _xs(trace: Any) -> FloatArray:
    xs = numbers(trace.x)
    return np.concatenate([xs, xs + numbers(trace.width)]) if trace.type == "bar" else xs


def _ys(trace: Any) -> FloatArray:
    # A bar of one pair on a logarithmic axis has a height too.
    ys = numbers(trace.y)
    return np.append(ys, 0.6) if trace.type == "bar" else ys


def _colour(trace: Any, k: int) -> str:
    given = trace.marker.color if trace.type == "bar" else trace.line.color
    return given or COLOURS[k % len(COLOURS)]
