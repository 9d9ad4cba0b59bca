"""A target that many clouds are registered to: what is computed of it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.describe import Description, Descriptor, Keypoints
from tear3d.clouds.evidence import Keep, Side
from tear3d.clouds.inputs import Cloud
from tear3d.clouds.kept import Kept
from tear3d.features.steps import Tick, part_of
from tear3d.features.tree import Tree
from tear3d.features.voxel import check_voxel_size, sampling, voxel_downsample
from tear3d.features.work import aside
from tear3d.problem.arrays import FloatArray, Points

MOST_SIZES = 4
"""Voxel sizes that are kept: the three that a call may try, and one more. Free choice."""


class Prepared:
    """A cloud to register others to, and what was computed of it so far; made by `tear3d.prepare`.

    Takes the place of the target of `register_clouds`, in any number of threads at once. Can be pickled with what it
    holds, with a descriptor of your own only if that can.
    """

    def __init__(self, cloud: Cloud, description: Description, voxel_size: float | None = None) -> None:
        self.cloud = cloud
        self.description = description
        self.voxel_size = voxel_size
        """For calls that do not say another."""
        self._kept, self._sampling = Kept(MOST_SIZES), Kept(1)

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
        counted = {self.points.ctypes.data}
        return sum(_bytes(value, counted) for value in self._kept.values())

    def __len__(self) -> int:
        return len(self.points)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:g}" for size in self.voxel_sizes) or "none yet"
        return f"Prepared({len(self)} points, voxel sizes: {sizes}, {self.nbytes / 2**20:.0f} MiB kept)"

    def for_scans(self, voxel_size: float) -> None:
        """Compute what a scan in this map needs at a voxel size, unless it is there."""
        self.described(voxel_size, self.description.keypoints, True, _nothing)
        points, threads = self.thinned(voxel_size, _nothing), self.description.threads
        side = self.sides(voxel_size)(0, lambda: Side.of(points, voxel_size, threads, _nothing), _nothing)
        aside(lambda: side.seen, _nothing)

    def finest(self, tick: Tick) -> float:
        """The smallest voxel worth having, by the sampling of the surface."""
        return float(self._sampling.get(0, "finest", lambda: aside(lambda: sampling(self.points)[1], tick), tick))

    def thinned(self, voxel_size: float, tick: Tick) -> FloatArray:
        """Its points at a `voxel_size`; `tick` is called now and then."""
        return self._get(voxel_size, "points", lambda: voxel_downsample(self.points, voxel_size, tick=tick), tick)

    def described(
        self, voxel_size: float, keypoints: Keypoints | None, local: bool, tick: Tick
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Which of the points thinned to a `voxel_size` to match, all or `keypoints`, and their descriptors, with
        normals that are `local` or not; `tick` is called now and then."""
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

    def _get(self, voxel_size: float, name: Any, make: Callable[[], Any], tick: Tick) -> Any:
        return self._kept.get(voxel_size, name, make, tick)


def prepare(
    target: Points,
    *,
    voxel_size: float | None = None,
    descriptor: Descriptor = "fpfh",
    keypoints: Keypoints | None = None,
    threads: int | None = None,
) -> Prepared:
    """Make a target ready for many calls of `register_clouds`: what they compute of it is kept.

    With a `voxel_size` a map is thinned, described and made ready for comparing at once, which Ctrl-C ends with a
    KeyboardInterrupt. Without, each scan has its own size chosen, one of ten a decade, and the first call with a size
    does the work, within its own limits. Results are those of the cloud itself, bit for bit.

    Parameters
    ----------
    target : (M, 3) array or Open3D point cloud
    voxel_size, keypoints : optional
        As for `register_clouds`, for calls that leave them out. A call may ask for others, which are computed and kept
        too, of voxel sizes the latest four.
    descriptor
        As for `register_clouds`. A call with another is refused: one kind of descriptors cannot be matched to another.
    threads : int, optional
        For what is computed of the target.

    Returns
    -------
    Prepared
        In place of the target of `register_clouds`. As a source it is a cloud like any other.

    Raises
    ------
    InputError
        When the cloud or the options cannot be used.
    """
    if voxel_size is not None:
        check_voxel_size(voxel_size)
    prepared = Prepared(Cloud.of(target, "target"), Description(descriptor, keypoints, threads), voxel_size)
    if voxel_size is not None:
        prepared.for_scans(voxel_size)
    return prepared


def _nothing(done: float) -> None:
    """A tick that never stops; that there is one keeps long calls from holding off Ctrl-C."""


def _bytes(value: Any, counted: set[int]) -> int:
    """Of arrays and trees; what several share is counted once."""
    if isinstance(value, Side):
        seen = vars(value).get("seen")  # computed when first asked for
        sights = () if seen is None else seen.sights
        parts = [
            value.points,
            value.normals,
            value.tree,
            *(part for sight in sights for part in (sight.tree, sight.depth)),
        ]
        return sum(_bytes(part, counted) for part in parts)
    if isinstance(value, Tree):
        return sum(_bytes(part, counted) for part in vars(value).values())
    if not isinstance(value, np.ndarray) or value.ctypes.data in counted:
        return 0
    counted.add(value.ctypes.data)
    return value.nbytes
