"""One self-contained HTML page about the distances between two clouds."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tear3d.problem.arrays import FloatArray
from tear3d.report import axes, words
from tear3d.report.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Scale
from tear3d.report.shown import Shown, Words, gradient, write_clouds_page

_BINS = 48
_MOST = "0.95"
"""The colours end at this quantile: a few far points would leave one colour for all others."""


def write_distances_page(
    path: str | os.PathLike[str],
    source: tuple[str, FloatArray, FloatArray],
    target: tuple[str, FloatArray],
    facts: dict[str, Any],
) -> Path:
    """Write a page that shows the source coloured by its distances, the target, and a histogram.

    Parameters
    ----------
    path : path
        The HTML file; written completely or not at all.
    source : name, (N, 3) array, (N,) array
        The points where they are compared, and how far each lies from the target.
    target : name, (M, 3) array
    facts : dict
        `mean`, `rms`, `quantiles`, `max`, `num_points`, `pose` and `notes` as `tear3d compare --json` has them.
    """
    name, points, distances = source
    top = facts["quantiles"][_MOST] or facts["max"] or 1.0
    lead = (
        f'<p class="lead">{words.count(len(points))} of {words.count(facts["num_points"])} points of {escape(name)}: '
        f"half of them lie within {words.number(facts['quantiles']['0.5'])} of a point of {escape(target[0])}, "
        f"95\u202f% within {words.number(facts['quantiles']['0.95'])}, all within {words.number(facts['max'])}.</p>"
    )
    lead += "".join(f'<p class="box">{escape(note)}</p>' for note in facts["notes"])
    legend = (
        f'<p class="colours">distance 0 <i style="background:{gradient()}"></i> {words.number(top, 3)} and more</p>'
    )
    chart = (
        '<section id="distances"><div class="head"><h2>The distances</h2></div><div class="pair">'
        f"<figure>{distance_chart(distances)}</figure><table>{_rows(facts)}</table></div></section>"
    )
    clouds = [
        Shown(
            name, points, np.minimum(1.0, distances / top), moved=f"the pose {facts['pose']}" if facts["pose"] else ""
        ),
        Shown(target[0], target[1], alpha=0.4, colour="--soft"),
    ]
    return write_clouds_page(path, clouds, Words(f"{name} compared with {target[0]}", lead, legend, chart))


def distance_chart(distances: FloatArray) -> str:
    """How many points lie how far away."""
    top = float(distances.max()) or 1.0
    counts, edges = np.histogram(distances, bins=_BINS, range=(0.0, top))
    x = Scale(0.0, top, LEFT, WIDTH - RIGHT)
    y = Scale(0.0, float(counts.max()) * 1.05, HEIGHT - BOTTOM, TOP)
    wide = x(edges[1]) - x(0.0) - 1.0
    bars = "".join(
        f'<rect class="bar" x="{x(edges[k])}" y="{y(float(counts[k]))}" width="{wide:.1f}" '
        f'height="{HEIGHT - BOTTOM - y(float(counts[k])):.1f}"><title>{words.count(int(counts[k]))} points, '
        f"{words.number(edges[k], 3)} to {words.number(edges[k + 1], 3)}</title></rect>"
        for k in np.flatnonzero(counts)
    )
    body = axes.left_axis(y, "points") + bars + axes.bottom_axis(x, "distance, in units of the data")
    return axes.svg(body, f"Histogram of the distances of {words.count(len(distances))} points")


def _rows(facts: dict[str, Any]) -> str:
    rows = [("mean", facts["mean"]), ("root mean square", facts["rms"])]
    rows += [(f"{100 * float(share):g}\u202f% within", value) for share, value in facts["quantiles"].items()]
    rows.append(("largest", facts["max"]))
    return "".join(f"<tr><th>{name}</th><td class='num'>{words.number(value)}</td></tr>" for name, value in rows)
