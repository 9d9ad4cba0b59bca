"""The pairs packed for the compiled search, in coordinates where the incumbent is the identity."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray
from tear3d.problem.crew import Crew
from tear3d.problem.limits import Limits
from tear3d.problem.losses import Loss
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose
from tear3d.prove.bounds.groups import Groups, no_groups
from tear3d.prove.bounds.voters import Voters
from tear3d.prove.bounds.votes import Ballot
from tear3d.prove.domains.allowed import PLAIN, Allowed
from tear3d.prove.domains.rotations import rotation_at
from tear3d.prove.pose.confined import allowed_for, chart_of
from tear3d.prove.pose.filling import HIGHEST, LARGEST_X, LOWEST, fill, mean_of
from tear3d.prove.pose.home import Home, gather, settle
from tear3d.prove.pose.order import Order

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
PIECE = 1 << 17
"""Pairs looked at together for how far away they are."""
DIRECTIONS = np.random.default_rng(0).normal(size=(16, 3))
SOME = 4_096
"""The points at the ends of a cloud along these, of so many of its points, tell that a pose lies elsewhere (free
choices; products of more would wake the threads of BLAS, which stay awake and in the way of ours)."""


@dataclass(frozen=True, eq=False)
class Packed:
    """Pairs as Aᵀ R0 (x − m), y − s for an incumbent (R0, t0), the chart A, the mean m of x and s = t0 + R0 m."""

    pairs: Pairs
    voters: Voters
    order: Order
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
    allowed: Allowed | None = None
    """None for all."""

    @property
    def chart(self) -> FloatArray:
        """A."""
        return np.array(PLAIN if self.allowed is None else self.allowed.chart).reshape(3, 3)

    @property
    def size(self) -> int:
        return len(self.pairs)

    def pose(self, face: int, g: FloatArray, t: FloatArray) -> Pose:
        """The pose for the pairs as given, from a chart point and a translation for the packed ones."""
        rotation = self.chart @ rotation_at(face, g) @ self.rotation
        return Pose(rotation, t + self.shift - rotation @ self.mean)

    def numbers(self, voters: Voters, span: tuple[int, int]) -> NDArray[np.int32]:
        """Which pairs some voters are."""
        copies = voters.index.size > 0
        return self.order.numbers(voters.index[slice(*span)] if copies else np.arange(*span, dtype=np.int32))

    def gather(self, index: NDArray[np.int32], node: FloatArray, home: Home, points: NDArray[Any]) -> int:
        """Write some pairs, about the middle of a box as their home, into `points`; returns where they end."""
        settle(node, home, self.allowed)
        return gather(self.pairs, (self.rotation, self.mean, self.shift), index, home, points)


class Extent(NamedTuple):
    """How far pairs reach, packed."""

    low: FloatArray
    high: FloatArray
    """A box of t outside which nothing is saved."""
    largest_x: float
    largest_y: float
    """The largest |x − m|, and the largest coordinate of y − s."""
    given: float
    """The largest coordinate before."""
    largest_xi: float

    def errors(self, rotation: FloatArray) -> tuple[float, float, float]:
        """Bounds of the error of a residual: as it is, of voters, and of a place among votes (sections 7.4 and 8.4)."""
        away = 2.0 * (self.largest_x + 2.0 * self.largest_y + self.largest_xi)  # at least |y − t|₂ of any point and t
        defect = float(np.linalg.norm(rotation.T @ rotation - np.eye(3))) + DEFECT * UNIT
        eps = UNIT * (TURNED * self.largest_x + PLACED * away + GIVEN * self.given) + defect * self.largest_x
        single_eps = eps + SINGLE * (self.largest_x + away)
        return eps, single_eps, eps + SINGLE * (TURNED * self.largest_x + PLACED * away)


class Savings(NamedTuple):
    """What pairs can save: the most of one, all together, and in how many steps."""

    loss: Loss
    largest: float
    total: float
    levels: int

    @classmethod
    def of(cls, pairs: Pairs, loss: Loss) -> Savings:
        n, most = len(pairs), pairs.w * loss.caps(pairs.xi)
        return cls.with_most(loss, float(most.max()), float(np.sum(most)) * (n if most.size == 1 else 1), n)

    @classmethod
    def with_most(cls, loss: Loss, most: float, total: float, n: int) -> Savings:
        return cls(loss, most, total, max(1, min(LEVELS, MOST_VOTES // n)))

    @property
    def unit(self) -> float:
        return self.largest / self.levels * UNIT_UP

    def own(self, xi: FloatArray, w: FloatArray) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """ξ, and ⌈cap / unit⌉, of some pairs."""
        ballots = np.maximum(1, np.ceil(w * self.loss.caps(xi) / self.largest * self.levels)).astype(np.int32)
        return xi.astype(np.float32) * SINGLE_UP, ballots


class Everybody(NamedTuple):
    """What some pairs have to know of all of which they are a part."""

    mean: FloatArray
    """About which they are packed; need not be one."""
    extent: Extent
    savings: Savings
    typical: float
    radius: float
    """Typical ξ and |x − m|: part of no bound."""
    grouped: bool = True
    """Whether voters are sorted into groups, if they are many."""


def pack(
    pairs: Pairs,
    loss: Loss,
    pose: Pose,
    cloud: Pairs | Everybody | None = None,
    threads: int = 1,
    limits: Limits | None = None,
) -> Packed | None:
    """Pack pairs around a pose with a nearly orthonormal rotation: at least one pair, all with w ξ > 0.

    They may be a part of a cloud, whose size tells what is elsewhere; or of many more, and then they are packed like
    all of these. The result is the same for any number of threads; None when the limits are over before it is there.
    """
    n, known = len(pairs), cloud if isinstance(cloud, Everybody) else None
    savings = Savings.of(pairs, loss) if known is None else known.savings
    mean = mean_of(pairs.x) if known is None else known.mean
    shift = pose.translation + pose.rotation @ mean
    chart = chart_of(pairs.prior)
    rotation = pose.rotation if chart is None else np.ascontiguousarray(chart.T @ pose.rotation)
    crew: Crew[None]
    with Crew(threads, limits or Limits()) as crew:
        filled = fill(pairs, (rotation, mean, shift), savings.own, crew, known is None or known.grouped)
    if filled is None:
        return None
    voters, order, starts, extents = filled
    if voters.ballots.min() == voters.ballots.max():
        voters = voters._replace(ballots=voters.ballots[:1].copy())
    if known is None:
        largest_x, largest_y, given, squares = extents[LARGEST_X:]
        largest_x = np.sqrt(largest_x) * (1.0 + 1e-12)
        low, high = extents[LOWEST : LOWEST + 3], extents[HIGHEST : HIGHEST + 3]
        extent = Extent(low, high, largest_x, largest_y, given, float(pairs.xi.max()))
        typical, radius = pairs.typical_bound, float(np.sqrt(squares / n))
    else:
        extent, typical, radius = known.extent, known.typical, known.radius
    eps, single_eps, margin = extent.errors(rotation)
    return Packed(
        pairs=pairs,
        voters=voters,
        order=order,
        groups=_groups(voters.rows, starts),
        ballot=Ballot(savings.unit, margin, typical, radius, loss.code, MANY),
        eps=eps,
        single_eps=single_eps,
        low=extent.low - 2.0 * margin,
        high=extent.high + 2.0 * margin,
        ceiling=savings.total * (1.0 + 2.0 * UNIT * (n + 2)),
        farthest=(_farthest(cloud, mean, pose) if isinstance(cloud, Pairs) else extent.largest_x) + eps,
        tips=_ends(rotation @ (pairs.x[:: -(-n // SOME)] - mean).T),
        rotation=rotation,
        shift=shift,
        mean=mean,
        allowed=None if chart is None else allowed_for(pairs.prior, chart, (rotation, mean, shift), eps),
    )


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
    return np.asarray(turned.T[np.argmax(DIRECTIONS @ turned, axis=1)])
