"""`tear3d warmup`: compile before the first run."""

from __future__ import annotations

from time import perf_counter

import typer

from tear3d.cli.session import exit_on_errors


def warmup() -> None:
    """Compile the kernels now, so that the first real run starts at once."""
    from tear3d.problem.kernels import WARMUP, compile_groups

    with exit_on_errors():
        started = perf_counter()
        failed = compile_groups(WARMUP, lambda groups, seconds: typer.echo(f"{groups}: {seconds:.1f} s"))
        if failed:
            from tear3d.cli.kernels import RECIPES

            typer.echo(f"{', '.join(failed)}: that failed, once more in this process", err=True)
            for name in failed:
                RECIPES[name]()
        typer.echo(f"kernels are ready ({perf_counter() - started:.1f} s)")
