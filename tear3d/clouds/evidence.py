"""How two clouds fit under a pose, measured at the resolution of the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.descent import Descent
from tear3d.clouds.equations import Pairing, Surface
from tear3d.clouds.region import Region
from tear3d.clouds.sight import REACH, Flags, Seen, contradicted, sights
from tear3d.clouds.verdict import REJECTED_FIT, CloudEvidence
from tear3d.features.normals import estimate_normals
from tear3d.features.steps import Tick, part_of
from tear3d.features.tree import Tree
from tear3d.features.voxel import MOST_POINTS, voxel_downsample
from tear3d.features.work import aside
from tear3d.problem.arrays import FloatArray
from tear3d.problem.prior import Prior

_NORMAL_RADIUS, _NORMAL_POINTS = 3.0, 30
_PROBES = 5000
"""Points of each cloud that are looked at, at most."""
_MOVING = 3000
"""Points that are aligned before a pose is judged, and the steps that takes at most."""
_STEPS = 8
_ALIKE = math.cos(math.radians(30.0))
"""Normals that differ by less agree; at random one in seven would."""
_MARGIN, _FEWEST = 2.0 * REACH, 3
"""Voxels around the source within which a map's points take part in the alignment: a step or two of it lead no farther.
With fewer points there is nothing to align to."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Side:
    """One of the two clouds."""

    points: FloatArray
    normals: FloatArray
    voxel_size: float
    tree: Tree

    @classmethod
    def of(cls, points: FloatArray, voxel_size: float, threads: int | None, tick: Tick) -> Side:
        normals = estimate_normals(
            points, radius=_NORMAL_RADIUS * voxel_size, max_nn=_NORMAL_POINTS, threads=threads, tick=tick
        )
        return cls(points, normals, voxel_size, aside(lambda: Tree(points), tick))

    def part(self, rows: Rows) -> Side:
        """Some of its points, with the normals that they have among all."""
        points = self.points[rows]
        return Side(points, self.normals[rows], self.voxel_size, Tree(points))

    @cached_property
    def seen(self) -> Seen:
        return sights(self.points, self.voxel_size)


@dataclass(frozen=True)
class _Look:
    """What the probes of one cloud find in the other."""

    distances: FloatArray
    """To the nearest point, in voxels."""
    normals: FloatArray
    """Of the probes, in the coordinates of the target."""
    agree: Flags
    """On the other's surface, and facing as it does."""
    moved: FloatArray
    """The probes in the coordinates of the other cloud."""
    each: int
    """Points that a probe stands for."""

    @property
    def near(self) -> Flags:
        return np.asarray(self.distances <= 1.0)

    def contradicted(self, seen: Seen) -> float:
        """Share of the probes that lie where the other cloud saw through, of those and the ones on its surface."""
        return contradicted(seen, self.moved, self.near, np.asarray(self.distances > REACH))

    def shares(self, axes: FloatArray) -> FloatArray:
        """For each axis, of the surface that faces along it: how much agrees of what is within reach, and of all."""
        facing = (self.normals @ axes) ** 2
        agreeing = facing[self.agree].sum(axis=0)
        within = facing[self.distances <= REACH].sum(axis=0)
        tiny = np.finfo(np.float64).tiny
        return np.stack((agreeing / np.maximum(within, tiny), agreeing / np.maximum(facing.sum(axis=0), tiny)))


Keep = Callable[[int, Callable[[], Side], Tick], Side]
"""Makes the target's side, or knows it: by how often it was thinned further."""


def _make(times: int, make: Callable[[], Side], tick: Tick) -> Side:
    return make()


@dataclass(frozen=True)
class Scene:
    """Two clouds, thinned alike, and what they say about poses."""

    source: Side
    target: Side
    threads: int | None = None
    wide: bool = False
    """The target is a map: only what lies in the box around the source is compared."""
    prior: Prior | None = None
    """The poses that are allowed."""
    _settled: dict[bytes, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: FloatArray,
        target: FloatArray,
        voxel_size: float,
        threads: int | None,
        tick: Tick,
        wide: bool = False,
        keep: Keep = _make,
    ) -> Scene:
        """Of thinned clouds; thinned further where they have more points than it takes to judge, but for a map's."""
        times = 0
        while max(len(source), 0 if wide else len(target)) > MOST_POINTS:
            times, voxel_size = times + 1, 1.5 * voxel_size
            source, target = (voxel_downsample(cloud, voxel_size, tick=tick) for cloud in (source, target))
        own = Side.of(source, voxel_size, threads, part_of(tick, 0.0, 0.4))
        rest = part_of(tick, 0.4, 0.8)
        return cls(own, keep(times, lambda: Side.of(target, voxel_size, threads, rest), rest), threads, wide)

    @cached_property
    def _inner(self) -> tuple[Tree, Tree | None]:
        """Of all points of the source and, but for a map, of the target: around their middles and in voxels."""
        source, target = (side.points for side in (self.source, self.target))
        own = Tree((source - source.mean(axis=0)) / self.voxel_size)
        return own, None if self.wide else Tree((target - target.mean(axis=0)) / self.voxel_size)

    @cached_property
    def _region(self) -> Region:
        return Region.of(self.source.points)

    def around(self, pose: FloatArray, voxels: float) -> Rows:
        """The target's points that count: all, or those of a map around the source with so much of a margin."""
        if not self.wide:
            return np.arange(len(self.target.points))
        return self._region.rows(self.target.points, pose, voxels * self.voxel_size)

    @property
    def voxel_size(self) -> float:
        return self.source.voxel_size

    def settle(self, pose: FloatArray) -> FloatArray:
        """Where a few steps of GICP lead: what the matches found may be a voxel or two off."""
        key = pose.tobytes()
        if key not in self._settled:
            self._settled[key] = self._descend(pose)
        return self._settled[key]

    def _descend(self, pose: FloatArray) -> FloatArray:
        size, middle, target = self.voxel_size, self.source.points.mean(axis=0), self.target
        if self.wide:
            target = target.part(self.around(pose, _MARGIN))
            if len(target.points) < _FEWEST:
                return pose
        centre = target.points.mean(axis=0)
        few = slice(None, None, -(-len(self.source.points) // _MOVING))
        moving = Surface((self.source.points[few] - middle) / size, self.source.normals[few])
        fixed = Surface((target.points - centre) / size, target.normals)
        prior = None if self.prior is None else self.prior.between(middle, centre, size)
        pairing = Pairing(moving, fixed, "gicp", REACH, self.threads, trees=self._inner)
        descent = Descent(pairing, _STEPS, prior)
        local = pose.copy()
        local[:3, 3] = (pose[:3, :3] @ middle + pose[:3, 3] - centre) / size
        descent.run(local, lambda done: None)
        reached = descent.reached[-1].pose.copy()
        reached[:3, 3] = reached[:3, 3] * size + centre - reached[:3, :3] @ middle
        return reached

    def measure(self, pose: FloatArray, start: FloatArray, noise_bound: float) -> CloudEvidence:
        """What the clouds say about a pose that was reached from `start`."""
        back = np.asarray(np.linalg.inv(pose), dtype=np.float64)
        ahead = self._look(self.source, self.target, pose, pose[:3, :3])
        behind = self._look(self.target, self.source, back, np.eye(3), self.around(pose, 1.0) if self.wide else None)
        normals = ahead.normals[ahead.near]
        axes = np.linalg.eigh(normals.T @ normals)[1]
        agreement, coverage = np.minimum(*(_mean(look.shares(axes)) for look in (ahead, behind)))
        support = [look.each * ((look.normals[look.agree] @ axes) ** 2).sum(axis=0).min() for look in (ahead, behind)]
        against: dict[bool, list[float]] = {True: [], False: []}
        if agreement * coverage >= REJECTED_FIT**2:
            for look, seen in ((ahead, self.target.seen), (behind, self.source.seen)):
                against[seen.sure] += [look.contradicted(seen)] if seen.sights else []
        distances = ahead.distances[ahead.near]
        moved = self.source.points @ (pose - start)[:3, :3].T + (pose - start)[:3, 3]
        return CloudEvidence(
            overlap_source=float(np.mean(ahead.near)),
            overlap_target=float(np.mean(behind.near)) if len(behind.near) else 0.0,
            normals=float(np.mean(ahead.agree[ahead.near])) if ahead.near.any() else math.nan,
            agreement=float(agreement),
            coverage=float(coverage),
            support=float(min(support)),
            contradicted=max(against[True], default=math.nan),
            perhaps_contradicted=max(against[False], default=math.nan),
            drift=float(np.linalg.norm(moved, axis=1).mean()) / noise_bound,
            residual=float(np.sqrt(np.mean(distances**2))) if len(distances) else math.nan,
            voxel_size=self.voxel_size,
            in_map=self.wide,
        )

    def _look(self, own: Side, other: Side, pose: FloatArray, turn: FloatArray, rows: Rows | None = None) -> _Look:
        """Of the points of `own`, or of some rows; `turn` leads its normals to the coordinates of the target."""
        count = len(own.points) if rows is None else len(rows)
        each = max(1, -(-count // _PROBES))
        probes = slice(None, None, each) if rows is None else rows[::each]
        moved = own.points[probes] @ pose[:3, :3].T + pose[:3, 3]
        apart, partner = other.tree.nearest(moved)
        distances: FloatArray = apart / self.voxel_size
        normals = own.normals[probes]
        facing = np.abs(np.einsum("ij,ij->i", normals @ pose[:3, :3].T, other.normals[partner]))
        return _Look(
            distances=distances,
            normals=normals @ turn.T,
            agree=np.asarray((distances <= 1.0) & (facing > _ALIKE)),
            moved=moved,
            each=each,
        )


def _mean(shares: FloatArray) -> FloatArray:
    """The geometric mean over the axes: one that nothing speaks for is not made up for by the others."""
    return np.asarray(np.prod(shares, axis=1) ** (1.0 / 3.0))
