"""How each group of kernels is compiled: by calls of them with little data."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tear3d.cli.entries import entries_for_calls
from tear3d.cli.remembered import types_remembered
from tear3d.cli.shortcuts import shortcuts
from tear3d.problem.kernels import DOUBLE_LIMIT, settle

if TYPE_CHECKING:
    from tear3d.problem.pairs import Pairs
    from tear3d.prove.domains.allowed import Allowed


def compile_here(names: Sequence[str]) -> None:
    """Compile groups of `tear3d.problem.kernels.GROUPS` in this process, which does nothing else."""
    settle()
    gc.disable()  # a compiler makes many small things that live on: looking through them takes a tenth of its time
    with types_remembered(), shortcuts(), entries_for_calls():
        for name in names:
            RECIPES[name]()


def _pivots(dtype: str = "float32") -> None:
    import numpy as np

    from tear3d.find.pivots import Aim, search_pivots

    rows = np.random.default_rng(0).normal(size=(7, 16)).astype(dtype)
    search_pivots(rows, Aim(0, 0.5, 1.0, 0.5), 0, 1, 4.0, np.empty((1, 12)), np.empty(1))


def _upright(dtype: str = "float32") -> None:
    import numpy as np

    from tear3d.find.upright import UprightAim, search_upright

    rows = np.random.default_rng(0).normal(size=(7, 16)).astype(dtype)
    search_upright(rows, UprightAim(0, 0.5, 0.0, 0.5, False), 0, 1, 4.0, np.empty((1, 12)), np.empty(1))


def _ascents() -> None:
    from tear3d.find.pool import Pool
    from tear3d.judge.chance import Chance
    from tear3d.problem import ranks
    from tear3d.problem.limits import Limits
    from tear3d.problem.losses import LOSSES
    from tear3d.problem.pose import Pose

    pairs = _some_pairs()
    ranks.load()
    found = Pool(pairs, LOSSES["tear"], lambda pose: 0.0, Limits()).offer(Pose.identity().row)
    Chance(pairs)(found.pose)


def _some_pairs(*, prior: bool = False) -> Pairs:
    import numpy as np

    from tear3d.problem.pairs import Pairs
    from tear3d.problem.prior import Prior

    x = np.random.default_rng(0).normal(size=(50, 3))
    return Pairs.of(x, x, 0.05).confined(Prior.of(rotation_axis=(0, 0, 1)) if prior else None)


def _some_allowed(prior: bool) -> Allowed | None:
    import numpy as np

    from tear3d.prove.pose.confined import allowed_for

    given, frame = _some_pairs(prior=prior).prior, (np.eye(3), np.zeros(3), np.zeros(3))
    return None if given is None else allowed_for(given, frame[0], frame, 0.0)


def _votes(*, prior: bool = False) -> None:
    import numpy as np

    from tear3d.problem.losses import TEAR
    from tear3d.prove.bounds.groups import no_groups
    from tear3d.prove.bounds.voters import Voters
    from tear3d.prove.bounds.votes import Ballot
    from tear3d.prove.pose.cells import BEGINNING, make_cell_scratch, search_cells
    from tear3d.prove.pose.nodes import roots

    allowed = _some_allowed(prior)
    one = np.ones(1, np.float32)
    voters = Voters(np.zeros((6, 1), np.float32), one, one.astype(np.int32), np.empty(0, np.int32))
    scratch = make_cell_scratch(voters, 1, 1)
    scratch.nodes[0] = roots(-np.ones(3), np.ones(3), 1.0)[0]
    ballot = Ballot(1.0, 0.0, 1.0, 1.0, TEAR, 1)
    search_cells(voters, no_groups(1), ballot, allowed, 0.5, BEGINNING, scratch, 1, 1)


def _confined_votes() -> None:
    from tear3d.prove.domains.allowed import angle_of_cosine

    _votes(prior=True)
    _lengths(prior=True)
    angle_of_cosine(1.0)


def _tallies() -> None:
    import numpy as np

    from tear3d.problem.losses import TEAR
    from tear3d.prove.bounds.tallies import cast_votes, count_votes, mark_voters, pick_voters
    from tear3d.prove.bounds.voters import BLOCK, Copies, Voters
    from tear3d.prove.bounds.votes import Ballot, make_booth
    from tear3d.prove.pose.nodes import FACE, LIST, roots
    from tear3d.stream.scene import seat

    one = np.ones(1, np.float32)
    voters = Voters(np.zeros((6, 1), np.float32), one, one.astype(np.int32), np.zeros(1, np.int32))
    ballot, booth = Ballot(1.0, 0.0, 1.0, 1.0, TEAR, 1), make_booth()
    node = roots(-np.ones(3), np.ones(3), 1.0)[0][FACE:LIST]
    copies = Copies(voters, 0, 1, np.zeros(1, np.int64), np.zeros(BLOCK, np.uint8), booth.block)
    pick_voters(voters, (0, 1), node, 0.0, copies)
    cast_votes(voters, (0, 1), node, False, ballot, booth)
    count_votes(node, 0.5, ballot, booth.grid)
    for dtype in (np.float32, np.float64):
        x, zero = np.zeros((1, 3), dtype), np.zeros(3)
        seat(x, x, (zero, zero, 1.0), (np.eye(3), zero, zero), voters.rows)
    mark_voters(voters, (0, 1), node, 0.0, booth.block, np.zeros(1, np.uint8))


def _slopes(*, single: bool = True, prior: bool = False) -> None:
    import numpy as np

    from tear3d.problem.limits import Limits
    from tear3d.problem.losses import LOSSES
    from tear3d.problem.pose import Pose
    from tear3d.prove.bounds.groups import find_leaves, tree_of
    from tear3d.prove.pose.nodes import BOXES, roots
    from tear3d.prove.pose.stage import WholePose
    from tear3d.prove.stage import PHASE, Task
    from tear3d.prove.whole import farthest_move

    pairs, pose = _some_pairs(prior=prior), Pose.identity()
    stage = WholePose(pairs, LOSSES["tear"], pose, single=single)
    packed, work = stage.packed, stage.workspace()
    assert packed is not None
    nodes = roots(packed.low, packed.high, packed.ceiling)[:1]  # those of the stage are found by votes
    nodes[0, PHASE] = BOXES
    stage.search(nodes, Task(1.0, 0.01, 1, Limits()), work)
    if single:
        x, none = pairs.x, np.zeros(len(pairs), np.uint8)
        find_leaves(x, tree_of(x, 1), none, np.zeros(2, np.int64))  # for many pairs only
        farthest_move(pairs, pose, pose)


def _confined_slopes() -> None:
    import numpy as np

    from tear3d.prove.domains.allowed import permits

    _slopes(prior=True)
    permits(_some_allowed(True), 0, np.zeros(6))


def _lengths(*, prior: bool = False) -> None:
    import numpy as np

    from tear3d.problem.losses import LOSSES
    from tear3d.prove.bounds.lengths import find_company, find_followers, find_friends
    from tear3d.prove.pose.lots import make_lot, take_lot
    from tear3d.prove.pose.sieve import no_friends

    pairs = _some_pairs(prior=prior)
    every = np.arange(len(pairs))
    lot = make_lot(pairs, LOSSES["tear"])
    assert lot is not None
    lot, left = take_lot(lot, every), np.zeros(len(every), np.uint8)
    friends = no_friends(lot)
    find_friends(lot, 0, len(every), friends)
    find_company(lot, friends, every, 1, left)
    find_followers(lot, 0, len(every), lot, np.array([len(every)]), 1, left)


def _hubs(*, prior: bool = False) -> None:
    import numpy as np

    from tear3d.problem.losses import TEAR
    from tear3d.prove.bounds.spokes import Reach, make_spokes, search_spokes

    rows, members, left = np.zeros((6, 1), np.float32), np.zeros(1, np.int32), np.zeros(1, np.uint8)
    reach, found = Reach(1.0, TEAR, 1, 9, 0), np.zeros((1, 5), np.int64)
    search_spokes(rows, members, (0, 1), reach, _some_allowed(prior), make_spokes(1, 0), found, left)


def _confined_hubs() -> None:
    import numpy as np

    from tear3d.prove.bounds.spokes import KNOWN, reaches

    _hubs(prior=True)
    place = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    reaches(_some_allowed(True), np.zeros(KNOWN, np.float32), place, place, 1.0)


def _rows(pairs: int = 100, across: bool = False, **options: object) -> None:
    import numpy as np

    from tear3d.problem.options import Options
    from tear3d.prove.row.problem import RowProblem
    from tear3d.prove.row.solve import solve_row

    x, axes = np.random.default_rng(0).normal(size=(pairs, 3)), np.eye(3)
    given = RowProblem(x, x, np.array([0.05]), np.ones(1), np.zeros(3), axes[0], 0.0, axes[2] if across else None)
    chosen = Options.of(certify="rows", rel_gap=0.1, threads=1, node_limit=100, **options)  # type: ignore[arg-type]
    # From the right row there would be nothing to search.
    solve_row(given, (axes[1], 0.0), chosen, chosen.limits(), "first row")


def _sweeps() -> None:
    for across in (True, False):  # rectangles come last: they tell that all is there
        for bounds, loss in (("sharp", "cm"), ("sharp", "tls"), ("sweep", "tear"), ("paper", "tear")):
            _rows(across=across, bounds=bounds, loss=loss)


def _clouds() -> None:
    import numpy as np

    from tear3d.clouds.describe import Description
    from tear3d.clouds.refine import refine_icp
    from tear3d.clouds.turns import Field
    from tear3d.features.matching import match
    from tear3d.features.tree import Tree
    from tear3d.lab.shapes import teapot

    cloud = teapot(500)
    description = Description("fpfh", "iss", 1)
    features = description.features(cloud, 0.2, lambda done: None)
    match(features, features)
    description.rows(cloud, 0.2, features, lambda done: None)
    Tree(cloud).clusters(0.1)
    Field(cloud).misfits(cloud, np.eye(3)[None], cloud.mean(axis=0))
    for method in ("gicp", "icp", "plane"):
        refine_icp(cloud, cloud, np.eye(4), method=method, voxel_size=0.1)


def _in_turn(*recipes: Callable[[], object]) -> Callable[[], object]:
    """One after the other: of two processes that write versions of a kernel into the cache, one might be lost."""
    return lambda: [recipe() for recipe in recipes]


# All of a kind are also those of a prior, in the other precision, and for gaps of less than some thousandths.
RECIPES: dict[str, Callable[[], object]] = {
    "rows": _rows,
    "all rows": _in_turn(_rows, partial(_rows, DOUBLE_LIMIT + 1)),
    "votes": _votes,
    "confined votes": _confined_votes,
    "all votes": _in_turn(_votes, _confined_votes),
    "tallies": _tallies,
    "slopes": _slopes,
    "confined slopes": _confined_slopes,
    "all slopes": _in_turn(_slopes, partial(_slopes, single=False), _confined_slopes),
    "pivots": _pivots,
    "all pivots": _in_turn(partial(_pivots, "float64"), _pivots),
    "upright": _upright,
    "all upright": _in_turn(partial(_upright, "float64"), _upright),
    "ascents": _ascents,
    "lengths": _lengths,
    "hubs": _hubs,
    "confined hubs": _confined_hubs,
    "all hubs": _in_turn(_hubs, _confined_hubs),
    "clouds": _clouds,
    "sweeps": _sweeps,
}
