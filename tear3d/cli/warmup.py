"""`tear3d warmup`: compile before the first run."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import typer

import tear3d
from tear3d.cli.options import Loss
from tear3d.cli.session import exit_on_errors

# Above this size the search stores its points in float32, which is compiled separately.
_LARGE = 60_000


def warmup() -> None:
    """Compile the kernels now, so that the first real run starts at once."""
    with exit_on_errors():
        started = perf_counter()
        for name, run in (
            ("register", lambda: _register(200)),
            ("register, many pairs", lambda: _register(_LARGE)),
            ("clouds", _clouds),
            ("other losses", _other_losses),
        ):
            _timed(name, run)
        typer.echo(f"kernels are ready ({perf_counter() - started:.1f} s)")


def _timed(name: str, run: Callable[[], object]) -> None:
    began = perf_counter()
    run()
    typer.echo(f"{name:<20} {perf_counter() - began:6.2f} s")


def _register(pairs: int, loss: str = "tear") -> None:
    from tear3d.synthetic import make_problem

    problem = make_problem(pairs, 0.5)
    tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, loss=loss)


def _other_losses() -> None:
    for loss in Loss:
        if loss is not Loss.tear:
            _register(200, loss.value)


def _clouds() -> None:
    from tear3d.shapes import teapot

    cloud = teapot(2000)
    tear3d.register_clouds(cloud, cloud, keypoints="iss", refine=None, certify=False)
    tear3d.register_clouds(cloud, cloud, refine=None, certify=False)
