"""How long it takes to prove the pose: the paper's noise and outliers up to ten million pairs, and real pairs.

Everything is `tear3d.register(..., rel_gap=0.01)`: the answer and the certificate of the pose, in one process, kernels
compiled before. U is one plain pass over 10⁵ pairs (benchmarks/passes.py), measured before and after every problem, the
smaller counts. Real pairs get 60 s each. Prints tables; writes proof.json and proof.svg::

    python -m benchmarks.proof
    python -m benchmarks.proof --data FOLDER      # npz files, see benchmarks/real_pairs.py
    python -m benchmarks.proof --quick            # what takes a few seconds
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import tear3d
from benchmarks import real_pairs
from benchmarks.measure import timed_register
from benchmarks.output import OUT, console, count, percent, seconds, show, write_json, write_picture
from benchmarks.passes import pass_seconds
from benchmarks.svg import Line, Panel, figure
from tear3d.metrics import rotation_error, translation_error
from tear3d.synthetic import make_problem

GAP = 0.01
REAL_LIMIT = 60.0
Row = dict[str, Any]


class Case(NamedTuple):
    n: int
    outlier_ratio: float
    cloud: str


CASES = (
    Case(1_000, 0.99, "gaussian"),
    Case(10_000, 0.95, "gaussian"),
    Case(10_000, 0.99, "gaussian"),
    Case(100_000, 0.99, "gaussian"),
    Case(100_000, 0.99, "ellipsoid"),
    Case(1_000_000, 0.994, "ellipsoid"),
    Case(10_000_000, 0.998, "ellipsoid"),
)


def unit() -> float:
    """Seconds of one pass over 10⁵ pairs."""
    rng = np.random.default_rng(0)
    return pass_seconds(rng.normal(size=(100_000, 3)), rng.normal(size=(100_000, 3)), repeats=9)


def measure(case: Case, threads: int, seed: int) -> Row:
    """One synthetic problem."""
    problem = make_problem(case.n, case.outlier_ratio, cloud=case.cloud, seed=seed)
    before = unit()
    took, result = timed_register(problem, certify="pose", rel_gap=GAP, threads=threads, time_limit=None)
    u = min(before, unit())
    return {
        **case._asdict(),
        "seed": seed,
        "threads": threads,
        "seconds": took,
        "unit_seconds": u,
        "units": took / u,
        "rotation_error": rotation_error(result.transformation, problem.transformation),
        "translation_error": translation_error(result.transformation, problem.transformation),
        **_proof(result),
    }


def _proof(result: tear3d.Result) -> Row:
    certificate = result.certificate
    return {
        "status": result.status,
        "closed": certificate.closed,
        "gap": certificate.gap,
        "runner_up": certificate.runner_up,
        "cells": certificate.cells,
        "laps": result.seconds,
    }


def measure_real(pair: real_pairs.RealPair, threads: int) -> Row:
    """One real pair."""
    before = unit()
    took, result = timed_register(pair, certify="pose", rel_gap=GAP, threads=threads, time_limit=REAL_LIMIT)
    share = float(pair.inlier_mask.mean())
    u = min(before, unit())
    known = {"name": pair.name, "n": len(pair.source), "inliers": share, "seconds": took, "unit_seconds": u}
    return known | _proof(result)


def _line(row: Row) -> list[str]:
    return [
        f"{count(row['n'])}, {percent(row['outlier_ratio'])}, {row['cloud']}",
        seconds(row["seconds"]),
        f"{row['units']:,.0f}",
        f"{row['cells']:,}",
        f"{row['gap']:.1e}" if row["closed"] else f"[red]{row['gap']:.1e} {row['status']}[/red]",
        "–" if row["runner_up"] is None else f"{row['runner_up']:.2f}",
        f"{row['rotation_error']:.2f}°",
        f"{row['translation_error']:.4f}",
    ]


def _real_line(row: Row) -> list[str]:
    gap = f"{row['gap']:.2g}"
    return [
        row["name"],
        count(row["n"]),
        percent(row["inliers"]),
        seconds(row["seconds"]),
        gap if row["closed"] else f"[red]{gap} {row['status']}[/red]",
        "–" if row["runner_up"] is None else f"{row['runner_up']:.2f}",
    ]


def picture(rows: list[Row], real: list[Row]) -> str:
    """Time against the number of pairs, and against the share of right pairs."""
    kinds = sorted({row["cloud"] for row in rows})
    lines = [Line(kind, sorted((row["n"], row["units"]) for row in rows if row["cloud"] == kind)) for kind in kinds]
    panels = [Panel("proof of the pose, gap 1 %", "pairs", "U", lines)]
    if real:
        closed = sorted((100.0 * row["inliers"], row["seconds"]) for row in real if row["closed"])
        panels.append(Panel("real pairs that were closed", "right pairs, %", "seconds", [Line("tear3d", closed)]))
    return figure("How long it takes to prove the pose", panels)


def main(
    data: Annotated[Path | None, typer.Option(help="Folder of real pairs, measured too.")] = None,
    only_real: Annotated[bool, typer.Option(help="No synthetic problems.")] = False,
    largest: Annotated[int, typer.Option(help="The largest number of pairs.")] = 10_000_000,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    quick: Annotated[bool, typer.Option(help="Only what takes a few seconds.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for proof.json and proof.svg.")] = OUT,
) -> None:
    """Time of the proof of the pose, in plain passes over 10⁵ pairs."""
    for n, outlier_ratio in ((500, 0.5), (3_000, 0.97)):  # with and without pairs that are left out
        timed_register(make_problem(n, outlier_ratio), certify="pose", rel_gap=GAP, threads=threads)
    cases = [] if only_real else [case for case in CASES[1 : 2 if quick else None] if case.n <= largest]
    if cases and not quick:
        cases.insert(0, CASES[0])
    rows = [measure(case, threads, seed) for case in cases]
    if rows:
        columns = ("problem", "time", "U", "cells", "gap", "runner-up", "rotation", "translation")
        show("Proof of the pose", columns, [_line(row) for row in rows], ["U: one plain pass over 10⁵ pairs"])
    real = []
    if data is not None:
        undecidable = real_pairs.undecidable(data, None)
        pairs = [real_pairs.read(path) for path in real_pairs.files(data)]
        decidable = [pair for pair in pairs if pair.name not in undecidable]
        real = [measure_real(pair, threads) for pair in decidable[: 2 if quick else None]]
        closed = [row["seconds"] for row in real if row["closed"]]
        notes = [f"{len(closed)} of {len(real)} closed within {REAL_LIMIT:.0f} s"]
        if closed:
            notes.append(f"median of those {statistics.median(closed):.2f} s")
        show("Real pairs", ("pair", "pairs", "right", "time", "gap", "runner-up"), map(_real_line, real), notes)
    write_json(out / "proof.json", {"synthetic": rows, "real": real})
    write_picture(out / "proof.svg", picture(rows, real))
    console.print()


if __name__ == "__main__":
    typer.run(main)
