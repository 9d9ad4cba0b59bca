"""What counts as a cloud."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import ArrayLike

from tear3d.errors import InputError
from tear3d.problem.arrays import FloatArray, as_points


class HasPoints(Protocol):
    """Open3D's point cloud, or anything else with rows of coordinates."""

    @property
    def points(self) -> Any: ...


CloudLike = ArrayLike | HasPoints


def as_cloud(cloud: CloudLike, name: str) -> FloatArray:
    points = as_points(cloud, name)
    if len(points) < 3:
        raise InputError(f"{name} has {len(points)} points: expected a cloud of at least 3")
    return points
