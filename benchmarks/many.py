"""Many small problems: a loop of `register`, which uses all cores for each, against `register_many`, one core for each.

`python -m benchmarks.many`. Both solve the same problems in one run, in turns of equal parts, so that what else the
machine does hits both; the time of `register_many` has the start of its processes in it, once a part.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import typer

import tear3d
from benchmarks.output import show
from tear3d.problem.kernels import count_cores
from tear3d.synthetic import make_problem

SIZES = (500, 1000, 2000)
"""Pairs; problems take turns."""
WRONG = 0.9
"""Share of wrong pairs."""


def problems(count: int) -> list[dict[str, Any]]:
    """With their seeds as numbers."""
    made = (make_problem(SIZES[seed % len(SIZES)], WRONG, seed=seed) for seed in range(count))
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


def main(
    count: Annotated[int, typer.Option(min=1, help="Problems of a part.")] = 500,
    parts: Annotated[int, typer.Option(min=1, help="How often both solve them.")] = 3,
) -> None:
    """How much faster many problems are together."""
    given = problems(count)
    for problem in given[: len(SIZES)]:  # kernels are loaded
        tear3d.register(**problem)
    rows = []
    for _ in range(parts):
        loop, many, differ = compare(given)
        ratio = f"{loop / many:.2f}"
        rows.append([str(count), str(count_cores()), f"{loop:.2f}", f"{many:.2f}", ratio, str(differ)])
    columns = ("problems", "cores", "loop, s", "register_many, s", "times as fast", "answers that differ")
    show("Many problems", columns, rows, words=0)


if __name__ == "__main__":
    typer.run(main)
