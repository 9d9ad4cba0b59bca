"""`tear3d synth`: a file of pairs with a known answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tear3d.cli import options, saying
from tear3d.cli.outputs import check_file
from tear3d.cli.session import exit_on_errors


def synth(
    context: typer.Context,
    out: Annotated[
        Path, typer.Argument(metavar="FILE", help="File to write: .npz (with the truth), .npy, .csv or .txt.")
    ],
    pairs: Annotated[int, typer.Option(min=1, help="Number of pairs.")] = 10_000,
    outliers: options.Outliers = 0.95,
    cloud: Annotated[options.Cloud, typer.Option(help="Where the source points come from.")] = options.Cloud.gaussian,
    kind: Annotated[options.Kind, typer.Option(help="What the wrong pairs look like.")] = options.Kind.gaussian,
    noise: Annotated[float, typer.Option(min=0.0, help="Standard deviation of right pairs' noise.")] = 0.01,
    scale: Annotated[float, typer.Option(help="Of the right pairs: target = scale · rotation · source + ...")] = 1.0,
    seed: options.Seed = 0,
) -> None:
    """Write a problem with a known answer.

    \b
    Examples:
      tear3d synth pairs.npz --pairs 10000 --outliers 0.95
      tear3d synth pairs.csv --cloud teapot --kind second_motion --seed 7

    A .npz file also carries the noise bound and the truth: transformation and inlier_mask.
    """
    with exit_on_errors(context):
        from tear3d.io.pairs import write_pairs
        from tear3d.lab.synthetic import make_problem

        check_file(out)
        problem = make_problem(
            pairs, outliers, cloud=cloud.value, outliers=kind.value, noise=noise, scale=scale, seed=seed
        )
        carried: dict[str, Any] = {}
        bound = f" --noise-bound {problem.noise_bound:.6g}"
        if out.suffix.lower() == ".npz":
            carried = {"transformation": problem.transformation, "inlier_mask": problem.inlier_mask}
            if noise > 0:
                carried["noise_bound"] = problem.noise_bound
                bound = ""
        out.parent.mkdir(parents=True, exist_ok=True)
        write_pairs(out, problem.source, problem.target, **carried)
        saying.wrote(out, f": {pairs} pairs, {problem.inlier_mask.sum()} of them right")
        if noise > 0:
            typer.echo(f"next: tear3d register {out}{bound}{'' if scale == 1.0 else ' --scale'}")
