"""Compile the kernels once, ahead of use.

The compiled code goes to Numba's cache on disk, where every later process finds it. Numba's compiler holds a lock, so
each part is compiled in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

# Above this size the search stores its points in float32, which is compiled separately.
_LARGE = 60_000


def is_cold() -> bool:
    """Whether the search has never been compiled by this installation, as far as the usual places tell."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [Path(__file__).parents[1], Path.home() / ".cache" / "numba"]
    return not any(next(place.rglob("subtree.search_subtree*.nbi"), None) for place in places)


def compile_kernels(
    parts: tuple[str, ...] = ("search", "candidates"), tell: Callable[[str, float], object] | None = None
) -> None:
    """Compile parts of the library, as many at once as there are cores; `tell` hears (part, seconds).

    A part that fails is left to the run that needs it, which then says why.
    """
    cores = max(1, os.cpu_count() or 1)
    with ThreadPoolExecutor(cores) as pool:
        for part, seconds in pool.map(_compile, parts):
            if tell is not None:
                tell(part, seconds)


def _compile(part: str) -> tuple[str, float]:
    started = perf_counter()
    command = [sys.executable, "-c", f"from tear3d.cli.kernels import PARTS; PARTS[{part!r}]()"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return part, perf_counter() - started


def _register(pairs: int = 300, **options: object) -> None:
    import tear3d

    problem = tear3d.synthetic.make_problem(pairs, 0.5)
    tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, **options)  # type: ignore[arg-type]


def _search() -> None:
    import numpy as np

    from tear3d.problem.options import Options
    from tear3d.prove.row.problem import RowProblem
    from tear3d.prove.row.solve import solve_row

    x, axis = np.random.default_rng(0).normal(size=(100, 3)), np.eye(3)[0]
    problem = RowProblem(x, x, np.array([0.05]), np.ones(1), np.zeros(3), axis, 0.0)
    options = Options.of(rel_gap=0.1, threads=1)
    wrong = np.eye(3)[1]  # from the right row there would be nothing to search
    solve_row(problem, (wrong, 0.0), options, options.limits(), "first row")


def _losses() -> None:
    for loss in ("cm", "tls"):
        _register(loss=loss)


def _clouds() -> None:
    import tear3d
    from tear3d.lab.shapes import teapot

    cloud = teapot(2000)
    tear3d.register_clouds(cloud, cloud, keypoints="iss", refine=None, certify=False)
    tear3d.register_clouds(cloud, cloud, certify=False)


PARTS: dict[str, Callable[[], None]] = {
    "search": _search,
    "candidates": lambda: _register(certify=False),
    "many pairs": lambda: _register(_LARGE),
    "clouds": _clouds,
    "other losses": _losses,
}
