"""From two clouds to a pose: downsample, describe, match, register, refine."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tear3d.clouds.open3d import fpfh_open3d
from tear3d.clouds.refine import RefineResult, refine_icp, small_gicp_or_raise
from tear3d.errors import InputError
from tear3d.features.fpfh import fpfh
from tear3d.features.iss import iss_keypoints
from tear3d.features.matching import match
from tear3d.features.normals import estimate_normals
from tear3d.features.steps import Steps, Tick
from tear3d.features.voxel import choose_voxel_size, voxel_downsample
from tear3d.problem.arrays import as_points
from tear3d.problem.limits import ProgressCallback
from tear3d.result import Result

FloatArray = NDArray[np.float64]
Descriptor = Callable[[FloatArray, float], NDArray[Any]]

_log = logging.getLogger(__name__)

# Radii in voxels: wide enough to be distinctive at about 10 000 points per cloud.
_NORMAL_RADIUS, _NORMAL_POINTS = 3.0, 30
_FPFH_RADIUS, _FPFH_POINTS = 7.0, 200
_ISS_SALIENT, _ISS_NON_MAX = 6.0, 2.0
_NOISE_BOUND = 1.5


@dataclass(frozen=True)
class CloudResult:
    """The pose between two clouds and everything it came from."""

    result: Result
    """The registration of the matches: its pose, certificate and status."""
    transformation: FloatArray
    """4×4, target ← source: refined, or that of `result` without refinement."""
    refinement: RefineResult | None
    """None when not asked for, or when the consensus may be chance."""
    pairs: NDArray[np.int64] = field(repr=False)
    """Matches: rows of `source_points` and `target_points`."""
    source_points: FloatArray = field(repr=False)
    target_points: FloatArray = field(repr=False)
    voxel_size: float
    noise_bound: float
    seconds: dict[str, float]

    @property
    def success(self) -> bool:
        """The consensus cannot be chance."""
        return self.result.success

    @property
    def source_matches(self) -> FloatArray:
        """Row i is matched to row i of `target_matches`; what `result` was found from."""
        return self.source_points[self.pairs[:, 0]]

    @property
    def target_matches(self) -> FloatArray:
        return self.target_points[self.pairs[:, 1]]

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays per point, ready for JSON."""
        refinement = None
        if self.refinement is not None:
            refinement = dataclasses.asdict(self.refinement)
            refinement["transformation"] = self.refinement.transformation.tolist()
            for name in ("rmse", "initial_rmse"):
                refinement[name] = refinement[name] if math.isfinite(refinement[name]) else None
        return {
            "transformation": self.transformation.tolist(),
            "voxel_size": self.voxel_size,
            "noise_bound": self.noise_bound,
            "num_source_points": len(self.source_points),
            "num_target_points": len(self.target_points),
            "result": self.result.to_dict(),
            "refinement": refinement,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        refined = ""
        if self.refinement is not None:
            refined = (
                f"\nrefined on the clouds: {100.0 * self.refinement.fitness:.1f} % of the source points "
                f"within {self.refinement.max_distance:.3g} of the target, rmse {self.refinement.rmse:.3g}"
            )
        return (
            f"{len(self.pairs)} matches of {len(self.source_points)} and {len(self.target_points)} points, "
            f"voxel size {self.voxel_size:g}, noise bound {self.noise_bound:g}\n{self.result}{refined}"
        )


def register_clouds(
    source: object,
    target: object,
    *,
    voxel_size: float | None = None,
    noise_bound: float | None = None,
    descriptor: Literal["fpfh", "fpfh-open3d"] | Descriptor = "fpfh",
    keypoints: Literal["iss"] | None = None,
    ratio: float | None = None,
    top_k: int = 1,
    mutual: bool = False,
    refine: Literal["gicp", "icp", "plane"] | None = "gicp",
    progress: ProgressCallback | None = None,
    seed: int = 0,
    threads: int | None = None,
    **options: Any,
) -> CloudResult:
    """Find the pose that aligns two overlapping clouds, without a start.

    Parameters
    ----------
    source, target : (N, 3) and (M, 3) arrays or Open3D point clouds
    voxel_size : float, optional
        Both clouds are downsampled to it; chosen from the data by default (about 10 000 points each).
    noise_bound : float, optional
        How far matched points may be apart; 1.5 voxels by default.
    descriptor : {"fpfh", "fpfh-open3d"} or callable
        The built-in FPFH, the same by Open3D (extra `open3d`), or your own:
        `descriptor(points, voxel_size)` returns one descriptor per row.
    keypoints : {"iss"}, optional
        Match only these points instead of all.
    ratio, top_k, mutual
        See `tear3d.features.matching.match`.
    refine : {"gicp", "icp", "plane"}, optional
        How to refine on the clouds, at half the voxel size; None leaves the pose of the matches.
    progress : callable, optional
        Called with a `Progress` while each step goes on. Only the search stops when it returns False.
    seed, threads
        As for `tear3d.register`.
    **options
        Passed on to `tear3d.register`.

    Returns
    -------
    CloudResult
    """
    source_cloud, target_cloud = _cloud(source, "source"), _cloud(target, "target")
    if keypoints not in (None, "iss"):
        raise InputError(f"keypoints is {keypoints!r}: expected 'iss' or None")
    if not callable(descriptor) and descriptor not in ("fpfh", "fpfh-open3d"):
        raise InputError(f"descriptor is {descriptor!r}: expected 'fpfh', 'fpfh-open3d' or a function of points")
    if refine not in (None, "gicp", "icp", "plane"):
        raise InputError(f"refine is {refine!r}: expected 'gicp', 'icp', 'plane' or None")
    if refine is not None:
        small_gicp_or_raise()
    steps = Steps(progress)

    with steps("downsample"):
        if voxel_size is None:
            voxel_size = choose_voxel_size(source_cloud, target_cloud)
        source_points = voxel_downsample(source_cloud, voxel_size)
        target_points = voxel_downsample(target_cloud, voxel_size)
    if noise_bound is None:
        noise_bound = _NOISE_BOUND * voxel_size

    described = []
    for name, points in (("source", source_points), ("target", target_points)):
        with steps(f"describe {name}") as tick:
            described.append(_describe(points, voxel_size, descriptor, keypoints, threads, tick))
    (source_rows, source_features), (target_rows, target_features) = described

    with steps("match") as tick:
        found = match(
            source_features,
            target_features,
            ratio=ratio,
            top_k=top_k,
            mutual=mutual,
            threads=threads,
            tick=tick,
        )
        pairs = np.column_stack((source_rows[found[:, 0]], target_rows[found[:, 1]]))
    _log.info(
        "%d matches of %d and %d points, voxel size %g",
        len(pairs), len(source_points), len(target_points), voxel_size,
    )  # fmt: skip
    if len(pairs) < 3:
        raise InputError(
            f"source and target: only {len(pairs)} matches between {len(source_points)} and "
            f"{len(target_points)} points, at least 3 are needed: "
            "use a smaller voxel_size, or no ratio, mutual or keypoints"
        )

    from tear3d.api import register

    with steps("register"):
        result = register(
            source_points[pairs[:, 0]],
            target_points[pairs[:, 1]],
            noise_bound=noise_bound,
            progress=progress,
            seed=seed,
            threads=threads,
            **options,
        )
    refinement = None
    if refine is not None and result.success:
        with steps("refine"):
            # Finer than the matches: the pose is near, and GICP takes a fraction of a second.
            refinement = refine_icp(
                source_cloud,
                target_cloud,
                result.transformation,
                method=refine,
                voxel_size=0.5 * voxel_size,
                max_distance=max(2.0 * noise_bound, 3.0 * voxel_size),
                threads=threads,
            )
    return CloudResult(
        result=result,
        transformation=result.transformation if refinement is None else refinement.transformation,
        refinement=refinement,
        pairs=pairs,
        source_points=source_points,
        target_points=target_points,
        voxel_size=float(voxel_size),
        noise_bound=float(noise_bound),
        seconds=steps.seconds,
    )


def _cloud(obj: object, name: str) -> FloatArray:
    points = as_points(obj, name)
    if len(points) < 3:
        raise InputError(f"{name} has {len(points)} points: expected a cloud of at least 3")
    return points


def _describe(
    points: FloatArray,
    voxel_size: float,
    descriptor: Literal["fpfh", "fpfh-open3d"] | Descriptor,
    keypoints: str | None,
    threads: int | None,
    tick: Tick | None = None,
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The rows of `points` to match and their descriptors."""
    if callable(descriptor):
        features = np.asarray(descriptor(points, voxel_size))
        if features.ndim != 2 or len(features) != len(points):
            raise InputError(f"descriptor returned shape {features.shape}: expected {len(points)} rows")
    else:
        # Away from the centroid: both clouds agree on the sign where they overlap, however they are posed.
        normals = estimate_normals(
            points,
            radius=_NORMAL_RADIUS * voxel_size,
            max_nn=_NORMAL_POINTS,
            orient="away",
            threads=threads,
        )
        radius = _FPFH_RADIUS * voxel_size
        if descriptor == "fpfh-open3d":
            features = fpfh_open3d(points, normals, radius, _FPFH_POINTS)
        else:
            features = fpfh(points, normals, radius, _FPFH_POINTS, threads=threads, tick=tick)
    rows = np.flatnonzero(features.any(axis=1))
    if keypoints == "iss":
        found = iss_keypoints(
            points,
            salient_radius=_ISS_SALIENT * voxel_size,
            non_max_radius=_ISS_NON_MAX * voxel_size,
            threads=threads,
        )
        rows = np.intersect1d(rows, found, assume_unique=True)
    return rows, features[rows]
