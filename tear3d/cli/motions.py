"""Several motions as a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tear3d.cli.prose import Prose
from tear3d.report import words
from tear3d.report.motions import how_many, rows

if TYPE_CHECKING:
    from tear3d.result import Result


def motions(result: Result, *, narrow: bool) -> Group:
    """A row for each; where there is little room, the pose only as its angle and how far it moves the origin."""
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, padding=(0, 0 if narrow else 1))
    table.add_column("#", no_wrap=True)
    names = ("inliers", "share", "turn", "moves" if narrow else "translation", "chance", "gap")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("ended by" if not narrow else "", no_wrap=True)
    for row in rows(result):
        one = row.result
        moves = words.number(math.dist((0.0, 0.0, 0.0), one.translation), 3)
        colour = "green" if one.proven else "yellow"
        ended = words.ENDED_BY.get(row.ended_by, row.ended_by) or "–"
        table.add_row(
            str(row.number),
            row.inliers,
            row.share,
            row.turn,
            moves if narrow else row.translation,
            row.chance,
            row.gap,
            Text("✓" if one.proven else "", style=colour) if narrow else Text(ended, style=colour),
        )
    caption = (
        "each among the pairs that those above leave; chance: that data without it show one like it; gap: no pose "
        "saves more beyond it"
    )
    heading = Padding(Prose(how_many(result)), (1, 2, 0, 2))
    return Group(heading, Padding(table, (0, 2, 0, 1)), Padding(Text(caption, style="dim"), (0, 2)))
