"""Are poses as far off as their covariances say?

For every problem the error e = (ω, v) of T⁻¹·T_true is measured in the terms of the covariance C that came with the
pose: eᵀ C⁻¹ e, which is 6 on average and below 12.59 in 95 of 100 cases if C is right and errors are Gaussian. Larger
means overconfident. Every row has problems of its own. About half an hour on one core, most of
it for 1 % right pairs and the largest noise::

    python -m benchmarks.uncertainty --seeds 200

With `--data` the problems are real pairs, grouped by the first word of their names, and what is shown is the root mean
square of √(eᵀ C⁻¹ e / 6), which is 1 if all is well, over the poses that are right::

    python -m benchmarks.uncertainty --data FOLDER
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
import typer
from scipy.spatial.transform import Rotation

from benchmarks import real_pairs
from benchmarks.output import OUT, console, count, percent, show, write_json
from tear3d.api import register
from tear3d.judge.uncertainty import carried
from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import LossName
from tear3d.result import Result
from tear3d.synthetic import Problem, make_problem

Shape = Literal["gaussian", "laplace", "uniform"]


class Row(NamedTuple):
    """Problems that differ in their seed only."""

    n: int
    outlier_ratio: float
    noise: float = 0.01
    factor: float = 1.0
    """Of the usual noise bound, 5.54 standard deviations of the noise."""
    loss: LossName = "tear"
    shape: Shape = "gaussian"
    """Of the noise, the variance being the same."""


SIZES = ((10_000, 0.99), (5_000, 0.99), (2_000, 0.95), (1_000, 0.5))
ROWS = (
    *(Row(n, ratio, noise) for noise in (0.001, 0.01, 0.05) for n, ratio in SIZES),
    *(Row(n, ratio, factor=factor) for factor in (0.4, 3.0) for n, ratio in SIZES[1:]),
    Row(100, 0.9),
    Row(200, 0.9),
    *(Row(n, ratio, loss="tls") for n, ratio in SIZES),
    *(Row(2_000, 0.95, factor=factor, loss="cm") for factor in (0.4, 1.0, 3.0)),
    *(Row(2_000, 0.95, loss="tear", shape=shape) for shape in ("laplace", "uniform")),
    *(Row(2_000, 0.95, loss="tls", shape=shape) for shape in ("laplace", "uniform")),
)


def squares(row: Row, seeds: range) -> list[float]:
    """eᵀ C⁻¹ e of every problem; infinite when the pose is wrong altogether or has no covariance."""
    out = []
    for seed in seeds:
        problem = make_problem(row.n, row.outlier_ratio, noise=row.noise, seed=seed)
        bound = row.factor * problem.noise_bound
        found = register(
            problem.source,
            _target(problem, row, seed),
            noise_bound=bound,
            loss=row.loss,
            certify=False,
            threads=1,
            seed=seed,
        )
        out.append(square(found, problem.transformation) if found.success else np.inf)
    return out


def _target(problem: Problem, row: Row, seed: int) -> FloatArray:
    """The target, with noise of the shape asked for at the right pairs."""
    if row.shape == "gaussian":
        return problem.target
    rng = np.random.default_rng((seed, len(row.shape)))
    exact = problem.source @ problem.rotation.T + problem.translation
    width = row.noise * (0.5**0.5 if row.shape == "laplace" else 3.0**0.5)
    noise = rng.laplace(0.0, width, exact.shape) if row.shape == "laplace" else rng.uniform(-width, width, exact.shape)
    return np.where(problem.inlier_mask[:, None], exact + noise, problem.target)


def square(found: Result, truth: FloatArray) -> float:
    """eᵀ C⁻¹ e of the error about the centre of the source; infinite without a covariance."""
    if not np.isfinite(found.covariance).all():
        return np.inf
    between = np.linalg.inv(found.transformation) @ truth
    shift = between[:3, :3] @ found.centre + between[:3, 3] - found.centre
    error = np.concatenate([Rotation.from_matrix(between[:3, :3]).as_rotvec(), shift])
    return float(error @ np.linalg.solve(carried(found.covariance, 1.0, -found.centre), error))


def real(folder: Path) -> list[dict[str, Any]]:
    """A record for every data set: what its right poses have."""
    found: dict[str, list[float]] = {}
    for path in real_pairs.files(folder):
        pair = real_pairs.read(path)
        result = register(pair.source, pair.target, noise_bound=pair.noise_bound, certify=False, threads=1)
        if pair.right(result.transformation):
            found.setdefault(path.stem.split("_")[0], []).append(square(result, pair.truth))
    return [{"data": name} | _summary(np.sqrt(np.array(values) / 6.0)) for name, values in found.items()]


def _summary(ratios: FloatArray) -> dict[str, float]:
    known = ratios[np.isfinite(ratios)]
    shown = (np.sqrt(np.mean(known**2)), np.median(known), known.max()) if len(known) else (np.nan,) * 3
    return {
        "poses": len(known),
        "rms": shown[0],
        "median": shown[1],
        "largest": shown[2],
        "without": len(ratios) - len(known),
    }


def main(
    seeds: Annotated[int, typer.Option(min=2, help="Problems per row.")] = 200,
    only: Annotated[str, typer.Option(help="Only rows of this loss, or with noise of this shape.")] = "",
    data: Annotated[Path | None, typer.Option(help="Folder of real pairs to take instead.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for uncertainty.json.")] = OUT,
) -> None:
    """Mean and 95 % quantile of the squares of normalised errors."""
    if data is not None:
        records = real(data)
        columns = ("data", "right poses", "root mean square", "median", "largest", "no covariance")
        shown = [tuple(f"{v:.2f}" if isinstance(v, float) else f"{v}" for v in record.values()) for record in records]
        show("√(eᵀ C⁻¹ e / 6), 1 if all is well", columns, shown)
        write_json(out / "uncertainty-real.json", {"rows": records})
        return
    table, made = [], []
    for number, row in enumerate(row for row in ROWS if only in ("", row.loss, row.shape)):
        began = time.perf_counter()
        values = np.array(squares(row, range(1000 * number, 1000 * number + seeds)))
        known = values[np.isfinite(values)]
        record: dict[str, Any] = row._asdict() | {
            "mean": float(known.mean()),
            "error_of_mean": float(known.std() / np.sqrt(len(known))),
            "quantile": float(np.quantile(known, 0.95)),
            "without": len(values) - len(known),
            "seconds": time.perf_counter() - began,
        }
        made.append(record)
        table.append(
            (
                f"{row.loss}, {count(row.n)} pairs, {percent(row.outlier_ratio)} wrong",
                f"{row.noise:g} {row.shape}",
                f"× {row.factor:g}",
                f"{record['mean']:.2f} ± {record['error_of_mean']:.2f}",
                f"{record['quantile']:.1f}",
                f"{record['without']}",
            )
        )
        console.print("  ".join(table[-1]))
    show(
        f"Squares of normalised errors, {seeds} problems each",
        ("problem", "noise", "noise bound", "mean (6)", "95 % below (12.6)", "no pose"),
        table,
        ["noise bound: relative to the usual 5.54 standard deviations of the noise"],
    )
    write_json(out / "uncertainty.json", {"settings": {"seeds": seeds}, "rows": made})


if __name__ == "__main__":
    typer.run(main)
