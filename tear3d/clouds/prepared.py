"""A target that many clouds are registered to: what is computed of it is kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.describe import Description, Descriptor, Keypoints
from tear3d.clouds.evidence import Keep, Side
from tear3d.clouds.inputs import Cloud
from tear3d.clouds.kept import Kept
from tear3d.clouds.sight import Sight
from tear3d.errors import InputError
from tear3d.features.steps import Steps, Tick, part_of
from tear3d.features.voxel import check_voxel_size, sampling, voxel_downsample
from tear3d.features.work import aside
from tear3d.problem.arrays import FloatArray, Points
from tear3d.problem.limits import Limits, ctrl_c_cancels

MOST_SIZES = 4
"""Voxel sizes that are kept: those of the three tries of a call that go through sizes, and one more. Free choice."""


class Prepared:
    """A cloud to register others to, and what was computed of it so far; made by `tear3d.prepare`.

    Takes the place of the target of `register_clouds`, from any number of threads at once, and can be pickled with what
    it holds (with a descriptor of your own only if that can).
    """

    def __init__(self, cloud: Cloud, description: Description, voxel_size: float | None = None) -> None:
        self.cloud = cloud
        self.description = description
        self.voxel_size = voxel_size
        self._kept = Kept(MOST_SIZES + 1)

    @property
    def points(self) -> FloatArray:
        """The finite points of the cloud, as they were given."""
        return self.cloud.points

    @property
    def voxel_sizes(self) -> tuple[float, ...]:
        """Those that something is kept for, the one that was used last at the end."""
        return tuple(size for size in self._kept.groups() if isinstance(size, float))

    @property
    def nbytes(self) -> int:
        """What is kept beyond the cloud itself, in bytes: arrays and search trees."""
        return sum(map(_bytes, self._kept.values()))

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:g}" for size in self.voxel_sizes) or "none yet"
        return f"Prepared({len(self)} points, voxel sizes: {sizes}, {self.nbytes / 2**20:.0f} MiB kept)"

    def finest(self, tick: Tick) -> float:
        """The smallest voxel worth having, by the sampling of the surface."""
        return float(self._get(None, "finest", lambda: aside(lambda: sampling(self.points)[1], tick), tick))

    def thinned(self, voxel_size: float, tick: Tick) -> FloatArray:
        return self._get(voxel_size, "points", lambda: voxel_downsample(self.points, voxel_size, tick=tick), tick)

    def described(
        self, voxel_size: float, keypoints: Keypoints | None, local: bool, tick: Tick
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Which of the thinned points to match, and their descriptors."""
        points, way = self.thinned(voxel_size, tick), replace(self.description, keypoints=keypoints, local=local)
        features = self._get(
            voxel_size,
            ("features", local),
            lambda: way.features(points, voxel_size, part_of(tick, 0.0, 0.7)),
            tick,
        )
        rows = self._get(
            voxel_size,
            ("rows", local, keypoints),
            lambda: way.rows(points, voxel_size, features, part_of(tick, 0.7, 1.0)),
            tick,
        )
        return rows, features[rows]

    def sides(self, voxel_size: float) -> Keep:
        """Where a scene with clouds of this voxel size finds its target."""
        return lambda times, make, tick: self._get(voxel_size, ("side", times), make, tick)

    def _get(self, voxel_size: float | None, name: Any, make: Callable[[], Any], tick: Tick) -> Any:
        return self._kept.get(voxel_size, name, make, tick)


def prepare(
    target: Points,
    *,
    voxel_size: float | None = None,
    descriptor: Descriptor = "fpfh",
    keypoints: Keypoints | None = None,
    threads: int | None = None,
) -> Prepared:
    """x"""
    if voxel_size is not None:
        check_voxel_size(voxel_size)
    return Prepared(Cloud.of(target, "target"), Description(descriptor, keypoints, threads), voxel_size)


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    return 0
