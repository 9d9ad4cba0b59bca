"""Compile the kernels once, ahead of use, on two cores: Numba's compiler holds a lock, so each part is a process.

The compiled code goes to Numba's cache on disk, where this and every later process finds it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np


def is_cold() -> bool:
    """Whether the search has never been compiled by this installation (as far as the usual cache place tells)."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    place = Path(chosen) if chosen else Path(__file__).parent
    return next(place.rglob("subtree.search_subtree*.nbi"), None) is None


def compile_in_parallel() -> None:
    """Compile everything that `register` needs for problems of ordinary size; a failure is left to the real run."""
    running = [
        subprocess.Popen([sys.executable, "-m", "tear3d.warmup", part], stderr=subprocess.DEVNULL) for part in PARTS
    ]
    try:
        for process in running:
            process.wait()
    finally:
        for process in running:
            process.kill()


def _candidates() -> None:
    import tear3d

    problem = tear3d.synthetic.make_problem(300, 0.5)
    tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, certify=False)


def _search() -> None:
    from tear3d.search.limits import Limits
    from tear3d.search.points import pack_points
    from tear3d.search.sharp import solve_sharp

    x = np.random.default_rng(0).normal(size=(100, 3))
    row = pack_points(
        x,
        x,
        np.array([0.05]),
        np.ones(1),
        centre=np.zeros(3),
        direction=np.eye(3)[0],
        offset=0.0,
        double=True,
    )
    solve_sharp(row, rel_gap=0.1, limits=Limits(node_limit=1), threads=1, incumbent=(np.eye(3)[0], 0.0))


PARTS: dict[str, Callable[[], None]] = {"search": _search, "candidates": _candidates}

if __name__ == "__main__":
    PARTS[sys.argv[1]]()
