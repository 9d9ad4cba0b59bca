"""What all pages have in common: one file with its style, its data and its scripts, which needs nothing else."""

from __future__ import annotations

import datetime
import json
from html import escape
from importlib import resources
from string import Template
from typing import Any

VIEWER = ("shared.js", "viewer.js")
"""Scripts of the pages with a 3D view, before their own."""


def framed(name: str, title: str, parts: dict[str, str], scripts: tuple[str, ...], data: dict[str, Any] | None) -> str:
    """A page.

    Parameters
    ----------
    name : str
        Of the template of its body, `name.html`; what stands in `name.css`, if there is one, is added to the style.
    title : str
        Not escaped yet.
    parts : dict
        What the template names: HTML.
    scripts : tuple of str
        Files.
    data : dict, optional
        For the scripts, as JSON in `#report-data`.
    """
    from tear3d import __version__

    own = resources.files(__package__).joinpath(f"{name}.css")
    return Template(_asset("frame.html")).substitute(
        version=escape(__version__),
        title=escape(title),
        style=_asset("style.css") + (own.read_text(encoding="utf-8") if own.is_file() else ""),
        body=Template(_asset(f"{name}.html")).substitute(parts, title=escape(title)).strip(),
        written=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        data="" if data is None else f'<script type="application/json" id="report-data">{embedded(data)}</script>\n',
        script="".join(map(_asset, scripts)),
    )


def embedded(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
