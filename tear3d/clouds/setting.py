"""Two clouds that fit under a pose, made ready for trying other poses."""

from __future__ import annotations

import numpy as np

from tear3d.clouds.descent import moved
from tear3d.clouds.equations import Pairing, Surface
from tear3d.clouds.likeness import Likeness, Look, Rows, Scan, likeness, look
from tear3d.features.voxel import voxel_downsample
from tear3d.problem.arrays import FloatArray

# Points that are tried: of each cloud, to judge a pose, and to bring a guess near.
_MOST, _JUDGED, _FEW = 5_000, 2_500, 600
_DAMPING = 1e-3
_STILL = 1e-3
# Three noise bounds, which are in voxels.
_DIFFERENT = 3.0 * 1.5
# Of the 19 real pairs at hand the right poses have an overlap of 0.5 and more, and mean squares of 0.8 to 3.3
# variances; refined poses between scenes that have nothing in common 0.05 to 0.32, and 3.6 to 7.9.
_OVERLAP, _SQUARES = 0.35, 4.0
# What a guess must reach before it is brought nearer.
_KEPT_FIRST, _EXCESS_FIRST = 0.5, 3.0


class Setting:
    """Poses here move the source, which has been put where it fits, in the frame of the target.

    Lengths are in `unit`, around `centre`; a voxel of the clouds that were given is `voxel` of it.
    """

    def __init__(self, source: FloatArray, target: FloatArray, voxel_size: float, threads: int | None) -> None:
        self.centre = target.mean(axis=0)
        clouds = [(cloud - self.centre) / voxel_size for cloud in (source, target)]
        coarser = 1.0
        while max(map(len, clouds)) > _MOST:
            coarser *= 1.1
            clouds = [voxel_downsample((cloud - self.centre) / voxel_size, coarser) for cloud in (source, target)]
        self.unit = voxel_size * coarser
        self.voxel = 1.0 / coarser
        self.different = _DIFFERENT * self.voxel
        self.source, self.target = (Scan(cloud / coarser) for cloud in clouds)
        self._few, rows = _spread(self.source, _FEW), _spread(self.source, _JUDGED)
        self._rows = rows, _spread(self.target, _JUDGED)
        self._coarse = [(self._pairing(self._few, reach, threads), 6) for reach in (8.0, 4.0)]
        self._fine = [(self._pairing(rows, 2.0, threads), 8)]
        self.start = self.refine(np.eye(4))
        self._before = self._looks(self.start)
        self._before_few = [look(self.source, self._few, self.target, self.start)]
        self.overlap: FloatArray = self._before[0].points[self._before[0].near]

    def _pairing(self, rows: Rows, reach: float, threads: int | None) -> Pairing:
        moving = Surface(self.source.points[rows], self.source.normals[rows])
        # A guess may have to cross from one side of a wall to the other.
        fixed = Surface(self.target.points, self.target.normals)
        return Pairing(
            moving, fixed, "gicp", reach, threads, trees=(self.source.tree, self.target.tree), any_surface=True
        )

    def normals(self) -> FloatArray:
        """Of the points of the overlap."""
        rows = self._rows[0][self._before[0].near]
        return self.source.normals[rows] @ self.start[:3, :3].T

    @property
    def fits(self) -> bool:
        """Whether the pose that is said to fit does: what others are compared to must mean something."""
        squares = np.concatenate([seen.squares[seen.near & seen.inside] for seen in self._before])
        overlap = max(float(seen.near.mean()) for seen in self._before)
        near = not self.differ(self.start, np.eye(4))
        return near and overlap >= _OVERLAP and bool(squares.mean() <= _SQUARES)

    def inward(self, motion: FloatArray) -> FloatArray:
        """A motion of the target's frame, in the coordinates used here."""
        inner = motion.copy()
        inner[:3, 3] = (motion[:3, :3] @ self.centre + motion[:3, 3] - self.centre) / self.unit
        return inner

    def outward(self, inner: FloatArray) -> FloatArray:
        """The other way round."""
        motion = inner.copy()
        motion[:3, 3] = self.unit * inner[:3, 3] + self.centre - inner[:3, :3] @ self.centre
        return motion

    def refine(self, pose: FloatArray, *, from_afar: bool = False) -> FloatArray:
        for pairing, steps in self._coarse if from_afar else self._fine:
            for _ in range(steps):
                at = pairing.linearise(pose)
                if at.used < 10:
                    return pose
                damping = _DAMPING * np.trace(at.H) / 6.0
                change: FloatArray = np.linalg.solve(at.H + damping * np.eye(6), -at.b)
                pose = moved(pose, change)
                if np.abs(change).max() < _STILL:
                    break
        return pose

    def promising(self, pose: FloatArray) -> bool:
        """By few points, whether a pose is worth a closer look."""
        found = likeness(self._before_few, [look(self.source, self._few, self.target, pose)])
        return found.kept >= _KEPT_FIRST and found.excess <= _EXCESS_FIRST

    def judge(self, pose: FloatArray) -> Likeness:
        return likeness(self._before, self._looks(pose))

    def judge_elsewhere(self, pose: FloatArray) -> Likeness:
        """By the source alone: what it leaves behind in the target was not meant to go along."""
        return likeness(self._before[:1], [look(self.source, self._rows[0], self.target, pose)])

    def differ(self, pose: FloatArray, other: FloatArray) -> bool:
        """Whether some point of the overlap lies so far apart that the poses are not the same."""
        return self.farthest(pose, other) > self.different

    def farthest(self, pose: FloatArray, other: FloatArray) -> float:
        """How far apart two poses put some point of the overlap."""
        overlap = self.overlap @ self.start[:3, :3] - self.start[:3, 3] @ self.start[:3, :3]
        apart = overlap @ (pose[:3, :3] - other[:3, :3]).T + pose[:3, 3] - other[:3, 3]
        return float(np.linalg.norm(apart, axis=1).max())

    def _looks(self, pose: FloatArray) -> list[Look]:
        there, back = self._rows
        reverse = np.asarray(np.linalg.inv(pose), dtype=np.float64)
        return [look(self.source, there, self.target, pose), look(self.target, back, self.source, reverse)]


def _spread(scan: Scan, count: int) -> Rows:
    return np.arange(0, len(scan.points), max(1, len(scan.points) // count))
