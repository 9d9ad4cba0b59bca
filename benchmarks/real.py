"""Real correspondences: how many of our poses are right, how exact, how fast, and what is called a success wrongly.

FOLDER holds one npz per pair of scans with src, dst (N×3), T_gt (4×4) and xi (benchmarks/real_pairs.py); by default
what TEAR3D_DATA names. Right is judged by the customary limits: 3DMatch 15° and 0.3 m, KITTI 5° and 0.6 m, ETH 3° and
0.5 m, others 5° and 3ξ. Errors and F1 are medians over the pairs that are right. Undecidable pairs, whose truth is not
the largest consensus, are counted apart. Prints tables; writes real.json and real.svg::

    python -m benchmarks.real FOLDER --no-certify
    python -m benchmarks.real FOLDER --skip undecidable.json
    python -m benchmarks.real FOLDER --shuffled 100    # meaningless pairs: how many are called a success?
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import tear3d
from benchmarks import real_pairs
from benchmarks.measure import warm_up
from benchmarks.output import OUT, console, seconds, show, write_json, write_picture
from benchmarks.real_pairs import FloatArray, RealPair
from benchmarks.svg import Line, Panel, figure
from tear3d.errors import InputError
from tear3d.metrics import precision_recall_f1, rotation_error, translation_error

SETS = (*real_pairs.DATA_SETS.values(), "other")


@dataclass(frozen=True)
class Outcome:
    """Our answer for one pair."""

    pair: str
    dataset: str
    decidable: bool
    n: int
    inliers: int
    seconds: float
    right: bool
    rotation_error: float
    translation_error: float
    f1: float
    status: str


Solver = Callable[[RealPair], tuple[FloatArray, str]]


def our_solver(certify: bool, threads: int | None, time_limit: float | None) -> Solver:
    def solve(pair: RealPair) -> tuple[FloatArray, str]:
        result = tear3d.register(
            pair.source,
            pair.target,
            noise_bound=pair.noise_bound,
            certify=certify,
            threads=threads,
            time_limit=time_limit,
        )
        return result.transformation, result.status

    return solve


def judge(solve: Solver, pair: RealPair, decidable: bool) -> Outcome:
    """Solve a pair and compare the pose with the truth."""
    started = time.perf_counter()
    pose, status = solve(pair)
    elapsed = time.perf_counter() - started
    turn, shift = rotation_error(pose, pair.truth), translation_error(pose, pair.truth)
    limits = pair.limits
    return Outcome(
        pair=pair.name,
        dataset=pair.dataset,
        decidable=decidable,
        n=len(pair.source),
        inliers=int(pair.inlier_mask.sum()),
        seconds=elapsed,
        right=bool(turn <= limits.rotation and shift <= limits.translation),
        rotation_error=turn,
        translation_error=shift,
        f1=precision_recall_f1(pair.within(pose), pair.inlier_mask).f1,
        status=status,
    )


def shuffled(pairs: list[RealPair], number: int, solve: Solver, seed: int = 0) -> list[dict[str, Any]]:
    """Solve pairs whose targets are permuted, which leaves nothing to find, going round the folder."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(number):
        pair = pairs[k % len(pairs)]
        mixed = RealPair(pair.name, pair.source, rng.permutation(pair.target), pair.truth, pair.noise_bound)
        started = time.perf_counter()
        _, status = solve(mixed)
        found.append({"pair": pair.name, "status": status, "seconds": time.perf_counter() - started})
    return found


def show_outcomes(outcomes: list[Outcome]) -> None:
    """One table: a row for each data set, decidable pairs only."""
    counted = [o for o in outcomes if o.decidable]
    parts = {name: [o for o in counted if name in (o.dataset, "all")] for name in (*SETS, "all")}
    show(
        "Real pairs",
        ("data set", "right", "recall", "F1", "rotation", "translation", "median time", "slowest"),
        [_summary(name, part) for name, part in parts.items() if part],
        ["F1 and errors: medians over the pairs that are right (translation in units of the data)"],
    )


def _summary(dataset: str, part: list[Outcome]) -> list[str]:
    right = [o for o in part if o.right]

    def middle(key: str) -> float:
        return statistics.median(getattr(o, key) for o in right) if right else float("nan")

    return [
        dataset,
        f"{len(right)}/{len(part)}",
        f"{100 * len(right) / len(part):.0f} %",
        f"{middle('f1'):.3f}",
        f"{middle('rotation_error'):.2f}°",
        f"{middle('translation_error'):.3g}",
        seconds(statistics.median(o.seconds for o in part)),
        seconds(max(o.seconds for o in part)),
    ]


def show_misses(outcomes: list[Outcome]) -> None:
    """What we got wrong, and what we said about it; then the undecidable pairs."""
    for title, chosen in (
        ("Wrong", [o for o in outcomes if o.decidable and not o.right]),
        ("Undecidable (not counted above)", [o for o in outcomes if not o.decidable]),
    ):
        if chosen:
            show(title, ("pair", "inliers", "status", "rotation", "translation", "time"), [_miss(o) for o in chosen])


def _miss(o: Outcome) -> list[str]:
    errors = [f"{o.rotation_error:.1f}°", f"{o.translation_error:.3g}"]
    return [o.pair, f"{o.inliers}/{o.n}", o.status, *errors, seconds(o.seconds)]


def picture(outcomes: list[Outcome]) -> str:
    """How many pairs are right within a time, and within a rotation error, one line for each data set."""
    counted = [o for o in outcomes if o.decidable]
    sets = [name for name in SETS if any(o.dataset == name for o in counted)]
    panels = [
        Panel(title, axis, "pairs", [_steps(name, counted, key) for name in sets], log_y=False)
        for title, axis, key in (
            ("right within a time", "seconds", "seconds"),
            ("right within a rotation error", "degrees", "rotation_error"),
        )
    ]
    return figure(f"{len(counted)} real pairs", panels)


def _steps(dataset: str, outcomes: list[Outcome], key: str) -> Line:
    values = sorted(max(getattr(o, key), 1e-4) for o in outcomes if o.dataset == dataset and o.right)
    start = [(values[0], 0.0)] if values else []
    return Line(dataset, start + [(value, k + 1.0) for k, value in enumerate(values)], step=True)


def main(
    folder: Annotated[Path | None, typer.Argument(help="Folder of npz files; default: TEAR3D_DATA.")] = None,
    certify: Annotated[bool, typer.Option(help="Prove the answers.")] = True,
    threads: Annotated[int | None, typer.Option(min=1, help="All cores by default.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds per pair.")] = 60.0,
    only: Annotated[str, typer.Option(help="Only pairs whose names contain this.")] = "",
    skip: Annotated[
        Path | None, typer.Option(help="JSON list of undecidable pairs; default: a README's table.")
    ] = None,
    shuffles: Annotated[int, typer.Option("--shuffled", min=0, help="Solve so many shuffled pairs instead.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for real.json and real.svg.")] = OUT,
) -> None:
    """Recall, errors and time on real pairs."""
    folder = folder or real_pairs.default_folder()
    try:
        apart = real_pairs.undecidable(folder, skip)
        pairs = [real_pairs.read(path) for path in real_pairs.files(folder) if only in path.stem]
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    if not pairs:
        raise typer.BadParameter(f"no pair in {folder} has {only!r} in its name", param_hint="--only")
    console.print(f"{len(pairs)} pairs; kernels compiled or loaded in {warm_up(threads):.1f} s")
    ours = our_solver(certify, threads, time_limit)
    if shuffles:
        _report_shuffled(shuffled(pairs, shuffles, ours), out)
        return
    outcomes = []
    for pair in pairs:
        with console.status(f"{pair.name} …"):
            outcomes.append(judge(ours, pair, pair.name not in apart))
    show_outcomes(outcomes)
    show_misses(outcomes)
    settings = {"certify": certify, "threads": threads, "time_limit": time_limit}
    write_json(out / "real.json", {"settings": settings, "outcomes": [asdict(o) for o in outcomes]})
    write_picture(out / "real.svg", picture(outcomes))


def _report_shuffled(found: list[dict[str, Any]], out: Path) -> None:
    fooled = [row for row in found if row["status"] != "no_consensus"]
    middle = statistics.median(row["seconds"] for row in found)
    console.print(f"shuffled pairs: {len(fooled)} of {len(found)} called a success, median {seconds(middle)}")
    for row in fooled:
        console.print(f"  {row['pair']}: {row['status']}")
    write_json(out / "shuffled.json", {"called_success": len(fooled), "runs": found})


if __name__ == "__main__":
    typer.run(main)
