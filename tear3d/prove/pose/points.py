"""The pairs packed for the compiled search, in coordinates where the incumbent is the identity."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import Loss
from tear3d.problem.pairs import Block, Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.groups import SAMPLE, Groups, depth_for, find_leaves, no_groups, tree_of
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.bounds.votes import Ballot
from tear3d.prove.domains.rotations import rotation_at
from tear3d.prove.pose.home import Home, gather, gather_voters, settle

LEVELS = 1024
"""Savings are rounded up to this many steps for the votes (free choice), or fewer: ..."""
MOST_VOTES = 2**30
"""... the sum of all ballots fits into the int32 of a voxel."""
UNIT, SINGLE = 2.0**-53, 2.0**-24
"""Relative error of one rounding, in float64 and in float32."""
TURNED, PLACED, GIVEN, DEFECT = 256.0, 32.0, 4.0, 16.0
"""Roundings of a residual in units of |x|, of |y − t|, of the coordinates as given and of the Gram matrix of the
incumbent's rotation: mathematics.md, section 8.4, counts 124, 14, 3.5 and 9."""
UNIT_UP = 1.0 + 1e-12
"""Covers the four roundings of a ballot (section 7.3)."""
SINGLE_UP = np.float32(1.0 + 2.0**-22)
"""Covers the rounding of ξ to float32."""
MANY = 100_000
"""More pairs than this vote on one grid at a time (free choice)."""
CHUNK = 1 << 20
"""Pairs packed by one thread at a time (free choice)."""
PIECE = 1 << 17
"""Pairs looked at together for how far away they are."""
TIPS = 16
"""Points at the ends of the cloud, by which a pose is seen to lie elsewhere (free choice)."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Pairs as R0 (x − m), y − s for an incumbent (R0, t0), the mean m of x and s = t0 + R0 m."""

    pairs: Pairs
    voters: Voters
    groups: Groups
    ballot: Ballot
    eps: float
    """Bound of the length of the rounding error of a residual, per point; everything from the pairs given on, ..."""
    single_eps: float
    """... and when they were rounded to float32, as voters are."""
    low: FloatArray
    high: FloatArray
    """A box of t outside which nothing is saved."""
    ceiling: float
    """At least Σ w·cap."""
    farthest: float
    """At least the largest |x − m|."""
    tips: FloatArray
    """Some points at the ends of the cloud."""
    rotation: FloatArray
    shift: FloatArray
    mean: FloatArray

    @property
    def size(self) -> int:
        return len(self.pairs)

    def pose(self, face: int, g: FloatArray, t: FloatArray) -> Pose:
        """The pose for the pairs as given, from a chart point and a translation for the packed ones."""
        rotation = rotation_at(face, g) @ self.rotation
        return Pose(rotation, t + self.shift - rotation @ self.mean)

    def gather(self, index: NDArray[np.int32], node: FloatArray, home: Home, points: NDArray[Any]) -> int:
        """Write some pairs, about the middle of a box as their home, into `points`; returns where they end."""
        settle(node, home)
        return gather(self.pairs, (self.rotation, self.mean, self.shift), index, home, points)

    def gather_voters(
        self, voters: Voters, span: tuple[int, int], node: FloatArray, home: Home, points: NDArray[Any]
    ) -> int:
        """The same for voters, in single precision."""
        settle(node, home)
        return int(gather_voters(voters, *span, self.pairs.w, home, points))


LOWEST, HIGHEST, LARGEST_X = 0, 3, 6
"""Columns of the extent of some pairs: of a box of t, then the largest |x − m|² and |y − s|, the largest number given,
and Σ|x − m|²."""


def no_extent() -> FloatArray:
    return np.array([np.inf] * 3 + [-np.inf] * 3 + [0.0] * 4)


@njit(cache=True, nogil=True)
def _fill(x, y, xi, first, groups, frame, rows, order, extent):
    """Write pairs, the first of which has number `first`, as R0 (x − m) and y − s, sorted by leaves if there are any:
    groups are (leaf of each, where the next of each leaf goes)."""
    rotation, mean, shift = frame
    leaves, following = groups
    shared, apart = xi.size == 1, leaves.size > 0
    largest_y = largest = squares = largest_x = 0.0
    for i in range(x.shape[0]):
        k = first + i
        if apart:
            k = following[leaves[i]]
            following[leaves[i]] += 1
            order[k] = first + i
        a, b, c = x[i, 0] - mean[0], x[i, 1] - mean[1], x[i, 2] - mean[2]
        square = 0.0
        for row in range(3):
            turned = rotation[row, 0] * a + rotation[row, 1] * b + rotation[row, 2] * c
            rows[row, k] = turned
            square += turned * turned
        reach = np.sqrt(square) + xi[0 if shared else i]
        for row in range(3):
            placed = y[i, row] - shift[row]
            rows[3 + row, k] = placed
            largest_y = max(largest_y, abs(placed))
            largest = max(largest, abs(x[i, row]), abs(y[i, row]))
            extent[LOWEST + row] = min(extent[LOWEST + row], placed - reach)
            extent[HIGHEST + row] = max(extent[HIGHEST + row], placed + reach)
        largest_x = max(largest_x, square)
        squares += square
    # One by one: a slice would take seconds to compile.
    extent[LARGEST_X], extent[LARGEST_X + 1], extent[LARGEST_X + 2] = largest_x, largest_y, largest
    extent[LARGEST_X + 3] = squares


class Filled(NamedTuple):
    """Rows of voters, which pair each is (empty when they are in order), where groups begin, and the extent of all."""

    rows: NDArray[np.float32]
    order: NDArray[np.int32]
    starts: NDArray[np.int64]
    extent: FloatArray


def fill(pairs: Pairs, frame: tuple[FloatArray, FloatArray, FloatArray], threads: int) -> Filled:
    """Voters of pairs in a frame (rotation, mean, shift)."""
    rows = np.empty((6, len(pairs)), np.float32)
    with ThreadPoolExecutor(threads) as pool:
        leaves, places = _leaves(pairs, pool)
        order, starts = np.empty(len(leaves), np.int32), np.append(places[0], len(pairs))

        def fill_block(block: Block, following: NDArray[np.int64]) -> FloatArray:
            extent, groups = no_extent(), (leaves[block.rows], following)
            _fill(block.x, block.y, block.xi, block.rows.start, groups, frame, rows, order, extent)
            return extent

        extents = np.array(list(pool.map(fill_block, pairs.blocks(CHUNK), places)))
    lowest, highest = extents[:, LOWEST : LOWEST + 3].min(axis=0), extents[:, HIGHEST:-1].max(axis=0)
    return Filled(rows, order, starts, np.concatenate([lowest, highest, [extents[:, -1].sum()]]))


def pack(pairs: Pairs, loss: Loss, pose: Pose, cloud: Pairs | None = None, threads: int = 1) -> Packed:
    """Pack pairs around a pose with a nearly orthonormal rotation: at least one pair, all with w ξ > 0.

    They may be a part of a cloud, whose size tells what is elsewhere. The result is the same for any number of threads.
    """
    n = len(pairs)
    mean = pairs.x.mean(axis=0)
    shift = pose.translation + pose.rotation @ mean
    rows, order, starts, extent = fill(pairs, (pose.rotation, mean, shift), threads)
    low, high = extent[LOWEST : LOWEST + 3], extent[HIGHEST : HIGHEST + 3]
    largest_x, largest_y, given, squares = extent[LARGEST_X:]
    largest_x = np.sqrt(largest_x) * (1.0 + 1e-12)
    largest_xi = float(pairs.xi.max())
    away = 2.0 * (largest_x + 2.0 * largest_y + largest_xi)  # at least |y − t|₂ of any point and any t of the search
    defect = float(np.linalg.norm(pose.rotation.T @ pose.rotation - np.eye(3))) + DEFECT * UNIT
    eps = UNIT * (TURNED * largest_x + PLACED * away + GIVEN * given) + defect * largest_x
    margin = eps + SINGLE * (TURNED * largest_x + PLACED * away)
    most = pairs.w * loss.caps(pairs.xi)
    ballots, unit = _ballots(most, n)
    xi = pairs.xi.astype(np.float32) * SINGLE_UP
    if len(order):
        ballots, xi = (values if len(values) == 1 else values[order] for values in (ballots, xi))
    return Packed(
        pairs=pairs,
        voters=Voters(rows, xi, ballots, order),
        groups=_groups(rows, starts),
        ballot=Ballot(unit, margin, float(np.median(pairs.xi)), float(np.sqrt(squares / n)), loss.code, MANY),
        eps=eps,
        single_eps=eps + SINGLE * (largest_x + away),
        low=low - 2.0 * margin,
        high=high + 2.0 * margin,
        ceiling=float(np.sum(most)) * (n if most.size == 1 else 1) * (1.0 + 2.0 * UNIT * (n + 2)),
        farthest=(largest_x if cloud is None else _farthest(cloud, mean, pose)) + eps,
        tips=_ends(pose.rotation @ (pairs.x[:: max(1, n // SAMPLE)] - mean).T),
        rotation=pose.rotation,
        shift=shift,
        mean=mean,
    )


def _leaves(pairs: Pairs, pool: ThreadPoolExecutor) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Groups of pairs that are close together in the source, none when they are too few; and where the first of each
    block of pairs and each group goes when they are sorted by groups."""
    n, depth = len(pairs), depth_for(len(pairs))
    blocks = list(pairs.blocks(CHUNK))
    counts, leaves = np.zeros((len(blocks), 2**depth), np.int64), np.empty(n if depth else 0, np.uint8)
    if depth:
        tree = tree_of(pairs.x[:: max(1, n // SAMPLE)], depth)
        list(pool.map(lambda b, count: find_leaves(b.x, tree, leaves[b.rows], count), blocks, counts))
    else:
        counts[:, 0] = [len(block.x) for block in blocks]
    before = np.cumsum(counts.T).reshape(2**depth, len(blocks)).T - counts
    return leaves, before


def _groups(rows: NDArray[np.float32], starts: NDArray[np.int64]) -> Groups:
    """Groups of voters about their means."""
    n = rows.shape[1]
    if len(starts) == 2:
        return no_groups(n)
    centres, squares = np.zeros((len(starts) - 1, 3)), 0.0
    for k, (start, stop) in enumerate(pairwise(starts.tolist())):
        if stop > start:
            part = rows[:3, start:stop]
            centres[k] = part.mean(axis=1, dtype=np.float64).astype(np.float32)
            squares += float(np.sum((part - centres[k][:, None].astype(np.float32)) ** 2))
    return Groups(starts, centres, float(np.sqrt(squares / n)))


def _farthest(cloud: Pairs, mean: FloatArray, pose: Pose) -> float:
    """At least the largest |x − m|, turned by a nearly orthonormal rotation."""
    largest = max(float(np.max(np.sum((block.x - mean) ** 2, axis=1))) for block in cloud.blocks(PIECE))
    return float(np.sqrt(largest) * np.linalg.norm(pose.rotation, 2)) * (1.0 + 1e-12)


def _ends(turned: FloatArray) -> FloatArray:
    """Points at the ends of a cloud (3×N), as rows: the farthest along some directions."""
    directions = np.random.default_rng(0).normal(size=(TIPS, 3))
    return np.asarray(turned.T[np.argmax(directions @ turned, axis=1)])


def _ballots(most: FloatArray, n: int) -> tuple[NDArray[np.int32], float]:
    """⌈cap / unit⌉ of every pair, and the unit."""
    largest = float(most.max())
    levels = max(1, min(LEVELS, MOST_VOTES // n))
    ballots = np.maximum(1, np.ceil(most / largest * levels)).astype(np.int32)
    if ballots.min() == ballots.max():
        ballots = ballots[:1]
    return ballots, largest / levels * UNIT_UP
