"""`python -m benchmarks NAME [--quick]`: a figure or table, every system in it, on the same work.

Runs go one by one into OUT/runs.jsonl, each in a fresh process, systems taking turns; killed and started again it goes
on where it was. Then the tables are printed and the pictures drawn::

    python -m benchmarks fig1 --quick
    python -m benchmarks tables --data FOLDER
    python -m benchmarks all --quick --data FOLDER
    python -m benchmarks fig6 --only tear3d_answer,kiss_gnc
    python -m benchmarks page                       # the page of results from OUT/runs.jsonl
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import figures, peers
from benchmarks.figures import NAMES, Scope
from benchmarks.figures.cells import absent
from benchmarks.output import OUT, console, show, write_picture
from benchmarks.page import write_page
from benchmarks.runs.runner import run_all
from tear3d.errors import InputError

PAGE = "page"


def main(
    name: Annotated[str, typer.Argument(help=f"{', '.join(NAMES)}, all, or {PAGE}.")],
    quick: Annotated[bool, typer.Option(help="Smaller sizes, 5 s a run.")] = False,
    data: Annotated[Path | None, typer.Option(help="Folder of real pairs; default: TEAR3D_DATA, else made up.")] = None,
    only: Annotated[str, typer.Option(help="Systems by their files in benchmarks/peers, separated by commas.")] = "",
    threads: Annotated[int, typer.Option(min=1, help="Cores that a run may use.")] = 2,
    seeds: Annotated[int, typer.Option(min=1, help="Synthetic problems of a kind.")] = 1,
    seconds: Annotated[float | None, typer.Option(help="The most that a run may take: 15, --quick 5.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for runs.jsonl and the pictures.")] = OUT,
) -> None:
    """Draw a figure or a table of the paper, with every system."""
    path = out / ("quick.jsonl" if quick else "runs.jsonl")
    if name == PAGE:
        write_page(path, quick)
        return
    if name not in (*NAMES, "all"):
        raise typer.BadParameter(f"{name!r} is not one of {', '.join((*NAMES, 'all', PAGE))}", param_hint="NAME")
    scope = Scope(quick, data or _default_data(), out, threads, _systems(only), seeds, seconds)
    names = NAMES if name == "all" else (name,)
    try:
        run_all(figures.tasks(names, scope), path)
        for each in names:
            draw(each, scope, path, out)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def draw(name: str, scope: Scope, path: Path, out: Path) -> None:
    """Print and draw one figure from runs that are in the file."""
    figure = figures.figure(name)
    rows = run_all(figure.tasks(scope), path, quiet=True)
    if not any(row["outcome"] != "missing" for row in rows):
        console.print(f"{figure.TITLE}: none of the chosen systems takes part here\n", style="yellow")
        return
    for table in figure.tables(rows):
        show(f"{figure.TITLE}: {table.title}", table.columns, table.rows, table.notes, table.words)
    for line in absent(rows):
        console.print(line, style="dim")
    for title, svg in figure.pictures(rows).items():
        write_picture(out / f"{title}.svg", svg)


def _default_data() -> Path | None:
    named = os.environ.get("TEAR3D_DATA")
    return Path(named) if named else None


def _systems(only: str) -> tuple[str, ...]:
    chosen = tuple(key.strip() for key in only.split(",") if key.strip())
    for key in chosen:
        if key not in peers.keys():  # noqa: SIM118
            raise typer.BadParameter(f"{key!r} is not one of {', '.join(peers.keys())}", param_hint="--only")
    return chosen


if __name__ == "__main__":
    typer.run(main)
