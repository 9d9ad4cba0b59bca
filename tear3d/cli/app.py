"""The commands."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import tear3d
from tear3d.cli.session import check_output, exit_on_bad_input, finish, solve

if TYPE_CHECKING:
    from tear3d.io.pairs import Pairs

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


class Loss(StrEnum):
    tear = "tear"
    cm = "cm"
    tls = "tls"


class Bounds(StrEnum):
    sharp = "sharp"
    sweep = "sweep"


class Cloud(StrEnum):
    gaussian = "gaussian"
    teapot = "teapot"
    ellipsoid = "ellipsoid"


class Kind(StrEnum):
    gaussian = "gaussian"
    off_centre = "off_centre"
    clustered = "clustered"
    second_motion = "second_motion"
    plane = "plane"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors (and --json).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of the summary.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Also write the result to this JSON file.", show_default=False),
]
Seed = Annotated[int, typer.Option(min=0, help="Same seed, same problem.")]
Outliers = Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of wrong pairs.")]


def main() -> None:
    """Entry point of the `tear3d` command."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    app(prog_name="tear3d")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tear3d {tear3d.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Certified 3D registration of point pairs when almost all of them are wrong.

    \b
    Try it:
      tear3d demo
      tear3d synth pairs.npz --pairs 10000 --outliers 0.95
      tear3d register pairs.npz --out result.json

    Exit codes: 0 registered, 2 bad input, 3 no consensus or stopped before the proof was complete.
    """


@app.command()
def register(
    pairs: Annotated[
        Path, typer.Argument(help="Pairs: .npz (source, target), .npy (N×6), .csv or .txt (6 columns).")
    ],
    noise_bound: Annotated[
        float | None,
        typer.Option(
            "--noise-bound",
            "-n",
            help="Largest distance, in the units of the points, between a right pair's target and its moved "
            "source. Needed unless the file carries one.",
            show_default=False,
        ),
    ] = None,
    loss: Annotated[
        Loss, typer.Option(help="tear: truncated absolute residuals; cm: consensus; tls: truncated squares.")
    ] = Loss.tear,
    time_limit: Annotated[
        float | None, typer.Option(help="Stop after this many seconds, keep the best.", show_default=False)
    ] = None,
    node_limit: Annotated[
        int | None, typer.Option(help="Stop after this many cells, keep the best.", show_default=False)
    ] = None,
    rel_gap: Annotated[float, typer.Option(help="Proven when no pose saves this share more.")] = 1e-3,
    threads: Annotated[
        int | None, typer.Option(help="Number of threads; all unless given.", show_default=False)
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify/--no-certify", help="Prove the result optimal, or only find it.")
    ] = True,
    bounds: Annotated[
        Bounds, typer.Option(help="sharp: fast bounds; sweep: the paper's, for comparison.")
    ] = Bounds.sharp,
    out: Out = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Find the pose that agrees with the most pairs, and prove that none does better.

    \b
    Examples:
      tear3d register pairs.npz
      tear3d register pairs.csv --noise-bound 0.05 --out result.json
      tear3d register pairs.npy -n 0.05 --time-limit 60 --json
    """
    with exit_on_bad_input():
        check_output(out)
        problem = _read(pairs, noise_bound)
        result = solve(
            problem.source,
            problem.target,
            noise_bound=problem.noise_bound,
            weights=problem.weights,
            loss=loss.value,
            time_limit=time_limit,
            node_limit=node_limit,
            rel_gap=rel_gap,
            threads=threads,
            certify=certify,
            bounds=bounds.value,
            quiet=quiet,
        )
        finish(result, out=out, quiet=quiet, as_json=as_json)


@app.command()
def synth(
    out: Annotated[Path, typer.Argument(help="File to write: .npz (with the truth), .npy, .csv or .txt.")],
    pairs: Annotated[int, typer.Option(min=1, help="Number of pairs.")] = 10_000,
    outliers: Outliers = 0.95,
    cloud: Annotated[Cloud, typer.Option(help="Where the source points come from.")] = Cloud.gaussian,
    kind: Annotated[Kind, typer.Option(help="What the wrong pairs look like.")] = Kind.gaussian,
    noise: Annotated[float, typer.Option(min=0.0, help="Standard deviation of right pairs' noise.")] = 0.01,
    seed: Seed = 0,
) -> None:
    """Write a problem with a known answer.

    \b
    Examples:
      tear3d synth pairs.npz --pairs 10000 --outliers 0.95
      tear3d synth pairs.csv --cloud teapot --kind second_motion --seed 7

    A .npz file also carries the noise bound and the truth: transformation and inlier_mask.
    """
    with exit_on_bad_input():
        from tear3d.io.pairs import write_pairs
        from tear3d.synthetic import make_problem

        check_output(out)
        problem = make_problem(
            pairs, outliers, cloud=cloud.value, outliers=kind.value, noise=noise, seed=seed
        )
        carried: dict[str, Any] = {}
        bound = f" --noise-bound {problem.noise_bound:.6g}"
        if out.suffix.lower() == ".npz":
            carried = {"transformation": problem.transformation, "inlier_mask": problem.inlier_mask}
            if noise > 0:
                carried["noise_bound"] = problem.noise_bound
                bound = ""
        write_pairs(out, problem.source, problem.target, **carried)
        typer.echo(f"wrote {out}: {pairs} pairs, {problem.inlier_mask.sum()} of them right")
        if noise > 0:
            typer.echo(f"next: tear3d register {out}{bound}")


@app.command()
def demo(
    pairs: Annotated[int, typer.Option(min=3, help="Number of pairs.")] = 10_000,
    outliers: Outliers = 0.95,
    seed: Seed = 0,
    out: Out = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Register a teapot whose matches are almost all wrong, and compare with the truth.

    \b
    Examples:
      tear3d demo
      tear3d demo --pairs 100000 --outliers 0.99
    """
    with exit_on_bad_input():
        from tear3d.cli import render
        from tear3d.synthetic import make_problem

        check_output(out)
        problem = make_problem(pairs, outliers, cloud="teapot", seed=seed)
        show = not (quiet or as_json)
        if show:
            render.print_demo_task(problem)
        result = solve(problem.source, problem.target, noise_bound=problem.noise_bound, quiet=quiet)
        if show:
            render.print_demo_picture(problem, result)
        finish(result, out=out, quiet=quiet, as_json=as_json, truth=problem)


@app.command()
def warmup() -> None:
    """Compile the kernels now, so that the first real run starts at once."""
    with exit_on_bad_input():
        from time import perf_counter

        from tear3d.synthetic import make_problem

        problem = make_problem(200, 0.5)
        started = perf_counter()
        for loss in Loss:
            begun = perf_counter()
            tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, loss=loss.value)
            typer.echo(f"loss {loss.value:<4}  {perf_counter() - begun:6.2f} s")
        typer.echo(f"kernels are ready ({perf_counter() - started:.1f} s)")


def _read(path: Path, noise_bound: float | None) -> Pairs:
    from tear3d.errors import InputError
    from tear3d.io.pairs import read_pairs

    problem = read_pairs(path)
    if noise_bound is not None:
        problem = problem._replace(noise_bound=noise_bound)
    if problem.noise_bound is None:
        raise InputError(f"{path} carries no noise bound: pass --noise-bound, in the units of the points")
    return problem
