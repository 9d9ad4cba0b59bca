"""What a person reads at the end of `tear3d map`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tear3d.report import words

if TYPE_CHECKING:
    from tear3d.mapping import Map
    from tear3d.mapping.result import Fate

_MAX_WIDTH = 96
_COLOURS: dict[Fate, str] = {
    "kept": "green",
    "dropped": "red",
    "doubtful": "yellow",
    "rejected": "yellow",
    "failed": "yellow",
}


def print_map(found: Map, console: Console | None = None) -> None:
    """The state of the map, its notes, and the edges that are not simply kept."""
    if console is None:
        console = Console()
        console = Console(width=_MAX_WIDTH) if console.width > _MAX_WIDTH else console
    colour = "green" if found.success else "yellow"
    lines = [Text(found.message, style=f"bold {colour}"), *(Text(f"• {note}") for note in found.notes)]
    label = "one map" if found.success else "not all placed" if len(found.components) > 1 else "not all decided"
    title = Text(f" {label} ", style=f"bold {colour}")
    console.print(Panel(Group(*lines), title=title, title_align="left", border_style=colour, padding=(0, 1)))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    fates = Counter(edge.fate for edge in found.edges)
    counts = [f"{fates[fate]} {fate}" for fate in _COLOURS if fates[fate]]
    facts.add_row("pairs tried", f"{len(found.edges)}: {', '.join(counts)}")
    facts.add_row("voxel size", f"{found.voxel_size:g}, noise bound {found.noise_bound:g}")
    facts.add_row("time", words.seconds(found.seconds))
    facts.add_row("proof", "none of the map as a whole; each pair has the verdict of its own clouds")
    console.print(Padding(facts, (0, 2)))
    others = [edge for edge in found.edges if edge.fate != "kept"]
    if others:
        table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
        for name in ("pair", "tried by", "became", "why"):
            table.add_column(name)
        for edge in others:
            why = (
                f"residual {words.number(edge.residual, 3)}, contradicted by other edges"
                if edge.fate == "dropped"
                else edge.reasons[0]
            )
            pair = f"{found.names[edge.source]} → {found.names[edge.target]}"
            table.add_row(pair, edge.stage, Text(edge.fate, style=_COLOURS[edge.fate]), why)
        console.print(Padding(table, (0, 1)))
