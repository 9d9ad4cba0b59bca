"""Names for the motions after which two clouds fit as well; no step is named that was not tried."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tear3d.clouds.setting import Setting
from tear3d.clouds.slides import Slide, name_slides
from tear3d.clouds.turns import about
from tear3d.judge.ambiguity import FreeMotion
from tear3d.judge.symmetry import covered, free_motions, plain, same_axis
from tear3d.problem.arrays import FloatArray
from tear3d.problem.turns import turns_by

# In voxels: how exact a refined pose is, and how far axes may be apart that are the same.
_PRECISION, _SLACK = 0.07, 3.0
# Finer parts of a turn are hardly told from a circle.
_FINEST = 360.0 / 24.0
# Turns that stand for all, in degrees: far from each other and from parts of a turn.
_ANY = (37.0, 101.0)


def name_motions(setting: Setting, slides: list[Slide], poses: list[FloatArray], pose: FloatArray) -> list[FreeMotion]:
    """Motions of the source, in its own coordinates, of which `pose` led to the setting."""
    return _Names(setting, pose).of(slides, poses)


class _Names:
    def __init__(self, setting: Setting, pose: FloatArray) -> None:
        self.setting, self.back = setting, np.linalg.inv(pose)
        self.start = setting.outward(setting.start) @ pose
        self.points = self._to_source(setting.overlap)

    def of(self, slides: list[Slide], poses: list[FloatArray]) -> list[FreeMotion]:
        free = [self._of_source(motion) for motion in name_slides(slides, self.setting.overlap)]
        known = [self.setting.outward(found) @ np.linalg.inv(self.back) for found in poses]
        slack = _SLACK * self.setting.unit * self.setting.voxel
        for motion in self._named(known):
            if not covered(motion, free, slack):
                free += self._finest(motion) if self._fits(motion) else self._one_by_one(known, motion, slack)
        return free

    def _one_by_one(self, known: list[FloatArray], motion: FreeMotion, slack: float) -> list[FreeMotion]:
        """The poses of a group whose common step does not fit."""
        alone = [each for other in known for each in self._named([other])]
        return [each for each in alone if same_axis(each, motion, slack) and self._fits(each)]

    def _named(self, known: list[FloatArray]) -> tuple[FreeMotion, ...]:
        noise = _PRECISION * self.setting.unit * self.setting.voxel
        return free_motions(self.start, known, self.points, noise_bound=noise)

    def _fits(self, motion: FreeMotion) -> bool:
        steps = [motion.step] if motion.step is not None else _ANY if motion.kind == "rotation" else []
        return all(self._fits_after(replace(motion, step=step)) for step in steps)

    def _fits_after(self, motion: FreeMotion) -> bool:
        setting = self.setting
        guess = setting.inward(self.start @ _once(motion) @ self.back)
        if not setting.promising(guess):
            return False
        near = setting.refine(guess)
        return setting.farthest(near, guess) < setting.voxel and setting.judge(near).as_good

    def _finest(self, motion: FreeMotion) -> list[FreeMotion]:
        """With half of the step or a third, as long as it fits: orders that are no primes were not searched for."""
        for parts in (2, 3):
            if motion.kind == "rotation" and motion.step is not None and motion.step / parts >= _FINEST:
                finer = replace(motion, step=motion.step / parts)
                if self._fits(finer):
                    return self._finest(finer)
        return [motion]

    def _of_source(self, motion: FreeMotion) -> FreeMotion:
        axis = np.linalg.inv(self.start)[:3, :3] @ motion.axis
        return replace(motion, axis=plain(axis), through=plain(self._to_source(np.array([motion.through]))[0]))

    def _to_source(self, points: FloatArray) -> FloatArray:
        back = np.linalg.inv(self.start)
        return np.asarray((self.setting.unit * points + self.setting.centre) @ back[:3, :3].T + back[:3, 3])


def _once(motion: FreeMotion) -> FloatArray:
    """The motion by one step."""
    assert motion.step is not None
    if motion.kind == "translation":
        shift = np.eye(4)
        shift[:3, 3] = motion.step * np.asarray(motion.axis)
        return shift
    turn = turns_by(np.radians(motion.step) * np.asarray(motion.axis))
    return about(turn, np.asarray(motion.through))
