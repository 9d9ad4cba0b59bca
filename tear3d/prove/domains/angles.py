"""The paper's cells of the unit sphere: rectangles of longitude and angle from the pole."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tear3d.problem.arrays import FloatArray


class AngleRectangle(NamedTuple):
    """α in [a1, a2] (longitude), β in [b1, b2] ⊂ [0, π] (from the pole)."""

    a1: float
    a2: float
    b1: float
    b2: float

    @property
    def centre(self) -> FloatArray:
        return direction(0.5 * (self.a1 + self.a2), 0.5 * (self.b1 + self.b2))

    @property
    def radius(self) -> float:
        """Half the diagonal of the rectangle in the (α, β) plane, which bounds the angular radius."""
        return 0.5 * math.hypot(self.a2 - self.a1, self.b2 - self.b1)

    @property
    def side(self) -> float:
        """The longer one."""
        return max(self.a2 - self.a1, self.b2 - self.b1)

    def split(self) -> list[AngleRectangle]:
        """The four quarters; none when they cannot be told apart in floating point."""
        a, b = 0.5 * (self.a1 + self.a2), 0.5 * (self.b1 + self.b2)
        if not (self.a1 < a < self.a2 and self.b1 < b < self.b2):
            return []
        alphas, betas = ((self.a1, a), (a, self.a2)), ((self.b1, b), (b, self.b2))
        return [AngleRectangle(*alpha, *beta) for alpha in alphas for beta in betas]


def direction(alpha: float, beta: float) -> FloatArray:
    """(sin β cos α, sin β sin α, cos β)."""
    return np.array(
        [math.sin(beta) * math.cos(alpha), math.sin(beta) * math.sin(alpha), math.cos(beta)], dtype=np.float64
    )


WHOLE_SPHERE = AngleRectangle(0.0, 2.0 * math.pi, 0.0, math.pi)
