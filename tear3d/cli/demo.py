"""`tear3d demo`: a problem with a known answer, solved and shown."""

from __future__ import annotations

from typing import Annotated

import typer

from tear3d.cli import options
from tear3d.cli.outputs import Outputs
from tear3d.cli.session import Session, exit_on_errors, finish, solve


def demo(
    context: typer.Context,
    pairs: Annotated[int, typer.Option(min=3, help="Number of pairs.")] = 10_000,
    outliers: options.Outliers = 0.95,
    seed: options.Seed = 0,
    out: options.Out = None,
    report: options.Report = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Register a teapot whose matches are almost all wrong, and compare with the truth.

    \b
    Examples:
      tear3d demo --report demo.html
      tear3d demo --pairs 100000 --outliers 0.99
    """
    outputs = Outputs(out, report)
    with exit_on_errors(context), Session(context, quiet=quiet) as session:
        from tear3d.lab.synthetic import make_problem

        outputs.check([])
        problem = make_problem(pairs, outliers, cloud="teapot", seed=seed)
        show = not (quiet or as_json)
        if show:
            from tear3d.cli import render

            render.print_demo_task(problem)
        result = solve(session, problem.source, problem.target, noise_bound=problem.noise_bound)
        session.bar.stop()
        if show:
            render.print_demo_picture(problem, result)
        from tear3d.cli.folder import Run

        run = Run(
            result,
            problem.source,
            problem.target,
            result.to_dict(),
            title=f"A teapot, {100 * outliers:g} % of its matches wrong",
            noise_bound=problem.noise_bound,
            truth=problem.transformation,
        )
        finish(session, run, outputs, [], as_json=as_json, truth=problem)
        if show and outputs == Outputs():
            typer.echo("next: tear3d demo --report demo.html, and open that page in a browser")
