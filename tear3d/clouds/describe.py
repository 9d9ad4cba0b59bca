"""Which points of a cloud to match, and their descriptors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.open3d import fpfh_open3d
from tear3d.errors import InputError, MissingExtraError
from tear3d.features.fpfh import fpfh
from tear3d.features.iss import iss_keypoints
from tear3d.features.neighbours import rows_at_once
from tear3d.features.normals import estimate_normals
from tear3d.features.steps import Tick, part_of
from tear3d.features.tree import Tree
from tear3d.features.voxel import voxel_downsample
from tear3d.features.work import aside, in_chunks
from tear3d.problem.arrays import FloatArray

Descriptor = Literal["fpfh", "fpfh-open3d"] | Callable[[FloatArray, float], NDArray[Any]]
Keypoints = Literal["iss"]

# Radii in voxels: wide enough to be distinctive at about 10 000 points per cloud.
_NORMAL_RADIUS, _NORMAL_POINTS = 3.0, 30
_FPFH_RADIUS, _FPFH_POINTS = 7.0, 200
# Of the surface within the radius of the descriptor, so much is enough to tell its middle; in voxels, and points.
_THINNED, _THINNED_POINTS = 2.0, 60
_ISS_SALIENT, _ISS_NON_MAX = 6.0, 2.0


@dataclass(frozen=True)
class Description:
    """How to describe a cloud."""

    descriptor: Descriptor = "fpfh"
    keypoints: Keypoints | None = None
    threads: int | None = None
    local: bool = False
    """Normals point away from the middle of what the descriptor tells about, not from that of the whole cloud: a scan
    and the map it lies in have other middles. Of 8 scans of made-up towns 1.6 times as many matches or
    more were right."""

    def __post_init__(self) -> None:
        if self.keypoints not in (None, "iss"):
            raise InputError(f"keypoints is {self.keypoints!r}: expected 'iss' or None")
        if not callable(self.descriptor) and self.descriptor not in ("fpfh", "fpfh-open3d"):
            raise InputError(
                f"descriptor is {self.descriptor!r}: expected 'fpfh', 'fpfh-open3d' or a function of points"
            )
        if self.descriptor == "fpfh-open3d" and find_spec("open3d") is None:
            raise MissingExtraError("open3d", "open3d", "FPFH by Open3D")

    def of(self, points: FloatArray, voxel_size: float, tick: Tick) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The rows of `points` to match and their descriptors."""
        described = 1.0 if self.keypoints is None else 0.7
        features = self.features(points, voxel_size, part_of(tick, 0.0, described))
        rows = self.rows(points, voxel_size, features, part_of(tick, described, 1.0))
        return rows, features[rows]

    def features(self, points: FloatArray, voxel_size: float, tick: Tick) -> NDArray[Any]:
        """A descriptor for every point; zeros where there is none."""
        tick(0.0)
        features = self._features(points, voxel_size, tick)
        tick(1.0)
        return features

    def rows(self, points: FloatArray, voxel_size: float, features: NDArray[Any], tick: Tick) -> NDArray[np.int64]:
        """Which points to match: those with a descriptor, or the keypoints among them."""
        rows = np.flatnonzero(features.any(axis=1))
        if self.keypoints is None:
            return rows
        found = iss_keypoints(
            points,
            salient_radius=_ISS_SALIENT * voxel_size,
            non_max_radius=_ISS_NON_MAX * voxel_size,
            threads=self.threads,
            tick=tick,
        )
        return np.intersect1d(rows, found, assume_unique=True)

    def _features(self, points: FloatArray, voxel_size: float, tick: Tick) -> NDArray[Any]:
        if callable(self.descriptor):
            # In the caller's thread, where the function expects to be.
            features = np.asarray(self.descriptor(points, voxel_size))
            if features.ndim != 2 or len(features) != len(points):
                raise InputError(f"descriptor returned shape {features.shape}: expected {len(points)} rows")
            return features
        # Away from the centroid: both clouds agree on the sign where they overlap, however they are posed.
        normals = estimate_normals(
            points,
            radius=_NORMAL_RADIUS * voxel_size,
            max_nn=_NORMAL_POINTS,
            orient="away",
            threads=self.threads,
            tick=part_of(tick, 0.0, 0.2),
        )
        if self.local:
            outward = self._outward(points, voxel_size, tick)
            normals[np.einsum("ij,ij->i", normals, outward) < 0.0] *= -1.0
        radius = _FPFH_RADIUS * voxel_size
        if self.descriptor == "fpfh-open3d":
            return aside(lambda: fpfh_open3d(points, normals, radius, _FPFH_POINTS), tick, 0.2)
        return fpfh(points, normals, radius, _FPFH_POINTS, threads=self.threads, tick=part_of(tick, 0.2, 1.0))

    def _outward(self, points: FloatArray, voxel_size: float, tick: Tick) -> FloatArray:
        """Away from the mean, thinned, of what the descriptor of each point tells about."""
        few = voxel_downsample(points, _THINNED * voxel_size, tick=tick)
        tree = aside(lambda: Tree(few), tick)
        out = np.empty_like(points)

        def work(start: int, stop: int) -> None:
            own = points[start:stop]
            found = tree.query(own, _THINNED_POINTS, _FPFH_RADIUS * voxel_size)[1]
            out[start:stop] = np.where(found[..., None] >= 0, own[:, None] - few[found], 0.0).sum(axis=1)

        in_chunks(work, len(points), self.threads, chunk=rows_at_once(_THINNED_POINTS), tick=lambda done: tick(0.0))
        return out
