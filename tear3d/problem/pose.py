"""A rotation and a translation: the only representation of a pose inside the library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tear3d.problem.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Pose:
    """Maps x to R x + t."""

    rotation: FloatArray
    translation: FloatArray

    @classmethod
    def of(cls, rotation: ArrayLike, translation: ArrayLike) -> Pose:
        """From anything array-like, as the arrays that kernels want: of their own, for those of a result are read-only,
        and kernels would be compiled once more for these."""
        return cls(
            np.array(rotation, np.float64, order="C").reshape(3, 3),
            np.array(translation, np.float64, order="C").reshape(3),
        )

    @classmethod
    def from_row(cls, row: FloatArray) -> Pose:
        """From twelve numbers: the rotation row by row, then the translation."""
        return cls.of(row[:9], row[9:12])

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """From a 4×4 matrix."""
        array = np.asarray(matrix, np.float64)
        return cls.of(array[:3, :3], array[:3, 3])

    @classmethod
    def identity(cls) -> Pose:
        return cls(np.eye(3), np.zeros(3))

    @property
    def row(self) -> FloatArray:
        """Twelve numbers, see `from_row`."""
        return np.concatenate([self.rotation.ravel(), self.translation])

    @property
    def matrix(self) -> FloatArray:
        """4×4."""
        out = np.eye(4)
        out[:3, :3], out[:3, 3] = self.rotation, self.translation
        return out

    @property
    def inverse(self) -> Pose:
        return Pose(np.ascontiguousarray(self.rotation.T), -self.rotation.T @ self.translation)

    def apply(self, points: FloatArray) -> FloatArray:
        """R x + t of N×3 points."""
        return np.asarray(points @ self.rotation.T + self.translation)

    def after(self, other: Pose) -> Pose:
        """First `other`, then this one."""
        return Pose(self.rotation @ other.rotation, self.rotation @ other.translation + self.translation)

    def between(self, source: FloatArray, target: FloatArray) -> Pose:
        """The same motion in coordinates whose origins lie at `source` and `target`."""
        return Pose(self.rotation, self.translation - target + self.rotation @ source)

    def distance(self, other: Pose, radius: float) -> float:
        """How far apart the two put a point at most, for points within `radius` of the origin."""
        turn = float(np.linalg.norm(self.rotation - other.rotation, 2))
        return turn * radius + float(np.linalg.norm(self.translation - other.translation))

    def orthonormal(self) -> Pose:
        """With the nearest rotation: many small turns drift off the group by rounding."""
        u, _, vt = np.linalg.svd(self.rotation)
        return Pose((u * [1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt, self.translation)
