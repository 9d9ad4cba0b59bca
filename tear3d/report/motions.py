"""Several motions in one set of pairs: the rows of their table, and its section of the page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

import numpy as np

from tear3d.lab.metrics import rotation_error
from tear3d.report import words
from tear3d.result import Result

COLOURS = 6
"""In the style sheet: --part-0 and so on; more motions than that share them."""


class Row(NamedTuple):
    """One motion, in words."""

    number: int
    result: Result
    inliers: str
    share: str
    turn: str
    translation: str
    chance: str
    gap: str
    ended_by: str


def rows(result: Result) -> Iterator[Row]:
    """Of the instances of a result."""
    for number, one in enumerate(result.instances, 1):
        stages = one.certificate.stages
        yield Row(
            number=number,
            result=one,
            inliers=words.count(one.num_inliers),
            share=words.share(one.num_inliers, one.num_pairs),
            turn=f"{words.number(float(rotation_error(one.transformation, np.eye(4))), 4)}°",
            translation="  ".join(words.number(float(v), 4) for v in one.translation),
            chance=words.probability(one.significance),
            gap=words.percent(one.certificate.gap) if stages else "–",
            ended_by=stages[0].ended_by if stages else "",
        )


def how_many(result: Result) -> str:
    """A sentence about several motions."""
    count = len(result.instances)
    if count == result.settings.get("max_instances"):
        return f"{count} motions, as many as were asked for"
    return f"{count} motions of up to {result.settings.get('max_instances')} that were asked for"


def section(result: Result) -> str:
    """The table of the motions, in the colours of the view, with their matrices; empty unless there are several."""
    if len(result.instances) < 2:
        return ""
    names = ("motion", "inliers", "share", "turn", "translation", "by chance", "gap", "status")
    head = "".join(f"<th{_numeric(k, len(names))}>{name}</th>" for k, name in enumerate(names))
    body, poses = [], []
    for row in rows(result):
        swatch = f'<i class="swatch" style="color:var(--part-{(row.number - 1) % COLOURS})"></i>'
        texts = (row.inliers, row.share, row.turn, row.translation, row.chance, row.gap, row.result.status)
        cells = "".join(f"<td{_numeric(k, len(names))}>{escape(text)}</td>" for k, text in enumerate(texts, 1))
        body.append(f"<tr><td>{swatch}{row.number}</td>{cells}</tr>")
        matrix = "\n".join("  ".join(f"{v: .6f}" for v in line) for line in row.result.transformation[:3])
        said = row.result.message
        poses.append(
            f"<figure><pre>{escape(matrix)}</pre><figcaption>{swatch}<b>Motion {row.number}.</b> "
            f"{escape(said[0].upper() + said[1:])}.</figcaption></figure>"
        )
    tried = "sought and, as far as it is, proven" if result.settings.get("certify") else "sought"
    note = (
        f"{how_many(result)}. "
        f"Peeled one after another: each was {tried} among the pairs that those before it leave, and is "
        "compared with chance among the pairs that no other one explains. In the view of the clouds the inlier pairs "
        "of each have its colour, and after registration each is moved by its own pose."
    )
    return (
        '<section id="motions"><div class="head"><h2>The motions</h2></div>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'
        f'<p class="note">{escape(note)}</p><div class="pair">{"".join(poses)}</div></section>\n'
    )


def _numeric(column: int, columns: int) -> str:
    return ' class="num"' if 0 < column < columns - 1 else ""
