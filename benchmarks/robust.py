"""Is the answer right, and when: many sizes, shares and kinds of wrong pairs, without the proof.

The paper's setup with t ~ N(0, I), 20 seeds per cell of the grid; right means a rotation error below 2° and a
translation error below 0.1. 99.5 % of wrong pairs only from 5 000 pairs up, off-centre and clustered outliers at 90 and
95 %. Prints a table per kind; writes robust.json and robust.svg (time to the answer)::

    python -m benchmarks.robust
    python -m benchmarks.robust --quick            # 3 seeds, up to 10 000 pairs
    python -m benchmarks.robust --certify --sizes 1000 --ratios 0.9
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from benchmarks.measure import Limits, Run, run, warm_up
from benchmarks.output import OUT, console, count, percent, seconds, show, write_json, write_picture
from benchmarks.svg import Line, Panel, figure
from tear3d.synthetic import OutlierKind, make_problem

LIMITS = Limits(rotation=2.0, translation=0.1)
SIZES = (1_000, 5_000, 10_000, 30_000, 100_000)
RATIOS = (0.0, 0.5, 0.9, 0.95, 0.98, 0.99, 0.995)
HARD_RATIOS = (0.9, 0.95)
HARD_KINDS: tuple[OutlierKind, ...] = ("off_centre", "clustered")
FEWEST = {0.995: 5_000}
"""The smallest size for a share of wrong pairs."""


@dataclass(frozen=True)
class Cell:
    """All seeds of one size, share and kind of wrong pairs."""

    n: int
    outlier_ratio: float
    outliers: str
    runs: list[Run]

    @property
    def right(self) -> int:
        return sum(r.right(LIMITS) for r in self.runs)

    @property
    def unsure(self) -> int:
        """Runs that say themselves that there is no consensus."""
        return sum(not r.success for r in self.runs)

    @property
    def median(self) -> float:
        return statistics.median(r.seconds for r in self.runs)

    def text(self) -> str:
        colour = "green" if self.right == len(self.runs) else "red"
        return f"[{colour}]{self.right}/{len(self.runs)}[/{colour}] {seconds(self.median)}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "outlier_ratio": self.outlier_ratio,
            "outliers": self.outliers,
            "seeds": len(self.runs),
            "right": self.right,
            "no_consensus": self.unsure,
            "status": Counter(r.status for r in self.runs),
            "median_seconds": self.median,
            "max_seconds": max(r.seconds for r in self.runs),
            "runs": [asdict(r) for r in self.runs],
        }


def measure(n: int, ratio: float, kind: OutlierKind, seeds: int, **options: Any) -> Cell:
    runs = [run(make_problem(n, ratio, outliers=kind, seed=seed), **options) for seed in range(seeds)]
    return Cell(n, ratio, kind, runs)


def show_grid(title: str, cells: list[Cell]) -> None:
    sizes, ratios = (sorted({getattr(c, key) for c in cells}) for key in ("n", "outlier_ratio"))
    at = {(c.n, c.outlier_ratio): c.text() for c in cells}
    rows = [[count(n), *(at.get((n, ratio), "") for ratio in ratios)] for n in sizes]
    show(title, ["pairs", *(f"{percent(r)} wrong" for r in ratios)], rows)


def picture(cells: list[Cell]) -> str:
    """Median time to the answer against N, one line per share of wrong pairs."""
    ratios = sorted({c.outlier_ratio for c in cells})
    lines = [
        Line(f"{percent(ratio)} wrong", sorted((c.n, c.median) for c in cells if c.outlier_ratio == ratio))
        for ratio in ratios
    ]
    return figure("Time to the answer", [Panel("median over the seeds", "pairs", "seconds", lines)])


def main(
    sizes: Annotated[list[int] | None, typer.Option(min=3, help="Numbers of pairs; repeat.")] = None,
    ratios: Annotated[list[float] | None, typer.Option(min=0.0, max=1.0, help="Shares of wrong pairs; repeat.")] = None,
    kinds: Annotated[list[str] | None, typer.Option(help="Kinds of wrong pairs; repeat.")] = None,
    seeds: Annotated[int, typer.Option(min=1)] = 20,
    threads: Annotated[int, typer.Option(min=1)] = 2,
    certify: Annotated[bool, typer.Option(help="Prove the answer, too.")] = False,
    quick: Annotated[bool, typer.Option(help="3 seeds, up to 10 000 pairs.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for robust.json and robust.svg.")] = OUT,
) -> None:
    """Right answers over sizes, shares and kinds of wrong pairs."""
    chosen_sizes = sizes or [n for n in SIZES if not quick or n <= 10_000]
    seeds = min(seeds, 3) if quick else seeds
    console.print(f"kernels compiled or loaded in {warm_up(threads, max(chosen_sizes)):.1f} s")
    everything: list[Cell] = []
    for kind in _kinds(kinds):
        cells: list[Cell] = []
        for n in chosen_sizes:
            for ratio in ratios or (RATIOS if kind == "gaussian" else HARD_RATIOS):
                if n < FEWEST.get(ratio, 0) and not ratios:
                    continue
                with console.status(f"{kind}: {count(n)} pairs, {percent(ratio)} wrong …"):
                    cells.append(measure(n, ratio, kind, seeds, threads=threads, certify=certify))
        show_grid(f"{kind} outliers: right of {seeds}, median time", cells)
        everything += cells
    total, right = len(everything) * seeds, sum(c.right for c in everything)
    console.print(f"right: {right} of {total} (below {LIMITS.rotation:g}° and {LIMITS.translation:g})")
    settings = {"seeds": seeds, "threads": threads, "certify": certify}
    write_json(out / "robust.json", {"settings": settings, "cells": [c.to_dict() for c in everything]})
    first = everything[0].outliers
    write_picture(out / "robust.svg", picture([c for c in everything if c.outliers == first]))


def _kinds(names: list[str] | None) -> list[OutlierKind]:
    known: tuple[Literal["gaussian", "off_centre", "clustered", "second_motion", "plane"], ...] = get_args(OutlierKind)
    for name in names or ():
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(known)}", param_hint="--kinds")
    return [kind for kind in known if kind in names] if names else ["gaussian", *HARD_KINDS]


if __name__ == "__main__":
    typer.run(main)
