"""The core table: is every answer right, is every certificate closed, and how long does it take.

10 000 pairs of a Gaussian cloud (the paper's setup) with 90, 95 and 98 % wrong, 20 seeds each, and 5 000 pairs with
0, 50 and 80 % wrong; right means a rotation error below 0.5° and a translation error below 0.02. Then the three bounds
of one cell of the search, against their naive twins. About two minutes::

    make bench
    python -m benchmarks.core --seeds 20 --threads 2
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import cell
from benchmarks.measure import Limits, Run, run, warm_up
from benchmarks.output import OUT, console, count, percent, seconds, show, write_json
from benchmarks.passes import pass_seconds
from tear3d.synthetic import make_problem

LIMITS = Limits(rotation=0.5, translation=0.02)
CASES = ((10_000, 0.90), (10_000, 0.95), (10_000, 0.98), (5_000, 0.0), (5_000, 0.5), (5_000, 0.8))


@dataclass(frozen=True)
class Case:
    """All seeds of one problem."""

    n: int
    outlier_ratio: float
    runs: list[Run]
    pass_seconds: float

    @property
    def right(self) -> int:
        return sum(r.right(LIMITS) for r in self.runs)

    @property
    def optimal(self) -> int:
        return sum(r.status == "optimal" for r in self.runs)

    @property
    def median(self) -> float:
        return statistics.median(r.seconds for r in self.runs)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "right": self.right,
            "optimal": self.optimal,
            "median_seconds": self.median,
            "max_seconds": max(r.seconds for r in self.runs),
            "median_passes": self.median / self.pass_seconds,
        }

    def row(self) -> list[str]:
        total = len(self.runs)
        return [
            f"{count(self.n)} pairs, {percent(self.outlier_ratio)} wrong",
            f"{self.right}/{total}",
            f"{self.optimal}/{total}",
            seconds(self.median),
            seconds(max(r.seconds for r in self.runs)),
            f"{self.median / self.pass_seconds:,.0f}",
            f"{statistics.median(r.cells for r in self.runs):,.0f}",
            f"{max(r.rotation_error for r in self.runs):.3f}°",
            f"{max(r.translation_error for r in self.runs):.4f}",
        ]


COLUMNS = ("problem", "right", "optimal", "median", "slowest", "passes", "cells", "worst rot.", "worst tr.")


def measure_case(n: int, outlier_ratio: float, seeds: int, threads: int | None, rel_gap: float) -> Case:
    """Solve `seeds` problems; the pass is timed on the arrays of the first."""
    runs, unit = [], 0.0
    for seed in range(seeds):
        problem = make_problem(n, outlier_ratio, seed=seed)
        unit = unit or pass_seconds(problem.source, problem.target)
        runs.append(run(problem, threads=threads, rel_gap=rel_gap))
    return Case(n, outlier_ratio, runs, unit)


def show_cells(bounds: list[cell.CellBound]) -> None:
    show(
        f"One cell of the search, {count(bounds[0].pairs)} pairs",
        ("bound", "time", "per pair", "bound / saving", f"× the naive twin ({bounds[0].twin_pairs} pairs)"),
        [
            (
                b.name,
                seconds(b.seconds),
                f"{1e9 * b.seconds / b.pairs:.1f} ns",
                f"{b.bound:.3f}",
                f"{b.speedup:,.0f}" if b.speedup is not None else "–",
            )
            for b in bounds
        ],
        ["below 1 the bound prunes the cell; naive twins are in tests/naive.py"],
    )


def main(
    seeds: Annotated[int, typer.Option(min=1, help="Problems per row.")] = 20,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.")] = None,
    rel_gap: Annotated[float, typer.Option(help="Relative gap to close.")] = 1e-3,
    scale: Annotated[float, typer.Option(help="Multiplies the number of pairs, for a quick look.")] = 1.0,
    out: Annotated[Path, typer.Option(help="Folder for bench.json.")] = OUT,
) -> None:
    """Right answers, closed certificates and time on the paper's synthetic problems."""
    console.print(f"kernels compiled or loaded in {warm_up(threads):.1f} s")
    cases = []
    for n, ratio in CASES:
        with console.status(f"{count(n)} pairs, {percent(ratio)} wrong …"):
            cases.append(measure_case(max(50, round(scale * n)), ratio, seeds, threads, rel_gap))
    show(
        f"Gaussian clouds, {seeds} seed{'s' * (seeds > 1)} each, certified to a gap of {rel_gap:g}",
        COLUMNS,
        [case.row() for case in cases],
        [
            f"right: rotation error below {LIMITS.rotation}°, translation error below {LIMITS.translation}",
            "passes: median time in units of np.abs(y - x @ r - t).sum() in float32 over the same pairs",
        ],
    )
    bounds = cell.measure(max(2_000, round(scale * 100_000)))
    show_cells(bounds)
    write_json(
        out / "bench.json",
        {
            "settings": {"seeds": seeds, "threads": threads, "rel_gap": rel_gap, "scale": scale},
            "cases": [case.to_dict() for case in cases],
            "cell": [b.to_dict() for b in bounds],
        },
    )


if __name__ == "__main__":
    typer.run(main)
