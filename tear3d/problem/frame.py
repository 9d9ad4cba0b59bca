"""How coordinates inside relate to those given, and pairs in pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from tear3d.problem.arrays import FloatArray
from tear3d.problem.losses import Loss
from tear3d.problem.pose import Pose


@dataclass(frozen=True, eq=False)
class Frame:
    """How coordinates inside relate to those given: x_given = unit·x + source, and likewise for the target."""

    source: FloatArray
    target: FloatArray
    unit: float = 1.0
    weight: float = 1.0
    """Weights given = weight · weights inside."""

    def outside(self, pose: Pose) -> Pose:
        """A pose found inside, for the coordinates given."""
        return Pose(pose.rotation, self.unit * pose.translation + self.target - pose.rotation @ self.source)

    def inside(self, pose: Pose) -> Pose:
        """A pose of the coordinates given, for those inside."""
        shift = pose.translation - self.target + pose.rotation @ self.source
        return Pose(pose.rotation, shift / self.unit)

    def saving_unit(self, loss: Loss) -> float:
        """What a saving inside is multiplied with to be one of the pairs given."""
        return self.weight * self.unit**loss.power

    @property
    def swapped(self) -> Frame:
        return replace(self, source=self.target, target=self.source)


class Block(NamedTuple):
    """Some consecutive pairs."""

    rows: slice
    x: FloatArray
    y: FloatArray
    xi: FloatArray
    w: FloatArray
