"""`tear3d warmup`: compile before the first run."""

from __future__ import annotations

from time import perf_counter

import typer

from tear3d.cli.session import exit_on_errors


def warmup() -> None:
    """Compile the kernels now, so that the first real run starts at once."""
    from tear3d.problem.kernels import GROUPS, compile_groups

    with exit_on_errors():
        started = perf_counter()
        compile_groups(tuple(GROUPS), lambda group, seconds: typer.echo(f"{group:<14} {seconds:6.2f} s"))
        typer.echo(f"kernels are ready ({perf_counter() - started:.1f} s)")
