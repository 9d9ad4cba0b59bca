"""Levenberg-Marquardt on pairs that are formed anew at every step, keeping what was reached at each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from tear3d.clouds.equations import Equations, Pairing
from tear3d.features.steps import Tick, part_of
from tear3d.find.ways import free_ways
from tear3d.problem.arrays import FloatArray
from tear3d.problem.pose import Pose
from tear3d.problem.prior import Prior
from tear3d.problem.turns import angle_of, turns_by

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
    most: int = _ITERATIONS
    prior: Prior | None = None
    """The poses that are allowed, in the coordinates of the pairing."""
    reached: list[Measured] = field(default_factory=list)
    converged: bool = False

    @property
    def iterations(self) -> int:
        return max(0, len(self.reached) - 1)

    def run(self, start: FloatArray, tick: Tick) -> None:
        damping, pose = _DAMPING, self._allowed(start)
        at = self._measure(pose, tick)
        while at.used and not self.converged and self.iterations < self.most:
            for _ in range(_TRIES):
                tick(self._done)
                held = at.H + damping * np.eye(6)
                gradient = at.b
                if self.prior is not None:
                    here = Pose.from_matrix(pose)
                    free = free_ways(self.prior, here.rotation @ self.prior.point)
                    held, gradient = free @ held @ free + np.eye(6) - free, free @ gradient
                change: FloatArray = np.linalg.solve(held, -gradient).astype(np.float64)
                ahead = self._allowed(moved(pose, change))
                if self.pairing.error(ahead) <= at.error:
                    damping /= _FACTOR
                    break
                damping *= _FACTOR
            else:
                return
            turn, shift = float(np.linalg.norm(change[:3])), float(np.linalg.norm(change[3:]))
            if self.prior is not None:  # what is allowed of a step: at the edge the others never get small
                turn = angle_of(ahead[:3, :3] @ pose[:3, :3].T)
                shift = float(np.linalg.norm(ahead[:3, 3] - pose[:3, 3]))
            pose, at = ahead, self._measure(ahead, tick)
            self.converged = turn <= _ROTATION_EPSILON and shift <= _TRANSLATION_EPSILON

    def visit(self, pose: FloatArray, tick: Tick) -> None:
        """Measure a pose."""
        self._measure(self._allowed(pose), tick)

    def _allowed(self, pose: FloatArray) -> FloatArray:
        if self.prior is None:
            return pose
        return self.prior.nearest(Pose.from_matrix(pose), None, self.pairing.radius).matrix

    @property
    def _done(self) -> float:
        return len(self.reached) / (self.most + 1)

    def _measure(self, pose: FloatArray, tick: Tick) -> Equations:
        at = self.pairing.linearise(pose, part_of(tick, self._done, self._done + 1.0 / (self.most + 1)))
        self.reached.append(Measured.of(pose, at, len(self.pairing)))
        return at


def moved(pose: FloatArray, change: FloatArray) -> FloatArray:
    """R ← exp(ω) R, t ← t + v."""
    out = pose.copy()
    out[:3, :3] = turns_by(change[:3]) @ pose[:3, :3]
    out[:3, 3] += change[3:]
    return out
