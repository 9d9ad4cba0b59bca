"""From two clouds to a pose: checked options for the job that does it."""

from __future__ import annotations

import math
import time
from dataclasses import fields
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from tear3d.clouds.describe import Description, Descriptor, Keypoints
from tear3d.clouds.equations import METHODS, Method
from tear3d.clouds.inputs import Cloud, Inputs
from tear3d.clouds.job import Job
from tear3d.clouds.prepared import Prepared
from tear3d.clouds.result import CloudResult
from tear3d.clouds.tries import Given, Maker
from tear3d.errors import InputError
from tear3d.features.matching import check_match_options, match
from tear3d.features.voxel import check_voxel_size
from tear3d.find.seekers import by_heights
from tear3d.problem.arrays import Points
from tear3d.problem.compiling import compiled_apart
from tear3d.problem.kernels import needed
from tear3d.problem.limits import ProgressCallback, ctrl_c_cancels
from tear3d.problem.options import Options, TimeLimit, as_number
from tear3d.problem.prior import Prior, Within

__all__ = ["CloudResult", "register_clouds"]

# For the proof, unless a limit is given: free choice.
_PROOF_SECONDS = 10.0


def register_clouds(
    source: Points,
    target: Points | Prepared,
    *,
    voxel_size: float | None = None,
    noise_bound: float | None = None,
    descriptor: Descriptor = "fpfh",
    keypoints: Keypoints | None = None,
    ratio: float | None = None,
    top_k: int = 1,
    mutual: bool = False,
    refine: Method | None = "gicp",
    time_limit: TimeLimit = "auto",
    progress: ProgressCallback | None = None,
    seed: int = 0,
    threads: int | None = None,
    rotation_axis: ArrayLike | None = None,
    axis_tolerance: float = 0.0,
    planar: bool = False,
    plane_tolerance: float = 0.0,
    rotation: ArrayLike | None = None,
    initial: ArrayLike | None = None,
    within: Within | None = None,
    **options: Any,
) -> CloudResult:
    """Find the pose that aligns two overlapping clouds, without a start.

    Parameters
    ----------
    source, target : (N, 3) and (M, 3) arrays or Open3D point clouds
        Points with NaN or infinite coordinates are dropped, counted in `CloudResult.dropped`, with a logged warning. A
        target with 8 times the points of the source, thinned alike, is a map, and compared where the source lies.
        What `tear3d.prepare` returned may stand for the target.
    voxel_size : float, optional
        Both clouds are downsampled to it; chosen from the data by default (about 10 000 points each; about 2 000 of a
        scan in a map), or that of a prepared target.
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
    time_limit : float or None
        Seconds for the whole call, features, further tries and refinement included; None for no limit. A fifth of what
        is left after the matching is kept for the refinement. Unless given ("auto") the proof alone is limited, to 10
        seconds, since the clouds tell by themselves whether the pose is right; further tries end after a fixed number
        then, as they do without a limit: see `tear3d.clouds.tries`.
    progress : callable, optional
        Called with a `Progress` while each step goes on; returning False stops the call, as Ctrl-C does.
    seed, threads
        As for `tear3d.register`.
    rotation_axis, axis_tolerance, planar, plane_tolerance, rotation, initial, within
        What is known of the pose, as for `tear3d.register`: matches, refinement and the search for other poses are
        confined to it, too.
    **options
        Passed on to `tear3d.register`: `loss`, `node_limit`, `rel_gap`, `certify`, `bounds`.

    Returns
    -------
    CloudResult
        `success` when the clouds confirm the pose. When the call was stopped, the best pose so far.

    Raises
    ------
    InputError
        When the clouds or options cannot be used, or have fewer than 3 matches; when one cloud spans 100 times as much
        as the other; when float32 has cost the coordinates digits that the voxel size needs.
    StoppedError
        When the call was stopped before there were matches to find a pose from.
    """
    started = time.perf_counter()
    prior = Prior.of(
        rotation_axis=rotation_axis,
        axis_tolerance=axis_tolerance,
        planar=planar,
        plane_tolerance=plane_tolerance,
        rotation=rotation,
        initial=initial,
        within=within,
    )
    given = {"time_limit": time_limit, "progress": progress, "seed": seed, "threads": threads, "prior": prior}
    checked = _checked_options(options | given)
    limits = checked.limits(started, _PROOF_SECONDS)
    if voxel_size is not None:
        check_voxel_size(voxel_size)
    if noise_bound is not None and not 0.0 < as_number(noise_bound, "noise_bound") < math.inf:
        raise InputError(f"noise_bound is {noise_bound}: expected a positive number in the unit of the points")
    check_match_options(ratio, top_k)
    if refine is not None and refine not in METHODS:
        raise InputError(f"refine is {refine!r}: expected 'gicp', 'icp', 'plane' or None")
    matcher = partial(match, ratio=ratio, mutual=mutual, threads=threads)
    cloud, description = Cloud.of(source, "source"), Description(descriptor, keypoints, threads)
    if isinstance(target, Prepared):
        prepared = target
        _check_descriptor(descriptor, prepared.description.descriptor)
        voxel_size = prepared.voxel_size if voxel_size is None else voxel_size
        keypoints = prepared.description.keypoints if keypoints is None else keypoints
    else:
        prepared = Prepared(Cloud.of(target, "target"), description)
    inputs = Inputs.together(cloud, prepared.cloud).doubting(prior)
    job = Job(
        maker=Maker(inputs, prepared, description, matcher),
        given=Given(voxel_size, noise_bound, top_k, keypoints, filtered=ratio is not None or mutual),
        refine=refine,
        options=checked,
        limits=limits,
        threads=threads,
    )
    kernels = needed(checked.certify, clouds=True, upright=by_heights(prior), prior=prior is not None)
    with compiled_apart(limits, kernels), ctrl_c_cancels(limits):
        return job.run()


def _check_descriptor(asked: Descriptor, prepared: Descriptor) -> None:
    """Of a prepared target: an error unless it was described in the same way."""
    if asked != prepared:
        raise InputError(
            f"descriptor is {asked!r}, but target was prepared with {prepared!r}: pass the same to both, or prepare "
            "the target once for each"
        )


def _checked_options(options: dict[str, Any]) -> Options:
    """The options of the search, or an error before any work."""
    known = {field.name for field in fields(Options)} - {"scale", "max_instances"}
    for name in options:
        if name not in known:
            raise TypeError(f"register_clouds() got an unexpected keyword argument {name!r}")
    checked = Options.of(**options)
    if checked.method != "tear3d":
        raise InputError(f"method is {checked.method!r}: between clouds only 'tear3d'; pass the matches to register")
    return checked
