"""Which scales a similarity may have, and pairs whose source is scaled."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray
from tear3d.problem.pairs import Pairs
from tear3d.problem.pose import Pose

DEFAULT = (0.1, 10.0)
"""When nobody says which (free choice)."""


class ScaleRange(NamedTuple):
    """From the smallest to the largest scale, target over source."""

    low: float
    high: float

    @classmethod
    def of(cls, estimate_scale: Any = False, scale_range: Any = None) -> ScaleRange | None:
        """From the options of `register`; None for rigid motions, an InputError when they are wrong."""
        if not isinstance(estimate_scale, bool | np.bool_):
            raise InputError(f"estimate_scale is {estimate_scale!r}: expected True or False")
        if not estimate_scale:
            if scale_range is not None:
                raise InputError("scale_range is given without estimate_scale=True")
            return None
        given = DEFAULT if scale_range is None else scale_range
        try:
            if isinstance(given, str) or any(isinstance(value, str | bool | np.bool_) for value in given):
                raise TypeError
            low, high = (float(value) for value in given)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"scale_range is {scale_range!r}: expected (lowest, highest), such as (0.5, 2)") from None
        if not (0.0 < low <= high < math.inf):
            raise InputError(f"scale_range is {scale_range!r}: expected 0 < lowest ≤ highest, both finite")
        if high > 1e6 * low:
            raise InputError(f"scale_range spans a factor of {high / low:.3g}: expected at most a million")
        if low < 1e-150 or high > 1e150:
            raise InputError(f"scale_range is {scale_range!r}: expected scales between 1e-150 and 1e150")
        return cls(low, high)

    @property
    def middle(self) -> float:
        """A power of two in the middle, by which numbers are multiplied without rounding."""
        return math.ldexp(1.0, round(0.5 * (math.log2(self.low) + math.log2(self.high))))

    @property
    def only(self) -> bool:
        """Whether one scale is all that is allowed."""
        return self.low == self.high

    @property
    def applied(self) -> float:
        """What the source is multiplied with before pairs are looked at: the only scale, or the middle."""
        return self.low if self.only else self.middle

    def over(self, factor: float) -> ScaleRange:
        """The same for a source that was multiplied with `factor`."""
        return ScaleRange(self.low / factor, self.high / factor)

    def clip(self, scale: float) -> float:
        return min(max(scale, self.low), self.high)


def scaled(pairs: Pairs, scale: float) -> Pairs:
    """The pairs with a source that is so many times larger, in the coordinates given too."""
    frame = replace(pairs.frame, source=scale * pairs.frame.source)
    return replace(pairs, x=scale * pairs.x, x_mean=scale * pairs.x_mean, frame=frame)


def scale_of(matrix: FloatArray) -> float:
    """The scale of a 3×3 matrix that is a rotation times a scale."""
    return float(np.cbrt(np.linalg.det(matrix)))


def rigid_part(similar: Pose) -> tuple[float, Pose]:
    """The scale of a pose whose matrix is a rotation times that, and the pose for the scaled source."""
    scale = scale_of(similar.rotation)
    return scale, Pose(similar.rotation / scale, similar.translation)


def similar(scale: float, pose: Pose) -> Pose:
    """The other way: one matrix that scales and turns. All that is linear in a pose takes it like any other."""
    return Pose(scale * pose.rotation, pose.translation)
