"""Whether the pose between two clouds is the only one: shapes that can be laid onto themselves in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tear3d.clouds.naming import name_motions
from tear3d.clouds.setting import Setting
from tear3d.clouds.shifts import likely_shifts
from tear3d.clouds.slides import Slide, likely_slides
from tear3d.clouds.turns import Field, likely_turns
from tear3d.features.voxel import voxel_downsample
from tear3d.judge.ambiguity import Ambiguity
from tear3d.judge.symmetry import in_words
from tear3d.problem.arrays import FloatArray
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior

Poses = tuple[FloatArray, FloatArray]

# How far a slide is followed, in voxels: beyond what counts as different, there and back.
_FOLLOWED = (7.0, -9.0)
# Clouds of fewer points, or with fewer in common, say nothing about their shape.
_FEWEST = 100
# Turns of each order and shifts that are tried, poses that are enough to name axes, guesses that are looked at closely,
# and how often each of these is refined, which is slow on flat walls. Free choices: they bound the time.
_TURNS, _SHIFTS, _ENOUGH, _LOOKS, _ROUNDS = 3, 4, 4, 6, 2


@dataclass(frozen=True, eq=False)
class Allowed:
    """Whether a pose is as good as one that a prior allows: it puts no point of the source a voxel elsewhere."""

    prior: Prior | None
    points: FloatArray
    voxel_size: float

    def __call__(self, pose: FloatArray) -> bool:
        if self.prior is None:
            return True
        given = Pose.from_matrix(pose)
        centre = self.points.mean(axis=0)
        radius = float(np.sqrt(np.mean(np.sum((self.points - centre) ** 2, axis=1))))
        moved = self.prior.nearest(given, centre, radius).apply(self.points) - given.apply(self.points)
        return bool(np.abs(moved).max() <= self.voxel_size)


def ambiguity(
    source_points: FloatArray,
    target_points: FloatArray,
    pose: FloatArray,
    voxel_size: float,
    *,
    others: Sequence[FloatArray] = (),
    threads: int | None = None,
    allowed: Allowed | None = None,
) -> Ambiguity | None:
    """Why another pose may be meant as well as this one; None when no other was found that fits as well.

    Parameters
    ----------
    source_points, target_points : (N, 3) and (M, 3) arrays
        Downsampled to `voxel_size`; beyond 5 000 points they are thinned further.
    pose : (4, 4) array
        Puts source onto target up to a voxel or two. Nothing is said about one that does not.
    voxel_size : float
    others : sequence of (4, 4) arrays
        Other poses to look at, whatever the reason: those that a search came across, say.
    threads : int, optional
    allowed : Allowed, optional
        The poses that may be meant at all.

    Returns
    -------
    Ambiguity or None
        Its motions are those of the source, in its own coordinates.
    """
    if min(len(source_points), len(target_points)) < _FEWEST:
        return None
    setting = Setting(source_points @ pose[:3, :3].T + pose[:3, 3], target_points, voxel_size, threads)
    if len(setting.overlap) < _FEWEST or not setting.fits:
        return None
    back = np.linalg.inv(pose)
    may = None if allowed is None or allowed.prior is None else lambda inner: allowed(setting.outward(inner) @ pose)
    slides = _follow_slides(setting, may)
    poses: list[FloatArray] = []
    _try_poses(setting, [setting.inward(other @ back) for other in others], poses)
    # Three slides are those of a plane or a ball: there is nothing left to find.
    if len(slides) < 3:
        _try_poses(setting, _turns(setting), poses)
        _try_poses(setting, _shifts(setting), poses)
    poses = [found for found in poses if may is None or may(found)]
    if not slides and not poses:
        return None
    free = name_motions(setting, slides, poses, pose)
    return Ambiguity(in_words(free), tuple(free))


def fits_as_well(
    source_points: FloatArray, target_points: FloatArray, poses: Poses, voxel_size: float, threads: int | None = None
) -> bool:
    """Whether the source fits under the second of two poses as it does under the first, at another place of the target.

    The target may be cut down to what lies around both. False where the first does not fit, so that it says nothing.
    """
    pose, other = poses
    setting = Setting(source_points @ pose[:3, :3].T + pose[:3, 3], target_points, voxel_size, threads)
    if len(setting.overlap) < _FEWEST or not setting.fits:
        return False
    there = setting.refine(setting.inward(other @ np.linalg.inv(pose)))
    return setting.differ(there, setting.start) and setting.judge_elsewhere(there).as_good


def _follow_slides(setting: Setting, may: Callable[[FloatArray], bool] | None) -> list[Slide]:
    """Those along which the clouds fit as well on both sides, and which lead where the source may go."""
    slides: list[Slide] = []
    for slide in likely_slides(setting.overlap, setting.normals()):
        for voxels in _FOLLOWED:
            moved = setting.refine(slide.motion(voxels * setting.voxel) @ setting.start)
            if may is not None and not may(moved):
                break
            if not (setting.differ(moved, setting.start) and setting.judge(moved).as_good):
                return slides
        else:
            slides.append(slide)
    return slides


def _turns(setting: Setting) -> list[FloatArray]:
    """Where one scan has a gap the other may have none: the middle is that of both together."""
    source, target = setting.source.points, setting.target.points
    middle = voxel_downsample(np.concatenate((source, target)), 1.5).mean(axis=0)
    return likely_turns(source, Field(target), middle, _TURNS)


def _shifts(setting: Setting) -> list[FloatArray]:
    return likely_shifts(setting.source.points, setting.target.points, setting.different, _SHIFTS)


def _try_poses(setting: Setting, guesses: Sequence[FloatArray], poses: list[FloatArray]) -> None:
    """Add to the poses those guesses that fit as well once refined."""
    looks = _LOOKS
    for guess in guesses:
        if looks == 0 or len(poses) >= _ENOUGH:
            return
        near = setting.refine(guess, from_afar=True)
        if _new(setting, near, poses) and setting.promising(near):
            looks -= 1
            found = _refined(setting, near, poses)
            if found is not None:
                poses.append(found)


def _refined(setting: Setting, pose: FloatArray, poses: Sequence[FloatArray]) -> FloatArray | None:
    """The pose, refined until it fits; None when it does not, or leads to one that is known."""
    for _ in range(_ROUNDS):
        pose = setting.refine(pose)
        if not _new(setting, pose, poses):
            return None
        found = setting.judge(pose)
        if found.as_good:
            return pose
        if found.settled:
            return None
    return None


def _new(setting: Setting, pose: FloatArray, poses: Sequence[FloatArray]) -> bool:
    return all(setting.differ(pose, known) for known in (setting.start, *poses))
