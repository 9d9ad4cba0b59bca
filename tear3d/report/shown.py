"""One self-contained HTML page that shows clouds, each in one colour, coloured by a value of its points, or as its file
has them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from tear3d.errors import InputError
from tear3d.io.atomic import atomic_write
from tear3d.problem.arrays import FloatArray
from tear3d.report import words
from tear3d.report.frame import VIEWER, framed
from tear3d.report.sampling import thin
from tear3d.report.scene import _frame, _orientation, _radius, pack
from tear3d.report.sections import table
from tear3d.report.shading import packed_shares
from tear3d.report.tints import Choice

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
    moved: str = ""
    """By what it was moved since it was read, if it was."""


@dataclass(frozen=True)
class Words:
    """What the page says besides; HTML, but for the title."""

    title: str
    lead: str = ""
    legend: str = ""
    sections: str = ""


def write_clouds_page(
    path: str | os.PathLike[str], clouds: Sequence[Shown], said: Words, choices: Sequence[Choice] = ()
) -> Path:
    """Write a page that shows clouds in their common frame; it opens offline.

    Parameters
    ----------
    path : path
        The HTML file; written completely or not at all.
    clouds : sequence of Shown
        One at least.
    said : Words
    choices : sequence of Choice
        Ways to colour these clouds that the reader can choose from. The page of a single cloud begins with the first,
        that of several with one colour for each.

    Returns
    -------
    Path
        The file written. Its size does not grow with the number of points.
    """
    if not clouds:
        raise InputError("there are no clouds to show")
    page = _page(clouds, said, choices)
    with atomic_write(path) as file:
        file.write(page.encode("utf-8"))
    return Path(path)


def _page(clouds: Sequence[Shown], said: Words, choices: Sequence[Choice]) -> str:
    rows = [thin(cloud.points, POINT_BUDGET // len(clouds)) for cloud in clouds]
    origin = np.median(np.concatenate([c.points[chosen] for c, chosen in zip(clouds, rows, strict=True)]), axis=0)
    shown, every = sum(map(len, rows)), sum(len(cloud.points) for cloud in clouds)
    part = words.count(shown) + ("" if shown == every else f" of {words.count(every)}")
    parts = {
        "lead": said.lead + _motions(clouds),
        "choices": _chooser(choices, len(clouds) > 1),
        "buttons": "".join(_button(k, cloud) for k, cloud in enumerate(clouds)),
        "caption": f"{part} points. Drawn around ({_triple(origin)}); coordinates in the table are not shifted.",
        "legend": said.legend + _legends(choices),
        "sections": said.sections,
        "table": _table(clouds),
    }
    return framed("shown", said.title, parts, (*VIEWER, "tints.js", "shown.js"), _data(clouds, rows, origin, choices))


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


def _motions(clouds: Sequence[Shown]) -> str:
    """Which clouds do not lie where their files have them."""
    moved = [cloud for cloud in clouds if cloud.moved]
    if not moved:
        return ""
    listed = "; ".join(f"{escape(cloud.name)} was moved by {escape(cloud.moved)}" for cloud in moved)
    rest = "" if len(moved) == len(clouds) else " Others lie where their files have them."
    return f'<p class="lead">{listed}.{rest}</p>'


def _chooser(choices: Sequence[Choice], several: bool) -> str:
    if not choices:
        return ""
    usual = " selected" if several else ""
    options = "".join(f'<option value="{k}">{escape(one.name)} of the files</option>' for k, one in enumerate(choices))
    options += f'<option value=""{usual}>one for each file</option>'
    return f'\n<label>colour <select id="tint">{options}</select></label>'


def _legends(choices: Sequence[Choice]) -> str:
    return "".join(f'<p class="legend hidden" data-tint="{k}">{one.legend}</p>' for k, one in enumerate(choices))


def _data(
    clouds: Sequence[Shown], rows: Sequence[Any], origin: FloatArray, choices: Sequence[Choice]
) -> dict[str, Any]:
    """What the view draws: centred in float64 before it becomes float32."""
    parts = [cloud.points[chosen] for cloud, chosen in zip(clouds, rows, strict=True)]
    whole = np.concatenate(parts)
    scale = _radius(whole - origin) or 1.0
    parts = [(part - origin) / scale for part in parts]
    whole = (whole - origin) / scale
    layers = [
        {
            "points": pack(part),
            "count": len(part),
            "colour": _colour(number, cloud),
            "alpha": cloud.alpha,
            "values": None if cloud.values is None else packed_shares(cloud.values[chosen]),
            "tints": [None if tint is None else tint.packed(chosen) for tint in (one.tints[number] for one in choices)],
        }
        for number, (cloud, part, chosen) in enumerate(zip(clouds, parts, rows, strict=True))
    ]
    return {
        "clouds": layers,
        "ramp": RAMP,
        "frame": _frame(whole),
        "orientation": _orientation(whole).ravel().tolist(),
    }


def _table(clouds: Sequence[Shown]) -> str:
    rows = [
        (
            c.name + (f", moved by {c.moved}" if c.moved else ""),
            words.count(len(c.points)),
            _triple(c.points.min(axis=0)),
            _triple(c.points.max(axis=0)),
        )
        for c in clouds
    ]
    later = ", as moved" if any(cloud.moved for cloud in clouds) else ""
    return table(("file", "points", f"from{later}", f"to{later}"), rows, (1,), stacked=True)


def _triple(values: FloatArray) -> str:
    return ", ".join(f"{value:.10g}" for value in values)
