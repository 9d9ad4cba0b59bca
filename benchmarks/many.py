"""Many small problems: a loop of `register`, which uses all cores for each, against `register_many`, one core for each.

`python -m benchmarks.many`. Both solve the same problems in one run, one after the other; the time of `register_many`
has the start of its processes in it. How much there is to gain depends on how much of a call two cores can share:
hardly the search for a candidate and short proofs, well the long proofs, as of few pairs almost all of which are wrong.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import typer

import tear3d
from benchmarks.output import percent, show
from tear3d.problem.kernels import count_cores
from tear3d.synthetic import make_problem

SIZES = (500, 1000, 2000)
"""Pairs; problems take turns."""
WRONG = (0.5, 0.8, 0.9)
"""Shares of wrong pairs, a row each."""


def problems(count: int, wrong: float) -> list[dict[str, Any]]:
    """Their seeds count up."""
    made = (make_problem(SIZES[seed % len(SIZES)], wrong, seed=seed) for seed in range(count))
    return [{"source": one.source, "target": one.target, "noise_bound": one.noise_bound} for one in made]


def compare(given: list[dict[str, Any]]) -> tuple[float, float, int]:
    """Seconds of the loop, of `register_many`, and how many answers differ."""
    began = time.perf_counter()
    one_by_one = [tear3d.register(**problem) for problem in given]
    between = time.perf_counter()
    together = [outcome.result for outcome in tear3d.register_many(given)]
    ended = time.perf_counter()
    pairs = zip(one_by_one, together, strict=True)
    differ = sum(not np.array_equal(a.transformation, b.transformation) for a, b in pairs)
    return between - began, ended - between, differ


def main(count: Annotated[int, typer.Option(min=1, help="Problems of a row.")] = 500) -> None:
    """How much faster many problems are together."""
    rows = []
    for wrong in WRONG:
        given = problems(count, wrong)
        for problem in given[: len(SIZES)]:  # kernels are loaded
            tear3d.register(**problem)
        loop, many, differ = compare(given)
        rows.append([percent(wrong), str(count), f"{loop:.2f}", f"{many:.2f}", f"{loop / many:.2f}", str(differ)])
    columns = ("wrong", "problems", "loop, s", "register_many, s", "times as fast", "answers that differ")
    show(f"Many problems of {SIZES[0]} to {SIZES[-1]} pairs on {count_cores()} cores", columns, rows, words=0)


if __name__ == "__main__":
    typer.run(main)
