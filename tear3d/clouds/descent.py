"""Levenberg-Marquardt on pairs that are formed anew at every step, keeping what was reached at each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from tear3d.clouds.equations import Equations, Pairing
from tear3d.features.steps import Tick, part_of
from tear3d.problem.arrays import FloatArray

_ITERATIONS = 100
# Convergence per step: radians, and lengths in the unit of the points, which is a voxel.
_ROTATION_EPSILON = 2e-5
_TRANSLATION_EPSILON = 1e-3
# Free choices, those of small_gicp: damping at the start, its factor, and how often a step is tried.
_DAMPING, _FACTOR, _TRIES = 1e-3, 10.0, 10


@dataclass(frozen=True)
class Measured:
    """A pose and how well the points agree under it."""

    pose: FloatArray
    fitness: float = math.nan
    rmse: float = math.nan

    @classmethod
    def of(cls, pose: FloatArray, at: Equations, count: int) -> Measured:
        return cls(pose, at.near / count, math.sqrt(at.squares / at.near) if at.near else math.nan)


@dataclass
class Descent:
    """Every pose in `reached` was measured; whoever is stopped in `run` can take the last one."""

    pairing: Pairing
    reached: list[Measured] = field(default_factory=list)
    converged: bool = False

    @property
    def iterations(self) -> int:
        return max(0, len(self.reached) - 1)

    def run(self, start: FloatArray, tick: Tick) -> None:
        damping, pose = _DAMPING, start
        at = self._measure(pose, tick)
        while at.near and not self.converged and self.iterations < _ITERATIONS:
            for _ in range(_TRIES):
                tick(self._done)
                change: FloatArray = np.linalg.solve(at.H + damping * np.eye(6), -at.b).astype(np.float64)
                moved = moved_by(pose, change)
                if self.pairing.error(moved) <= at.error:
                    damping /= _FACTOR
                    break
                damping *= _FACTOR
            else:
                return
            pose, at = moved, self._measure(moved, tick)
            turn, shift = np.linalg.norm(change[:3]), np.linalg.norm(change[3:])
            self.converged = bool(turn <= _ROTATION_EPSILON and shift <= _TRANSLATION_EPSILON)

    @property
    def _done(self) -> float:
        return len(self.reached) / (_ITERATIONS + 1)

    def _measure(self, pose: FloatArray, tick: Tick) -> Equations:
        at = self.pairing.linearise(pose, part_of(tick, self._done, self._done + 1.0 / (_ITERATIONS + 1)))
        self.reached.append(Measured.of(pose, at, len(self.pairing)))
        return at


def moved_by(pose: FloatArray, change: FloatArray) -> FloatArray:
    moved = pose.copy()
    moved[:3, :3] = Rotation.from_rotvec(change[:3]).as_matrix() @ pose[:3, :3]
    moved[:3, 3] += change[3:]
    return moved
