"""Whether a cloud, moved away from where it fits another, fits it there as well.

Both clouds lie in one frame, in units of their spacing. A point and its nearest one of the other cloud differ by some
distance along their normals, whose variance follows from how rough the two neighbourhoods are. Under the pose that is
known to fit, this tells what noise and sampling do; under another pose, whatever is more than that speaks against it.
A point that has lost its partner speaks against it too, unless the other cloud merely ends there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.features.normals import flattest
from tear3d.features.tree import Tree
from tear3d.problem.arrays import FloatArray

BoolArray = NDArray[np.bool_]
Rows = NDArray[np.int64]

_NEIGHBOURS, _SMOOTHED = 13, 6
# Lengths are in spacings. Within reach, nearly every point has a partner on a surface that is sampled once a spacing.
_REACH = 1.5
_TOUCHING = 3.0
_FLOOR = 0.05
# Of a neighbourhood in the plane, the mean lies 0.64 mean distances to one side where half of it is missing.
# Thin things have no plane to speak of: there the mean itself counts, which is 0.45 to one side of a right edge.
_ONE_SIDED, _TIP = 0.35, 0.6
# Where surfaces meet, about a tenth of the points look one-sided; at a cut, most of them do.
_ENDING, _ROOTS = 0.3, 25
# Squared distances are cut off at three standard deviations.
_CAP = 9.0
# A pose fits as well when as many points have partners but for what ends may take, when these are hardly farther away
# than noise and sampling have it, and when no more than a few points together say otherwise. Of those past an end, some
# are mistaken for such.
_KEPT, _EXCESS, _AGAINST, _MISTAKEN = 0.8, 1.25, 0.005, 0.03
# Fewer neighbouring points than this may disagree by chance.
_CLUSTER = 5


class Scan:
    """A cloud in units of its spacing, with what is known about the surface at every point."""

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self.tree = Tree(points)
        count = min(_NEIGHBOURS, len(points))
        near = self.tree.query(points, count)[1]
        least, self.normals = flattest(points, near)
        self.smooth: FloatArray = points[near[:, :_SMOOTHED]].mean(axis=1)
        # A plane through so many points takes up three of their degrees of freedom.
        self.variance: FloatArray = np.maximum(least, 0.0) * count / (count - 3) / _SMOOTHED
        away = points[near[:, 1:]] - points[:, None]
        lean = away.mean(axis=1) / np.linalg.norm(away, axis=2).mean(axis=1)[:, None]
        across = np.einsum("ij,ij->i", lean, self.normals)
        squared = np.einsum("ij,ij->i", lean, lean)
        self.at_end: BoolArray = (squared - across**2 > _ONE_SIDED**2) | (squared > _TIP**2)


@dataclass(frozen=True)
class Look:
    """How some points of one cloud, moved, lie to another."""

    points: FloatArray
    """Where they were moved to."""
    distance: FloatArray
    squares: FloatArray
    """Squared distance along the normals, in variances."""
    past_end: BoolArray
    """Whether the nearest point is where the other cloud ends."""
    inside: BoolArray
    """Whether neither is where its cloud ends: there, means of neighbours are off."""

    @property
    def near(self) -> BoolArray:
        return np.asarray(self.distance <= _REACH)


def look(moving: Scan, rows: Rows, fixed: Scan, pose: FloatArray) -> Look:
    rotation, translation = pose[:3, :3], pose[:3, 3]
    points = moving.points[rows] @ rotation.T + translation
    distance, partner = fixed.tree.nearest(points)
    offset = moving.smooth[rows] @ rotation.T + translation - fixed.smooth[partner]
    own, other = moving.normals[rows] @ rotation.T, fixed.normals[partner]
    across = np.maximum(*(np.abs(np.einsum("ij,ij->i", offset, normal)) for normal in (own, other)))
    variance = moving.variance[rows] + fixed.variance[partner] + _FLOOR**2
    past_end = fixed.at_end[partner]
    inside = ~past_end & ~moving.at_end[rows]
    return Look(points, distance, np.minimum(across**2 / variance, _CAP), past_end, inside)


class Likeness(NamedTuple):
    """How one pose compares to another, which is known to fit."""

    kept: float
    """Points with a partner, as a multiple of those under the pose that fits."""
    excess: float
    """Mean square distance of the partners, as a multiple of what noise and sampling explain."""
    against: float
    """Share of the points that fitted and now contradict, in clusters."""
    lost: float
    """Share of the points that had a partner and now have none."""

    @property
    def as_good(self) -> bool:
        return self.kept >= _KEPT and self.excess <= _EXCESS and not self.contradicted

    @property
    def contradicted(self) -> bool:
        return self.against > _AGAINST + _MISTAKEN * self.lost

    @property
    def settled(self) -> bool:
        """Whether to bring the clouds nearer would not help: it is not their distance that speaks against the pose."""
        return self.excess <= _EXCESS


def likeness(before: list[Look], after: list[Look]) -> Likeness:
    """Of looks in one direction or in both, at the same points."""
    near = [(was.near, now.near) for was, now in zip(before, after, strict=True)]
    total = sum(int(was.sum()) for was, _ in near)
    shared = [was.near & was.inside & now.near & now.inside for was, now in zip(before, after, strict=True)]
    count = sum(int(both.sum()) for both in shared)
    if count == 0:
        return Likeness(0.0, np.inf, 1.0, 1.0)
    noise, found = (
        sum(float(each.squares[both].sum()) for each, both in zip(looks, shared, strict=True)) / count
        for looks in (before, after)
    )
    against = sum(_contradicting(was, now) for was, now in zip(before, after, strict=True))
    kept, lost = (sum(int(part.sum()) for part in parts) for parts in zip(*((b, a & ~b) for a, b in near), strict=True))
    return Likeness(kept / total, found / max(noise, 1.0), against / total, lost / total)


def _contradicting(was: Look, now: Look) -> int:
    """Points that fitted and do not any more, neighbours of others that do not, but for those past an end."""
    fitted = was.near & (was.squares < _CAP)
    off = fitted & was.inside & now.near & now.inside & (now.squares >= _CAP)
    lost = fitted & ~now.near
    against = off.copy()
    for cluster in _clusters(now.points, lost):
        touching = cluster[now.distance[cluster] <= _TOUCHING]
        if len(touching) == 0:
            against[cluster] = True
            continue
        # What hangs on a cut is past the end; what stands on a surface nearby is not.
        roots = Tree(now.points[touching]).query(now.points[cluster], _ROOTS)[1]
        against[cluster] = now.past_end[touching][roots].mean(axis=1) < _ENDING
    return sum(len(cluster) for cluster in _clusters(now.points, against) if len(cluster) >= _CLUSTER)


def _clusters(points: FloatArray, chosen: BoolArray) -> list[Rows]:
    rows = np.flatnonzero(chosen)
    if len(rows) == 0:
        return []
    labels = Tree(points[rows]).clusters(_TOUCHING)
    order = np.argsort(labels, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(labels[order])) + 1)
