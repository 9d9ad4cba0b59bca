"""From two clouds to a pose: downsample, describe, match, register, refine."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tear3d.api import solve
from tear3d.clouds.describe import Description, Descriptor, Keypoints
from tear3d.clouds.equations import METHODS, Method
from tear3d.clouds.refine import RefineResult, refine_icp
from tear3d.clouds.result import CloudResult
from tear3d.clouds.symmetry import ambiguity
from tear3d.clouds.verdict import CloudEvidence
from tear3d.errors import InputError
from tear3d.features.matching import check_match_options, match
from tear3d.features.steps import Steps
from tear3d.features.voxel import check_voxel_size, choose_voxel_size, voxel_downsample
from tear3d.judge.ambiguity import Ambiguity
from tear3d.problem.arrays import FloatArray, Points, as_points
from tear3d.problem.limits import Limits, ProgressCallback, ctrl_c_cancels
from tear3d.problem.options import Options, as_number
from tear3d.problem.pairs import Pairs
from tear3d.result import Result

__all__ = ["CloudResult", "register_clouds"]

_log = logging.getLogger(__name__)

# In voxels.
_NOISE_BOUND = 1.5
# Of the time that is left after the matching, what the search may take when a refinement follows. Free choice.
_SEARCH_SHARE = 0.8

Matcher = Callable[..., NDArray[np.int64]]


def register_clouds(
    source: Points,
    target: Points,
    *,
    voxel_size: float | None = None,
    noise_bound: float | None = None,
    descriptor: Descriptor = "fpfh",
    keypoints: Keypoints | None = None,
    ratio: float | None = None,
    top_k: int = 1,
    mutual: bool = False,
    refine: Method | None = "gicp",
    time_limit: float | None = None,
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
        `descriptor(points, voxel_size)` returns one descriptor per row. Only the built-in one stops in the middle.
    keypoints : {"iss"}, optional
        Match only these points instead of all.
    ratio, top_k, mutual
        See `tear3d.features.matching.match`.
    refine : {"gicp", "icp", "plane"}, optional
        How to refine on the clouds, at half the voxel size; None leaves the pose of the matches.
    time_limit : float, optional
        Seconds for the whole call, features and refinement included. A fifth of what is left after the matching is
        kept for the refinement.
    progress : callable, optional
        Called with a `Progress` while each step goes on; returning False stops the call, as Ctrl-C does.
    seed, threads
        As for `tear3d.register`.
    **options
        Passed on to `tear3d.register`: `loss`, `node_limit`, `rel_gap`, `certify`, `bounds`.

    Returns
    -------
    CloudResult
        When the call was stopped, the best pose so far.

    Raises
    ------
    InputError
        When the clouds or options cannot be used, or have fewer than 3 matches.
    StoppedError
        When the call was stopped before there were matches to find a pose from.
    """
    started = time.perf_counter()
    checked = _checked_options(
        options | {"time_limit": time_limit, "progress": progress, "seed": seed, "threads": threads}
    )
    limits = Limits(checked.time_limit, checked.node_limit, checked.progress, started=started)
    if voxel_size is not None:
        check_voxel_size(voxel_size)
    if noise_bound is not None and not 0.0 < as_number(noise_bound, "noise_bound") < math.inf:
        raise InputError(f"noise_bound is {noise_bound}: expected a positive number in the unit of the points")
    check_match_options(ratio, top_k)
    if refine is not None and refine not in METHODS:
        raise InputError(f"refine is {refine!r}: expected 'gicp', 'icp', 'plane' or None")
    job = _Job(
        clouds=(_cloud(source, "source"), _cloud(target, "target")),
        description=Description(descriptor, keypoints, threads),
        matcher=partial(match, ratio=ratio, top_k=top_k, mutual=mutual, threads=threads),
        refine=refine,
        threads=threads,
        options=checked,
        limits=limits,
    )
    with ctrl_c_cancels(limits):
        return job.run(voxel_size, noise_bound)


@dataclass(frozen=True)
class _Job:
    """One checked call."""

    clouds: tuple[FloatArray, FloatArray]
    description: Description
    matcher: Matcher
    refine: Method | None
    threads: int | None
    options: Options
    limits: Limits

    def run(self, voxel_size: float | None, noise_bound: float | None) -> CloudResult:
        steps = Steps(self.limits)
        with steps("downsample") as tick:
            tick(0.0)
            if voxel_size is None:
                voxel_size = choose_voxel_size(*self.clouds, tick=tick)
            source, target = (voxel_downsample(cloud, voxel_size, tick=tick) for cloud in self.clouds)
        if noise_bound is None:
            noise_bound = _NOISE_BOUND * voxel_size
        pairs = self._match(source, target, voxel_size, steps)
        _log.info("%d matches of %d and %d points, voxel size %g", len(pairs), len(source), len(target), voxel_size)
        if len(pairs) < 3:
            raise InputError(
                f"source and target: only {len(pairs)} matches between {len(source)} and {len(target)} points, at "
                "least 3 are needed: use a smaller voxel_size, or no ratio, mutual or keypoints"
            )
        with steps("register"), _less_time(self.limits, 1.0 if self.refine is None else _SEARCH_SHARE):
            result = _register_matches(source[pairs[:, 0]], target[pairs[:, 1]], noise_bound, self.options, self.limits)
        refinement = self._refine(result, voxel_size, noise_bound, steps)
        pose = result.transformation if refinement is None else refinement.transformation
        return CloudResult(
            result=result,
            transformation=pose,
            refinement=refinement,
            pairs=pairs,
            source_points=source,
            target_points=target,
            voxel_size=float(voxel_size),
            noise_bound=float(noise_bound),
            seconds=steps.seconds,
            evidence=CloudEvidence(),
            verdict="confirmed" if result.success else "doubtful",
            reasons=(),
            ambiguity=self._ambiguity(source, target, pose, voxel_size, result, steps),
        )

    def _ambiguity(
        self, source: FloatArray, target: FloatArray, pose: FloatArray, voxel_size: float, result: Result, steps: Steps
    ) -> Ambiguity | None:
        # Also without a consensus: that of a ball's matches is none, for every turn has as many.
        if self.limits.over():
            return None
        began = time.perf_counter()
        others = [other.transformation for other in result.alternatives]
        found = ambiguity(source, target, pose, voxel_size, others=others, threads=self.threads)
        steps.seconds["ambiguity"] = time.perf_counter() - began
        return found

    def _match(self, source: FloatArray, target: FloatArray, voxel_size: float, steps: Steps) -> NDArray[np.int64]:
        with steps("describe source") as tick:
            source_rows, source_features = self.description.of(source, voxel_size, tick)
        with steps("describe target") as tick:
            target_rows, target_features = self.description.of(target, voxel_size, tick)
        with steps("match") as tick:
            tick(0.0)
            found = self.matcher(source_features, target_features, tick=tick)
            return np.column_stack((source_rows[found[:, 0]], target_rows[found[:, 1]]))

    def _refine(self, result: Result, voxel_size: float, noise_bound: float, steps: Steps) -> RefineResult | None:
        if self.refine is None or not result.success:
            return None
        began = time.perf_counter()
        # Finer than the matches: the pose is near.
        refinement = refine_icp(
            *self.clouds,
            result.transformation,
            method=self.refine,
            voxel_size=0.5 * voxel_size,
            max_distance=max(2.0 * noise_bound, 3.0 * voxel_size),
            threads=self.threads,
            limits=self.limits,
        )
        steps.seconds["refine"] = time.perf_counter() - began
        return refinement


@contextmanager
def _less_time(limits: Limits, share: float) -> Iterator[None]:
    """While the block runs, only this share of the time that is left."""
    whole = limits.time_limit
    if whole is not None:
        limits.time_limit = whole - (1.0 - share) * max(0.0, whole - limits.seconds)
    try:
        yield
    finally:
        limits.time_limit = whole


def _cloud(obj: Points, name: str) -> FloatArray:
    points = as_points(obj, name)
    if len(points) < 3:
        raise InputError(f"{name} has {len(points)} points: expected a cloud of at least 3")
    return points


def _checked_options(options: dict[str, Any]) -> Options:
    """The options of the search, or an error before any work."""
    known = {field.name for field in fields(Options)}
    for name in options:
        if name not in known:
            raise TypeError(f"register_clouds() got an unexpected keyword argument {name!r}")
    return Options.of(**options)


def _register_matches(
    source: FloatArray, target: FloatArray, noise_bound: float, options: Options, limits: Limits
) -> Result:
    """The search for the pose of the matches; the best so far when the limits are over."""
    return solve(Pairs.of(source, target, noise_bound, None), options, limits)
