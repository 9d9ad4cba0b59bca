"""Compile the kernels once, ahead of use.

The compiled code goes to Numba's cache on disk, where every later process finds it. Numba's compiler holds a lock, so
each group of kernels is compiled in a process of its own. Groups share no kernel that takes long.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tear3d.prove.pose.stage import WholePose

# Above this size the proof stores its points in float32, which is compiled separately.
_LARGE = 60_000


class Group(NamedTuple):
    """Kernels that are compiled together."""

    compile: Callable[[], object]
    kernel: str
    """Module and name of the one that is compiled last: when it is in the cache, all are."""
    seconds: int
    """About what it takes on one core of a few years ago."""
    after: bool = False
    """It runs whole registrations, and finds the kernels of the others in the cache."""


def cold(names: Sequence[str]) -> list[str]:
    """Those of some groups that were never compiled by this installation, as far as the usual places tell."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    places = [Path(chosen)] if chosen else [Path(__file__).parents[1], Path.home() / ".cache" / "numba"]
    known = {entry.name.split("-")[0] for place in places for entry in place.rglob("*.nbi")}
    return [name for name in names if GROUPS[name].kernel not in known]


def expected_seconds(names: Sequence[str]) -> int:
    """About how long these groups take together, to the next five seconds."""
    total = sum(GROUPS[name].seconds for name in names)
    return 5 * -(-max(total // _cores(), *(GROUPS[name].seconds for name in names)) // 5)


def compile_kernels(names: Sequence[str], tell: Callable[[str, float], object] | None = None) -> None:
    """Compile groups, as many at once as there are cores; `tell` hears (group, seconds).

    A group that fails is left to the run that needs it, which then says why.
    """
    for later in (False, True):
        with ThreadPoolExecutor(_cores()) as pool:
            for name, seconds in pool.map(_compile, [name for name in names if GROUPS[name].after == later]):
                if tell is not None:
                    tell(name, seconds)


def _cores() -> int:
    return max(1, os.cpu_count() or 1)


def _compile(name: str) -> tuple[str, float]:
    started = perf_counter()
    command = [sys.executable, "-c", f"from tear3d.cli.kernels import GROUPS; GROUPS[{name!r}].compile()"]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return name, perf_counter() - started


def _register(pairs: int = 300, **options: object) -> None:
    import tear3d

    problem = tear3d.synthetic.make_problem(pairs, 0.5)
    tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound, **options)  # type: ignore[arg-type]


def _pivots() -> None:
    import numpy as np

    from tear3d.find.pivots import Aim, search_pivots

    rows = np.random.default_rng(0).normal(size=(7, 16)).astype(np.float32)
    search_pivots(rows, Aim(0, 0.5, 1.0, 0.5), 0, 1, 4.0, np.empty((1, 12)), np.empty(1))


def _ascents() -> None:
    import numpy as np

    from tear3d.find.ascent import climb
    from tear3d.judge.chance import Chance
    from tear3d.problem.losses import LOSSES
    from tear3d.problem.pairs import Pairs
    from tear3d.problem.pose import Pose

    x = np.random.default_rng(0).normal(size=(50, 3))
    pairs = Pairs.of(x, x, 0.05)
    pose, _ = climb(pairs, Pose.identity(), LOSSES["tear"])
    Chance(pairs)(pose)


def _stage() -> WholePose:
    import numpy as np

    from tear3d.problem.losses import LOSSES
    from tear3d.problem.pairs import Pairs
    from tear3d.problem.pose import Pose
    from tear3d.prove.pose.stage import WholePose

    x = np.random.default_rng(0).normal(size=(50, 3))
    return WholePose(Pairs.of(x, x, 0.05), LOSSES["tear"], Pose.identity())


def _votes() -> None:
    import numpy as np

    from tear3d.prove.bounds.groups import find_leaves, tree_of
    from tear3d.prove.pose.cells import CellState, search_cells

    stage = _stage()
    packed, x = stage.packed, stage.pairs.x
    assert packed is not None
    find_leaves(x, tree_of(x, 1), np.zeros(len(x), np.uint8), np.zeros(2, np.int64))  # for many pairs only
    scratch = stage.workspace().cells
    scratch.nodes[0], scratch.segment[0] = stage.roots()[0], 0
    search_cells(packed.voters, packed.groups, packed.ballot, 1.0, CellState(1, 0, 0, 0.0, 0, 0), scratch, 1, 1)


def _slopes() -> None:
    from tear3d.problem.limits import Limits
    from tear3d.prove.pose.nodes import roots
    from tear3d.prove.stage import PHASE, Task

    stage = _stage()
    packed = stage.packed
    assert packed is not None
    nodes = roots(packed.low, packed.high, packed.ceiling)[:1]  # those of the stage are found by votes
    nodes[0, PHASE] = 1
    stage.search(nodes, Task(1.0, 0.01, 1, Limits()), stage.workspace())


def _lengths() -> None:
    import numpy as np

    from tear3d.prove.bounds.lengths import find_company, find_followers, find_friends
    from tear3d.prove.pose.lots import make_lot, take_lot
    from tear3d.prove.pose.sieve import no_friends

    stage = _stage()
    every = np.arange(len(stage.pairs))
    lot = make_lot(stage.pairs, stage.loss)
    assert lot is not None
    lot, left = take_lot(lot, every), np.zeros(len(every), np.uint8)
    friends = no_friends(lot)
    find_friends(lot, 0, len(every), friends)
    find_company(lot, friends, every, 1, left)
    find_followers(lot, 0, len(every), lot, np.array([len(every)]), 1, left)


def _rows() -> None:
    import numpy as np

    from tear3d.problem.options import Options
    from tear3d.prove.row.problem import RowProblem
    from tear3d.prove.row.solve import solve_row

    x, axis = np.random.default_rng(0).normal(size=(100, 3)), np.eye(3)[0]
    problem = RowProblem(x, x, np.array([0.05]), np.ones(1), np.zeros(3), axis, 0.0)
    options = Options.of(rel_gap=0.1, threads=1)
    wrong = np.eye(3)[1]  # from the right row there would be nothing to search
    solve_row(problem, (wrong, 0.0), options, options.limits(), "first row")


def _features() -> None:
    from tear3d.clouds.describe import Description
    from tear3d.features.matching import match
    from tear3d.lab.shapes import teapot

    cloud = teapot(500)
    description = Description("fpfh", "iss", 1)
    features = description.features(cloud, 0.2, lambda done: None)
    match(features, features)
    description.rows(cloud, 0.2, features, lambda done: None)


def _refinement() -> None:
    import numpy as np

    from tear3d.clouds.refine import refine_icp
    from tear3d.clouds.turns import Field
    from tear3d.lab.shapes import teapot

    cloud = teapot(500)
    Field(cloud).misfits(cloud, np.eye(3)[None], cloud.mean(axis=0))
    for method in ("gicp", "icp", "plane"):
        refine_icp(cloud, cloud, np.eye(4), method=method, voxel_size=0.1)


def _losses() -> None:
    for loss in ("cm", "tls"):
        _register(loss=loss)


GROUPS: dict[str, Group] = {
    "rows": Group(_rows, "subtree.search_subtree", 30),  # the longest first
    "votes": Group(_votes, "cells.search_cells", 15),
    "slopes": Group(_slopes, "boxes.search_boxes", 10),
    "pivots": Group(_pivots, "pivots.search_pivots", 9),
    "ascents": Group(_ascents, "chance._repaired_hits", 7),
    "lengths": Group(_lengths, "lengths.find_followers", 5),
    "features": Group(_features, "iss._local_maxima", 5),
    "refinement": Group(_refinement, "equations._error", 5),
    "many pairs": Group(lambda: _register(_LARGE), "", 20, after=True),
    "other losses": Group(_losses, "", 20, after=True),
}
ANSWER = ("pivots", "ascents")
"""What an answer without proof needs."""


def needed(*, proof: bool = True, clouds: bool = False) -> tuple[str, ...]:
    """The groups that a command needs."""
    return (
        *(("votes", "slopes", "lengths") if proof else ()),
        *ANSWER,
        *(("features", "refinement") if clouds else ()),
    )
