"""How Figures 4 and 5 show systems that solve one row."""

from __future__ import annotations

from benchmarks.figures.cells import CUT, Cell
from benchmarks.output import seconds

NOTES = (
    "F1: of the pairs that the row agrees with within the noise bound; TR-DE's is that of its pose",
    "one thread; medians over the seeds, of iterations the mean",
    CUT,
)


def row_text(cell: Cell) -> str:
    """Time and F1."""
    wall, f1 = cell.middle("wall"), cell.middle("f1")
    return cell.ended if wall is None or f1 is None else f"{seconds(wall)}{cell.mark}, {f1:.2f}"


def iterations(cell: Cell) -> float | None:
    return cell.mean_note("iterations")
