"""One self-contained HTML page that shows clouds, each in one colour or coloured by a value of its points."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.problem.arrays import FloatArray
from tear3d.report import words
from tear3d.report.sampling import thin
from tear3d.report.scene import _frame, _orientation, _radius, pack

POINT_BUDGET = 150_000
"""Points that the page shows, of all clouds together."""
RAMP = ("#1c807a", "#e8b92c", "#c2261f")
"""From near to far, as in the report of a registration."""
_COLOURS = ("--source", "--target", *(f"--part-{k}" for k in range(6)))


@dataclass(frozen=True)
class Shown:
    """A cloud to show."""

    name: str
    points: FloatArray
    values: FloatArray | None = None
    """From 0 to 1, one for each point: its colour."""
    alpha: float = 1.0
    colour: str = ""
    """A variable of the style sheet; one that no other cloud has unless given."""


@dataclass(frozen=True)
class Words:
    """What the page says besides; HTML, but for the title."""

    title: str
    lead: str = ""
    legend: str = ""
    sections: str = ""


def write_clouds_page(path: str | os.PathLike[str], clouds: Sequence[Shown], said: Words) -> Path:
    """Write a page that shows clouds in their common frame; it opens offline.

    Parameters
    ----------
    path : path
        The HTML file; written completely or not at all.
    clouds : sequence of Shown
        One at least.
    said : Words

    Returns
    -------
    Path
        The file written. Its size does not grow with the number of points.
    """
    if not clouds:
        raise InputError("there are no clouds to show")
    page = _page(clouds, said)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def _page(clouds: Sequence[Shown], said: Words) -> str:
    from tear3d import __version__

    rows = [thin(cloud.points, POINT_BUDGET // len(clouds)) for cloud in clouds]
    shown, every = sum(map(len, rows)), sum(len(cloud.points) for cloud in clouds)
    part = words.count(shown) + ("" if shown == every else f" of {words.count(every)}")
    return Template(_asset("shown.html")).substitute(
        version=escape(__version__),
        title=escape(said.title),
        style=_asset("style.css"),
        lead=said.lead,
        buttons="".join(_button(k, cloud) for k, cloud in enumerate(clouds)),
        caption=f"{part} points.",
        legend=said.legend,
        sections=said.sections,
        table=_table(clouds),
        written=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        data=_data(clouds, rows),
        script=_asset("viewer.js") + _asset("shown.js"),
    )


def _button(number: int, cloud: Shown) -> str:
    colour = f"var({_colour(number, cloud)})" if cloud.values is None else gradient()
    return (
        f'\n<button data-layer="{number}" aria-pressed="true"><i class="swatch" style="background:{colour}"></i>'
        f"{escape(cloud.name)}</button>"
    )


def _colour(number: int, cloud: Shown) -> str:
    return cloud.colour or _COLOURS[number % len(_COLOURS)]


def gradient() -> str:
    """The ramp as a background of CSS."""
    return f"linear-gradient(to right, {', '.join(RAMP)})"


def _data(clouds: Sequence[Shown], rows: Sequence[Any]) -> str:
    """What the view draws: centred in float64 before it becomes float32."""
    parts = [cloud.points[chosen] for cloud, chosen in zip(clouds, rows, strict=True)]
    whole = np.concatenate(parts)
    origin = np.median(whole, axis=0)
    scale = _radius(whole - origin) or 1.0
    parts = [(part - origin) / scale for part in parts]
    whole = (whole - origin) / scale
    layers = [
        {
            "points": pack(part),
            "count": len(part),
            "colour": _colour(number, cloud),
            "alpha": cloud.alpha,
            "values": None if cloud.values is None else pack(cloud.values[chosen]),
        }
        for number, (cloud, part, chosen) in enumerate(zip(clouds, parts, rows, strict=True))
    ]
    values = {
        "clouds": layers,
        "ramp": RAMP,
        "frame": _frame(whole),
        "orientation": _orientation(whole).ravel().tolist(),
    }
    # JSON that cannot end the script element it stands in.
    return json.dumps(values, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _table(clouds: Sequence[Shown]) -> str:
    def triple(values: FloatArray) -> str:
        return ", ".join(f"{value:.7g}" for value in values)

    cells = (
        (escape(c.name), words.count(len(c.points)), triple(c.points.min(axis=0)), triple(c.points.max(axis=0)))
        for c in clouds
    )
    body = "".join(f"<tr><td>{a}</td><td class='num'>{b}</td><td>{c}</td><td>{d}</td></tr>" for a, b, c, d in cells)
    head = "<tr><th>file</th><th class='num'>points</th><th>from</th><th>to</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
