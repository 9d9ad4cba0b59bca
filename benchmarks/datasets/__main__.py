"""What a folder of scans holds: pairs, scenes, sizes, noise bound and the rule of success.

::

    python -m benchmarks.datasets FOLDER
    python -m benchmarks.datasets FOLDER --layout 3dlomatch --load 3
    python -m benchmarks.datasets FOLDER --write PAIRS    # one npz a pair: matched once, then quick to load
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from benchmarks.datasets import LAYOUTS, DataSet, Options, open_folder
from benchmarks.datasets.pairs import write
from benchmarks.datasets.rules import OFFICIAL_SENTENCE
from benchmarks.output import console, show
from tear3d.errors import TearError


def list_groups(data: DataSet) -> None:
    """A row for each scene or sequence."""
    rows = []
    for group, count in data.groups.items():
        files = {file for entry in data.entries if entry.group == group for file in entry.files}
        size = sum(Path(file).stat().st_size for file in files)
        rows.append([group, str(count), str(len(files)), f"{size / 1e6:.1f} MB"])
    bound = "by pair" if data.noise_bound is None else f"{data.noise_bound:g} m"
    notes = [f"ξ: {bound}", data.rule]
    if any(Path(file).with_name("gt.info").is_file() for file in data.entries[0].files):
        notes.append(f"gt.info is there too; {OFFICIAL_SENTENCE}")
    heading = f"{data.title} (layout {data.layout}): {len(data.entries)} pairs"
    show(heading, ("scene", "pairs", "files", "size"), rows, notes)


def list_pairs(data: DataSet, number: int) -> None:
    """Load pairs from all over the data set: how many matches, how many of them right."""
    rows = []
    chosen = np.unique(np.linspace(0, len(data.entries) - 1, min(number, len(data.entries))).astype(int))
    for index in chosen:
        pair = data.entries[index].load()
        good = int(pair.inlier_mask.sum())
        share = f"{100.0 * good / len(pair.source):.2f} %"
        rows.append([pair.name, str(len(pair.source)), str(good), share, f"{pair.noise_bound:g}"])
    show("Pairs", ("pair", "matches", "right at ξ", "share", "ξ"), rows)


def main(
    folder: Annotated[Path, typer.Argument(help="The data set.")],
    layout: Annotated[str | None, typer.Option(help=f"{', '.join(LAYOUTS)}; guessed by default.")] = None,
    descriptors: Annotated[str | None, typer.Option(help="Part of the names of the descriptor files, or own.")] = None,
    sequences: Annotated[str, typer.Option(help="KITTI's, separated by commas.")] = "08,09,10",
    most: Annotated[int | None, typer.Option(help="Points of a cloud to match at most.")] = None,
    mutual: Annotated[bool, typer.Option(help="Nearest both ways only.")] = False,
    number: Annotated[int, typer.Option("--load", min=0, help="Load so many pairs and count what is right.")] = 0,
    out: Annotated[Path | None, typer.Option("--write", help="Write every pair as npz to this folder.")] = None,
) -> None:
    """List what a folder holds."""
    try:
        chosen = tuple(name.strip() for name in sequences.split(","))
        options = Options(descriptors=descriptors, mutual=mutual, most=most, sequences=chosen)
        data = open_folder(folder, layout, options)
        list_groups(data)
        if number:
            list_pairs(data, number)
        for entry in data.entries if out is not None else ():
            assert out is not None
            with console.status(f"{entry.name} …"):
                write(entry.load(), out / f"{data.layout}_{entry.name}.npz")
    except TearError as error:
        console.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error


if __name__ == "__main__":
    typer.run(main)
