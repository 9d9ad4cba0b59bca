"""A noise bound that is estimated against the one that is given, where the scale is unknown, too.

`python -m benchmarks.noise_scale`: the paper's setup (a teapot in the unit cube, targets of wrong pairs from N(0,
1.67²)) with scales drawn from 0.2 to 5; σ is that of the source, and of the target times the scale. A similarity is
right when it is off by 5° and 5 % of the scale at most, and puts the middle of the source three noise bounds off at
most. With `--shuffled` the pairs are put together anew: whatever is found there is found by mistake.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import tear3d
from benchmarks.output import show
from tear3d.metrics import rotation_error, scale_error
from tear3d.synthetic import Problem, make_problem

COLUMNS = (
    "pairs",
    "count",
    "right, given",
    "auto",
    "of these",
    "success, given",
    "auto",
    "bound / given",
    "5.54 σ / given",
    "covered",
    "seconds",
    "× time",
)
MISTAKES = ("pairs", "sets", "success, given", "success, auto", "seconds, given", "seconds, auto")
NOISE = (0.001, 0.005, 0.01, 0.05)
SIZES = (1000, 5000)
WRONG = (0.5, 0.9, 0.95)
NARROW = 1.25
"""A narrow range goes from the scale over this to the scale times this."""
OFF, DEGREES = 0.05, 5.0


class Outcome(NamedTuple):
    """One problem solved twice."""

    given: bool
    auto: bool
    successes: tuple[bool, bool]
    bound: float
    """The bound that was chosen over the one that is given, ..."""
    measured: float
    """... and 5.54 times the spread that was measured."""
    covered: bool
    seconds: tuple[float, float]


def made_up(n: int, wrong: float, noise: float, seed: int, **options: Any) -> Problem:
    """A problem of the paper's kind with a scale."""
    scale = float(np.exp(np.random.default_rng(seed).uniform(np.log(0.2), np.log(5.0))))
    return make_problem(n, wrong, cloud="teapot", noise=noise * scale, scale=scale, seed=seed, **options)


def right(problem: Problem, pose: Any) -> bool:
    """Whether a similarity is."""
    truth = problem.transformation
    shift = (pose[:3, :3] - truth[:3, :3]) @ problem.source.mean(axis=0) + pose[:3, 3] - truth[:3, 3]
    near = float(np.linalg.norm(shift)) <= 3.0 * problem.noise_bound
    return near and float(rotation_error(pose, truth)) <= DEGREES and float(scale_error(pose, truth)) <= OFF


def outcome(problem: Problem, **options: Any) -> Outcome:
    """A problem with the bound that is given, and without."""
    found, seconds = [], []
    for bound in (problem.noise_bound, "auto"):
        began = time.perf_counter()
        given: Any = {"noise_bound": bound, "estimate_scale": True} | options
        found.append(tear3d.register(problem.source, problem.target, **given))
        seconds.append(time.perf_counter() - began)
    given, auto = found
    noise = auto.noise
    assert noise is not None
    return Outcome(
        given=right(problem, given.transformation),
        auto=right(problem, auto.transformation),
        successes=(given.success, auto.success),
        bound=noise.noise_bound / problem.noise_bound,
        measured=5.54 * noise.sigma / problem.noise_bound,
        covered=bool(noise.low <= problem.noise_bound <= noise.high),
        seconds=(seconds[0], seconds[1]),
    )


def row(title: str, outcomes: list[Outcome]) -> list[str]:
    """Of the table."""
    bounds, measured = (np.array([getattr(each, name) for each in outcomes]) for name in ("bound", "measured"))
    times = [np.median([each.seconds[k] for each in outcomes]) for k in (0, 1)]
    first = sum(each.given for each in outcomes)
    return [
        title,
        str(len(outcomes)),
        str(first),
        str(sum(each.auto for each in outcomes)),
        f"{sum(each.given and each.auto for each in outcomes)}/{first}",
        *(str(sum(each.successes[k] for each in outcomes)) for k in (0, 1)),
        *(f"{np.min(some):.2f} {np.median(some):.2f} {np.max(some):.2f}" for some in (bounds, measured)),
        str(sum(each.covered for each in outcomes)),
        f"{times[0]:.2f} {times[1]:.2f}",
        f"{np.median([each.seconds[1] / each.seconds[0] for each in outcomes]):.1f}",
    ]


def rows(seeds: range, narrow: bool, certify: bool) -> Iterator[list[str]]:
    """Of made-up problems."""
    for n in SIZES:
        for wrong in WRONG:
            for noise in NOISE:
                found = []
                for seed in seeds:
                    problem = made_up(n, wrong, noise, seed)
                    ends = (problem.scale / NARROW, problem.scale * NARROW) if narrow else None
                    found.append(outcome(problem, scale_range=ends, certify=certify))
                yield row(f"σ {noise:g}, {n} pairs, {100 * wrong:g} % wrong", found)


def mistakes(seeds: range) -> Iterator[list[str]]:
    """Of pairs that were put together anew."""
    for n in SIZES:
        for wrong in (0.0, 0.9):
            found = []
            for seed in seeds:
                problem = made_up(n, wrong, 0.01, seed)
                order = np.random.default_rng(seed).permutation(n)
                for bound in (problem.noise_bound, "auto"):
                    began = time.perf_counter()
                    given: Any = {"noise_bound": bound, "estimate_scale": True}
                    result = tear3d.register(problem.source, problem.target[order], **given)
                    found.append((result.success, time.perf_counter() - began))
            sides = [found[0::2], found[1::2]]
            yield [
                f"{n} pairs shuffled, {100 * wrong:g} % of them wrong before",
                str(len(seeds)),
                *(str(sum(success for success, _ in side)) for side in sides),
                *(f"{np.median([seconds for _, seconds in side]):.2f}" for side in sides),
            ]


def main(
    count: Annotated[int, typer.Option(min=0, help="Problems of a kind.")] = 20,
    first: Annotated[int, typer.Option(help="Seed of the first of them.")] = 0,
    narrow: Annotated[bool, typer.Option("--narrow", help="Scales near the right one alone are allowed.")] = False,
    certify: Annotated[bool, typer.Option(help="With a proof.")] = True,
    shuffled: Annotated[bool, typer.Option("--shuffled", help="Sets in which nothing is to be found.")] = False,
) -> None:
    """The noise bound of similarities that is estimated against the one that is given."""
    seeds = range(first, first + count)
    if shuffled:
        show("Shuffled pairs", MISTAKES, list(mistakes(seeds)))
    else:
        show("Noise bounds with a scale", COLUMNS, list(rows(seeds, narrow, certify)))


if __name__ == "__main__":
    typer.run(main)
