"""Where in a large cloud a small one lies: the part of a map that a scan can say anything about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tear3d.problem.arrays import FloatArray

WIDE = 8.0
"""A target with so many times the points of the source, thinned alike, is a map: only its part around the source is
compared. A source of which 0.8 agree with an eighth of a target has a fit of the square root of 0.8 · 0.8/8, which is
0.28, and with a twenty-fifth 0.16: below the 0.18 that confirm a pose. What was found in between, as a map and as
clouds, `docs/clouds.md` tells."""
_OUTLYING = 0.01
"""Share of the points that may lie outside of the box on each of its sides. Free choice: a few stray points would make
it many times as large."""


@dataclass(frozen=True)
class Region:
    """The box around a cloud, along its principal axes."""

    axes: FloatArray
    """In columns, in the cloud's own coordinates."""
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, points: FloatArray) -> Region:
        away = points - points.mean(axis=0)
        axes = np.linalg.eigh(away.T @ away)[1]
        low, high = np.quantile(points @ axes, [_OUTLYING, 1.0 - _OUTLYING], axis=0)
        return cls(axes, low, high)

    def rows(self, target: FloatArray, pose: FloatArray, margin: float) -> NDArray[np.int64]:
        """Which points of the target lie in the box, `margin` wider all around, when the cloud is moved by the pose."""
        own = self.axes.T @ pose[:3, :3].T
        shift = own @ pose[:3, 3]
        inside = np.ones(len(target), dtype=np.bool_)
        for axis, offset, low, high in zip(own, shift, self.low, self.high, strict=True):
            along = target @ axis - offset
            inside &= (along >= low - margin) & (along <= high + margin)
        return np.flatnonzero(inside)
