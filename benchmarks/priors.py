"""What it is worth to know something of a pose: right answers, and the time of the proof against that among all poses.

`python -m benchmarks.priors [--seeds 20] [--largest 1e6] [--data DIR]`: the noise and outliers of the paper, turns
about the vertical; times of the proof alone, best of three, all in one process; over many problems of a kind, whose
times differ, best of five by turns. With --data, the real pairs of DIR: the prior is then made from the true pose.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import tear3d
from benchmarks import real_pairs
from benchmarks.output import console, show
from tear3d.problem.turns import turn_about

UP = (0.0, 0.0, 1.0)
COLUMNS = ("pairs", "wrong", "known", "right", "proven", "answer, s", "proof, s", "all poses / this")
REPEATS, BY_TURNS = 3, 5
LIMIT = 60.0


class Made(NamedTuple):
    """Pairs and their motion."""

    source: np.ndarray
    target: np.ndarray
    truth: np.ndarray
    noise_bound: float


def made(n: int, wrong: float, seed: int, lean: float = 0.0) -> Made:
    """A motion that turns about the vertical, up to a lean in degrees."""
    rng = np.random.default_rng([seed, n])
    across = turn_about(np.array(UP), rng.uniform(-math.pi, math.pi))[0]
    rotation = turn_about(across, math.radians(lean)) @ turn_about(np.array(UP), rng.uniform(-math.pi, math.pi))
    problem = tear3d.synthetic.make_problem(n, wrong, rotation=rotation, seed=seed)
    return Made(problem.source, problem.target, problem.transformation, problem.noise_bound)


def near(truth: np.ndarray, degrees: float, distance: float) -> np.ndarray:
    """A pose half as far from the truth as a prior allows."""
    out = truth.copy()
    out[:3, :3] = turn_about(np.array([0.6, 0.0, 0.8]), 0.5 * math.radians(degrees)) @ truth[:3, :3]
    out[:3, 3] += 0.5 * distance / math.sqrt(3.0)
    return out


def priors(truth: np.ndarray, size: float) -> Iterator[tuple[str, dict[str, Any]]]:
    """What may be known of a pose; the first is nothing."""
    axis = [truth[:3, :3].T @ UP, UP]
    yield "nothing", {}
    for degrees, distance in ((72.0, None), (60.0, size), (20.0, 0.3 * size)):
        words = f"within {degrees:g}°" + ("" if distance is None else f", {distance / size:g} radii")
        initial = near(truth, degrees, distance or 0.0)
        yield words, {"initial": initial, "within": (degrees, distance)}
    yield "axis, 3°", {"rotation_axis": axis, "axis_tolerance": 3.0}
    yield "axis", {"rotation_axis": axis}
    yield "rotation", {"rotation": truth[:3, :3]}


def proof_seconds(given: Made, options: dict[str, Any]) -> tuple[float, float, tear3d.Result]:
    """Seconds to the answer and for the proof, the best of some."""
    best, answer = math.inf, math.inf
    for _ in range(REPEATS):
        began = time.perf_counter()
        tear3d.register(given.source, given.target, noise_bound=given.noise_bound, certify=False, **options)
        answer = min(answer, time.perf_counter() - began)
        found = tear3d.register(given.source, given.target, noise_bound=given.noise_bound, time_limit=LIMIT, **options)
        best = min(best, found.seconds.get("pose", math.nan))
        if best > 5.0:
            break
    return answer, best, found


def ratios(n: int, wrong: float, seeds: int) -> Iterator[tuple[str, str, str, str, str]]:
    """Over problems of a kind: for what is known, the mean and the median of the time, how many times longer all of
    them take together when nothing is, and the median of how many times longer each takes."""
    seconds: dict[str, list[float]] = {}
    for seed in range(seeds):
        given = made(n, wrong, seed)
        size = radius_of(given)
        kinds: dict[str, dict[str, Any]] = {
            "nothing": {},
            "within a tenth: 18°, 0.3 radii": {
                "initial": near(given.truth, 18.0, 0.3 * size),
                "within": (18.0, 0.3 * size),
            },
            "axis": {"rotation_axis": [given.truth[:3, :3].T @ UP, UP]},
        }
        best = dict.fromkeys(kinds, math.inf)
        for _ in range(BY_TURNS):
            for words, options in kinds.items():
                found = tear3d.register(given.source, given.target, noise_bound=given.noise_bound, **options)
                best[words] = min(best[words], found.seconds["pose"] if found.proven else math.inf)
        for words, least in best.items():
            seconds.setdefault(words, []).append(least)
    free = np.array(seconds["nothing"])
    for words, own in seconds.items():
        taken, times = f"{np.mean(own):.4f}", f"{free.sum() / sum(own):.1f}"
        yield words, taken, f"{np.median(own):.4f}", times, f"{np.median(free / own):.1f}"


def radius_of(given: Made) -> float:
    """Of the source: how far a point is from the middle, in the root mean square."""
    return float(np.sqrt(np.mean(np.sum((given.source - given.source.mean(axis=0)) ** 2, axis=1))))


def right(result: tear3d.Result, given: Made, degrees: float = 2.0) -> bool:
    turn = tear3d.metrics.rotation_error(result.transformation, given.truth)
    return bool(turn < degrees)


def _table(problems: list[tuple[str, Made]]) -> None:
    rows = []
    for wrong, given in problems:
        free = math.nan
        for words, options in priors(given.truth, radius_of(given)):
            answer, proof, found = proof_seconds(given, options)
            free = proof if words == "nothing" else free
            rows.append(
                (
                    f"{len(given.source)}",
                    wrong,
                    words,
                    "yes" if right(found, given) else "no",
                    "yes" if found.proven else f"gap {found.certificate.gap:.2g}",
                    f"{answer:.4f}",
                    f"{proof:.4f}",
                    f"{free / proof:.1f}",
                )
            )
        console.print(f"{len(given.source)} pairs done")
    show("What it is worth to know something of a pose", COLUMNS, rows)


def _counts(seeds: int) -> None:
    kinds: list[tuple[str, int, float, float, dict[str, Any]]] = [
        ("axis", 1000, 0.99, 0.0, {"rotation_axis": UP}),
        ("axis", 100_000, 0.999, 0.0, {"rotation_axis": UP}),
        ("axis 2° off, tolerance 3°", 1000, 0.99, 2.0, {"rotation_axis": UP, "axis_tolerance": 3.0}),
    ]
    rows = []
    for words, n, wrong, lean, options in kinds:
        good = proven = 0
        for seed in range(seeds):
            given = made(n, wrong, seed, lean)
            found = tear3d.register(given.source, given.target, noise_bound=given.noise_bound, **options)
            good, proven = good + right(found, given), proven + found.proven
        rows.append((words, f"{n}", f"{100.0 * wrong:g} %", f"{good} of {seeds}", f"{proven} of {seeds}"))
    show("Right answers", ("known", "pairs", "wrong", "right", "proven"), rows)


def main(
    seeds: Annotated[int, typer.Option(help="Problems of a kind.")] = 20,
    largest: Annotated[float, typer.Option(help="The most pairs.")] = 1e6,
    data: Annotated[Path | None, typer.Option(help="A folder of real pairs.")] = None,
    names: Annotated[str, typer.Option(help="Only real pairs whose names contain this.")] = "",
) -> None:
    """Measure."""
    if data is not None:
        found = []
        left_out = real_pairs.undecidable(data, None)
        for pair in map(real_pairs.read, real_pairs.files(data)):
            if names in pair.name and pair.name not in left_out:
                centre = pair.source.mean(axis=0)
                truth = np.array(pair.truth, float)
                u, _, vt = np.linalg.svd(truth[:3, :3])
                truth[:3, 3], truth[:3, :3] = truth[:3, :3] @ centre + truth[:3, 3], u @ vt
                found.append((pair.name, Made(pair.source - centre, pair.target, truth, pair.noise_bound)))
        _table(found)
        return
    _counts(seeds)
    for n, some in ((1_000, seeds), (10_000, -(-seeds // 2)), (100_000, -(-seeds // 3))):
        title = f"Proofs of {some} problems of {n} pairs, 99 % wrong"
        columns = ("known", "mean, s", "median, s", "all poses / this", "median of each")
        show(title, columns, list(ratios(n, 0.99, some)))
    sizes = [(1000, 0.99), (10_000, 0.99), (100_000, 0.99), (1_000_000, 0.994), (10_000_000, 0.998)]
    _table([(f"{100.0 * wrong:g} %", made(n, wrong, 0)) for n, wrong in sizes if n <= largest])


if __name__ == "__main__":
    typer.run(main)
