"""Whether the pose between two clouds is the only one: shapes that can be laid onto themselves in another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tear3d.clouds.setting import Setting
from tear3d.clouds.slides import Slide, likely_slides, name_slides
from tear3d.clouds.turns import Field, about, likely_turns
from tear3d.features.voxel import voxel_downsample
from tear3d.judge.ambiguity import Ambiguity, FreeMotion
from tear3d.judge.symmetry import free_motions
from tear3d.problem.arrays import FloatArray

# Two poses differ when some point of the overlap lies farther apart than three noise bounds, which are in voxels.
_DIFFERENT = 3.0 * 1.5
# How far a slide is followed, in voxels: beyond what counts as different, there and back.
_FOLLOWED = (7.0, -9.0)
_FEWEST = 100
_TURNS = 8
# Enough to name the axes; a ball has no end of them.
_ENOUGH = 4


def ambiguity(
    source_points: FloatArray,
    target_points: FloatArray,
    pose: FloatArray,
    voxel_size: float,
    *,
    others: Sequence[FloatArray] = (),
    threads: int | None = None,
) -> Ambiguity | None:
    """Why another pose may be meant as well as this one; None when no other was found that fits as well.

    Parameters
    ----------
    source_points, target_points : (N, 3) and (M, 3) arrays
        Downsampled to `voxel_size`; beyond 5 000 points they are thinned further.
    pose : (4, 4) array
        Puts source onto target up to a voxel.
    voxel_size : float
    others : sequence of (4, 4) arrays
        Other poses to look at, whatever the reason: those that the search found, say.
    threads : int, optional

    Returns
    -------
    Ambiguity or None
        Its motions are those of the source, in its own coordinates.
    """
    if min(len(source_points), len(target_points)) < _FEWEST:
        return None
    placed = source_points @ pose[:3, :3].T + pose[:3, 3]
    setting = Setting(placed, target_points, voxel_size, threads)
    if len(setting.overlap) < _FEWEST:
        return None
    search = _Search(setting, voxel_size)
    search.follow_slides()
    search.try_poses([setting.inward(other @ np.linalg.inv(pose)) for other in others])
    search.try_turns()
    if not search.slides and not search.poses:
        return None
    # Free motions are found where the source lies under the pose, and named where it lies by itself.
    start = setting.outward(setting.start) @ pose
    free = [_of_source(motion, setting, start) for motion in search.named_slides()]
    known = [setting.outward(found) @ pose for found in search.poses]
    free += [
        motion
        for motion in free_motions(start, known, source_points, noise_bound=0.5 * voxel_size)
        if not _covered(motion, free, 3.0 * voxel_size)
    ]
    return Ambiguity(_sentence(free), tuple(free))


class _Search:
    """What was found: slides, and poses that fit as well."""

    def __init__(self, setting: Setting, voxel_size: float) -> None:
        self.setting, self.voxel = setting, voxel_size
        self.slides: list[Slide] = []
        self.poses: list[FloatArray] = []

    def follow_slides(self) -> None:
        setting = self.setting
        centre = setting.overlap.mean(axis=0)
        for slide in likely_slides(setting.overlap - centre, setting.normals()):
            back, there = about(np.eye(3), centre), about(np.eye(3), centre)
            back[:3, 3], there[:3, 3] = -centre, centre
            for voxels in _FOLLOWED:
                motion = slide.motion(voxels * self.voxel / setting.unit)
                if not self._fits(setting.refine(there @ motion @ back @ setting.start)):
                    return
            self.slides.append(slide)

    def named_slides(self) -> list[FreeMotion]:
        """Around the middle of the overlap."""
        points = self.setting.overlap - self.setting.overlap.mean(axis=0)
        return name_slides(self.slides, float(np.sqrt(np.mean(np.sum(points**2, axis=1)))))

    def try_turns(self) -> None:
        setting = self.setting
        source, target = setting.source.points, setting.target.points
        middle = voxel_downsample(np.concatenate((source, target)), 1.5).mean(axis=0)
        self.try_poses(likely_turns(source, Field(target), middle, _TURNS))

    def try_poses(self, guesses: Sequence[FloatArray]) -> None:
        setting = self.setting
        for guess in guesses:
            if len(self.poses) == _ENOUGH:
                return
            near = setting.refine(guess, from_afar=True)
            if self._new(near) and setting.promising(near):
                fine = setting.refine(near)
                if self._new(fine) and self._fits(fine):
                    self.poses.append(fine)

    def _new(self, pose: FloatArray) -> bool:
        limit = _DIFFERENT * self.voxel
        return all(self.setting.farthest(pose, known) > limit for known in (self.setting.start, *self.poses))

    def _fits(self, pose: FloatArray) -> bool:
        different = self.setting.farthest(pose, self.setting.start) > _DIFFERENT * self.voxel
        return different and self.setting.fits(pose)


def _of_source(motion: FreeMotion, setting: Setting, start: FloatArray) -> FreeMotion:
    """A motion around the middle of the overlap, in coordinates of the source."""
    back = np.linalg.inv(start)
    through = setting.unit * (setting.overlap.mean(axis=0) + motion.through) + setting.centre
    axis, place = back[:3, :3] @ motion.axis, back[:3, :3] @ through + back[:3, 3]
    return replace(motion, axis=_plain(axis), through=_plain(place))


def _covered(motion: FreeMotion, free: Sequence[FreeMotion], slack: float) -> bool:
    """Whether a motion is one of those that may have any amount."""
    kin = [other for other in free if other.kind == motion.kind and other.step is None]
    if len(kin) >= 3:
        return True
    for other in kin:
        apart = np.subtract(motion.through, other.through)
        distance = np.linalg.norm(np.cross(apart, other.axis)) if motion.kind == "rotation" else 0.0
        if np.linalg.norm(np.cross(motion.axis, other.axis)) < 0.1 and distance < slack:
            return True
    return False


def _sentence(free: Sequence[FreeMotion]) -> str:
    if not free:
        return "another pose fits the clouds as well"
    return "the clouds fit as well " + ", or ".join(_words(motion) for motion in free[:3])


def _words(motion: FreeMotion) -> str:
    axis = "({:.3g}, {:.3g}, {:.3g})".format(*np.round(motion.axis, 3) + 0.0)
    if motion.kind == "translation":
        return f"after any slide along {axis}" if motion.step is None else f"{motion.step:.3g} further along {axis}"
    turn = "any turn" if motion.step is None else f"a turn by {motion.step:.3g}°"
    return f"after {turn} about {axis}"


def _plain(vector: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in vector)
    return x, y, z
