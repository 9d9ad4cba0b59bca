"""A noise bound that is estimated against the one that is given.

`python -m benchmarks.noise --data DIR`: the paper's setup over noise, sizes, shares of wrong pairs, clouds and units;
and real pairs. A made-up pose is right when it turns by 5° too much at most and puts the middle of the source three
noise bounds off at most, as real ones are without a custom of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import tear3d
from benchmarks import real_pairs
from benchmarks.output import console, show
from tear3d.metrics import rotation_error
from tear3d.synthetic import make_problem

COLUMNS = ("pairs", "count", "right, given", "right, auto", "of these", "auto / given", "within 2", "covered", "× time")
NOISE = (0.001, 0.003, 0.01, 0.03, 0.05)
SIZES = ((300, 0.5), (300, 0.9), (1000, 0.95), (1000, 0.98), (5000, 0.95), (5000, 0.99), (20_000, 0.5), (20_000, 0.99))
MADE_UP = "made up"
LARGE = ((100_000, 0.95), (100_000, 0.99))


class Outcome(NamedTuple):
    """One problem solved twice."""

    given: bool
    auto: bool
    ratio: float
    """The bound that was chosen over the one that is given."""
    covered: bool
    """The one given lies in the interval."""
    times: float
    """Seconds over seconds."""


def made_up(
    n: int, wrong: float, noise: float, seed: int, unit: float = 1.0, away: float = 0.0, **options: Any
) -> real_pairs.RealPair:
    """A problem of the paper's kind, in other units and elsewhere."""
    problem = make_problem(n, wrong, noise=noise, seed=seed, **options)
    truth = problem.transformation.copy()
    truth[:3, 3] = unit * truth[:3, 3] + away - truth[:3, :3] @ np.full(3, away)
    source, target = unit * problem.source + away, unit * problem.target + away
    return real_pairs.RealPair(MADE_UP, source, target, truth, unit * problem.noise_bound)


def right(pair: real_pairs.RealPair, pose: real_pairs.FloatArray) -> bool:
    """Whether a pose is; for made-up pairs where their middle is, however far that is from the origin."""
    if pair.name != MADE_UP:
        return pair.right(pose)
    shift = (pose[:3, :3] - pair.truth[:3, :3]) @ pair.source.mean(axis=0) + pose[:3, 3] - pair.truth[:3, 3]
    near = float(np.linalg.norm(shift)) <= pair.limits.translation
    return near and float(rotation_error(pose, pair.truth)) <= pair.limits.rotation


def outcome(pair: real_pairs.RealPair) -> Outcome:
    """A problem with the bound that is given, and without."""
    found, seconds = [], []
    for bound in (pair.noise_bound, "auto"):
        began = time.perf_counter()
        found.append(tear3d.register(pair.source, pair.target, noise_bound=bound, certify=False))  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - began)
    given, auto = found
    noise = auto.noise
    assert noise is not None
    return Outcome(
        given=right(pair, given.transformation),
        auto=right(pair, auto.transformation),
        ratio=noise.noise_bound / pair.noise_bound,
        covered=bool(noise.low <= pair.noise_bound <= noise.high),
        times=seconds[1] / seconds[0],
    )


def row(title: str, outcomes: list[Outcome]) -> list[str]:
    """Of the table."""
    ratios = np.array([each.ratio for each in outcomes])
    both = sum(each.given and each.auto for each in outcomes)
    right = sum(each.given for each in outcomes)
    return [
        title,
        str(len(outcomes)),
        str(right),
        str(sum(each.auto for each in outcomes)),
        f"{both}/{right}",
        f"{ratios.min():.2f} {np.median(ratios):.2f} {ratios.max():.2f}",
        str(int(np.count_nonzero((ratios >= 0.5) & (ratios <= 2.0)))),
        str(sum(each.covered for each in outcomes)),
        f"{np.median([each.times for each in outcomes]):.0f}",
    ]


def synthetic(count: int, first: int, large: bool) -> Iterator[list[str]]:
    """Rows of made-up problems."""
    seeds = range(first, first + count)
    for noise in NOISE:
        for n, wrong in SIZES + (LARGE if large else ()):
            title = f"σ {noise:g}, {n} pairs, {100 * wrong:g} % wrong"
            yield row(title, [outcome(made_up(n, wrong, noise, seed)) for seed in seeds])
    for kind in ("off_centre", "clustered", "second_motion", "plane"):
        pairs = [made_up(2000, 0.9, 0.01, seed, outliers=kind) for seed in seeds]
        yield row(f"σ 0.01, 2000 pairs, 90 % wrong, {kind}", [outcome(pair) for pair in pairs])
    for cloud in ("teapot", "ellipsoid"):
        for noise in NOISE:
            pairs = [made_up(2000, 0.9, noise, seed, cloud=cloud) for seed in seeds]
            yield row(f"{cloud}, σ {noise:g}, 2000 pairs, 90 % wrong", [outcome(pair) for pair in pairs])
    for unit, away in ((1000.0, 0.0), (1000.0, 5e5), (1e-3, 0.0), (1.0, 1e6)):
        pairs = [made_up(2000, 0.9, 0.01, seed, unit, away) for seed in seeds]
        yield row(f"× {unit:g}, {away:g} away, 2000 pairs, 90 % wrong", [outcome(pair) for pair in pairs])


def real(folder: Path) -> Iterator[list[str]]:
    """Rows of real pairs, undecidable ones left out."""
    skipped = real_pairs.undecidable(folder, None)
    kinds: dict[str, list[Outcome]] = {}
    for path in real_pairs.files(folder):
        if path.stem not in skipped:
            pair = real_pairs.read(path)
            found = outcome(pair)
            kinds.setdefault(pair.dataset, []).append(found)
            if found.given != found.auto:
                console.print(
                    f"{path.stem}: {'right' if found.auto else 'wrong'}, bound {found.ratio:.2f} times that given"
                )
    for kind, outcomes in kinds.items():
        yield row(kind, outcomes)
    yield row("all real pairs", [each for outcomes in kinds.values() for each in outcomes])


def main(
    data: Annotated[Path | None, typer.Option(help="Folder of real pairs; made-up problems alone without.")] = None,
    count: Annotated[int, typer.Option(min=0, help="Made-up problems of a kind.")] = 20,
    first: Annotated[int, typer.Option(help="Seed of the first of them.")] = 0,
    large: Annotated[bool, typer.Option("--large", help="With 10⁵ pairs, too.")] = False,
) -> None:
    """The noise bound that is estimated against the one that is given."""
    rows = list(synthetic(count, first, large)) if count else []
    if data is not None:
        rows += real(data)
    show("Noise bounds", COLUMNS, rows)


if __name__ == "__main__":
    typer.run(main)
