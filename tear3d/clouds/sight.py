"""What a scan has seen through: a point of another cloud that lies there contradicts the pose.

A scan is a projection: from where it was taken, nothing lies between the eye and what was measured. Where that was
is not in the file, so every place is tried from which the cloud does not hide behind itself: the origin, as for a
lidar, and far away along the axes, as for a range image.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tear3d.features.tree import Tree
from tear3d.problem.arrays import FloatArray

Flags = NDArray[np.bool_]

REACH = 3.0
"""Voxels: so far beyond a point must a ray go on, and so far from all that was measured must the point be."""
_WIDTH = 0.5
"""Voxels: rays that pass nearer go through the point."""
_RAYS = 4
"""Rays that are asked: all that pass near enough must go on."""
_HIDDEN = 0.06
"""Share of its own points that may be hidden before a place is given up: single scans have below 5 % from where they
were taken (edges, vegetation), and more from most other places. A place too many does little harm: of several the one
counts from which least is contradicted."""
_AROUND = 0.5
"""A cloud whose directions from the origin have a shorter mean lies around it: then the sensor was there."""
_PROBES = 2000


@dataclass(frozen=True)
class Sight:
    """A cloud as seen from the origin, or from far away against `axis`."""

    points: FloatArray
    voxel_size: float
    axis: FloatArray | None
    tree: Tree = field(init=False)
    depth: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        screen, depth, _ = self._project(self.points)
        object.__setattr__(self, "tree", Tree(screen))
        object.__setattr__(self, "depth", depth)

    def _project(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where rays to the points meet the screen, the points' depths, and how long a voxel is on the screen."""
        if self.axis is None:
            depth = np.maximum(np.linalg.norm(points, axis=1), 1e-9 * self.voxel_size)
            return points / depth[:, None], depth, self.voxel_size / depth
        across = np.eye(3)[np.arange(3) != np.argmax(np.abs(self.axis))]
        return points @ across.T, points @ self.axis, np.full(len(points), self.voxel_size)

    def through(self, points: FloatArray, *, own: bool = False) -> Flags:
        """Which points lie where rays to the cloud passed; `own`: they are points of the cloud itself."""
        screen, depth, voxel = self._project(points)
        squared, ray = (found[:, int(own) :] for found in self.tree.query(screen, _RAYS + own))
        passes = np.sqrt(squared) <= _WIDTH * voxel[:, None]
        nearest = np.where(passes, self.depth[ray], np.inf).min(axis=1, initial=np.inf)
        return np.asarray(passes.any(axis=1) & (nearest > depth + REACH * self.voxel_size))

    @property
    def hidden(self) -> float:
        """Share of the cloud's points that it would have hidden itself."""
        probes = self.points[:: -(-len(self.points) // _PROBES)]
        return float(np.mean(self.through(probes, own=True)))


class Seen(NamedTuple):
    """From where a cloud may have been seen; nowhere when no place explains it."""

    sights: tuple[Sight, ...]
    sure: bool
    """The sensor stood in the middle of the cloud. Other places are guesses: a part cut out of a model is no scan, yet
    looks like one from where it is open."""


def sights(points: FloatArray, voxel_size: float) -> Seen:
    """The places that explain a cloud."""
    centre = Sight(points, voxel_size, None)
    inside = np.linalg.norm(centre.tree.data.mean(axis=0)) < _AROUND
    plausible = centre.hidden <= _HIDDEN
    if plausible and inside:
        return Seen((centre,), True)
    far = (Sight(points, voxel_size, sign * axis) for axis in np.eye(3) for sign in (1.0, -1.0))
    return Seen((centre,) * plausible + tuple(sight for sight in far if sight.hidden <= _HIDDEN), False)


def contradicted(seen: Seen, points: FloatArray, near: Flags, clear: Flags) -> float:
    """Share of the points in the open, of those and the ones that agree.

    Parameters
    ----------
    seen
        Where the other cloud may have been seen from; the place counts from which least is contradicted.
    points
        In the coordinates of the other cloud.
    near, clear
        Which of them lie on the other's surface, and which far from it.
    """
    agreeing = np.count_nonzero(near)
    shares = [
        against / (against + agreeing) if against else 0.0
        for against in (np.count_nonzero(sight.through(points[clear])) for sight in seen.sights)
    ]
    return float(min(shares, default=float("nan")))
