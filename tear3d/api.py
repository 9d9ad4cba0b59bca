"""`register`: checked arguments for `solve`, which finds, proves and judges."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import Any, Literal

from numpy.typing import ArrayLike

from tear3d.errors import CollapsedError, InputError
from tear3d.find.seekers import by_heights
from tear3d.noise.entry import settled_noise
from tear3d.problem.arrays import Numbers, Points
from tear3d.problem.compiling import compiled_apart
from tear3d.problem.far import origin_doubt
from tear3d.problem.flat import lifted
from tear3d.problem.kernels import needed
from tear3d.problem.limits import Limits, ProgressCallback, ctrl_c_cancels
from tear3d.problem.losses import LossName
from tear3d.problem.options import BoundsName, Certify, Method, Options, TimeLimit
from tear3d.problem.pairs import Pairs
from tear3d.problem.prior import Prior, Within
from tear3d.problem.scales import ScaleRange
from tear3d.result import Result
from tear3d.similarity import collapsed, similar_pairs, solve_similarity
from tear3d.solving import solve
from tear3d.stream.inputs import Asked, Opened, checked_limit

log = logging.getLogger("tear3d")


def register(
    source: Points,
    target: Points,
    *,
    noise_bound: Numbers | Literal["auto"] | None = None,
    loss: LossName = "tear",
    weights: Numbers | None = None,
    time_limit: TimeLimit = "auto",
    node_limit: int | None = None,
    rel_gap: float | None = None,
    threads: int | None = None,
    seed: int = 0,
    certify: Certify = True,
    progress: ProgressCallback | None = None,
    bounds: BoundsName = "sharp",
    method: Method = "tear3d",
    memory_limit: int | None = None,
    client: object = None,
    checkpoint: str | os.PathLike[str] | None = None,
    rotation_axis: ArrayLike | None = None,
    axis_tolerance: float = 0.0,
    planar: bool = False,
    plane_tolerance: float = 0.0,
    rotation: ArrayLike | None = None,
    initial: ArrayLike | None = None,
    within: Within | None = None,
    estimate_scale: bool = False,
    scale_range: tuple[float, float] | None = None,
    max_instances: int = 1,
) -> Result:
    """Find the rotation and translation that map source points onto their matched target points.

    Almost all pairs may be wrong. The answer comes with a certificate: no rotation and translation saves more than
    `certificate.gap` beyond this one, and none elsewhere more than `certificate.runner_up` of what it saves.

    Parameters
    ----------
    source, target : (N, 3) arrays, Open3D point clouds, or what is larger than memory
        Row i of `source` is matched to row i of `target`. Both (N, 2): solved in the plane, with z = 0, see
        `Result.transformation_2d`. Memory-mapped arrays, paths of ``.npy`` files, lists of them
        and what `tear3d.open_pairs` opens are read a piece at a time if they are too large, see `memory_limit`.
    noise_bound : float, (N,) array or "auto"
        Largest distance between a target point and its moved source point for the pair to count as right, in the
        units of the points; about 3 to 6 standard deviations of the noise. Unless given, or "auto", it is estimated
        from the pairs and said in the message, see `Result.noise`. With `estimate_scale` a length of the target.
    loss : {"tear", "cm", "tls"}
        Truncated absolute residuals (default), number of outliers, or truncated squares.
    weights : (N,) array, optional
        How much each pair counts, 0 or more; only their ratios matter.
    time_limit : float or None
        Seconds for the whole call, after which the best pose so far is returned with its gap; None for no limit. Unless
        given ("auto") the proof alone is limited, to 60 seconds from when the candidate is there.
    node_limit : int, optional
        The same for visited cells.
    rel_gap : float, optional
        The proof is done when nothing can save more than (1 + rel_gap) times what was saved. The saving is what the
        objective lies below its all-outlier value. By default 0.01 for the pose and 0.001 for rows.
    threads : int, optional
        All cores by default. The result does not depend on it.
    seed : int
        Of the random order in which candidate poses are tried.
    certify : {True, "pose", "rows", False}
        "pose" (or "full", its old name, or True) proves the pose itself: no rotation and translation at all saves more
        in the full objective. "rows" proves two rows of it, one after the other, as the paper does: a weaker statement.
        False returns the best candidate at once, with status "uncertified". What could be chance gets no proof.
    progress : callable, optional
        Called now and then with a `tear3d.Progress`; returning False stops the search, as Ctrl-C does: the best pose so
        far is returned.
    bounds : {"sharp", "sweep", "paper"}
        With `certify="rows"`: the fast bounds; those of the paper (slow; for reference); or the same on the paper's own
        cells, rectangles of angles (slower still). The losses "cm" and "tls" always use the sweep.
    method : {"tear3d", "paper"}
        "paper" is the paper's own method, for comparison: its cells and bounds along the coordinate axes, without a
        candidate to start from, in one thread, ended by the gap or by its branch resolution; then an SVD. `certify` is
        "rows" then, `bounds` "paper" and `threads` 1; `seed` has no meaning, and no other pose is looked for.
    memory_limit : int, optional
        Bytes that the call may keep in memory, beyond what Python, compiled code and the system's cache of files take.
        Pairs that would need more (96 bytes each) are read in passes, a piece at a time: see docs/out-of-core.md for
        what that costs. By default a quarter of the machine's memory for what lies in files, no limit for arrays.
    client : distributed.Client, optional
        Dask arrays `source` and `target`, chunked by rows, are looked at where their chunks lie, and only sums travel
        (extra ``cluster``). `memory_limit` is that of this process.
    checkpoint : path, optional
        Of pairs that are read in passes, a file in which the proof is kept after every pass. A call with the same pairs
        and options goes on from there; when the proof has come to its end the file is removed.
    rotation_axis : (3,) or (2, 3) array, optional
        The pose turns about this axis only: gravity is known. Two rows when its direction differs: in the source, and
        in the target.
    axis_tolerance : float
        Degrees by which the axis may be off.
    planar : bool
        With `rotation_axis`: nothing moves along the axis, ...
    plane_tolerance : float
        ... or by no more than this; with `initial`, from where that leads.
    rotation : (3, 3) array, optional
        The rotation is known, only the translation is sought.
    initial : (4, 4) array, optional
        A pose near the right one, target ← source, ...
    within : (degrees, distance), optional
        ... and how far from it to look: the angle between the rotations, and the distance between the translations.
        None for either is no bound. The search and the proof are confined to that, and say so.
    estimate_scale : bool
        Seek target ≈ scale · rotation · source + translation: `Result.scale`.
    scale_range : (lowest, highest), optional
        The scales allowed, 0.1 to 10 unless given.
    max_instances : int
        So many motions are sought, one after the other, each among the pairs that those before leave; it ends before
        when the next one could be chance. See `Result.instances`.

    Returns
    -------
    Result
        Pose, inliers, status and certificate. `result.success` tells whether the consensus can be trusted at all.

    Raises
    ------
    InputError
        When the input cannot be a registration problem; a ValueError too.
    ClusterError
        When the cluster was lost.
    StoppedError
        When pairs that are read in passes were not read twice before a limit ended the call: nothing is known of them.

    Examples
    --------
    >>> import tear3d
    >>> problem = tear3d.synthetic.make_problem(2000, outlier_ratio=0.9, seed=1)
    >>> result = tear3d.register(problem.source, problem.target, noise_bound=problem.noise_bound)
    >>> result.status
    'optimal'
    >>> bool(tear3d.metrics.rotation_error(result.transformation, problem.transformation) < 0.5)
    True
    """
    prior = Prior.of(
        rotation_axis=rotation_axis,
        axis_tolerance=axis_tolerance,
        planar=planar,
        plane_tolerance=plane_tolerance,
        rotation=rotation,
        initial=initial,
        within=within,
    )
    source, target, prior = lifted(source, target, prior)
    options = Options.of(
        loss=loss,
        certify=certify,
        bounds=bounds,
        method=method,
        progress=progress,
        time_limit=time_limit,
        node_limit=node_limit,
        rel_gap=rel_gap,
        threads=threads,
        seed=seed,
        prior=prior,
        scale=ScaleRange.of(estimate_scale, scale_range),
        max_instances=max_instances,
    )
    limits = options.limits()
    asked = Asked(checked_limit(memory_limit), client, checkpoint)
    auto = noise_bound is None or (isinstance(noise_bound, str) and noise_bound == "auto")
    if isinstance(noise_bound, str) and not auto:
        raise InputError(f"noise_bound is {noise_bound!r}: expected a number, one per pair, or 'auto'")
    opened = Opened.of(source, target, 1.0 if auto else noise_bound, weights, asked)
    if opened is not None and opened.in_pieces:
        _check_in_pieces(options, auto)
        from tear3d.stream.register import register_in_pieces  # whose kernels others do without

        with ctrl_c_cancels(limits):
            return register_in_pieces(opened, asked, options, limits)
    given = (source, target, noise_bound, weights) if opened is None else opened.in_memory()
    try:
        if auto:
            return _with_noise(given, options, limits)
        return _registered(_pairs(given, options), options, limits)
    except CollapsedError as error:
        if options.scale is None:
            raise
        return collapsed(error, given[0], options)


def _pairs(given: tuple[Any, Any, Any, Any], options: Options) -> Pairs:
    """Checked pairs in memory."""
    return Pairs.of(*given) if options.scale is None else similar_pairs(given, options)


def _with_noise(given: tuple[Any, Any, Any, Any], options: Options, limits: Limits) -> Result:
    """With a noise bound estimated from the pairs."""
    source, target, _, weights = given
    _check_instances(options)
    kernels = _needed(options, len(source))

    def with_bound(bound: float) -> Pairs:
        return _pairs((source, target, bound, weights), options).confined(options.prior)

    with compiled_apart(limits, kernels), ctrl_c_cancels(limits):
        with limits.timed("noise"):
            known = settled_noise((source, target), options, limits, with_bound)
        log.info("%s", known.estimate.sentence)
        estimate = known.estimate
        if options.max_instances == 1:
            _say_where_the_origin_is(known.pairs, options)
        if options.max_instances > 1:
            result = _registered(known.pairs, options, limits)
        elif options.scale is None:
            result = solve(known.pairs, options, limits, known.search, known.chosen)
        else:
            estimate = estimate.with_scales(options.scale)
            result = solve_similarity(known.pairs, options, limits, known.search, known.chosen)
    noise = estimate.about(result.transformation, result.centre)
    instances = tuple(replace(one, noise=estimate.about(one.transformation, one.centre)) for one in result.instances)
    return replace(result, noise=noise, instances=instances, message=f"{result.message}; {noise.sentence}")


def _needed(options: Options, pairs: int) -> tuple[str, ...]:
    """The groups of kernels."""
    upright, prior = by_heights(options.prior), options.prior is not None
    return needed(options.certify, pairs=pairs, method=options.method, upright=upright, prior=prior)


def _check_instances(options: Options) -> None:
    if options.max_instances > 1 and options.scale is not None:
        raise InputError("max_instances and estimate_scale do not go together yet: leave one of them out")


def _registered(pairs: Pairs, options: Options, limits: Limits) -> Result:
    """Of checked pairs in memory, by what was asked for."""
    _check_instances(options)
    _say_where_the_origin_is(pairs, options)
    kernels = _needed(options, len(pairs))
    with compiled_apart(limits, kernels), ctrl_c_cancels(limits):
        if options.max_instances > 1:
            from tear3d.instances.solve import solve_instances

            return solve_instances(pairs, options, limits)
        if options.scale is not None:
            return solve_similarity(pairs, options, limits)
        return solve(pairs, options, limits)


def _say_where_the_origin_is(pairs: Pairs, options: Options) -> None:
    if options.prior is None:
        return
    doubt = origin_doubt(options.prior, pairs.frame.source, pairs.frame.unit * pairs.radius)
    if doubt:
        log.warning("%s", doubt)


def _check_in_pieces(options: Options, auto: bool) -> None:
    """An error for what needs all pairs in memory."""
    if auto:
        raise InputError(
            "noise_bound is missing, and is estimated only from pairs that are in memory: give one, pass arrays, or a "
            "larger memory_limit"
        )
    asked: dict[str, Any] = {
        "a prior (rotation_axis, rotation, initial)": options.prior is not None,
        "estimate_scale": options.scale is not None,
        "max_instances": options.max_instances > 1,
    }
    for name, given in asked.items():
        if given:
            raise InputError(f"{name} needs all pairs in memory: pass arrays, or a larger memory_limit")
