"""Where others are better, read off the runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.figures.answers import MINE, compare
from benchmarks.figures.cells import Cell, group, name
from benchmarks.output import count, percent, seconds
from benchmarks.runs.task import Row

CLEARLY = 0.9
"""An error below this share of ours is called smaller (free choice)."""
ENOUGH = 3
"""Pairs that both must have right before their errors are compared."""


def losses(chosen: dict[str, list[Row]]) -> list[str]:
    """A sentence for everything at which another system is ahead of our answer."""
    found = [*_slower(chosen.get("answers", [])), *_larger(chosen.get("fig1", []))]
    found += [*_less_exact(chosen.get("fig6", [])), *_less_exact(chosen.get("table4", []))]
    return [*found, *_real(chosen.get("tables", []))]


def _slower(rows: list[Row]) -> Iterator[str]:
    for problem, mine, key, other in compare(rows):
        where = f"{count(problem.n)} pairs with {percent(problem.outlier_ratio)} wrong"
        ours, theirs = mine.middle("wall"), other.middle("wall") if other else None
        if key is not None and ours is not None and theirs is not None and theirs < ours:
            yield f"Time to the answer, {where}: {name(key)} takes {seconds(theirs)}, we {seconds(ours)}."
        if key is not None and not mine.succeeds:
            yield f"{where}: {name(key)} succeeds, we do not."


def _larger(rows: list[Row]) -> Iterator[str]:
    cells = group(rows, lambda p: p.n)
    for (peer, n), mine in sorted(cells.items(), key=lambda item: item[0][1]):
        own = mine.middle("peak_bytes") if peer == MINE else None
        if own is None:
            continue
        others = [
            (theirs, key)
            for (key, size), cell in cells.items()
            if size == n and not key.startswith("tear3d") and cell.succeeds
            and (theirs := cell.middle("peak_bytes")) is not None and theirs < own
        ]  # fmt: skip
        if others:
            least, key = min(others)
            yield f"Memory, {count(n)} pairs: {name(key)} takes {_mib(least)}, we {_mib(own)}."


def _less_exact(rows: list[Row]) -> Iterator[str]:
    """The most exact other, where it is more exact than we are by more than a tenth."""
    cells = group(rows, lambda p: (p.n, p.outlier_ratio))
    for (peer, at), mine in cells.items():
        own = mine.middle("rotation_error") if peer == MINE else None
        if own is None:
            continue
        others = [
            (theirs, key)
            for (key, other), cell in cells.items()
            if other == at and not key.startswith("tear3d") and cell.succeeds
            and (theirs := cell.middle("rotation_error")) is not None and theirs < CLEARLY * own
        ]  # fmt: skip
        if others:
            least, key = min(others)
            where = f"{count(at[0])} pairs with {percent(at[1])} wrong"
            yield f"Rotation error, {where}, {_problems(mine)}: {name(key)} has {least:.3f}°, we {own:.3f}°."


def _problems(cell: Cell) -> str:
    return f"{len(cell.rows)} problem{'s' * (len(cell.rows) > 1)}"


def _mib(size: float) -> str:
    return f"{size / 2**20:.0f} MiB"


def _real(rows: list[Row]) -> Iterator[str]:
    """More pairs right, smaller errors where both are right, less time."""
    done = [row for row in rows if row["outcome"] == "done"]
    mine = {row["problem"]["name"]: row for row in done if row["peer"] == MINE}
    for key in dict.fromkeys(row["peer"] for row in done):
        if key.startswith("tear3d"):
            continue
        theirs = {row["problem"]["name"]: row for row in done if row["peer"] == key}
        shared = [pair for pair in theirs if pair in mine]
        right, own = (sum(table[pair]["right"] for pair in shared) for table in (theirs, mine))
        if right > own:
            yield f"Real pairs: {name(key)} has {right} of {len(shared)} right, we {own}."
        both = [pair for pair, row in theirs.items() if row["right"] and pair in mine and mine[pair]["right"]]
        if len(both) < ENOUGH:
            continue
        for what, word, unit, least in (
            ("rotation_error", "rotation error", "°", CLEARLY),
            ("translation_error", "translation error", "", CLEARLY),
            ("wall", "time", " s", 1.0),
        ):
            ours, other = (statistics.median(table[pair][what] for pair in both) for table in (mine, theirs))
            if other < least * ours:
                yield (
                    f"Real pairs that both have right ({len(both)}): {name(key)} has a median {word} of "
                    f"{other:.3g}{unit}, we {ours:.3g}{unit}."
                )
