"""The report's charts as inline SVG; colours come from the page's style sheet."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.report import axes
from tear3d.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Scale
from tear3d.report.cells import OPEN, PRUNED, Arcs
from tear3d.report.residuals import Histogram
from tear3d.report.words import count, number, percent, seconds
from tear3d.result import StageCertificate

_MOST_STEPS = 400
_MOST_ARCS = 1_500
_FEWEST_BOUNDS = 6
"""Different bounds that make a curve (free choice)."""


def residual_chart(data: Histogram) -> str:
    """Histogram of residuals on logarithmic axes, with the noise bound marked."""
    edges = data.edges
    tallest = max(1, int(max(data.inliers.max(initial=0), data.outliers.max(initial=0))))
    x = Scale(float(edges[0]), float(edges[-1]), LEFT, WIDTH - RIGHT, log=True)
    y = Scale(0.5, max(2.0, tallest * 1.3), HEIGHT - BOTTOM, TOP, log=True)
    bars = []
    for name, counts in (("outlier", data.outliers), ("inlier", data.inliers)):
        for k in np.flatnonzero(counts):
            start, end, top = x(edges[k]), x(edges[k + 1]), y(float(counts[k]))
            low = "0" if k == 0 else number(edges[k], 3)
            title = f"{count(int(counts[k]))} {name} pairs, residual {low} to {number(edges[k + 1], 3)}"
            bars.append(
                f'<rect class="{name}" x="{start + 0.5:.1f}" y="{top}" width="{end - start - 1:.1f}" '
                f'height="{HEIGHT - BOTTOM - top:.1f}"><title>{title}</title></rect>'
            )
    mark = ""
    if data.threshold is not None:
        at = x(data.threshold)
        anchor, shift = ("start", 6) if at < WIDTH * 0.7 else ("end", -6)
        text = "ξ" if data.relative else f"ξ = {number(data.threshold)}"
        mark = (
            f'<line class="mark" x1="{at}" x2="{at}" y1="{TOP - 6}" y2="{HEIGHT - BOTTOM}"/>'
            f'<text class="mark" x="{at + shift}" y="{TOP + 4}" text-anchor="{anchor}">{text}</text>'
        )
    unit = "residual divided by the pair's noise bound" if data.relative else "residual, in units of the data"
    body = axes.left_axis(y, "pairs") + "".join(bars) + mark + axes.bottom_axis(x, unit)
    total = f"{count(int(data.inliers.sum()))} inlier and {count(int(data.outliers.sum()))} outlier pairs"
    return axes.svg(body, f"Histogram of residuals: {total}")


def progress_chart(stage: StageCertificate) -> str | None:
    """The bound coming down on what was found, over time; None where it came down in so few steps that the picture
    would be a rectangle."""
    history = _steps(stage.history)
    if len(np.unique(history[:, 2])) < _FEWEST_BOUNDS or stage.saving <= 0.0:
        return None
    time, found, bound = _forwards(history[:, 0]), history[:, 1], history[:, 2]
    found, bound = 100.0 * found / stage.saving, 100.0 * bound / stage.saving
    runner = None if stage.elsewhere is None else 100.0 * stage.elsewhere / stage.saving
    top = max(float(bound.max()), runner or 0.0)
    log = top > 500.0
    least = min(float(found[found > 0].min(initial=100.0)), runner or 100.0)
    low = max(1.0, least) * 0.9 if log else 0.0
    x = Scale(float(time[0]), max(float(time[-1]), float(time[0]) + 1e-6), LEFT, WIDTH - RIGHT)
    y = Scale(low, max(top * (1.2 if log else 1.06), 110.0), HEIGHT - BOTTOM, TOP, log=log)
    upper, lower = _staircase(x, y, time, bound), _staircase(x, y, time, np.maximum(found, low))
    area = "M" + "L".join(upper) + "L" + "L".join(reversed(lower)) + "Z"
    body = (
        axes.left_axis(y, "saving, in % of the best found")
        + f'<path class="between" d="{area}"/>'
        + f'<path class="bound" d="M{"L".join(upper)}"/><path class="found" d="M{"L".join(lower)}"/>'
        + ("" if runner is None else _level_line(x, y(runner)))
        + axes.bottom_axis(x, "seconds since the call")
    )
    last = f"{number(bound[-1], 5)} % after {seconds(float(time[-1]))}"
    last += "" if runner is None else f"; {stage.none} elsewhere saves more than {number(runner, 4)} %"
    return axes.svg(body, f"Bound of {stage.name} over time, ending at {last}")


def progress_words(stage: StageCertificate) -> str:
    """The same in a sentence, for a few steps; empty without any."""
    history = _steps(stage.history)
    bounds = list(dict.fromkeys(history[:, 2] / stage.saving)) if stage.saving > 0.0 else []
    if len(bounds) < 2:
        return ""
    time = _forwards(history[:, 0])
    steps = ", then ".join(percent(bound) for bound in bounds[:-1])
    return f"Before that the bound was {steps} of what was found; it took {seconds(float(time[-1] - time[0]))}."


def _forwards(time: FloatArray) -> FloatArray:
    """Without the steps back of a clock from which compiling was taken off later."""
    return np.asarray(np.minimum.accumulate(time[::-1])[::-1])


def _level_line(x: Scale, at: float) -> str:
    return f'<line class="runner" x1="{x.start}" x2="{x.end}" y1="{at}" y2="{at}"/>'


def _steps(history: FloatArray) -> FloatArray:
    """Finite rows, thinned to the ones that change the picture."""
    rows = history[np.all(np.isfinite(history), axis=1)]
    if len(rows) <= _MOST_STEPS:
        return rows
    changed = np.flatnonzero(np.any(np.diff(rows[:, 1:], axis=0) != 0.0, axis=1)) + 1
    keep = np.unique(np.r_[0, changed, len(rows) - 1])
    return rows[keep[np.unique(np.linspace(0, len(keep) - 1, _MOST_STEPS).astype(int))]]


def _staircase(x: Scale, y: Scale, time: FloatArray, value: FloatArray) -> list[str]:
    points = [f"{x(time[0])},{y(value[0])}"]
    for k in range(1, len(time)):
        points += [f"{x(time[k])},{y(value[k - 1])}", f"{x(time[k])},{y(value[k])}"]
    return points


def arc_chart(arcs: Arcs) -> str:
    """Cells of a circle as rings: deeper cells farther out, coloured by what happened to them."""
    inner, ring = 40.0, 24.0
    rows = arcs.rows[:_MOST_ARCS]
    depths = rows[:, 2] - rows[:, 2].min()
    tones = np.rint(7 * depths / max(1.0, depths.max())).astype(int)
    paths = []
    box = np.array([[-inner, inner], [-inner, inner]])
    for (angle, half, _, fate), level, tone in zip(rows, depths, tones, strict=True):
        kind = "open" if fate == OPEN else f"pruned d{tone}" if fate == PRUNED else "split"
        # Rings grow thinner outwards, so that deep searches still fit.
        start = inner + ring * 10 * (1 - 0.9**level)
        end = inner + ring * 10 * (1 - 0.9 ** (level + 1)) - 1
        paths.append(f'<path class="cell {kind}" d="{_sector(angle, half, start, end)}"/>')
        rim = angle + np.linspace(-half, half, 9)
        box[0] = min(box[0, 0], *(end * np.cos(rim))), max(box[0, 1], *(end * np.cos(rim)))
        box[1] = min(box[1, 0], *(-end * np.sin(rim))), max(box[1, 1], *(-end * np.sin(rim)))
    corner, extent = np.floor(box[:, 0]) - 2, np.ceil(np.ptp(box, axis=1)) + 5
    circle = f'<circle class="grid" cx="0" cy="0" r="{inner - 1}" fill="none"/>'
    view = f"{corner[0]:.0f} {corner[1]:.0f} {extent[0]:.0f} {extent[1]:.0f}"
    return axes.svg(circle + "".join(paths), f"{count(len(rows))} cells of the circle", view)


def _sector(angle: float, half: float, inner: float, outer: float) -> str:
    # Never less than half a pixel wide, and never a full turn, which SVG arcs cannot draw.
    half = min(max(half, 0.5 / outer), math.pi * 0.9999)
    ends = ((inner, -half), (outer, -half), (outer, half), (inner, half))
    a, b, c, d = (f"{r * math.cos(angle + h):.1f} {-r * math.sin(angle + h):.1f}" for r, h in ends)
    large = int(half > math.pi / 2)
    out, back = f"A{outer:.1f} {outer:.1f} 0 {large} 0", f"A{inner:.1f} {inner:.1f} 0 {large} 1"
    return f"M{a}L{b}{out} {c}L{d}{back} {a}Z"


def timing_chart(spent: dict[str, float], total: float) -> str:
    """One bar per step, longest time first in scale."""
    longest = max(spent.values(), default=0.0) or 1.0
    rows = "".join(
        f"<tr><th>{escape(name.replace('_', ' '))}</th>"
        f'<td class="bar"><i style="width:{100 * max(0.0, value) / longest:.1f}%"></i></td>'
        f'<td class="num">{seconds(value)}</td></tr>'
        for name, value in spent.items()
    )
    last = f'<tr class="total"><th>total</th><td></td><td class="num">{seconds(total)}</td></tr>'
    return f'<table class="timing">{rows}{last}</table>'
