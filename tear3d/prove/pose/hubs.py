"""Where poses can save much, found by turning about one pair after the other (mathematics.md, section 9.5).

A pose that saves more than T saves more than T / K with one of K parts of the pairs; there it is best at some pair. For
each pair of each part, cells of rotations are bounded by what the others of its part can save; what is left are small
cells, with the translations that put that pair where it belongs.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits
from tear3d.problem.losses import CM, TEAR, Loss
from tear3d.problem.objective import Scored
from tear3d.problem.pairs import Pairs
from tear3d.prove.bounds.spokes import THIRDS, Reach, Spokes, make_spokes, search_spokes
from tear3d.prove.certificate import POSE
from tear3d.prove.domains.rotations import FACES, rotations_at
from tear3d.prove.pose.lots import make_lot, units
from tear3d.prove.pose.nodes import FACE, HIGH, LOW, VOTES, largest_angles
from tear3d.prove.pose.points import Packed, pack
from tear3d.prove.pose.sieve import followers_of
from tear3d.prove.pose.sift import Cells, Sifted
from tear3d.prove.stage import BOUND, PHASE

FEWEST_PAIRS, MOST_PAIRS = 400, 40_000
RARE = 0.05
"""What is saved, as a share of all that there is: where it is more, the search is fast."""
WORTH = 16.0
"""Parts are so many that each is asked for about what so many pairs can save, ..."""
FEWEST_MEMBERS = 100
"""... but have no fewer pairs than this."""
SMALL = 1.5
"""Cells are split until they turn a typical point by at most so many noise bounds, ..."""
DEEPEST = 9
"""... but not more often than this."""
STEPS = 256
"""Of the most that a pair saves."""
SAMPLE = 48
"""Hubs that are tried first."""
MOST_VISITS = 4e9
"""Spokes looked at in all, some nanoseconds each."""
MOST_CELLS = 3_000_000
"""Cells that may be left of all hubs: 40 bytes each."""
PIECE, ROOM = 16, 1 << 16
"""Hubs between two looks at the clock, and the most cells that they may leave. All free choices, part of no bound; made
on five of the real pairs at hand: of 4, 8 and 16 parts, and cells of 0.8, 1.5 and 2.5 ξ, these took least time."""

SMALLEST_XI, LARGEST = 1e-6, 1e8
"""Noise bounds must be larger, and coordinates smaller: float32 holds fourth powers of lengths in between."""
WIDER = 1.0 + 1e-9
"""Covers the roundings of how far a point is moved."""

Looked = tuple[NDArray[np.int64], int]


def fits(pairs: Pairs, loss: Loss, known: Scored) -> bool:
    """Whether the pairs are of the kind that is looked at here: all alike, and few of them right."""
    alike = len(pairs.xi) == 1 and len(pairs.w) == 1
    return alike and FEWEST_PAIRS <= len(pairs) <= MOST_PAIRS and 0.0 < known.saving <= RARE * pairs.total(loss)


def sift_by_hubs(pairs: Pairs, loss: Loss, known: Scored, limit: float, limits: Limits, threads: int) -> Sifted | None:
    """The pairs and the small cells that poses which save more than a limit are made of.

    Parameters
    ----------
    pairs : Pairs
        Such that they fit.
    loss : Loss
    known : Scored
        A good pose: cells are counted from it.
    limit : float
    limits : Limits
    threads : int
        The result is the same for any number.

    Returns
    -------
    Sifted or None
        None when it would take too long, or the time is over.
    """
    pose = known.pose.orthonormal()
    packed, lot = pack(pairs, loss, pose, threads=threads, limits=limits), make_lot(pairs, loss)
    if packed is None or lot is None or not _in_range(packed):
        return None
    plan = _Plan(packed, limit)
    everything = pairs.total(loss)
    crew: Crew[Spokes]
    with Crew(
        threads,
        limits,
        partial(make_spokes, plan.largest, plan.reach.levels),
        lambda: limits.report(POSE, known.saving, everything, 0.0),
    ) as crew:
        found = plan.all(crew) if plan.pays(crew) else None
    if found is None:
        return None
    numbers = packed.numbers(packed.voters, (0, packed.size))
    cores = [np.sort(numbers[part[plan.left[part] != 0]]).astype(np.int64) for part in plan.parts]
    followers: Crew[None]
    with Crew(threads, limits) as followers:
        index = followers_of(lot, cores, units(limit / len(cores), lot), followers)
    if index is None:
        return None
    place = np.full(len(pairs), -1, np.int64)
    place[index] = np.arange(len(index))
    found[:, 0] = place[numbers[found[:, 0]]]
    return Sifted(index, limit, Cells(pose, found[found[:, 0] >= 0], plan.reach.levels))


def _in_range(packed: Packed) -> bool:
    """Whether float32 holds the fourth powers of lengths (section 9.5)."""
    return packed.voters.xi[0] > SMALLEST_XI and float(np.abs(packed.voters.rows).max()) < LARGEST


class _Plan:
    """The parts, and what is asked of each."""

    def __init__(self, packed: Packed, limit: float) -> None:
        p, n = packed, packed.size
        xi, w = float(p.voters.xi[0]) + p.ballot.margin, float(p.pairs.w[0])
        cap = w * (xi if p.ballot.loss == TEAR else 1.0 if p.ballot.loss == CM else xi * xi)
        number = int(np.clip(round(limit / (cap * WORTH)), 1, max(1, n // FEWEST_MEMBERS)))
        order = np.random.default_rng(1).permutation(n).astype(np.int32)
        self.parts = [np.sort(part) for part in np.array_split(order, number)]
        self.largest, self.rows, self.allowed = len(self.parts[0]), p.voters.rows, p.allowed
        self.left, self.cells = np.zeros(n, np.uint8), 0
        turn = 2.0 * p.ballot.radius / THIRDS
        levels = int(np.clip(np.ceil(np.log2(turn / (SMALL * p.ballot.xi))), 0, DEEPEST))
        steps = int(np.floor(limit / number / (cap * (1.0 + 1e-12)) * STEPS))
        self.reach = Reach(xi, p.ballot.loss, STEPS, steps, levels)

    def pays(self, crew: Crew[Spokes]) -> bool:
        """Whether it should take few enough visits and leave few enough cells, from some hubs of the first part."""
        tried = self._look([(0, start) for start in range(0, min(SAMPLE, self.largest), PIECE)], crew)
        if tried is None:
            return False
        hubs = min(-(-SAMPLE // PIECE) * PIECE, self.largest)
        visits, cells = sum(visits for _, visits in tried), sum(len(found) for found, _ in tried)
        return max(visits / MOST_VISITS, cells / MOST_CELLS) * self.left.size <= hubs

    def all(self, crew: Crew[Spokes]) -> NDArray[np.int64] | None:
        """The cells that all hubs leave, as (hub, face, and three numbers of g)."""
        pieces = [(p, start) for p, part in enumerate(self.parts) for start in range(0, len(part), PIECE)]
        self.cells = 0
        done = self._look(pieces, crew)
        return None if done is None else np.concatenate([found for found, _ in done])

    def _look(self, pieces: list[tuple[int, int]], crew: Crew[Spokes]) -> list[Looked] | None:
        """What hubs leave, and visits; None when the time is over or too many cells are left."""

        def look(piece: tuple[int, int], spokes: Spokes) -> Looked | None:
            if crew.limits.over() or self.cells > MOST_CELLS:
                return None
            part, start = self.parts[piece[0]], piece[1]
            hubs, found = (start, min(len(part), start + PIECE)), np.empty((ROOM, 5), np.int64)
            count, visits = search_spokes(self.rows, part, hubs, self.reach, self.allowed, spokes, found, self.left)
            self.cells += min(count, ROOM)
            return None if count > ROOM else (found[:count].copy(), visits)

        done = [one for one in crew.map(look, pieces) if one is not None]
        whole = len(done) == len(pieces) and sum(len(found) for found, _ in done) <= MOST_CELLS
        return done if whole else None


def nodes_of(packed: Packed, cells: Cells, node: FloatArray, limits: Limits) -> FloatArray | None:
    """One for each cell, with the translations of all hubs that leave it, within those of a node of all rotations; None
    when the time is over."""
    side = THIRDS << cells.level
    keys = cells.found[:, 1:] @ np.array([side**3, side**2, side, 1])
    order = np.argsort(keys, kind="stable")
    keys, hubs = keys[order], cells.found[order, 0]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    keys = keys[starts]
    corners, size = np.column_stack([keys // side**k % side for k in (2, 1, 0)]).astype(np.float64), 2.0 / side
    nodes = np.zeros((len(keys), len(node)))
    nodes[:, BOUND], nodes[:, PHASE], nodes[:, FACE] = node[BOUND], VOTES, keys // side**3
    nodes[:, LOW : LOW + 3], nodes[:, HIGH : HIGH + 3] = -1.0 + corners * size, -1.0 + (corners + 1.0) * size
    place = np.empty(packed.size, np.int64)
    place[packed.numbers(packed.voters, (0, packed.size))] = np.arange(packed.size)
    places, ends = place[hubs], np.append(starts, len(hubs))
    first = 0
    while first < len(nodes):
        if limits.over():
            return None
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + ROOM, side="right")) - 1)
        span = slice(ends[first], ends[last])
        _place(packed, nodes[first:last], places[span], starts[first:last] - ends[first], node)
        first = last
    return np.asarray(nodes[np.all(nodes[:, LOW + 3 : LOW + 6] <= nodes[:, HIGH + 3 : HIGH + 6], axis=1)])


def _place(
    packed: Packed, nodes: FloatArray, hubs: NDArray[np.int64], starts: NDArray[np.int64], node: FloatArray
) -> None:
    """Give nodes boxes of t that hold y − R x ± ξ of their hubs, which begin at `starts`, within that of another."""
    which = np.repeat(np.arange(len(nodes)), np.diff(starts, append=len(hubs)))
    rows = packed.voters.rows[:, hubs].astype(np.float64)
    middle = 0.5 * (nodes[:, LOW : LOW + 3] + nodes[:, HIGH : HIGH + 3])
    turns = np.empty((len(nodes), 3, 3))
    for face in range(FACES):
        own = nodes[:, FACE] == face
        turns[own] = packed.chart @ rotations_at(face, middle[own])
    turned = np.einsum("nij,jn->ni", turns[which], rows[:3])
    # A turn by α moves x by 2 sin(α/2) |x| at most.
    moved = 2.0 * np.sin(0.5 * largest_angles(nodes))[which] * np.linalg.norm(rows[:3], axis=0)
    off = (moved * WIDER + float(packed.voters.xi[0]) + packed.ballot.margin)[:, None]
    low = np.minimum.reduceat(rows[3:].T - turned - off, starts)
    high = np.maximum.reduceat(rows[3:].T - turned + off, starts)
    nodes[:, LOW + 3 : LOW + 6] = np.maximum(low, node[LOW + 3 : LOW + 6])
    nodes[:, HIGH + 3 : HIGH + 6] = np.minimum(high, node[HIGH + 3 : HIGH + 6])
