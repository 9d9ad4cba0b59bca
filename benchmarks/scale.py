"""Time and memory against the number of pairs: the paper's Table 4 and Figure 1, and where the paper has no figures.

Up to ten million pairs of a surface-like cloud in the unit cube with the paper's noise and outliers, each size in a
process of its own, certified to 1 % of the saving (0.1 % up to 10⁵ pairs), then Gaussian clouds. Prints a table; writes
scale.json and scale.svg, with the paper's figures (8 cores) drawn beside ours. A few minutes on two cores; 10⁷ pairs
need about 1.5 GiB::

    python -m benchmarks.scale
    python -m benchmarks.scale --sizes 100000 --sizes 1000000 --threads 2 --seed 1
    python -m benchmarks.scale --exponent      # how time grows with N at a fixed 99 % of wrong pairs
    python -m benchmarks.scale --quick         # the two smallest sizes
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from benchmarks import paper
from benchmarks.output import OUT, console, count, percent, seconds, show, write_json, write_picture
from benchmarks.svg import Line, Panel, figure

COARSE_GAP, FINE_GAP, FINE_UP_TO = 1e-2, 1e-3, 100_000
INPUT_BYTES = 48
"""Two float64 points a pair."""
ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]


class Problem(NamedTuple):
    n: int
    outlier_ratio: float
    cloud: str


GAUSSIAN = (Problem(10_000, 0.95, "gaussian"), Problem(10_000, 0.99, "gaussian"), Problem(100_000, 0.99, "gaussian"))
EXPONENT_SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
EXPONENT_RATIO = 0.99


def surface_problems(cloud: str, sizes: list[int] | None) -> list[Problem]:
    """The paper's problems; other sizes get the share of wrong pairs of the nearest one of the paper's."""
    chosen = sizes or [row.n for row in paper.TABLE_4]
    nearest = [min(paper.TABLE_4, key=lambda row: abs(math.log(row.n / n))) for n in chosen]
    return [Problem(n, row.outlier_ratio, cloud) for n, row in zip(chosen, nearest, strict=True)]


def measure(problem: Problem, threads: int, seed: int, time_limit: float | None) -> Row:
    """Solve it in a fresh process (see benchmarks/one.py)."""
    gap = FINE_GAP if problem.n <= FINE_UP_TO else COARSE_GAP
    task = problem._asdict() | {"rel_gap": gap, "threads": threads, "seed": seed, "time_limit": time_limit}
    with console.status(f"{count(problem.n)} pairs, {percent(problem.outlier_ratio)} wrong, {problem.cloud} …"):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.one", json.dumps(task)], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
    if done.returncode != 0:
        raise RuntimeError(f"the run with {problem.n} pairs ended with exit code {done.returncode}")
    row: Row = json.loads(done.stdout)
    return row


def compile_kernels(threads: int) -> None:
    """Fill the cache in another process: a compiler in memory would count as ours."""
    command = f"from benchmarks.measure import warm_up; warm_up({threads})"
    with console.status("compiling or loading the kernels …"):
        subprocess.run([sys.executable, "-c", command], cwd=ROOT, check=True)


def show_rows(title: str, rows: list[Row]) -> None:
    columns = ("problem", "time", "passes", "cells", "gap", "errors", "MiB", "B/pair", "paper", "paper's errors")
    show(title, columns, [_cells(row) for row in rows], _NOTES)


_NOTES = [
    "passes: time in units of np.abs(y - x @ r - t).sum() in float32, one thread, over the same pairs",
    "MiB: peak of the whole process during the registration; B/pair: its growth beyond the caller's arrays",
    f"paper: Table 4, on {paper.CORES} cores",
]


def _cells(row: Row) -> list[str]:
    known = paper.published(row["n"], row["outlier_ratio"]) if row["cloud"] != "gaussian" else None
    return [
        f"{count(row['n'])}, {percent(row['outlier_ratio'])}, {row['cloud']}",
        seconds(row["seconds"]),
        f"{row['passes']:,.0f}",
        f"{row['cells']:,}",
        f"{row['gap']:.1e}" if row["status"] == "optimal" else f"[red]{row['gap']:.1e} {row['status']}[/red]",
        _errors(row["rotation_error"], row["translation_error"]),
        f"{row['peak_bytes'] / 2**20:,.0f}",
        f"{row['bytes_per_pair']:.0f}",
        seconds(known.seconds) if known else "–",
        _errors(known.rotation_error, known.translation_error) if known else "–",
    ]


def _errors(rotation: float, translation: float) -> str:
    return f"{rotation:.2f}°, {translation:.4f}"


def growth(rows: list[Row]) -> float:
    """The exponent of time against N: the slope of a straight line through the logarithms."""
    if len(rows) < 2:
        return math.nan
    n, t = (np.log([row[key] for row in rows]) for key in ("n", "seconds"))
    return float(np.polyfit(n, t, 1)[0])


def picture(title: str, rows: list[Row], threads: int) -> str:
    """Time and memory against N, ours and the paper's."""
    ours = f"tear3d, {threads} thread{'s' * (threads > 1)}"
    time = [Line(ours, _points(rows, "seconds"))]
    known = [paper.published(row["n"], row["outlier_ratio"]) for row in rows]
    theirs = sorted((row.n, row.seconds) for row in known if row is not None)
    if len(theirs) > 1:
        time.append(Line(f"the paper, {paper.CORES} cores", theirs, dashed=True))
    memory = [
        Line(ours, [(n, size / 2**20) for n, size in _points(rows, "peak_bytes")]),
        Line("the input alone", [(n, INPUT_BYTES * n / 2**20) for n, _ in _points(rows, "n")], dashed=True),
    ]
    return figure(
        title, [Panel("time", "pairs", "seconds", time), Panel("peak memory of the process", "pairs", "MiB", memory)]
    )


def _points(rows: list[Row], key: str) -> list[tuple[float, float]]:
    return sorted((row["n"], row[key]) for row in rows)


def main(
    sizes: Annotated[
        list[int] | None, typer.Option(min=100, help="Numbers of pairs instead of the paper's; repeat.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    cloud: Annotated[str, typer.Option(help="ellipsoid or teapot.")] = "ellipsoid",
    time_limit: Annotated[float | None, typer.Option(help="Seconds per problem.")] = None,
    exponent: Annotated[bool, typer.Option(help="Measure how time grows with N instead.")] = False,
    quick: Annotated[bool, typer.Option(help="Only what takes a few seconds.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for scale.json and scale.svg.")] = OUT,
) -> None:
    """Time and memory up to ten million pairs."""

    def solve(problems: Sequence[Problem]) -> list[Row]:
        return [measure(problem, threads, seed, time_limit) for problem in problems]

    compile_kernels(threads)
    if exponent:
        chosen = sizes or EXPONENT_SIZES[: 2 if quick else None]
        rows = solve([Problem(n, EXPONENT_RATIO, cloud) for n in chosen])
        title, name = f"A surface with {percent(EXPONENT_RATIO)} of wrong pairs", "scale-exponent"
        show_rows(title, rows)
        console.print(f"time grows as N to the power of {growth(rows):.2f}\n")
        write_json(out / f"{name}.json", {"surface": rows, "exponent": growth(rows)})
    else:
        rows = solve(surface_problems(cloud, sizes)[: 2 if quick else None])
        title, name = "A surface in the unit cube, certified", "scale"
        show_rows(title, rows)
        gaussian = [] if sizes else solve(GAUSSIAN[: 1 if quick else None])
        if gaussian:
            show_rows("Gaussian clouds, certified", gaussian)
        write_json(out / f"{name}.json", {"surface": rows, "gaussian": gaussian})
    write_picture(out / f"{name}.svg", picture(title, rows, threads))


if __name__ == "__main__":
    typer.run(main)
